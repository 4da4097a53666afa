"""How often nominal 95% intervals hold the truth, on data simulated in the layouts of the scales."""

import argparse
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import pandas as pd
from compared import LAYOUTS, compare_tables, samples_of
from culture import of_quartets
from draws import SEED_SPREAD, TEMPLATE_ICC, chances
from layouts import SCALES, Layout, layout_of
from scipy.stats import norm

from polyreward.analysis.accuracies import Accuracies, split_cases
from polyreward.analysis.bootstrap import Interval, resampled_means, share_interval
from polyreward.analysis.comparison import Benchmark, Comparison, mean_of
from polyreward.analysis.tables import transfer_gaps
from polyreward.analysis.verdicts import from_draws
from polyreward.artifacts.sums import write_sums
from polyreward.carb.leaderboard import Leaderboard
from polyreward.core.errors import PolyrewardError
from polyreward.core.naming import ModelName
from polyreward.ops.hardware import hardware
from polyreward.think_as_locals.comparison import MEASURES, judge_draws
from polyreward.think_as_locals.learning import learning_table

CONFIDENCE = 0.95
TOPIC_ICC = 0.15  # how alike the items of a topic are
SEEDS = 3  # trainings of a model
LANGUAGES = ["es", "it", "ko", "zh"]  # in which claims compare
SCORERS = 13  # on CARB's leaderboard
SECTIONS = ["chat", "chat_hard", "safety", "reasoning"]
# Accuracy by kind of rejected answer, about what mini's reward models get, and the kinds of each section
KIND_MEANS = {"off_topic": 0.88, "drift": 0.88, "garble": 0.98, "vague": 0.85, "written": 0.55}
KINDS = {
    "chat": list(KIND_MEANS),
    "chat_hard": ["off_topic", "drift", "written"],
    "safety": ["off_topic", "written"],
    "reasoning": ["off_topic", "written"],
}
FALL, FALL_OF_OTHER = 0.02, 0.12  # what two models lose in another language
DOMAIN_MEANS = {"commonsense": 0.35, "values": 0.45, "safety": 0.6, "linguistics": 0.5}
CAPTION = """Intervals of 95% from {samples} resamples, on {repetitions} simulated samples of each layout.
Pairs of a template correlate by 0.5, items of a topic by 0.15. Scorers share what is hard. Trainings of one
model differ by 3 points (standard deviation). Over so many samples a coverage of 95% shows as {low:.1%} to
{high:.1%}. The ranks are of equal scorers: each interval must hold every rank."""

Found = Iterator[tuple[str, str, float, float, float]]  # what, n, low and high end, truth


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


class Simulated:
    """A benchmark in a layout's rows, and two scorers whose means differ by subset."""

    def __init__(self, rows: pd.DataFrame, benchmark: Benchmark):
        self.rows, self.benchmark = rows.assign(benchmark=benchmark.name), benchmark
        counts = rows["subset"].value_counts()
        names = [name for members in benchmark.sections.values() for name in members]
        means = {name: np.array([0.6, 0.55]) + 0.25 * np.sin(n) for n, name in enumerate(names)}
        self.means = np.array([means[name] for name in rows["subset"]])  # of each row
        self.template = pd.factorize(rows["template"])[0]
        self.sections = {
            section: np.average(
                [means[name] for name in members],
                axis=0,
                weights=[benchmark.weights.get(name, counts[name]) for name in members],
            )
            for section, members in benchmark.sections.items()
        }
        self.truth = np.mean(list(self.sections.values()), axis=0)
        sizes = rows.groupby("subset")["template"].nunique()
        of_section = {name: sizes[members].sum() for name, members in benchmark.sections.items()}
        self.n, self.least = rows["template"].nunique(), min(of_section, key=of_section.__getitem__)
        self.n_least = int(
            rows.loc[rows["subset"].isin(benchmark.sections[self.least]), "template"].nunique()
        )
        # The smallest subset with an interval of its own: of one template nothing can be drawn
        self.subset = sizes.where(sizes > 1, np.inf).idxmin()
        self.n_subset, self.of_subset = int(sizes[self.subset]), means[self.subset]

    def scores(self, generator: np.random.Generator, means: np.ndarray, keys: Sequence) -> pd.DataFrame:
        """Draw answers and return scores. means: of each row and (scorer, language) in keys."""
        chance = chances(generator, means, TEMPLATE_ICC, self.template)
        return scores_of(self.rows, keys, generator.random(chance.shape) < chance)

    def comparison(self, generator: np.random.Generator, interval: Interval, seeds: int = 1) -> Comparison:
        """Draw the answers of scorers a and b, or of a1, a2, ... whose means vary by SEED_SPREAD."""
        moved = generator.normal(scale=SEED_SPREAD, size=2 * seeds) if seeds > 1 else 0.0
        names = [f"{scorer}{n}" for scorer in "ab" for n in range(1, seeds + 1)] if seeds > 1 else ["a", "b"]
        means = np.clip(np.repeat(self.means, seeds, axis=1) + moved, 0.01, 0.99)
        scores = self.scores(generator, means, [(name, "en") for name in names])
        return Comparison(scores, self.benchmark, interval)


