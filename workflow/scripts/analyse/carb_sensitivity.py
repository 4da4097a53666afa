"""Measure how far each rewrite moves each reward model's scores."""

import json
from collections.abc import Iterable, Mapping

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
from polyreward.core.kinds import REWARD_KINDS, is_baseline
from polyreward.core.seeds import job_seed
from polyreward.core.sheet import kinds, read_sheet
from polyreward.core.tables import read_table, scorers_of, write_exact
from polyreward.ops.jobs import run
from polyreward.think_as_locals.replies import REPLY_COLUMNS

Scores = Mapping[str, pd.DataFrame]  # by scorer


def parts_of_score(scores: pd.DataFrame, zero: str) -> tuple[pd.DataFrame, pd.Series]:
    """Return score of the rewrite - score of the base (ids by PERTURBATIONS), and |score of the base|.

    zero: "own" where 0 means something: an answer as likely as under the reference, certain, or empty. A
    judge's scores are "log-odds" (nats) of preferring a rewrite to the base, or the difference of their
    "shares" of the replies. The base against itself has one half; the rewrite one half and half of
    tanh(log-odds / 2), or of the difference. A classifier's reward has no zero."""
    ahead = relative_changes(scores, 1)
    if zero == "own":
        base = scores[scores["candidate"] == 0].set_index("id")["score"]
        return ahead, base.loc[ahead.index].abs()
    return (np.tanh(ahead / 2) if zero == "log-odds" else ahead) / 2, pd.Series(0.5, ahead.index)


def zeros_of(sheet: pd.DataFrame) -> dict[str, str]:
    """Return {scorer whose score has a zero: which, as parts_of_score has it}."""
    found = {}
    for name, kind, entry in sheet[["kind", "entry"]].itertuples(name=None):
        if is_baseline(kind) or REWARD_KINDS[kind].has_zero:
            in_words = entry and json.loads(entry).get("verdict") == "text"
            found[name] = ("shares" if in_words else "log-odds") if kind == "generative" else "own"
    return found


def perturbation_table(
    scores: Scores, benchmark: Scores, kinds: Mapping[str, str], zeros: Mapping[str, str], interval: Interval
) -> pd.DataFrame:
    """Return a row for each scorer and perturbation (PERTURBATION_COLUMNS).

    change: mean relative change, in units of the spread on the benchmark; direction: where its interval
    excludes 0. size: the same without sign. lower_pct: items whose score falls. percent: the mean of score' -
    score in percent of the mean |score|, for scorers in zeros, {scorer: as in parts_of_score}. Intervals are
    by bootstrap over topics, with the same draws for all scorers. Without rewrites numbers are empty."""
    check_same_items(scores)
    tables = []
    for name, table in scores.items():
        key = {"scorer": name, "kind": kinds[name], "perturbation": list(PERTURBATIONS)}
        rows = pd.DataFrame(key).reindex(columns=PERTURBATION_COLUMNS)
        if table.empty:
            rows = rows.assign(direction="", n_items=0, note=f"not tested: {NO_REWRITES}")
        else:
            _fill(rows, table, spread(benchmark[name]), zeros.get(name), interval)
        tables.append(rows)
    return pd.concat(tables)


def _fill(rows: pd.DataFrame, table: pd.DataFrame, unit: float, zero: str | None, interval: Interval) -> None:
    changes = relative_changes(table, unit)
    means, freedom = _drawn_means(table, changes, interval)
    signed, sizes = np.hsplit(means, 2)
    rows[["change", "low", "high"]] = _estimates(signed, freedom, interval)
    rows[["size", "size_low", "size_high"]] = _estimates(sizes, freedom, interval, (0, np.inf))
    rows[INDEX] = _estimates(sensitivity_index(sizes)[:, None], freedom, interval, (-1, 1))[0]
    rows["direction"] = [direction(*row) for row in rows[["change", "low", "high"]].itertuples(index=False)]
    rows["lower_pct"] = np.where(np.isfinite(rows["size"]), 100 * (changes < 0).mean(), np.nan)
    rows["n_items"] = len(changes)
    rows["note"] = "" if np.isfinite(rows["index"]).all() else NO_CHANGE if unit else NO_SPREAD
    if zero:
        changes, base = parts_of_score(table, zero)
        means, freedom = _drawn_means(table, changes, interval, base)
        parts, base = means[:, :-1], means[:, -1:]
        ratios = 100 * np.divide(parts, base, out=np.full_like(parts, np.nan), where=base > SAME)
        signed, unsigned = np.hsplit(ratios, 2)
        rows[PERCENT] = np.column_stack([_estimates(signed, freedom, interval), unsigned[0]])


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


def ranked(tables: Iterable[pd.DataFrame]) -> pd.DataFrame:
    """Put tables together, scorers of the highest index first, baselines last."""
    table = pd.concat(tables)
    table = table.assign(last=table["kind"].map(is_baseline))
    table = table.sort_values(["last", "index"], ascending=[True, False], kind="stable")
    return table[PERTURBATION_COLUMNS].reset_index(drop=True)


def with_replies(table: pd.DataFrame, replies: pd.DataFrame) -> pd.DataFrame:
    """Return a table whose notes say how many of a judge's replies are in form, where it wrote any."""
    counts = replies[replies["replies"] > 0].set_index("scorer")
    in_form = counts["in_form"].astype(str) + " of " + counts["replies"].astype(str) + " replies in form"
    notes = zip(table["note"], table["scorer"].map(in_form).fillna(""), strict=True)
    return table.assign(note=["; ".join(filter(None, both)) for both in notes])


def main(snakemake):
    params, files, interval = snakemake.params, snakemake.input, Interval(**snakemake.params.interval)
    sheet, languages, judges = read_sheet(files.sheet), params.cultures, params.judges
    names = kinds(sheet, scorers_of(files.scores))
    zeros = zeros_of(sheet.loc[[*names, *judges]])
    scores = by_scorer(files.scores, names, "carb_perturbation", languages)
    benchmark = by_scorer(files.benchmark, names, "carb", languages)
    judged = by_scorer(files.judged, judges, "carb_perturbation", languages)
    matches = by_scorer(files.matches, judges.values(), "carb_matches")
    of_judges = {name: matches[judge] for name, judge in judges.items() if judge in matches}
    replies = pd.concat([read_table(path, REPLY_COLUMNS) for path in files.replies])
    # Judges of Think-as-Locals have fewer items, and a knock-out instead of the benchmark.
    groups = ((names, scores, benchmark), (dict.fromkeys(judges, "generative"), judged, of_judges))
    table = ranked(
        perturbation_table(*in_all(*both), of_scorer, zeros, interval) for of_scorer, *both in groups
    )
    write_exact(with_replies(table, replies), snakemake.output[0], PERTURBATION_COLUMNS)


if __name__ == "__main__":
    run(main, globals().get("snakemake"))
