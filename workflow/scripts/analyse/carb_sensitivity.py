"""Measure how far each rewrite moves each reward model's scores."""

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from polyreward.analysis.bootstrap import Interval, student_interval
from polyreward.carb.leaderboard import by_scorer, in_all
from polyreward.carb.perturbation.perturbations import PERTURBATIONS, changed_share
from polyreward.carb.perturbation.sensitivity import (
    CHANCE,
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
from polyreward.core.files import read_jsonl
from polyreward.core.seeds import job_seed
from polyreward.core.tables import read_table, write_exact
from polyreward.ops.jobs import run
from polyreward.think_as_locals.replies import REPLY_COLUMNS

PERMUTATIONS = 20  # of each reward model's scores
# What |score| is in (score' - score) / |score|. Of a judge: the half of the probability ("log-odds") or of
# the replies ("shares") that a base has beside itself. "own": the score, where its 0 means something: for an
# implicit reward model as likely as under the reference, or certain; for `length` no character. A
# classifier's reward may be moved by any constant: it has none.
ZEROS = ("log-odds", "shares", "own")


def parts_of_score(scores: pd.DataFrame, zero: str) -> tuple[pd.DataFrame, pd.Series]:
    """Return each item's score of the rewrite - score of the base (ids by PERTURBATIONS), and its |score of
    the base|.

    scores: item_scores' rows. zero: of ZEROS; a judge's scores are log-odds of preferring a rewrite to the
    base (nats), or differences of their shares of the replies, so that the base itself, beside itself, has
    one half, and the rewrite one half and half of tanh(log-odds / 2), or of the difference."""
    wide = scores.pivot(index="id", columns="candidate", values="score")
    base, rewrites = (
        wide[0],
        wide[list(range(1, 1 + len(PERTURBATIONS)))].set_axis(list(PERTURBATIONS), axis=1),
    )
    if zero == "own":
        return rewrites.sub(base, axis=0), base.abs()
    ahead = rewrites.sub(base, axis=0)
    return (np.tanh(ahead / 2) if zero == "log-odds" else ahead) / 2, pd.Series(0.5, base.index)


def changed_shares(items: Sequence[dict]) -> pd.DataFrame:
    """Return the share of characters, 0 to 1, that each rewrite changes: ids by PERTURBATIONS. items: id,
    answers."""
    shares = {
        item["id"]: [changed_share(item["answers"][0], text) for text in item["answers"][1:]]
        for item in items
    }
    return pd.DataFrame.from_dict(shares, orient="index", columns=list(PERTURBATIONS))


def perturbation_table(
    scores: Mapping[str, pd.DataFrame],
    benchmark: Mapping[str, pd.DataFrame],
    kinds: Mapping[str, str],
    zeros: Mapping[str, str],
    changed: pd.DataFrame,
    interval: Interval,
) -> pd.DataFrame:
    """Return a row for each scorer and perturbation (PERTURBATION_COLUMNS), ranked.

    scores: {scorer: its scores of the rewrites}; benchmark: {scorer: its scores of the benchmark}, whose
    spread is the unit. change: mean relative change with its interval; direction: up or down where that
    leaves 0 out. size: the mean of the relative changes without sign. lower_pct: items whose score falls.
    index: sensitivity_index of the sizes, for a scorer's four rows. zeros: {scorer whose score has one: of
    ZEROS}; percent: the mean of score' - score in percent of the mean |score|, percent_size: of the mean of
    its size, both empty for others. changed: changed_shares' table; changed_share: its mean over the scorer's
    items. Without any rewrite all numbers are empty and note says so. All intervals by bootstrap over topics,
    the same draws for all scorers. Raises PolyrewardError where two scorers' items differ."""
    check_same_items(scores)
    rows = []
    for name, table in scores.items():
        if table.empty:
            rows += [_untested(name, kinds[name], perturbation) for perturbation in PERTURBATIONS]
            continue
        unit = spread(benchmark[name])
        found = _rows(
            name,
            kinds[name],
            [relative_changes(table, unit)],
            table.groupby("id")["template"].first(),
            interval,
            NO_CHANGE if unit else NO_SPREAD,
        )
        percent = (
            _percents(table, zeros[name], interval)
            if name in zeros
            else [dict.fromkeys(PERCENT, np.nan)] * len(found)
        )
        shares = changed.loc[table["id"].unique()].mean()
        rows += [
            {**row, **of_row, "changed_share": shares[row["perturbation"]]}
            for row, of_row in zip(found, percent, strict=True)
        ]
    return ranked(pd.DataFrame(rows))


def _percents(table: pd.DataFrame, zero: str, interval: Interval) -> list[dict[str, float]]:
    """Return PERCENT of each of PERTURBATIONS, with intervals over the draws of items that changes have."""
    changes, sizes = parts_of_score(table, zero)
    topics = table.groupby("id")["template"].first().loc[changes.index]
    values = np.column_stack([changes, changes.abs(), sizes])
    means = np.vstack([values.mean(axis=0), resampled_means(values, topics, interval, "carb_perturbation")])
    ratios = 100 * np.divide(
        means[:, :-1], means[:, -1:], out=np.full_like(means[:, :-1], np.nan), where=means[:, -1:] > SAME
    )
    count, freedom = len(PERTURBATIONS), topics.nunique() - 1
    return [
        {
            **_estimate(ratios[:, number], freedom, interval, PERCENT[:3]),
            PERCENT[3]: float(ratios[0, count + number]),
        }
        for number in range(count)
    ]


def chance_table(
    scores: Mapping[str, pd.DataFrame],
    benchmark: Mapping[str, pd.DataFrame],
    kinds: Mapping[str, str],
    interval: Interval,
) -> pd.DataFrame:
    """Return perturbation_table's rows of scores dealt out anew among each item's base and rewrites, named
    CHANCE.

    They have the spread of what they stand for, and know nothing. Means over PERMUTATIONS of all reward
    models, baselines left out, and those left out whose answers all have the same score."""
    of_models = [name for name in scores if kinds[name] != "baseline" and not scores[name].empty]
    permuted, units = [], {name: spread(benchmark[name]) for name in of_models}
    for name in filter(units.get, units):
        changes = relative_changes(scores[name], units[name])
        from_base = np.column_stack([np.zeros(len(changes)), changes])
        generator = np.random.default_rng(job_seed(interval.seed, "chance", "perturbation", name))
        for _ in range(PERMUTATIONS):
            dealt = generator.permuted(from_base, axis=1)
            permuted.append(pd.DataFrame(dealt[:, 1:] - dealt[:, [0]], changes.index, changes.columns))
    if not permuted:
        return pd.DataFrame(columns=PERTURBATION_COLUMNS)
    topics = next(iter(scores.values())).groupby("id")["template"].first()
    return ranked(
        pd.DataFrame(_rows(CHANCE, "chance", permuted, topics, interval, NO_CHANGE)).reindex(
            columns=PERTURBATION_COLUMNS
        )
    )


def _rows(
    name: str, kind: str, tables: Sequence[pd.DataFrame], topics: pd.Series, interval: Interval, without: str
) -> list[dict]:
    """Return a scorer's rows, of the mean of some tables of relative changes. without: the note where it has
    no index."""
    values = np.mean([np.column_stack([changes, changes.abs()]) for changes in tables], axis=0)
    lower = np.mean([(changes < 0).mean() for changes in tables], axis=0)
    of_items = topics.loc[tables[0].index]
    means = np.vstack([values.mean(axis=0), resampled_means(values, of_items, interval, "carb_perturbation")])
    freedom = of_items.nunique() - 1
    sizes = means[:, len(PERTURBATIONS) :]
    index = _estimate(sensitivity_index(sizes), freedom, interval, INDEX, within=(-1, 1))
    rows = []
    for number, perturbation in enumerate(PERTURBATIONS):
        change = _estimate(means[:, number], freedom, interval, ("change", "low", "high"))
        size = _estimate(
            sizes[:, number], freedom, interval, ("size", "size_low", "size_high"), within=(0, np.inf)
        )
        rows.append(
            {
                "scorer": name,
                "kind": kind,
                "perturbation": perturbation,
                **change,
                "direction": direction(change),
                **size,
                "lower_pct": 100 * lower[number] if np.isfinite(size["size"]) else np.nan,
                "n_items": len(of_items),
                **index,
                "note": "" if np.isfinite(index["index"]) else without,
            }
        )
    return rows


def _untested(scorer: str, kind: str, perturbation: str) -> dict:
    row = dict.fromkeys(PERTURBATION_COLUMNS, np.nan)
    return {
        **row,
        "scorer": scorer,
        "kind": kind,
        "perturbation": perturbation,
        "direction": "",
        "n_items": 0,
        "note": f"not tested: {NO_REWRITES}",
    }


def grouped_table(
    groups: Sequence[tuple[Mapping[str, str], dict[str, pd.DataFrame], dict[str, pd.DataFrame]]],
    zeros: Mapping[str, str],
    items: Sequence[dict],
    interval: Interval,
) -> pd.DataFrame:
    """Return one perturbation table of several groups of scorers, each with items of its own.

    groups: ({scorer: kind}, {scorer: its scores of the rewrites}, {scorer: of the benchmark}); scorers
    without scores are left out. zeros: as in perturbation_table. items: those that were
    rewritten. CHANCE is that of the first group."""
    read = [(*in_all(rewrites, benchmark), kinds) for kinds, rewrites, benchmark in groups]
    chance, changed = chance_table(*read[0], interval), changed_shares(items)
    tables = [perturbation_table(*group, zeros, changed, interval) for group in read]
    return ranked(pd.concat([*tables, *([chance] if len(chance) else [])]))


def ranked(table: pd.DataFrame) -> pd.DataFrame:
    """Put a table's scorers of the highest index first, baselines and chance last."""
    table = table.assign(last=table["kind"].map({"baseline": 1, "chance": 2}).fillna(0))
    table = table.sort_values(["last", "index"], ascending=[True, False], kind="stable")
    return table[PERTURBATION_COLUMNS].reset_index(drop=True)


def with_replies(table: pd.DataFrame, replies: pd.DataFrame) -> pd.DataFrame:
    """Return a perturbation table whose notes say how many of a judge's replies are in form, where it wrote
    any.

    replies: rows of replies.reply_counts. Where any other reply counts as a tie (forced_close:
    false), a judge may seem to stay for want of form."""
    counts = replies[["scorer", "in_form", "replies"]]
    said = {
        name: f"{in_form} of {total} replies in form"
        for name, in_form, total in counts.itertuples(index=False)
        if total
    }
    notes = [
        "; ".join(filter(None, (note, said.get(name))))
        for name, note in table[["scorer", "note"]].itertuples(index=False)
    ]
    return table.assign(note=notes)


def direction(change: Mapping[str, float]) -> str:
    """Say where a mean change goes: up, down, or not decided; nothing where it is not known."""
    if not np.isfinite(change["change"]):
        return ""
    return "up" if change["low"] > 0 else "down" if change["high"] < 0 else "not decided"


def _estimate(
    values: np.ndarray,
    freedom: int,
    interval: Interval,
    names: Sequence[str],
    within: tuple[float, float] = (-np.inf, np.inf),
) -> dict[str, float]:
    """Return a value and its interval by name; values: its own, then the resamples'; within: the bounds of
    what it estimates."""
    ends = map(float, np.clip(student_interval(values, interval.confidence, freedom), *within))
    return dict(zip(names, (float(values[0]), *ends), strict=True))


def main(snakemake):
    params, files, languages = snakemake.params, snakemake.input, snakemake.params.cultures
    items = [item for path in files.item_files for item in read_jsonl(path)]
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
    table = grouped_table(groups, params.zeros, items, Interval(**params.interval))
    replies = pd.concat([read_table(path, REPLY_COLUMNS) for path in files.replies])
    write_exact(with_replies(table, replies), snakemake.output[0], PERTURBATION_COLUMNS)


if __name__ == "__main__":
    run(main, globals().get("snakemake"))