def of_benchmark(data: Simulated, generator: np.random.Generator, interval: Interval) -> Found:
    """Yield the intervals of an average, a difference, the smallest section and the smallest subset."""
    compared, n = data.comparison(generator, interval), f"{data.n} templates"
    one, two = compared.contrast({"a": 1.0}), compared.contrast({"a": 1.0, "b": -1.0})
    least, inside = data.sections[data.least], f"{data.n_least} templates"
    yield "benchmark, average", n, *ends(one, "avg", data.truth[0])
    yield "benchmark, difference", n, *ends(two, "avg", data.truth[0] - data.truth[1])
    yield "benchmark, section", inside, *ends(one, data.least, least[0])
    yield "benchmark, section, difference", inside, *ends(two, data.least, least[0] - least[1])
    (row,) = compared.by_subset("a").query("subset == @data.subset").to_dict("records")
    yield "benchmark, subset", f"{data.n_subset} templates", row["low"], row["high"], 100 * data.of_subset[0]


def of_trainings(data: Simulated, seeds: int, generator: np.random.Generator, interval: Interval) -> Found:
    """Yield the intervals of a reward model that was trained several times, and of the difference of two."""
    compared = data.comparison(generator, interval, seeds)
    first, second = ([f"{scorer}{seed}" for seed in range(1, seeds + 1)] for scorer in "ab")
    one = compared.contrast(mean_of(first), [first])
    two = compared.contrast(mean_of(first) | dict.fromkeys(second, -1 / seeds), [first, second])
    n = f"{data.n} templates, {seeds} seeds"
    yield "trainings, average", n, *ends(one, "avg", data.truth[0])
    yield "trainings, section", n, *ends(one, data.least, data.sections[data.least][0])
    yield "trainings, difference", n, *ends(two, "avg", data.truth[0] - data.truth[1])


def of_claims(data: Simulated, seeds: int, generator: np.random.Generator, interval: Interval) -> Found:
    """Yield the interval of a claim: one model's mean lead over each language's own, over several seeds."""
    numbers = range(1, seeds + 1)
    names = {one: [str(ModelName("base", one, seed)) for seed in numbers] for one in ("en", *LANGUAGES)}
    moved = {name: generator.normal(scale=SEED_SPREAD) for trained in names.values() for name in trained}
    keys = [(name, language) for language in LANGUAGES for name in names["en"] + names[language]]
    means = [data.means[:, int(name not in names["en"])] + moved[name] for name, _ in keys]
    scores = data.scores(generator, np.clip(np.stack(means, axis=1), 0.01, 0.99), keys)
    trainings = {("base", language): trained for language, trained in names.items()}
    accuracies = Accuracies(scores, trainings, data.benchmark, interval)
    of = accuracies.training_draws
    leads = [of("base", "en", one, "avg") - of("base", one, one, "avg") for one in LANGUAGES]
    means_of, each = split_cases(np.mean(leads, axis=0)[:, None], accuracies.n_seeds)
    (low,), (high,) = from_draws(means_of, accuracies.freedom, each).ends(interval.confidence)
    n = f"{data.n} templates, {seeds} seeds"
    yield "claim, mean lead in four languages", n, low, high, 100 * (data.truth[0] - data.truth[1])


def of_kinds(generator: np.random.Generator, interval: Interval, size: int) -> Found:
    """Yield the intervals of a benchmark with two kinds of each request, which are repeated measures of it.

    Two models in two languages: an average, a difference, a section, a kind, a transfer gap, and how two
    models differ in it. Kinds are drawn for each template, as hashes do. size: templates of a section."""
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


def item_tables(items: pd.DataFrame, right: np.ndarray, names: Sequence[str]) -> dict[str, pd.DataFrame]:
    """Return the scores of a right and a wrong answer to each item, by scorer. right: (items, scorers)."""
    whole = items.rename(columns={"culture": "language", "topic": "template"}).assign(within_noise=False)
    wrong = whole.assign(is_chosen=False, score=0.5)
    return {
        name: pd.concat([whole.assign(is_chosen=True, score=of_name.astype(float)), wrong], ignore_index=True)
        for name, of_name in zip(names, right.T, strict=True)
    }


