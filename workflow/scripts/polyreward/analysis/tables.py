"""Table 1's rows, and the columns of the comparisons that artifacts are made of."""

from collections.abc import Iterable

import pandas as pd

from polyreward.analysis.bootstrap import Interval
from polyreward.analysis.comparison import Benchmark, Comparison, transfer_rows
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
READY_MADE_COLUMNS = ["reward_model", "kind", "eval_language", *ESTIMATE, "missing"]


def transfer_table(
    scores: pd.DataFrame, source: str, benchmark: Benchmark, interval: Interval
) -> pd.DataFrame:
    """Compare the source language's reward models with each target language's own, on that language.

    Args:
        scores: of trained reward models, named as ModelName has it, in every target language.
        source: the source language.
    """
    records = []
    for language, of_language in scores[scores["language"] != source].groupby("language", sort=False):
        tables = dict(iter(of_language.groupby("scorer", sort=False)))
        for base in dict.fromkeys(ModelName.parse(name).base for name in tables):
            target, english = (_trainings(tables, base, training) for training in (language, source))
            if not target or len(target) != len(english):
                raise PolyrewardError(
                    f"{base} in {language}: reward models {', '.join(target) or 'none'} and"
                    f" {', '.join(english) or 'none'}; score as many seeds of both"
                )
            compared = pd.concat([tables[name] for name in (*target, *english)])
            comparison = Comparison(compared, benchmark, interval)
            records += transfer_rows(comparison, target, english, base_model=base, eval_language=language)
    table = pd.DataFrame(records).reindex(columns=TRANSFER_COLUMNS)
    bases = list(table["base_model"].drop_duplicates())
    return table.sort_values("base_model", key=lambda names: names.map(bases.index), kind="stable")


def _trainings(scorers: Iterable[str], base: str, training: str) -> list[str]:
    """Return a base's reward models of a training language, by seed."""
    models = [ModelName.parse(name) for name in scorers]
    own = [model for model in models if (model.base, model.language) == (base, training)]
    return [str(model) for model in sorted(own, key=lambda model: model.seed)]
