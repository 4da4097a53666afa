"""What goes into the tables of scorers: baselines.csv, subsets.csv, twins.csv and gate.csv."""

import dataclasses
from collections.abc import Iterator, Sequence

import pandas as pd

from polyreward.analysis.accuracy import ALL, chance, subset_summary
from polyreward.analysis.bootstrap import Interval
from polyreward.analysis.comparison import (
    Benchmark,
    Comparison,
    length_slices,
    mean_of,
    transfer_rows,
    twin_row,
)
from polyreward.core.naming import ModelName
from polyreward.core.unavailable import present, reasons, sizes_of

SECTIONS = ["chat", "chat_hard", "safety", "reasoning"]
VALUES = [*SECTIONS, "avg"]
ESTIMATE = [
    *(f"{name}{end}" for name in VALUES for end in ("", "_low", "_high")),
    "n_pairs",
    "n_templates",
]  # as Comparison.contrast gives it
OVER_SEEDS = ["n_seeds", "avg_sd", "avg_se", "avg_se_trainings"]
INTERVAL = ["accuracy_pct", "low", "high"]

SCORER_COLUMNS = ["benchmark", "eval_language", "scorer", "kind", "slice", *ESTIMATE]
SUBSET_COLUMNS = [
    "benchmark",
    "eval_language",
    "scorer",
    "kind",
    "section",
    "subset",
    *INTERVAL,
    "n_pairs",
    "n_templates",
]
TWIN_MEASURES = [
    f"{name}_{part}"
    for name in ("pair_accuracy", "both_right", "sum_right")
    for part in ("pct", "low", "high")
]
TWIN_COLUMNS = ["eval_language", "section", "scorer", "kind", *TWIN_MEASURES, "n_families"]
GATE_COLUMNS = ["eval_language", "models", "baseline", *ESTIMATE, "verdict"]
TRANSFER_COLUMNS = [
    "base_model",
    "eval_language",
    "rm_training",
    *ESTIMATE,
    "p_mcnemar",
    *OVER_SEEDS,
    "p_seeds",
]
LANGUAGE_COLUMNS = [
    "eval_language",
    "reward_model",
    "base_model",
    "rm_training",
    *ESTIMATE,
    *OVER_SEEDS,
    "missing",
]
READY_MADE_COLUMNS = [
    "reward_model",
    "kind",
    "eval_language",
    *ESTIMATE,
    "missing",
]  # missing: why a row is empty
OWN_COLUMNS = [
    "scorer",
    "kind",
    "subset",
    *INTERVAL,
    "n_items",
    "chance_pct",
    "truncated_pct",
    "n_within_noise",
]

Rows = Sequence[dict]
Scores = dict[str, pd.DataFrame]


def ties_of(scorers: Sequence[str], baselines: Sequence[str]) -> dict[str, str]:
    """Return how each scorer's ties count: those of baselines, and of judges that write their verdict, are
    half right."""
    return {name: "half" if name in baselines else "wrong" for name in scorers}


def transfer_table(
    rows: dict[str, Rows],
    english: dict[tuple[str, str, int], pd.DataFrame],
    target: dict[tuple[str, str, int], pd.DataFrame],
    benchmark: Benchmark,
    interval: Interval,
) -> pd.DataFrame:
    """Compare English and target reward models.

    rows: {language: rows}.
    english, target: {(base, language, seed): scores}."""
    records = []
    for base, language in dict.fromkeys(key[:2] for key in target):
        seeds = [seed for *key, seed in target if (base, language) == tuple(key)]
        scores = {
            f"{kind} {seed}": of_kind[base, language, seed]
            for kind, of_kind in (("target", target), ("english", english))
            for seed in seeds
        }
        comparison = Comparison(
            benchmark, language, rows[language], scores, ties_of(list(scores), []), interval
        )
        names = [[f"{kind} {seed}" for seed in seeds] for kind in ("target", "english")]
        records += transfer_rows(comparison, *names, base_model=base, eval_language=language)
    return pd.DataFrame(records).reindex(columns=TRANSFER_COLUMNS)


def language_table(
    rows: Rows,
    scores: Scores,
    language: str,
    benchmark: Benchmark,
    interval: Interval,
    halves: Sequence[str] = (),
) -> pd.DataFrame:
    """Return Tables 3-7's rows of one language, one for each reward model: the mean over its seeds.

    halves: those whose ties are half right. base_model and rm_training are those of a reward model that was
    trained here; one from elsewhere has neither, and where it has no scores, either, `missing` says why."""
    lacking, (there,) = reasons(scores), present(scores)
    comparison = Comparison(benchmark, language, rows, there, ties_of(list(there), halves), interval)
    seeds: dict[str, list[str]] = {}
    for model in scores:
        seeds.setdefault(_first_seed(model), []).append(model)
    records = []
    for model, of_model in seeds.items():
        trained = ModelName.parse(model) if "_" in model else None
        key = {
            "eval_language": language,
            "reward_model": model,
            "base_model": trained and trained.base,
            "rm_training": trained and trained.language,
        }
        if model in lacking:
            records.append({**key, "missing": lacking[model]})
            continue
        mean, spread = comparison.contrast(mean_of(of_model), [of_model]), comparison.spread(of_model)
        records.append({**key, **mean, "n_seeds": len(of_model), "avg_sd": spread})
    return sizes_of(
        pd.DataFrame(records).reindex(columns=LANGUAGE_COLUMNS), ["n_pairs", "n_templates", "n_seeds"]
    )


def _first_seed(model: str) -> str:
    return str(dataclasses.replace(ModelName.parse(model), seed=1)) if "_" in model else model


