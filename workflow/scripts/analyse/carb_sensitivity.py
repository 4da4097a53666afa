"""Measure how far each rewrite moves each reward model's scores."""

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from polyreward.analysis.bootstrap import Interval, resampled_sections, student_interval
from polyreward.carb.leaderboard import by_scorer, check_same_items, in_all
from polyreward.carb.perturbation.perturbations import PERTURBATIONS
from polyreward.carb.perturbation.sensitivity import (
    INDEX,
    NO_CHANGE,
    NO_REWRITES,
    NO_SPREAD,
    PERCENT,
    PERTURBATION_COLUMNS,
    SAME,
    relative_changes,
    sensitivity_index,
    spread,
)
from polyreward.core.seeds import job_seed
from polyreward.core.tables import read_table, write_exact
from polyreward.ops.jobs import run
from polyreward.think_as_locals.replies import REPLY_COLUMNS

# What |score| is in (score' - score) / |score|. "log-odds" and "shares" are judges', whose base against
# itself has half of the probability or of the replies. "own" is the score, where 0 means something: an answer
# as likely as under the reference, certain, or empty. A classifier's reward may be moved by any constant, so
# that it has none.
ZEROS = ("log-odds", "shares", "own")


def parts_of_score(scores: pd.DataFrame, zero: str) -> tuple[pd.DataFrame, pd.Series]:
    """Return score of the rewrite - score of the base (ids by PERTURBATIONS), and |score of the base|.

    A judge's scores are log-odds of preferring a rewrite to the base (nats), or differences of their shares
    of the replies. The base against itself has one half; the rewrite one half and half of tanh(log-odds / 2),
    or of the difference."""
    wide = scores.pivot(index="id", columns="candidate", values="score")
    ahead = wide.drop(columns=0).set_axis(list(PERTURBATIONS), axis=1).sub(wide[0], axis=0)
    if zero == "own":
        return ahead, wide[0].abs()
    return (np.tanh(ahead / 2) if zero == "log-odds" else ahead) / 2, pd.Series(0.5, wide.index)


def perturbation_table(
    scores: Mapping[str, pd.DataFrame],
    benchmark: Mapping[str, pd.DataFrame],
    kinds: Mapping[str, str],
    zeros: Mapping[str, str],
    interval: Interval,
) -> pd.DataFrame:
    """Return a row for each scorer and perturbation (PERTURBATION_COLUMNS), ranked.

    change: mean relative change; direction: where its interval excludes 0. size: the same without sign.
    lower_pct: items whose score falls. percent: the mean of score' - score in percent of the mean |score|.
    Intervals are by bootstrap over topics, with the same draws for all scorers.

    scores: {scorer: its scores of the rewrites}; without any, its numbers are empty and `note` says so.
    benchmark: {scorer: its scores of the benchmark}, whose spread is the unit. zeros: {scorer: one of ZEROS};
    percent is empty for others."""
    check_same_items(scores)
    tables = []
    for name, table in scores.items():
        if table.empty:
            key = {"scorer": name, "kind": kinds[name], "perturbation": list(PERTURBATIONS)}
            rows = pd.DataFrame({**key, "direction": "", "n_items": 0, "note": f"not tested: {NO_REWRITES}"})
            tables.append(rows.reindex(columns=PERTURBATION_COLUMNS))
            continue
        unit = spread(benchmark[name])
        rows = _rows(name, kinds[name], table, unit, interval)
        if name in zeros:
            rows[PERCENT] = _percents(table, zeros[name], interval)
        tables.append(rows)
    return ranked(pd.concat(tables))


def _drawn_means(
    table: pd.DataFrame, changes: pd.DataFrame, interval: Interval, *more: pd.Series
) -> tuple[np.ndarray, int]:
    """Return the means of changes, their sizes and more columns (1 + samples, columns), and the freedom.

    Resamples are of topics."""
    topics = table.groupby("id")["template"].first().loc[changes.index]
    values = np.column_stack([changes, changes.abs(), *more])
    subsets, weights, sections = ["all"] * len(values), {"all": 1.0}, {"all": ["all"]}
    seed = job_seed(interval.seed, "bootstrap", "carb_perturbation")
    drawn = resampled_sections(values, subsets, topics, weights, sections, interval.samples, seed)[:, :, 0]
    return np.vstack([values.mean(axis=0), drawn]), topics.nunique() - 1


