"""Measure how far each rewrite moves each reward model's scores."""

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from polyreward.analysis.bootstrap import Interval, student_interval
from polyreward.carb.leaderboard import by_scorer, in_all
from polyreward.carb.perturbation.perturbations import PERTURBATIONS
from polyreward.carb.perturbation.sensitivity import (
    INDEX,
    NO_CHANGE,
    NO_REWRITES,
    NO_SPREAD,
    PERCENT,
    PERTURBATION_COLUMNS,
    SAME,
    check_same_items,
    relative_changes,
    resampled_means,
    sensitivity_index,
    spread,
)
from polyreward.core.tables import read_table, write_exact
from polyreward.ops.jobs import run
from polyreward.think_as_locals.replies import REPLY_COLUMNS

# What |score| is in (score' - score) / |score|. "log-odds" and "shares" are judges', whose base against
# itself has half of the probability or of the replies. "own" is the score, where 0 means something: an answer
# as likely as under the reference, certain, or empty. A classifier's reward may be moved by any constant, so
# that it has none.
ZEROS = ("log-odds", "shares", "own")


def parts_of_score(scores: pd.DataFrame, zero: str) -> tuple[pd.DataFrame, pd.Series]:
    """Return each item's score of the rewrite - score of the base (ids by PERTURBATIONS), and |score of the
    base|.

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

    Args:
        scores: {scorer: its scores of the rewrites}; without any, its numbers are empty and `note` says
            so.
        benchmark: {scorer: its scores of the benchmark}, whose spread is the unit.
        zeros: {scorer: one of ZEROS}; percent is empty for others.
    """
    check_same_items(scores)
    tables = []
    for name, table in scores.items():
        if table.empty:
            key = {"scorer": name, "kind": kinds[name], "perturbation": list(PERTURBATIONS)}
            rows = pd.DataFrame({**key, "direction": "", "n_items": 0, "note": f"not tested: {NO_REWRITES}"})
            tables.append(rows.reindex(columns=PERTURBATION_COLUMNS))
            continue
        unit, topics = spread(benchmark[name]), table.groupby("id")["template"].first()
        without = NO_CHANGE if unit else NO_SPREAD
        rows = _rows(name, kinds[name], relative_changes(table, unit), topics, interval, without)
        if name in zeros:
            rows[PERCENT] = _percents(table, zeros[name], interval)
        tables.append(rows)
    return ranked(pd.concat(tables))


def _percents(table: pd.DataFrame, zero: str, interval: Interval) -> np.ndarray:
    changes, sizes = parts_of_score(table, zero)
    topics = table.groupby("id")["template"].first().loc[changes.index]
    values = np.column_stack([changes, changes.abs(), sizes])
    means = np.vstack([values.mean(axis=0), resampled_means(values, topics, interval, "carb_perturbation")])
    parts, base = means[:, :-1], means[:, -1:]
    ratios = 100 * np.divide(parts, base, out=np.full_like(parts, np.nan), where=base > SAME)
    signed, unsigned = np.hsplit(ratios, 2)
    return np.column_stack([_estimates(signed, topics.nunique() - 1, interval), unsigned[0]])


def _rows(
    name: str, kind: str, changes: pd.DataFrame, topics: pd.Series, interval: Interval, without: str
) -> pd.DataFrame:
    """Return a scorer's rows of its relative changes. without: the note if it has no index."""
    values = np.column_stack([changes, changes.abs()])
    of_items = topics.loc[changes.index]
    means = np.vstack([values.mean(axis=0), resampled_means(values, of_items, interval, "carb_perturbation")])
    freedom = of_items.nunique() - 1
    signed, sizes = np.hsplit(means, 2)
    rows = pd.DataFrame({"scorer": name, "kind": kind, "perturbation": list(PERTURBATIONS)})
    rows = rows.reindex(columns=PERTURBATION_COLUMNS)
    rows[["change", "low", "high"]] = _estimates(signed, freedom, interval)
    rows[["size", "size_low", "size_high"]] = _estimates(sizes, freedom, interval, (0, np.inf))
    rows[INDEX] = _estimates(sensitivity_index(sizes)[:, None], freedom, interval, (-1, 1))[0]
    return rows.assign(
        direction=[direction(*row) for row in rows[["change", "low", "high"]].itertuples(index=False)],
        lower_pct=np.where(np.isfinite(rows["size"]), 100 * (changes < 0).mean(), np.nan),
        n_items=len(of_items),
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
    """Return the value and the ends of each column: (columns, 3). values: the data's own, then the
    resamples'."""
    ends = [np.clip(student_interval(of, interval.confidence, freedom), *within) for of in values.T]
    return np.column_stack([values[0], ends])


def grouped_table(
    groups: Sequence[tuple[Mapping[str, str], dict[str, pd.DataFrame], dict[str, pd.DataFrame]]],
    zeros: Mapping[str, str],
    interval: Interval,
) -> pd.DataFrame:
    """Return one perturbation table of several groups of scorers, each with items of its own.

    Args:
        groups: ({scorer: kind}, {scorer: its scores of the rewrites}, {scorer: of the benchmark}); scorers
        without
            scores are left out.
    """
    read = [(*in_all(rewrites, benchmark), kinds) for kinds, rewrites, benchmark in groups]
    return ranked(pd.concat([perturbation_table(*group, zeros, interval) for group in read]))


def ranked(table: pd.DataFrame) -> pd.DataFrame:
    """Put a table's scorers of the highest index first, baselines last."""
    table = table.assign(last=table["kind"] == "baseline")
    table = table.sort_values(["last", "index"], ascending=[True, False], kind="stable")
    return table[PERTURBATION_COLUMNS].reset_index(drop=True)


def with_replies(table: pd.DataFrame, replies: pd.DataFrame) -> pd.DataFrame:
    """Return a perturbation table whose notes say how many of a judge's replies are in form, where it wrote
    any.
    """
    counts = replies[replies["replies"] > 0].set_index("scorer")
    in_form = counts["in_form"].astype(str) + " of " + counts["replies"].astype(str) + " replies in form"
    notes = zip(table["note"], table["scorer"].map(in_form).fillna(""), strict=True)
    return table.assign(note=["; ".join(filter(None, both)) for both in notes])


def main(snakemake):
    params, files, languages = snakemake.params, snakemake.input, snakemake.params.cultures
    rewrites, benchmark = "carb_perturbation", "carb"
    judged = by_scorer(files.judged, params.judges, rewrites, languages)
    matches = by_scorer(files.matches, params.judges.values(), "carb_matches")
    groups = [
        (
            params.kinds,
            by_scorer(files.scores, params.kinds, rewrites, languages),
            by_scorer(files.benchmark, params.kinds, benchmark, languages),
        ),
        (
            dict.fromkeys(params.judges, "generative"),
            judged,
            {name: matches[judge] for name, judge in params.judges.items() if judge in matches},
        ),
    ]
    table = grouped_table(groups, params.zeros, Interval(**params.interval))
    replies = pd.concat([read_table(path, REPLY_COLUMNS) for path in files.replies])
    write_exact(with_replies(table, replies), snakemake.output[0], PERTURBATION_COLUMNS)


if __name__ == "__main__":
    run(main, globals().get("snakemake"))
