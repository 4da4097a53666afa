"""Table 1's rows, and the columns of the comparisons that artifacts are made of."""

from collections.abc import Iterable, Sequence
from itertools import combinations

import numpy as np
import pandas as pd

from polyreward.analysis.accuracies import Accuracies, in_all_languages, split_cases
from polyreward.analysis.bootstrap import Interval
from polyreward.analysis.comparison import Benchmark, Comparison, transfer_rows
from polyreward.analysis.verdicts import from_draws
from polyreward.core.errors import PolyrewardError
from polyreward.core.naming import ModelName

SECTIONS = ["chat", "chat_hard", "safety", "reasoning"]
VALUES = [*SECTIONS, "avg"]
# As Comparison.contrast gives it
ESTIMATE = [*(f"{name}{end}" for name in VALUES for end in ("", "_low", "_high")), "n_pairs", "n_templates"]
OVER_SEEDS = ["n_seeds", "avg_sd", "avg_se", "avg_se_trainings"]
TRANSFER_COLUMNS = [
    *("base_model", "eval_language", "rm_training"),
    *ESTIMATE,
    "p_mcnemar",
    *OVER_SEEDS,
    "p_seeds",
]
# missing: why a row is empty
LANGUAGE_COLUMNS = [
    *("eval_language", "reward_model", "base_model", "rm_training"),
    *ESTIMATE,
    *OVER_SEEDS,
    "missing",
]
GAP_COLUMNS = [
    *("base_model", "eval_language", "source_pct", "language_pct"),
    *("gap_points", "low", "high", "n_templates", "n_seeds"),
]
READY_MADE_COLUMNS = ["reward_model", "kind", "eval_language", *ESTIMATE, "missing"]


def transfer_table(
    scores: pd.DataFrame, source: str, benchmark: Benchmark, interval: Interval
) -> pd.DataFrame:
    """Compare the source language's reward models with each target language's own, on that language.

    scores: of trained reward models, named as ModelName has it, in every target language."""
    records = []
    for language, of_language in scores[scores["language"] != source].groupby("language", sort=False):
        tables = dict(iter(of_language.groupby("scorer", sort=False)))
        for base in dict.fromkeys(ModelName.parse(name).base for name in tables):
            target, english = (_trainings(tables, base, training) for training in (language, source))
            if not target or len(target) != len(english):
                raise PolyrewardError(
                    f"{base} in {language}: scored are {', '.join(target) or 'no models'} of {language}, and"
                    f" {', '.join(english) or 'no models'} of {source}; score the same seeds of both"
                )
            compared = pd.concat([tables[name] for name in (*target, *english)])
            comparison = Comparison(compared, benchmark, interval)
            records += transfer_rows(comparison, target, english, base_model=base, eval_language=language)
    table = pd.DataFrame(records).reindex(columns=TRANSFER_COLUMNS)
    bases = list(table["base_model"].drop_duplicates())
    return table.sort_values("base_model", key=lambda names: names.map(bases.index), kind="stable")


def transfer_gaps(
    scores: pd.DataFrame,
    bases: Sequence[str],
    languages: Sequence[str],
    benchmark: Benchmark,
    interval: Interval,
) -> pd.DataFrame:
    """Return the transfer gap of each base and language, and how two bases differ in it.

    The gap is the average over sections in the source language minus the one in another, of the reward model
    that was trained in the source language. Both have the same templates, so that intervals are paired; of
    several trainings the mean, and their variance is in the interval. Pairs that a language lacks are left
    out.

    languages: the source language first."""
    source, *others = languages
    names = [ModelName.parse(name) for name in sorted(scores["scorer"].unique())]
    trainings = {(base, source): [str(name) for name in names if name.base == base] for base in bases}
    accuracies = Accuracies(in_all_languages(scores), trainings, benchmark, interval)
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
    means, each = split_cases(np.stack(list(gaps.values()), axis=1), accuracies.n_seeds)
    compared = from_draws(means, accuracies.freedom, each)
    low, high = compared.ends(interval.confidence)
    table = pd.DataFrame(list(gaps), columns=["base_model", "eval_language"]).assign(
        gap_points=compared.points, low=low, high=high
    )
    for name, language in (("source_pct", source), ("language_pct", None)):
        table[name] = [of[base, language or own][0, 0] if (base, own) in of else np.nan for base, own in gaps]
    return table.assign(n_templates=accuracies.n_templates, n_seeds=accuracies.n_seeds)[GAP_COLUMNS]


def _trainings(scorers: Iterable[str], base: str, training: str) -> list[str]:
    models = [ModelName.parse(name) for name in scorers]
    own = [model for model in models if (model.base, model.language) == (base, training)]
    return [str(model) for model in sorted(own, key=lambda model: model.seed)]
