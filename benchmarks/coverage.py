"""How often nominal 95% intervals hold the truth, on simulated data of our sizes whose truth is known."""

import argparse
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.stats import beta, norm

from polyreward.analysis.accuracies import Accuracies, split_cases
from polyreward.analysis.bootstrap import (
    Interval,
    degrees_of_freedom,
    resampled_means,
    resampled_sections,
    share_interval,
)
from polyreward.analysis.comparison import Benchmark, Comparison, mean_of
from polyreward.analysis.tables import transfer_gaps
from polyreward.analysis.verdicts import from_draws
from polyreward.artifacts.sums import write_sums
from polyreward.carb.leaderboard import rank_intervals
from polyreward.core.errors import PolyrewardError
from polyreward.core.naming import ModelName
from polyreward.ops.hardware import hardware
from polyreward.think_as_locals.learning import learning_table

CONFIDENCE = 0.95
SECTIONS = ["chat", "chat_hard", "safety", "reasoning"]
TEMPLATE_ICC, TOPIC_ICC = 0.5, 0.15  # how alike the pairs of a template and the items of a topic are
SEED_SPREAD, SEEDS = 0.03, 3  # of a model's score between trainings (standard deviation), and trainings
LANGUAGES = ["es", "it", "ko", "zh"]  # in which claims compare
CULTURES, SCORERS = 10, 13
# Accuracy by kind of rejected answer, about what mini's reward models get, and the kinds of each section
KIND_MEANS = {"off_topic": 0.88, "drift": 0.88, "garble": 0.98, "vague": 0.85, "written": 0.55}
KINDS = {
    "chat": list(KIND_MEANS),
    "chat_hard": ["off_topic", "drift", "written"],
    "safety": ["off_topic", "written"],
    "reasoning": ["off_topic", "written"],
}
FALL, FALL_OF_OTHER = 0.02, 0.12  # what two models lose in another language
TOPICS = {"commonsense": 15, "values": 15, "safety": 15, "linguistics": 14}
CAPTION = """Intervals of 95% from {samples} resamples, on {repetitions} simulated samples of each size. A
section is a quarter of the templates. Pairs of a template correlate by 0.5, items of a topic by 0.15.
Scorers share what is hard, and trainings of one model differ by 3 points (standard deviation). Over so many
samples a coverage of 95% shows as {low:.1%} to {high:.1%}. The ranks are of equal scorers: each interval
must hold every rank."""

Found = Iterator[tuple[str, str, float, float, float]]  # what, n, low and high end, truth


def chances(
    generator: np.random.Generator, means: np.ndarray, icc: float, clusters: np.ndarray | None = None
) -> np.ndarray:
    """Draw chances of being right around such means (rows, scorers).

    What is hard for one scorer is hard for others.

    Args:
        icc: correlation of answers within a cluster.
        clusters: of each row, which is equally hard for all its rows; None where each row is one.
    """
    clusters = np.arange(len(means)) if clusters is None else clusters
    size = clusters.max() + 1
    normal = generator.normal(size=(size, 1)) + generator.normal(size=(size, means.shape[1]))
    spread = 1 / icc - 1
    return beta.ppf(norm.cdf(normal[clusters] / np.sqrt(2)), means * spread, (1 - means) * spread)


def scores_of(rows: pd.DataFrame, keys: Sequence[tuple[str, str]], right: np.ndarray) -> pd.DataFrame:
    """Return scores; right: of each row and (scorer, language) in keys, whether chosen wins."""
    rows = rows.assign(score_rejected=0.5)
    return pd.concat(
        rows.assign(scorer=scorer, language=language, score_chosen=column)
        for (scorer, language), column in zip(keys, right.T.astype(float), strict=True)
    )


def ends(found: dict, column: str, truth: float) -> tuple[float, float, float]:
    """Return the low and high end of a contrast's column, and the truth as a percentage."""
    return found[f"{column}_low"], found[f"{column}_high"], 100 * truth