def of_leaderboard(items: pd.DataFrame, generator: np.random.Generator, interval: Interval) -> Found:
    """Yield the intervals of CARB's score, of a domain and a culture, and of all ranks of equal scorers."""
    mean = items["domain"].map(DOMAIN_MEANS)
    chance = chances(
        generator,
        np.repeat(mean.to_numpy()[:, None], SCORERS, axis=1),
        TOPIC_ICC,
        pd.factorize(items["topic"])[0],
    )
    names = [f"s{number}" for number in range(SCORERS)]
    tables = item_tables(items, generator.random(chance.shape) < chance, names)
    cultures, domains = list(items["culture"].unique()), list(items["domain"].unique())
    board = Leaderboard(tables, dict.fromkeys(names, "classifier"), cultures, domains, interval)
    inside = {"CARB": items["id"].notna(), "CARB, domain": items["domain"] == "values"}
    inside["CARB, culture"] = items["culture"] == cultures[0]
    sections = {"CARB": "carb", "CARB, domain": "values", "CARB, culture": cultures[0]}
    for what, section in sections.items():
        low, high = board.ends([names[0]], section)
        yield (
            what,
            f"{items.loc[inside[what], 'topic'].nunique()} topics",
            low,
            high,
            100 * mean[inside[what]].mean(),
        )
    ranks = board.ranks()
    held = (ranks["rank_low"] == 1).all() and (ranks["rank_high"] == SCORERS).all()
    n = f"{items['topic'].nunique()} topics, {SCORERS} scorers"
    yield "CARB, all ranks", n, 0.0, float(SCORERS - 1) if held else -1.0, 0.0


def of_judges(layout: Layout, generator: np.random.Generator, interval: Interval) -> Found:
    """Yield the intervals of a judge of Think-as-Locals on both benchmarks, and of the difference of two."""
    data, judges = Simulated(layout.judged_rows, layout.judged_benchmark), ["a", "b"]
    keys = [(judge, f"l{number}") for number in range(layout.languages) for judge in judges]
    scores = data.scores(generator, np.tile(data.means, layout.languages), keys)
    items = layout.judged_items
    means = items["domain"].map(DOMAIN_MEANS).to_numpy()[:, None] - np.array([0.0, 0.05])
    chance = chances(generator, means, TOPIC_ICC, pd.factorize(items["topic"])[0])
    draws = judge_draws(
        {judge: scores[scores["scorer"] == judge] for judge in judges},
        item_tables(items, generator.random(chance.shape) < chance, judges),
        data.benchmark,
        list(items["culture"].unique()),
        list(items["domain"].unique()),
        interval,
    )
    truths = {"rewardbench": data.truth, "carb": means.mean(axis=0)}
    truths["mean"] = (truths["rewardbench"] + truths["carb"]) / 2
    sizes = {
        "rewardbench": f"{data.n} templates",
        "carb": f"{items['topic'].nunique()} topics",
        "mean": "both",
    }
    for other, what in ((None, ""), ("b", ", difference")):
        found = draws.estimates("a", other, interval)
        for measure in MEASURES:
            truth = 100 * (truths[measure][0] - (truths[measure][1] if other else 0))
            low, high = found[f"{measure}_low"], found[f"{measure}_high"]
            yield f"Think-as-Locals, {measure}{what}", sizes[measure], low, high, truth


def of_learning(generator: np.random.Generator, interval: Interval, items: int = 8) -> Found:
    """Yield the interval of a judge's rise: R_corr on held-out pairs over its trainings, less that before."""
    # Spreads of items and of both as found in mini's judges; that of seeds is a guess on the safe side
    rise, of_item, of_seed, of_both = 0.6, 0.55, 0.2, 0.6
    names = [f"full-{seed}" for seed in range(1, SEEDS + 1)]
    effects = of_item * generator.normal(size=(items, 1)) + of_seed * generator.normal(size=(1, SEEDS))
    values = rise + effects + of_both * generator.normal(size=(items, SEEDS))
    pairs = [f"i{number}" for number in range(items)]
    ids = {"id": [f"{name}_A" for name in pairs], "item": pairs}
    rows = pd.DataFrame(ids | {"in_form": True})
    tables = {name: rows.assign(p_right=(1 + one) / 2) for name, one in zip(names, values.T, strict=True)}
    tables["warmup"] = rows.assign(p_right=0.5)
    compared = {"warmup": ["warmup"], "full": names}
    found = learning_table(tables, compared, [("full", "warmup")], interval).iloc[-1]
    low, high = 100 * found["r_corr_low"], 100 * found["r_corr_high"]
    yield "R_corr, rise", f"{items} items, {SEEDS} seeds", low, high, 100 * rise


