"""Compare what the source language's reward models get in their own language and in others."""

from collections.abc import Sequence
from itertools import combinations

import numpy as np
import pandas as pd

from polyreward.analysis.bootstrap import Interval
from polyreward.analysis.comparison import Accuracies, Benchmark
from polyreward.analysis.verdicts import from_draws
from polyreward.core.naming import ModelName
from polyreward.core.tables import read_scores, write_table
from polyreward.ops.jobs import run

COLUMNS = [
    *("base_model", "eval_language", "source_pct", "language_pct"),
    *("gap_points", "low", "high", "n_templates", "n_seeds"),
]


def transfer_gaps(
    scores: pd.DataFrame,
    bases: Sequence[str],
    languages: Sequence[str],
    benchmark: Benchmark,
    interval: Interval,
) -> pd.DataFrame:
    """Return the transfer gap of each base and language, and how two bases differ in it.

    The gap is the average over sections in the source language less that in another, of the reward model that
    was trained in the source language. Both have the same templates, so that intervals are paired; of several
    trainings the mean, and their variance is in the interval.

    Args:
        scores: of these reward models, named as ModelName has it, in all languages.
        bases: of these, in the order of the rows.
        languages: the source language first.
    """
    source, *others = languages
    names = [ModelName.parse(name) for name in sorted(scores["scorer"].unique())]
    trainings = {(base, source): [str(name) for name in names if name.base == base] for base in bases}
    accuracies = Accuracies(scores, trainings, benchmark, interval)
    of = {
        (base, language): accuracies.training_draws(base, source, language, "avg")
        for base in bases
        for language in languages
    }
    gaps = {key: of[key[0], source] - values for key, values in of.items() if key[1] != source}
    for first, second in combinations(bases, 2):
        gaps |= {
            (f"{first} - {second}", language): gaps[first, language] - gaps[second, language]
            for language in others
        }
    means, each = accuracies.cases(np.stack(list(gaps.values()), axis=1))
    compared = from_draws(means, accuracies.freedom, each)
    low, high = compared.ends(interval.confidence)
    table = pd.DataFrame(list(gaps), columns=["base_model", "eval_language"]).assign(
        gap_points=compared.points, low=low, high=high
    )
    for name, language in (("source_pct", source), ("language_pct", None)):
        table[name] = [of[base, language or own][0, 0] if (base, own) in of else np.nan for base, own in gaps]
    return table.assign(n_templates=accuracies.n_templates, n_seeds=accuracies.n_seeds)[COLUMNS]


def main(snakemake):
    params = snakemake.params
    facts, interval = Benchmark(**params.benchmark), Interval(**params.interval)
    scores = read_scores(snakemake.input)
    table = transfer_gaps(scores, params.bases, params.languages, facts, interval)
    write_table(table, snakemake.output[0], COLUMNS)


if __name__ == "__main__":
    run(main, globals().get("snakemake"))
