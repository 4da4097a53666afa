"""How often nominal 95% intervals hold the truth, on simulated data of our sizes whose truth is known."""

import argparse
from collections.abc import Iterator, Sequence

import numpy as np
import pandas as pd
from scipy.stats import beta, norm

from polyreward.analysis.bootstrap import (
    Interval,
    degrees_of_freedom,
    resampled_means,
    resampled_sections,
    share_interval,
)
from polyreward.analysis.comparison import Accuracies, Benchmark, Comparison, mean_of
from polyreward.analysis.verdicts import from_draws
from polyreward.carb.leaderboard import rank_intervals
from polyreward.core.naming import ModelName
from polyreward.think_as_locals.learning import learning_table

CONFIDENCE = 0.95
SECTIONS = ["chat", "chat_hard", "safety", "reasoning"]
TEMPLATE_ICC, TOPIC_ICC = 0.5, 0.15  # how alike the pairs of a template and the items of a topic are
SEED_SPREAD, SEEDS = 0.03, 3  # of a model's score between trainings (standard deviation), and trainings
LANGUAGES = ["es", "it", "ko", "zh"]  # in which claims compare
CULTURES, SCORERS = 10, 13
TOPICS = {"commonsense": 15, "values": 15, "safety": 15, "linguistics": 14}
CAPTION = """Intervals of {confidence:.0%} from {samples} resamples, on {repetitions} simulated samples of each size. A
section is a quarter of the templates; pairs of a template correlate by {template_icc}, items of a topic by {topic_icc}; scorers
share what is hard, and trainings of one model differ by {seed_spread:.0f} points (standard deviation). Over so many samples a
coverage of 95% shows as {low:.1%} to {high:.1%}. The ranks are of equal scorers: each interval must hold every rank."""

Found = Iterator[tuple[str, str, float, float, float]]  # what, n, low and high end, truth


def chances(generator: np.random.Generator, means: np.ndarray, icc: float) -> np.ndarray:
    """Draw each cluster's chance of being right for each scorer (clusters, scorers).

    means: the same, their expectations. icc: of answers within a cluster. What is hard for one scorer is hard
    for others."""
    normal = (generator.normal(size=(len(means), 1)) + generator.normal(size=means.shape)) / np.sqrt(2)
    spread = 1 / icc - 1
    return beta.ppf(norm.cdf(normal), means * spread, (1 - means) * spread)


def pairs_of_templates(subsets: dict[str, int], pairs: int) -> list[dict]:
    """Return a benchmark's rows. subsets: {subset: templates}; one template has one pair, the next two, up to
    `pairs`."""
    return [
        {"id": f"{subset}-{n}-{pair}", "template": f"{subset}-{n}", "subset": subset}
        for subset, count in subsets.items()
        for n in range(count)
        for pair in range(1 + n % pairs)
    ]