def coverage_table(repetitions: int, samples: int, scales: Sequence[str] = tuple(SCALES)) -> pd.DataFrame:
    """Return scale, what, n, coverage (0 to 1) and mean width in points (or ranks)."""
    found = []
    for scale in scales:
        layout = layout_of(scale)
        data = Simulated(layout.rows, layout.benchmark)
        # As users may set; one training has no spread
        seeds = SEEDS if scale == "mini" else layout.trainings
        for number in range(repetitions):
            drawing = np.random.default_rng([7, number]), Interval(samples, CONFIDENCE, number)
            rows = [*of_benchmark(data, *drawing), *of_leaderboard(layout.items, *drawing)]
            rows += of_judges(layout, *drawing)
            # By themselves: the rows before and behind them stay as they are
            rows += of_quartets(layout.topics, np.random.default_rng([8, number]), drawing[1])
            if seeds > 1:
                rows += [*of_trainings(data, seeds, *drawing), *of_claims(data, seeds, *drawing)]
            if scale in ("mini", "reference"):
                rows += of_kinds(*drawing, data.n // len(SECTIONS))
            if scale == "mini":
                for simulate in (of_learning, of_win_rates, of_the_nearly_perfect):
                    rows += simulate(*drawing)
            found += [(scale, *row) for row in rows]
            if (number + 1) % 50 == 0:
                print(f"{scale}: {number + 1} of {repetitions} samples", file=sys.stderr)
    table = pd.DataFrame(found, columns=["scale", "what", "n", "low", "high", "truth"])
    table["coverage"] = (table["low"] <= table["truth"]) & (table["truth"] <= table["high"])
    table["width"] = table["high"] - table["low"]
    keys = ["scale", "what", "n"]
    return table.groupby(keys, sort=False)[["coverage", "width"]].mean().reset_index()


def write_data(folder: Path, tables: dict[str, pd.DataFrame], facts: dict, run: str) -> None:
    """Write the tables that docs show, and in the file `run` these facts, the machine and the commit."""
    folder.mkdir(parents=True, exist_ok=True)
    git = ["git", "-C", str(Path(__file__).parent), "describe", "--always", "--dirty", "--abbrev=8"]
    commit = subprocess.run(git, text=True, capture_output=True, check=True).stdout.strip()
    for name, table in tables.items():
        table.to_csv(folder / name, index=False, float_format="%.2f")
    pd.DataFrame([{**facts, "machine": hardware(), "commit": commit}]).to_csv(folder / run, index=False)
    write_sums(folder, sorted(path.name for path in folder.glob("*.csv")), folder / "SHA256SUMS")


def main() -> None:
    """Print one table, or two of `polyreward compare`."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.ArgumentDefaultsHelpFormatter
    )
    parser.add_argument("--repetitions", type=int, default=1000, help="simulated samples of each size")
    parser.add_argument("--samples", type=int, default=1000, help="resamples of each")
    parser.add_argument("--scales", nargs="+", choices=SCALES, default=list(SCALES), help="their layouts")
    parser.add_argument(
        "--compare",
        nargs="+",
        choices=LAYOUTS,
        metavar="LAYOUT",
        help=f"simulate polyreward compare instead of the scales: {', '.join(LAYOUTS)}",
    )
    parser.add_argument("--out", type=Path, help="folder for the tables that docs show: docs/data/coverage")
    options = parser.parse_args()
    facts = {"samples": options.repetitions, "resamples": options.samples}
    if options.compare:
        rows = [samples_of(name, options.repetitions, options.samples) for name in options.compare]
        tables = compare_tables([row for of_layout in rows for row in of_layout])
        if options.out:
            write_data(options.out, tables, {"resamples": options.samples}, "compare_run.csv")
        print("\n\n".join(table.to_markdown(index=False, floatfmt=".1f") for table in tables.values()))
        return
    table = coverage_table(options.repetitions, options.samples, options.scales)
    if options.out:
        as_shown = table[["scale", "what", "n", "width"]].assign(coverage_pct=100 * table["coverage"])
        write_data(options.out, {"coverage.csv": as_shown}, facts, "run.csv")
    shown = table[["scale", "what", "n"]].assign(coverage=table["coverage"].map("{:.1%}".format))
    shown["mean width"] = table["width"].map("{:.1f}".format)
    reach = norm.isf((1 - 0.95) / 2) * np.sqrt(CONFIDENCE * (1 - CONFIDENCE) / options.repetitions)
    print(shown.to_markdown(index=False, disable_numparse=True))
    print(f"\n{CAPTION.format(**vars(options), low=CONFIDENCE - reach, high=CONFIDENCE + reach)}")


if __name__ == "__main__":
    try:
        main()
    except PolyrewardError as error:
        sys.exit(f"{Path(__file__).name}: {error}")