def divided(size: int) -> dict[str, list[int]]:
    """Return {section: templates of each of its three subsets}, for so many templates in a section."""
    return {section: [size // 3 + (n < size % 3) for n in range(3)] for section in SECTIONS}


class Templates:
    """A benchmark of templates, which have 1, 2, ... `pairs` pairs, and two scorers of known means."""

    def __init__(self, sizes: dict[str, list[int]], pairs: int):
        self.names = {name: [f"{name}-{n}" for n in range(len(counts))] for name, counts in sizes.items()}
        counts = dict(zip(sum(self.names.values(), []), sum(sizes.values(), []), strict=True))
        self.n = sum(counts.values())
        rows = [
            {"id": f"{subset}-{n}-{pair}", "template": f"{subset}-{n}", "subset": subset}
            for subset, count in counts.items()
            for n in range(count)
            for pair in range(1 + n % pairs)
        ]
        self.rows = frame = pd.DataFrame(rows).assign(benchmark="simulated")
        self.means = {name: np.array([0.6, 0.55]) + 0.25 * np.sin(n) for n, name in enumerate(counts)}
        self.template = pd.factorize(frame["template"])[0]
        subsets = frame.drop_duplicates("template")["subset"]
        self.of_template = np.array([self.means[name] for name in subsets])
        self.inside = int(subsets.isin(self.names["chat"]).sum())
        weights = frame["subset"].value_counts()
        self.sections = {
            section: np.average([self.means[name] for name in members], axis=0, weights=weights[members])
            for section, members in self.names.items()
        }
        self.truth = np.mean(list(self.sections.values()), axis=0)
        self.benchmark = Benchmark("simulated", self.names, {})

    def scores(self, generator: np.random.Generator, means: np.ndarray, keys: Sequence) -> pd.DataFrame:
        """Draw answers and return scores. means: of each template and (scorer, language) in keys."""
        uniform = generator.random((len(self.rows), len(keys)))
        right = uniform < chances(generator, means, TEMPLATE_ICC)[self.template]
        return scores_of(self.rows, keys, right)

    def comparison(self, generator: np.random.Generator, interval: Interval, seeds: int = 1) -> Comparison:
        """Draw the answers of scorers a and b, or of a1, a2, ... whose means vary by SEED_SPREAD."""
        moved = generator.normal(scale=SEED_SPREAD, size=2 * seeds) if seeds > 1 else 0.0
        names = [f"{scorer}{n}" for scorer in "ab" for n in range(1, seeds + 1)] if seeds > 1 else ["a", "b"]
        means = np.repeat(self.of_template, seeds, axis=1) + moved
        scores = self.scores(generator, means, [(name, "en") for name in names])
        return Comparison(scores, self.benchmark, interval)


def of_kinds(generator: np.random.Generator, interval: Interval, size: int = 32) -> Found:
    """Yield the intervals of a benchmark with two kinds of each request, which are repeated measures of it.

    Two models in two languages: an average, a difference, a section, a kind, a transfer gap, and how two
    models differ in it. Kinds are drawn for each template, as hashes do."""
    rows = [
        {"id": f"{section}-{n}-{kind}", "template": f"{section}-{n}", "subset": section, "kind": str(kind)}
        for section in SECTIONS
        for n in range(size)
        for kind in generator.choice(KINDS[section], 2, replace=False)
    ]
    frame = pd.DataFrame(rows).assign(benchmark="kinds")
    falls = {("a_en", "en"): 0.0, ("a_en", "ko"): FALL, ("b_en", "en"): 0.0, ("b_en", "ko"): FALL_OF_OTHER}
    means = frame["kind"].map(KIND_MEANS).to_numpy()[:, None] - np.array(list(falls.values()))
    # A template is as hard for all its pairs, of whatever kind, as chance has it, and harder for some models
    chance = chances(generator, means, TEMPLATE_ICC, pd.factorize(frame["template"])[0])
    scores = scores_of(frame, list(falls), generator.random(chance.shape) < chance)
    benchmark = Benchmark("kinds", {section: [section] for section in SECTIONS}, {})
    of_section = {name: np.mean([KIND_MEANS[kind] for kind in kinds]) for name, kinds in KINDS.items()}
    n, n_of_section = f"{len(SECTIONS) * size} templates, 2 kinds", f"{size} templates, 2 kinds"
    in_english = Comparison(scores[scores["language"] == "en"], benchmark, interval)
    one, two = in_english.contrast({"a_en": 1.0}), in_english.contrast({"a_en": 1.0, "b_en": -1.0})
    yield "two kinds, average", n, *ends(one, "avg", np.mean(list(of_section.values())))
    yield "two kinds, section", n_of_section, *ends(one, "chat", of_section["chat"])
    yield "two kinds, difference", n, *ends(two, "avg", 0.0)
    by_kind = scores.assign(subset=scores["kind"])[scores["language"] == "en"]
    found = Comparison(by_kind, Benchmark("kinds", {"": list(KIND_MEANS)}, {}), interval).by_subset("a_en")
    for row in found[found["subset"].isin(["drift", "written"])].to_dict("records"):
        what = f"one kind, {row['subset']}"
        yield what, "about as mini has", row["low"], row["high"], 100 * KIND_MEANS[row["subset"]]
    sheet = pd.DataFrame({"base": ["a", "b"]}, index=["a_en", "b_en"])
    gaps = transfer_gaps(scores, sheet, ["a", "b"], ["en", "ko"], benchmark, interval)
    truths = 100 * np.array([FALL, FALL_OF_OTHER, FALL - FALL_OF_OTHER])
    names = ["transfer gap, small", "transfer gap, large", "transfer gap, difference of two bases"]
    for what, gap, value in zip(names, gaps.to_dict("records"), truths, strict=True):
        yield what, n, gap["low"], gap["high"], value


SMALL, LARGE = Templates(divided(26), 3), Templates(divided(52), 3)
# Think-as-Locals: no subset but one has enough templates to draw within it
LOCALS = Templates({"chat": [3, 2, 2], "chat_hard": [2, 2, 2], "safety": [3, 2], "reasoning": [2, 2, 2]}, 1)


def of_templates(data: Templates, name: str, generator: np.random.Generator, interval: Interval) -> Found:
    """Yield the intervals of a scorer's average, a difference, a section and a subset."""
    compared, n = data.comparison(generator, interval), f"{data.n} templates"
    one, two = compared.contrast({"a": 1.0}), compared.contrast({"a": 1.0, "b": -1.0})
    chat, inside = data.sections["chat"], f"{data.inside} templates"
    yield f"{name}, average", n, *ends(one, "avg", data.truth[0])
    yield f"{name}, difference", n, *ends(two, "avg", data.truth[0] - data.truth[1])
    yield f"{name}, section", inside, *ends(one, "chat", chat[0])
    if data is LOCALS:
        yield f"{name}, section, difference", inside, *ends(two, "chat", chat[0] - chat[1])
    if data is SMALL:
        (row,) = compared.by_subset("a").query("subset == 'chat-2'").to_dict("records")
        n, truth = f"{row['n_templates']} templates", 100 * data.means["chat-2"][0]
        yield f"{name}, subset", n, row["low"], row["high"], truth


def of_trainings(generator: np.random.Generator, interval: Interval) -> Found:
    """Yield the intervals of a reward model that was trained several times, and of the difference of two."""
    compared = SMALL.comparison(generator, interval, SEEDS)
    first, second = ([f"{scorer}{seed}" for seed in range(1, SEEDS + 1)] for scorer in "ab")
    one = compared.contrast(mean_of(first), [first])
    two = compared.contrast(mean_of(first) | dict.fromkeys(second, -1 / SEEDS), [first, second])
    n = f"{SMALL.n} templates, {SEEDS} seeds"
    yield "trainings, average", n, *ends(one, "avg", SMALL.truth[0])
    yield "trainings, section", n, *ends(one, "chat", SMALL.sections["chat"][0])
    yield "trainings, difference", n, *ends(two, "avg", SMALL.truth[0] - SMALL.truth[1])


def of_claims(generator: np.random.Generator, interval: Interval) -> Found:
    """Yield the interval of a claim: one model's mean lead over each language's own, over several seeds."""
    seeds = range(1, SEEDS + 1)
    names = {one: [str(ModelName("base", one, seed)) for seed in seeds] for one in ("en", *LANGUAGES)}
    moved = {name: generator.normal(scale=SEED_SPREAD) for trained in names.values() for name in trained}
    keys = [(name, language) for language in LANGUAGES for name in names["en"] + names[language]]
    means = [SMALL.of_template[:, int(name not in names["en"])] + moved[name] for name, _ in keys]
    scores = SMALL.scores(generator, np.stack(means, axis=1), keys)
    trainings = {("base", language): trained for language, trained in names.items()}
    accuracies = Accuracies(scores, trainings, SMALL.benchmark, interval)
    of = accuracies.training_draws
    leads = [of("base", "en", one, "avg") - of("base", one, one, "avg") for one in LANGUAGES]
    means_of, each = split_cases(np.mean(leads, axis=0)[:, None], accuracies.n_seeds)
    (low,), (high,) = from_draws(means_of, accuracies.freedom, each).ends(interval.confidence)
    n = f"{SMALL.n} templates, {SEEDS} seeds"
    yield "claim, mean lead in four languages", n, low, high, 100 * (SMALL.truth[0] - SMALL.truth[1])


def of_shares(what: str, n: str, values: np.ndarray, means: Sequence[float], interval: Interval) -> Found:
    """Yield the intervals of a share and of a difference of two. values: of units and two scorers."""
    drawn = np.vstack([values.mean(axis=0), resampled_means(values, interval, what)])
    size = len(values)
    low, high = share_interval(drawn[:, 0], interval.confidence, size - 1, size, 0)
    yield what, n, 100 * low, 100 * high, 100 * means[0]
    low, high = share_interval(drawn[:, 0] - drawn[:, 1], interval.confidence, size - 1, size, -1)
    yield f"{what}, difference", n, 100 * low, 100 * high, 100 * (means[0] - means[1])


def of_win_rates(generator: np.random.Generator, interval: Interval, size: int = 32, runs: int = 2) -> Found:
    """Yield the intervals of a policy's win rate and of the difference of two."""
    means = [0.55, 0.45]
    wins = generator.binomial(runs, chances(generator, np.tile(means, (size, 1)), TEMPLATE_ICC)) / runs
    yield from of_shares("win rate", f"{size} instructions", wins, means, interval)


def of_the_nearly_perfect(generator: np.random.Generator, interval: Interval) -> Found:
    """Yield the intervals of shares of 95%, which are often all right, and of leads over 90%."""
    means = [0.95, 0.9]
    for n in (8, 32):
        uniform = generator.random((n, 2))
        right = (uniform < chances(generator, np.tile(means, (n, 1)), TEMPLATE_ICC)).astype(float)
        yield from of_shares("95% right", f"{n} templates", right, means, interval)


def of_leaderboard(generator: np.random.Generator, interval: Interval) -> Found:
    """Yield the intervals of CARB's score, of a domain and a culture, and of all ranks of equal scorers."""
    domains = np.repeat(list(TOPICS), list(TOPICS.values()))
    topics = np.array([f"t{number}" for number in range(len(domains))])
    hard = dict(zip(TOPICS, (0.35, 0.45, 0.6, 0.5), strict=True))
    chance = chances(generator, np.array([[hard[domain]] * SCORERS for domain in domains]), TOPIC_ICC)
    item, culture = np.divmod(np.arange(len(topics) * CULTURES), CULTURES)
    right = (generator.random((len(item), SCORERS)) < chance[item]).astype(float)
    cells = pd.Series(culture.astype(str)) + "/" + domains[item]
    names = sorted(set(cells))
    whole = np.mean([hard[domain] for domain in domains])
    sections = {"CARB": (names, whole)}
    sections["CARB, domain"] = [name for name in names if name.endswith("values")], hard["values"]
    sections["CARB, culture"] = [name for name in names if name.startswith("0/")], whole
    members = {what: inside for what, (inside, _) in sections.items()}
    counts, drawing = cells.value_counts().to_dict(), (interval.samples, interval.seed)
    drawn = resampled_sections(right, cells, topics[item], counts, members, *drawing, domains[item])
    for place, (what, (inside, truth)) in enumerate(sections.items()):
        chosen = cells.isin(inside).to_numpy()
        values = np.vstack([right[chosen].mean(axis=0), drawn[:, :, place]])
        freedom = degrees_of_freedom(domains[item][chosen], topics[item][chosen])
        low, high = share_interval(values[:, 0], interval.confidence, freedom, int(chosen.sum()))
        yield what, f"{len(set(topics[item][chosen]))} topics", 100 * low, 100 * high, 100 * truth
        if what == "CARB":
            first, last = rank_intervals(values, interval.confidence, freedom)
            held = (first == 1).all() and (last == SCORERS).all()
            n, high = f"{len(topics)} topics, {SCORERS} scorers", np.mean(last - first) if held else -1.0
            yield "CARB, all ranks", n, 0.0, high, 0.0


def of_learning(generator: np.random.Generator, interval: Interval, items: int = 8) -> Found:
    """Yield the interval of a judge's rise: R_corr on held-out pairs over its trainings, less that before."""
    # Spreads of items and of both as found in mini's judges; that of seeds is a guess on the safe side
    rise, of_item, of_seed, of_both = 0.6, 0.55, 0.2, 0.6
    names = [f"full-{seed}" for seed in range(1, SEEDS + 1)]
    effects = of_item * generator.normal(size=(items, 1)) + of_seed * generator.normal(size=(1, SEEDS))
    values = rise + effects + of_both * generator.normal(size=(items, SEEDS))
    ids = {"id": range(items), "item": [f"i{number}" for number in range(items)]}
    rows = pd.DataFrame(ids | {"in_form": True})
    tables = {name: rows.assign(p_right=(1 + one) / 2) for name, one in zip(names, values.T, strict=True)}
    tables["warmup"] = rows.assign(p_right=0.5)
    compared = {"warmup": ["warmup"], "full": names}
    found = learning_table(tables, compared, [("full", "warmup")], interval).iloc[-1]
    low, high = 100 * found["r_corr_low"], 100 * found["r_corr_high"]
    yield "R_corr, rise", f"{items} items, {SEEDS} seeds", low, high, 100 * rise


def coverage_table(repetitions: int, samples: int) -> pd.DataFrame:
    """Return what, n, coverage (0 to 1) and mean width in points (or ranks)."""
    found = []
    for number in range(repetitions):
        drawing = np.random.default_rng([7, number]), Interval(samples, CONFIDENCE, number)
        for data, name in ((SMALL, "benchmark"), (LARGE, "benchmark"), (LOCALS, "Think-as-Locals")):
            found += of_templates(data, name, *drawing)
        for simulate in (of_kinds, of_trainings, of_claims, of_learning, of_win_rates, of_leaderboard):
            found += simulate(*drawing)
        found += of_the_nearly_perfect(*drawing)
    table = pd.DataFrame(found, columns=["what", "n", "low", "high", "truth"])
    table["coverage"] = (table["low"] <= table["truth"]) & (table["truth"] <= table["high"])
    table["width"] = table["high"] - table["low"]
    return table.groupby(["what", "n"], sort=False)[["coverage", "width"]].mean().reset_index()


def write_data(folder: Path, table: pd.DataFrame, facts: dict) -> None:
    """Write the table that docs show, with these facts, the machine and the commit in run.csv."""
    folder.mkdir(parents=True, exist_ok=True)
    git = ["git", "-C", str(Path(__file__).parent), "describe", "--always", "--dirty", "--abbrev=8"]
    commit = subprocess.run(git, text=True, capture_output=True, check=True).stdout.strip()
    table.to_csv(folder / "coverage.csv", index=False, float_format="%.2f")
    pd.DataFrame([{**facts, "machine": hardware(), "commit": commit}]).to_csv(folder / "run.csv", index=False)
    write_sums(folder, ["coverage.csv", "run.csv"], folder / "SHA256SUMS")


def main() -> None:
    """Print one table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.ArgumentDefaultsHelpFormatter
    )
    parser.add_argument("--repetitions", type=int, default=1000, help="simulated samples of each size")
    parser.add_argument("--samples", type=int, default=1000, help="resamples of each")
    parser.add_argument("--out", type=Path, help="folder for the tables that docs show: docs/data/coverage")
    options = parser.parse_args()
    table = coverage_table(options.repetitions, options.samples)
    if options.out:
        as_shown = table[["what", "n", "width"]].assign(coverage_pct=100 * table["coverage"])
        write_data(options.out, as_shown, {"samples": options.repetitions, "resamples": options.samples})
    shown = table[["what", "n"]].assign(coverage=table["coverage"].map("{:.1%}".format))
    shown["mean width"] = table["width"].map("{:.1f}".format)
    reach = norm.isf((1 - 0.95) / 2) * np.sqrt(CONFIDENCE * (1 - CONFIDENCE) / options.repetitions)
    print(shown.to_markdown(index=False, disable_numparse=True))
    print(f"\n{CAPTION.format(**vars(options), low=CONFIDENCE - reach, high=CONFIDENCE + reach)}")


if __name__ == "__main__":
    try:
        main()
    except PolyrewardError as error:
        sys.exit(f"{Path(__file__).name}: {error}")