def ready_made_table(
    rows: dict[str, Rows],
    scores: dict[str, Scores],
    kinds: dict[str, str],
    benchmark: Benchmark,
    interval: Interval,
    halves: Sequence[str] = (),
) -> pd.DataFrame:
    """Return Table 2's rows: every reward model that was not trained here, on every language.

    rows, scores: by language.
    kinds: {reward model: what it is}.
    halves: those whose ties are half right, beside baselines.
    missing: why a row is empty."""
    baselines = [*halves, *(name for name, kind in kinds.items() if kind == "baseline")]
    lacking = {language: reasons(of_language) for language, of_language in scores.items()}
    comparisons = {
        language: Comparison(
            benchmark,
            language,
            rows[language],
            *present(scores[language]),
            ties_of(list(kinds), baselines),
            interval,
        )
        for language in rows
    }
    table = pd.DataFrame(
        [
            {
                "reward_model": name,
                "kind": kind,
                "eval_language": language,
                **(
                    {"missing": lacking[language][name]}
                    if name in lacking[language]
                    else comparison.contrast({name: 1.0})
                ),
            }
            for name, kind in kinds.items()
            for language, comparison in comparisons.items()
        ]
    )
    return sizes_of(table.reindex(columns=READY_MADE_COLUMNS), ["n_pairs", "n_templates"])


def scorer_tables(
    rows: Rows,
    scores: Scores,
    baselines: Sequence[str],
    language: str,
    benchmark: Benchmark,
    interval: Interval,
    halves: Sequence[str] = (),
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return (rows of baselines.csv, rows of subsets.csv) for one benchmark and language.

    halves: reward models whose ties are half right, as a baseline's are. Those without scores are left
    out."""
    (scores,) = present(scores)
    kinds = {name: "baseline" if name in baselines else "reward model" for name in scores}
    of_scorer, of_subset = [], []
    for slice_name, ids in length_slices(rows).items():
        kept = [row for row in rows if row["id"] in set(ids)]
        if not kept:
            continue
        in_slice = {name: table[table["id"].isin(ids)] for name, table in scores.items()}
        ties, a_slice = ties_of(list(scores), [*baselines, *halves]), slice_name != "all"
        comparison = Comparison(benchmark, language, kept, in_slice, ties, interval, a_slice)
        for name, kind in kinds.items():
            key = {"benchmark": benchmark.name, "eval_language": language, "scorer": name, "kind": kind}
            of_scorer.append({**key, "slice": slice_name, **comparison.contrast({name: 1.0})})
            if slice_name == "all":
                of_subset.append(comparison.by_subset(name).assign(**key))
    return pd.DataFrame(of_scorer).reindex(columns=SCORER_COLUMNS), pd.concat(of_subset)


def twin_table(
    rows: Rows,
    scores: Scores,
    baselines: Sequence[str],
    language: str,
    sections: dict[str, Sequence[str]],
    interval: Interval,
) -> pd.DataFrame:
    """Return twins.csv's rows of one language: each section and all families together."""
    records = []
    ties = ties_of(list(scores), baselines)
    for section, kept in _twin_sections(rows, sections):
        ids = {row["id"] for row in kept}
        for name, table in scores.items():
            key = {
                "eval_language": language,
                "section": section,
                "scorer": name,
                "kind": "baseline" if name in baselines else "reward model",
            }
            records.append(twin_row(kept, table[table["id"].isin(ids)], ties[name], interval, **key))
    return pd.DataFrame(records)


def gate_table(
    rows: Rows,
    scores: Scores,
    models: Sequence[str],
    baselines: Sequence[str],
    language: str,
    benchmark: Benchmark,
    interval: Interval,
) -> pd.DataFrame:
    """Return the mean of the models minus each baseline; the gate itself is the row of `length`.

    verdict: "above" where the whole interval is above zero, "below" where it is below, else "not decided"."""
    comparison = Comparison(benchmark, language, rows, scores, ties_of(list(scores), baselines), interval)
    records = []
    for baseline in baselines:
        row = comparison.contrast({**mean_of(models), baseline: -1.0})
        verdict = "above" if row["avg_low"] > 0 else "below" if row["avg_high"] < 0 else "not decided"
        records.append(
            {
                "eval_language": language,
                "models": " ".join(models),
                "baseline": baseline,
                **row,
                "verdict": verdict,
            }
        )
    return pd.DataFrame(records).reindex(columns=GATE_COLUMNS)


def own_table(
    rows: Rows, scores: Scores, baselines: Sequence[str], confidence: float, halves: Sequence[str] = ()
) -> pd.DataFrame:
    """Return the table of a user's own benchmark: every scorer's accuracy on each subset and on all items.

    confidence: of the intervals, a fraction. halves: those whose ties are half right, beside baselines."""
    ties, tables = ties_of(list(scores), [*baselines, *halves]), []
    of_subset = {
        subset: chance([row for row in rows if row["subset"] == subset])
        for subset in {row["subset"] for row in rows}
    }
    for name, table in scores.items():
        summary = subset_summary(table, ties[name], confidence)
        kind = "baseline" if name in baselines else "reward model"
        chances = summary["subset"].map({**of_subset, ALL: chance(rows)})
        tables.append(summary.assign(scorer=name, kind=kind, chance_pct=chances))
    return pd.concat(tables)


def _twin_sections(rows: Rows, sections: dict[str, Sequence[str]]) -> Iterator[tuple[str, list[dict]]]:
    yield "all", list(rows)
    for section, subsets in sections.items():
        of_section = [row for row in rows if row["subset"] in subsets]
        if of_section:
            yield section, of_section