def _percents(table: pd.DataFrame, zero: str, interval: Interval) -> np.ndarray:
    changes, sizes = parts_of_score(table, zero)
    means, freedom = _drawn_means(table, changes, interval, sizes)
    parts, base = means[:, :-1], means[:, -1:]
    ratios = 100 * np.divide(parts, base, out=np.full_like(parts, np.nan), where=base > SAME)
    signed, unsigned = np.hsplit(ratios, 2)
    return np.column_stack([_estimates(signed, freedom, interval), unsigned[0]])


def _rows(name: str, kind: str, table: pd.DataFrame, unit: float, interval: Interval) -> pd.DataFrame:
    changes = relative_changes(table, unit)
    means, freedom = _drawn_means(table, changes, interval)
    signed, sizes = np.hsplit(means, 2)
    rows = pd.DataFrame({"scorer": name, "kind": kind, "perturbation": list(PERTURBATIONS)})
    rows = rows.reindex(columns=PERTURBATION_COLUMNS)
    rows[["change", "low", "high"]] = _estimates(signed, freedom, interval)
    rows[["size", "size_low", "size_high"]] = _estimates(sizes, freedom, interval, (0, np.inf))
    rows[INDEX] = _estimates(sensitivity_index(sizes)[:, None], freedom, interval, (-1, 1))[0]
    without = NO_CHANGE if unit else NO_SPREAD
    return rows.assign(
        direction=[direction(*row) for row in rows[["change", "low", "high"]].itertuples(index=False)],
        lower_pct=np.where(np.isfinite(rows["size"]), 100 * (changes < 0).mean(), np.nan),
        n_items=len(changes),
        note="" if np.isfinite(rows["index"]).all() else without,
    )


def direction(change: float, low: float, high: float) -> str:
    """Say where a mean change goes: up, down, not decided, or nothing where it is unknown."""
    if not np.isfinite(change):
        return ""
    return "up" if low > 0 else "down" if high < 0 else "not decided"


def _estimates(
    values: np.ndarray, freedom: int, interval: Interval, within: tuple[float, float] = (-np.inf, np.inf)
) -> np.ndarray:
    """Return value and ends of each column: (columns, 3). values: the data's own, then the resamples'."""
    ends = [np.clip(student_interval(of, interval.confidence, freedom), *within) for of in values.T]
    return np.column_stack([values[0], ends])


def grouped_table(
    groups: Sequence[tuple[Mapping[str, str], dict[str, pd.DataFrame], dict[str, pd.DataFrame]]],
    zeros: Mapping[str, str],
    interval: Interval,
) -> pd.DataFrame:
    """Return one perturbation table of groups of scorers, each with items of its own.

    groups: ({scorer: kind}, {scorer: its scores of the rewrites}, {scorer: of the benchmark}); scorers
    without scores are left out."""
    tables = [
        perturbation_table(*in_all(rewrites, benchmark), kinds, zeros, interval)
        for kinds, rewrites, benchmark in groups
    ]
    return ranked(pd.concat(tables))


def ranked(table: pd.DataFrame) -> pd.DataFrame:
    """Put a table's scorers of the highest index first, baselines last."""
    table = table.assign(last=table["kind"] == "baseline")
    table = table.sort_values(["last", "index"], ascending=[True, False], kind="stable")
    return table[PERTURBATION_COLUMNS].reset_index(drop=True)


def with_replies(table: pd.DataFrame, replies: pd.DataFrame) -> pd.DataFrame:
    """Return a table whose notes say how many of a judge's replies are in form, where it wrote any."""
    counts = replies[replies["replies"] > 0].set_index("scorer")
    in_form = counts["in_form"].astype(str) + " of " + counts["replies"].astype(str) + " replies in form"
    notes = zip(table["note"], table["scorer"].map(in_form).fillna(""), strict=True)
    return table.assign(note=["; ".join(filter(None, both)) for both in notes])


def main(snakemake):
    params, files = snakemake.params, snakemake.input
    names, languages, judges = params.kinds, params.cultures, params.judges
    scores = by_scorer(files.scores, names, "carb_perturbation", languages)
    benchmark = by_scorer(files.benchmark, names, "carb", languages)
    judged = by_scorer(files.judged, judges, "carb_perturbation", languages)
    matches = by_scorer(files.matches, judges.values(), "carb_matches")
    of_judges = {name: matches[judge] for name, judge in judges.items() if judge in matches}
    groups = [(names, scores, benchmark), (dict.fromkeys(judges, "generative"), judged, of_judges)]
    table = grouped_table(groups, params.zeros, Interval(**params.interval))
    replies = pd.concat([read_table(path, REPLY_COLUMNS) for path in files.replies])
    write_exact(with_replies(table, replies), snakemake.output[0], PERTURBATION_COLUMNS)


if __name__ == "__main__":
    run(main, globals().get("snakemake"))