def divided(sizes: Sequence[int]) -> dict[str, list[int]]:
    """Return {section: templates of each of its subsets}, three subsets each; sizes: templates of each
    section."""
    return {
        section: [size // 3 + (n < size % 3) for n in range(3)]
        for section, size in zip(SECTIONS, sizes, strict=True)
    }


class Templates:
    """A benchmark of templates, and two scorers of known means that differ by subset."""

    def __init__(self, sizes: dict[str, list[int]], pairs: int):
        self.names = {
            section: [f"{section}-{n}" for n in range(len(counts))] for section, counts in sizes.items()
        }
        counts = dict(zip(sum(self.names.values(), []), sum(sizes.values(), []), strict=True))
        self.rows, self.n = pairs_of_templates(counts, pairs), sum(counts.values())
        subset = pd.Series([row["subset"] for row in self.rows])
        self.means = {name: np.array([0.6, 0.55]) + 0.25 * np.sin(n) for n, name in enumerate(counts)}
        self.template = pd.factorize(pd.Series([row["template"] for row in self.rows]))[0]
        self.of_template = np.array(
            [self.means[name] for name in subset[~pd.Series(self.template).duplicated()]]
        )
        weights = subset.value_counts()
        of_section = [
            np.average([self.means[s] for s in of], axis=0, weights=weights[of]) for of in self.names.values()
        ]
        self.sections, self.truth = (
            dict(zip(self.names, of_section, strict=True)),
            np.mean(of_section, axis=0),
        )

    def comparison(self, generator: np.random.Generator, interval: Interval, seeds: int = 1) -> Comparison:
        """Draw the answers of both scorers, a and b; with several seeds of a1, a2 and so on, whose means vary
        by SEED_SPREAD."""
        moved = generator.normal(scale=SEED_SPREAD, size=2 * seeds) if seeds > 1 else 0.0
        means = np.repeat(self.of_template, seeds, axis=1) + moved
        right = (
            generator.random((len(self.rows), 2 * seeds))
            < chances(generator, means, TEMPLATE_ICC)[self.template]
        )
        ids = [row["id"] for row in self.rows]
        names = (
            [f"{scorer}{seed}" for scorer in "ab" for seed in range(1, seeds + 1)]
            if seeds > 1
            else ["a", "b"]
        )
        tables = {
            name: pd.DataFrame({"id": ids, "score_chosen": column.astype(float), "score_rejected": 0.5})
            for name, column in zip(names, right.T, strict=True)
        }
        ties = dict.fromkeys(names, "wrong")
        return Comparison(Benchmark("simulated", self.names, {}), "en", self.rows, tables, ties, interval)


SMALL, LARGE = Templates(divided([26] * 4), 3), Templates(divided([52] * 4), 3)
# Think-as-Locals: no subset but one has the templates to be drawn within
LOCALS = Templates({"chat": [3, 2, 2], "chat_hard": [2, 2, 2], "safety": [3, 2], "reasoning": [2, 2, 2]}, 1)


def of_templates(data: Templates, name: str, generator: np.random.Generator, interval: Interval) -> Found:
    """Yield the intervals of a benchmark: a scorer's average, the difference of two, and a section's score."""
    compared, n = data.comparison(generator, interval), f"{data.n} templates"
    one, difference = compared.contrast({"a": 1.0}), compared.contrast({"a": 1.0, "b": -1.0})
    section = SECTIONS[0]
    inside = sum(compared.rows.drop_duplicates("template")["subset"].isin(data.names[section]))
    yield f"{name}, average", n, one["avg_low"], one["avg_high"], 100 * data.truth[0]
    yield (
        f"{name}, difference",
        n,
        difference["avg_low"],
        difference["avg_high"],
        100 * (data.truth[0] - data.truth[1]),
    )
    low, high = one[f"{section}_low"], one[f"{section}_high"]
    yield f"{name}, section", f"{inside} templates", low, high, 100 * data.sections[section][0]
    if data is LOCALS:
        low, high, truth = (
            difference[f"{section}_low"],
            difference[f"{section}_high"],
            np.subtract(*data.sections[section]),
        )
        yield f"{name}, section, difference", f"{inside} templates", low, high, 100 * truth
    if data is SMALL:
        (row,) = compared.by_subset("a").query("subset == 'chat-2'").to_dict("records")
        yield (
            f"{name}, subset",
            f"{row['n_templates']} templates",
            row["low"],
            row["high"],
            100 * data.means["chat-2"][0],
        )


def of_trainings(generator: np.random.Generator, interval: Interval) -> Found:
    """Yield the intervals of a reward model that was trained several times, and of the difference of two."""
    compared = SMALL.comparison(generator, interval, SEEDS)
    first, second = ([f"{scorer}{seed}" for seed in range(1, SEEDS + 1)] for scorer in "ab")
    one = compared.contrast(mean_of(first), [first])
    difference = compared.contrast(mean_of(first) | dict.fromkeys(second, -1 / SEEDS), [first, second])
    n = f"{SMALL.n} templates, {SEEDS} seeds"
    yield "trainings, average", n, one["avg_low"], one["avg_high"], 100 * SMALL.truth[0]
    yield "trainings, section", n, one["chat_low"], one["chat_high"], 100 * SMALL.sections["chat"][0]
    yield (
        "trainings, difference",
        n,
        difference["avg_low"],
        difference["avg_high"],
        100 * (SMALL.truth[0] - SMALL.truth[1]),
    )


def of_claims(generator: np.random.Generator, interval: Interval) -> Found:
    """Yield the interval of a claim: the mean lead of one reward model over each language's own, all trained
    several times."""
    seeds = range(1, SEEDS + 1)
    names = {
        language: [str(ModelName("base", language, seed)) for seed in seeds]
        for language in ("en", *LANGUAGES)
    }
    moved = {
        name: generator.normal(scale=SEED_SPREAD) for of_language in names.values() for name in of_language
    }
    keys = [(name, language) for language in LANGUAGES for name in names["en"] + names[language]]
    means = np.stack(
        [SMALL.of_template[:, int(name not in names["en"])] + moved[name] for name, _ in keys], axis=1
    )
    right = (
        generator.random((len(SMALL.rows), len(keys)))
        < chances(generator, means, TEMPLATE_ICC)[SMALL.template]
    )
    ids = [row["id"] for row in SMALL.rows]
    tables = {
        key: pd.DataFrame({"id": ids, "score_chosen": column.astype(float), "score_rejected": 0.5})
        for key, column in zip(keys, right.T, strict=True)
    }
    trainings = {("base", language): of_language for language, of_language in names.items()}
    benchmark = Benchmark("simulated", SMALL.names, {})
    accuracies = Accuracies(dict.fromkeys(LANGUAGES, SMALL.rows), tables, trainings, benchmark, interval)
    of = accuracies.of_model
    leads = [
        of("base", "en", language, "avg") - of("base", language, language, "avg") for language in LANGUAGES
    ]
    means_of, each = accuracies.cases(np.mean(leads, axis=0)[:, None])
    low, high = (
        float(end[0]) for end in from_draws(means_of, accuracies.freedom, each).ends(interval.confidence)
    )
    n = f"{SMALL.n} templates, {SEEDS} seeds"
    yield "claim, mean lead in four languages", n, low, high, 100 * (SMALL.truth[0] - SMALL.truth[1])


def of_win_rates(
    generator: np.random.Generator, interval: Interval, instructions: int = 32, runs: int = 2
) -> Found:
    """Yield the intervals of a policy's win rate and of the difference of two."""
    means = np.array([0.55, 0.45])
    chance = chances(generator, np.tile(means, (instructions, 1)), TEMPLATE_ICC)
    wins = generator.binomial(runs, chance) / runs
    drawn = np.vstack([wins.mean(axis=0), resampled_means(wins, interval, "coverage")])
    n = f"{instructions} instructions"
    for what, values, lowest, truth in (
        ("", drawn[:, 0], 0, 55),
        (", difference", drawn[:, 0] - drawn[:, 1], -1, 10),
    ):
        low, high = share_interval(values, interval.confidence, instructions - 1, instructions, lowest)
        yield f"win rate{what}", n, 100 * low, 100 * high, truth


def of_the_nearly_perfect(generator: np.random.Generator, interval: Interval) -> Found:
    """Yield the intervals of shares of 95%, which are often all right, and of differences to scorers of 90%."""
    for n in (8, 32):
        right = (
            generator.random((n, 2)) < chances(generator, np.tile([0.95, 0.9], (n, 1)), TEMPLATE_ICC)
        ).astype(float)
        drawn = np.vstack([right.mean(axis=0), resampled_means(right, interval, "nearly perfect")])
        for what, values, lowest, truth in (
            ("", drawn[:, 0], 0, 95),
            (", difference", drawn[:, 0] - drawn[:, 1], -1, 5),
        ):
            low, high = share_interval(values, interval.confidence, n - 1, n, lowest)
            yield f"95% right{what}", f"{n} templates", 100 * low, 100 * high, truth


def of_leaderboard(generator: np.random.Generator, interval: Interval) -> Found:
    """Yield the intervals of equal scorers' scores of CARB, a domain's, a culture's, and of all their ranks
    at once."""
    domains = np.repeat(list(TOPICS), list(TOPICS.values()))
    topics, n = np.array([f"t{number}" for number in range(len(domains))]), f"{len(domains)} topics"
    hard = dict(zip(TOPICS, (0.35, 0.45, 0.6, 0.5), strict=True))
    chance = chances(generator, np.array([[hard[domain]] * SCORERS for domain in domains]), TOPIC_ICC)
    item, culture = np.divmod(np.arange(len(topics) * CULTURES), CULTURES)
    right = (generator.random((len(item), SCORERS)) < chance[item]).astype(float)
    cells = pd.Series(culture.astype(str)) + "/" + domains[item]
    sections = {"carb": sorted(set(cells)), "values": [c for c in sorted(set(cells)) if c.endswith("values")],
                "0": [c for c in sorted(set(cells)) if c.startswith("0/")]}  # fmt: skip
    drawn = resampled_sections(
        right,
        cells,
        topics[item],
        cells.value_counts().to_dict(),
        sections,
        interval.samples,
        interval.seed,
        domains[item],
    )
    whole = np.mean([hard[domain] for domain in domains])
    for place, (name, members) in enumerate(sections.items()):
        inside = cells.isin(members).to_numpy()
        values = np.vstack([right[inside].mean(axis=0), drawn[:, :, place]])
        freedom = degrees_of_freedom(domains[item][inside], topics[item][inside])
        low, high = share_interval(values[:, 0], interval.confidence, freedom, int(inside.sum()))
        truth = hard["values"] if name == "values" else whole
        what = {"carb": "CARB", "values": "CARB, domain", "0": "CARB, culture"}[name]
        yield what, f"{len(set(topics[item][inside]))} topics", 100 * low, 100 * high, 100 * truth
        if name == "carb":
            first, last = rank_intervals(values, interval.confidence, freedom)
            held = (first == 1).all() and (last == SCORERS).all()
            yield (
                "CARB, all ranks",
                f"{n}, {SCORERS} scorers",
                0.0,
                np.mean(last - first) if held else -1.0,
                0.0,
            )


def of_learning(generator: np.random.Generator, interval: Interval, items: int = 8) -> Found:
    """Yield the interval of what a judge learns: R_corr on held-out pairs over its trainings, less that of
    one before."""
    # Of items and of both as found of mini's judges; none was found of seeds, so that theirs is a guess on
    # the safe side
    rise, of_item, of_seed, of_both = 0.6, 0.55, 0.2, 0.6
    names = [f"full-{seed}" for seed in range(1, SEEDS + 1)]
    effects = of_item * generator.normal(size=(items, 1)) + of_seed * generator.normal(size=(1, SEEDS))
    values = rise + effects + of_both * generator.normal(size=(items, SEEDS))
    rows = pd.DataFrame(
        {"id": range(items), "item": [f"i{number}" for number in range(items)], "in_form": True}
    )
    tables = {
        name: rows.assign(p_right=(1 + column) / 2) for name, column in zip(names, values.T, strict=True)
    }
    tables["warmup"] = rows.assign(p_right=0.5)
    seeds = {"warmup": ["warmup"], "full": names}
    found = learning_table(tables, seeds, [("full", "warmup")], interval).iloc[-1]
    yield (
        "R_corr, rise",
        f"{items} items, {SEEDS} seeds",
        100 * found["r_corr_low"],
        100 * found["r_corr_high"],
        100 * rise,
    )


def coverage_table(repetitions: int, samples: int) -> pd.DataFrame:
    """Return what, n, coverage (0 to 1) and mean width (points; of ranks, the mean of high - low, held or
    not)."""
    found = []
    for number in range(repetitions):
        generator, interval = np.random.default_rng([7, number]), Interval(samples, CONFIDENCE, number)
        for data, name in ((SMALL, "benchmark"), (LARGE, "benchmark"), (LOCALS, "Think-as-Locals")):
            found += of_templates(data, name, generator, interval)
        found += of_trainings(generator, interval)
        found += of_claims(generator, interval)
        found += of_learning(generator, interval)
        found += of_win_rates(generator, interval)
        found += of_leaderboard(generator, interval)
        found += of_the_nearly_perfect(generator, interval)
    table = pd.DataFrame(found, columns=["what", "n", "low", "high", "truth"])
    table["coverage"] = (table["low"] <= table["truth"]) & (table["truth"] <= table["high"])
    table["width"] = table["high"] - table["low"]
    return table.groupby(["what", "n"], sort=False)[["coverage", "width"]].mean().reset_index()


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.ArgumentDefaultsHelpFormatter
    )
    parser.add_argument("--repetitions", type=int, default=1000, help="simulated samples of each size")
    parser.add_argument("--samples", type=int, default=1000, help="resamples of each")
    options = parser.parse_args()
    table = coverage_table(options.repetitions, options.samples)
    shown = table.assign(
        coverage=table["coverage"].map("{:.1%}".format), width=table["width"].map("{:.1f}".format)
    )
    print(shown.rename(columns={"width": "mean width"}).to_markdown(index=False, disable_numparse=True))
    reach = norm.isf((1 - 0.95) / 2) * np.sqrt(CONFIDENCE * (1 - CONFIDENCE) / options.repetitions)
    told = {
        "confidence": CONFIDENCE,
        "template_icc": TEMPLATE_ICC,
        "topic_icc": TOPIC_ICC,
        "seed_spread": 100 * SEED_SPREAD,
    }
    print("\n" + CAPTION.format(**vars(options), **told, low=CONFIDENCE - reach, high=CONFIDENCE + reach))


if __name__ == "__main__":
    main()
