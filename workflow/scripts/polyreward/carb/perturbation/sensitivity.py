"""How far reward models' scores move under each rewrite of an answer, and whether for its fact or for its
surface."""

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from polyreward.analysis.bootstrap import Interval, resampled_sections, student_interval
from polyreward.carb.items.wordings import changed_share
from polyreward.carb.leaderboard import by_scorer, topics_of
from polyreward.carb.perturbation.perturbations import PERTURBATIONS
from polyreward.core.errors import raise_all
from polyreward.core.seeds import job_seed
from polyreward.core.unavailable import present

INDEX = ["index", "index_low", "index_high"]
PERCENT = ["percent", "percent_low", "percent_high", "percent_size"]
PERTURBATION_COLUMNS = [
    "scorer",
    "kind",
    "perturbation",
    "change",
    "low",
    "high",
    "direction",
    "size",
    "size_low",
    "size_high",
    "lower_pct",
    *PERCENT,
    "changed_share",
    "n_items",
    *INDEX,
    "note",
]
CHANCE = "chance (permuted)"  # the row of scores that were dealt out anew
PERMUTATIONS = 20  # of each reward model's scores
# What |score| is in (score' - score) / |score|. Of a judge: the half of the probability ("log-odds") or of
# the replies ("shares") that a base has beside itself. "own": the score, where its 0 means something: for an
# implicit reward model as likely as under the reference, or certain; for `length` no character. A
# classifier's reward may be moved by any constant: it has none.
ZEROS = ("log-odds", "shares", "own")
SAME = 1e-9  # a spread below it is rounding: all answers have the same score
NO_REWRITES = "no item of carb.item_files brings `perturbations`"
NO_SPREAD, NO_CHANGE = "all answers to a question have the same score", "no rewrite changes a score"


def spread(scores: pd.DataFrame) -> float:
    """Return the standard deviation of a scorer's scores of the answers to one question, pooled over
    questions.

    scores: item_scores' rows on the benchmark. What changes are relative to: a reward model's zero and unit
    are arbitrary, and so is what it adds to all answers to a question; how far it tells four answers to one
    question apart is its own. 0 where it never does."""
    variances = scores.groupby("id", sort=False)["score"].var(ddof=1)
    found = float(np.sqrt(variances.mean()))
    return found if found > SAME else 0.0


def relative_changes(scores: pd.DataFrame, unit: float) -> pd.DataFrame:
    """Return each item's (score of the rewrite - score of the base) / unit: ids by PERTURBATIONS; nan where
    unit is 0.

    scores: item_scores' rows, candidate 0 the base and the others PERTURBATIONS in turn. unit: the scorer's
    `spread`. It is not the quotient (score' - score) / |score|, which means something only where a score of 0
    does: a Bradley-Terry reward may be moved by any constant, so that one near 0 makes any change as large as
    one likes, and a judge's base is always 0."""
    wide = scores.pivot(index="id", columns="candidate", values="score")
    rewrites = wide[list(range(1, 1 + len(PERTURBATIONS)))]
    return (rewrites.sub(wide[0], axis=0) / (unit or np.nan)).set_axis(list(PERTURBATIONS), axis=1)


def sensitivity_index(sizes: np.ndarray) -> np.ndarray:
    """Return (fact - surface) / (fact + surface) of mean sizes of change (..., PERTURBATIONS), the means over
    those that change the fact (CC) and over the others.

    1: moved by the fact alone; 0: by both alike; -1: by the surface alone; nan where nothing moves it."""
    sizes = np.asarray(sizes, dtype=float)
    changes_fact = np.array([rewrite.fact == "another" for rewrite in PERTURBATIONS.values()])
    fact, surface = sizes[..., changes_fact].mean(axis=-1), sizes[..., ~changes_fact].mean(axis=-1)
    return np.divide(fact - surface, fact + surface, out=np.full_like(fact, np.nan), where=fact + surface > 0)


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
            _topics(table),
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
    topics = _topics(table).loc[changes.index]
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
    topics = _topics(next(iter(scores.values())))
    return ranked(
        pd.DataFrame(_rows(CHANCE, "chance", permuted, topics, interval, NO_CHANGE)).reindex(
            columns=PERTURBATION_COLUMNS
        )
    )


def _topics(scores: pd.DataFrame) -> pd.Series:
    return topics_of(scores.groupby("id")[["culture"]].first())


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
    groups: Sequence[tuple[Mapping[str, str], Sequence[pd.DataFrame], Sequence[pd.DataFrame]]],
    zeros: Mapping[str, str],
    items: Sequence[dict],
    interval: Interval,
) -> pd.DataFrame:
    """Return one perturbation table of several groups of scorers, each with items of its own.

    groups: ({scorer: kind}, tables of the rewrites, tables of the benchmark), as many tables for each scorer
    of a group; scorers without scores are left out. zeros: as in perturbation_table. items: those that were
    rewritten. CHANCE is that of the first group."""
    read = [
        (*present(by_scorer(list(kinds), rewrites), by_scorer(list(kinds), benchmark)), kinds)
        for kinds, rewrites, benchmark in groups
    ]
    chance, changed = chance_table(*read[0], interval), changed_shares(items)
    tables = [perturbation_table(*group, zeros, changed, interval) for group in read]
    return ranked(pd.concat([*tables, *([chance] if len(chance) else [])]))


def ranked(table: pd.DataFrame) -> pd.DataFrame:
    """Put a table's scorers of the highest index first, baselines and chance last."""
    table = table.assign(last=table["kind"].map({"baseline": 1, "chance": 2}).fillna(0))
    table = table.sort_values(["last", "index"], ascending=[True, False], kind="stable")
    return table[PERTURBATION_COLUMNS].reset_index(drop=True)


def with_replies(table: pd.DataFrame, replies: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    """Return a perturbation table whose notes say how many of a judge's replies are in form, where it wrote
    any.

    replies: {scorer: replies.reply_counts of it}. Where any other reply counts as a tie (forced_close:
    false), a judge may seem to stay for want of form."""
    counts = pd.concat(replies)[["replies", "in_form"]].droplevel(1)
    said = {
        name: f"{in_form} of {total} replies in form" for name, total, in_form in counts.itertuples() if total
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


def check_same_items(scores: Mapping[str, pd.DataFrame]) -> None:
    """Raise PolyrewardError that names every scorer whose items are not the first one's."""
    first, *others = scores
    ids = set(scores[first]["id"])
    other = [name for name in others if set(scores[name]["id"]) != ids]
    raise_all(
        (f"{name}: its items are not those of {first}; score them again" for name in other), "CARB scores"
    )


def resampled_means(values: np.ndarray, topics: Sequence[str], interval: Interval, key: str) -> np.ndarray:
    """Return the columns' means under resampling of the rows by their topics: (samples, columns)."""
    one, seed = ["all"] * len(values), job_seed(interval.seed, "bootstrap", key)
    return resampled_sections(
        np.asarray(values), one, topics, {"all": 1.0}, {"all": ["all"]}, interval.samples, seed
    )[:, :, 0]


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


def display_perturbations(table: pd.DataFrame, confidence: str) -> pd.DataFrame:
    """Lay the table out for reading, a row for each scorer, all text. confidence: the intervals' level
    ("95%")."""
    shown = []
    for (name, kind), rows in table.groupby(["scorer", "kind"], sort=False):
        first, changes = rows.iloc[0], rows[["perturbation", "change", "low", "high"]].itertuples(index=False)
        cells = {
            f"{perturbation} [{confidence}]": _with_interval(*change) for perturbation, *change in changes
        }
        shown.append(
            {
                "scorer": name,
                "kind": kind,
                **cells,
                f"index [{confidence}]": _with_interval(*first[INDEX]),
                "change of a score with a zero, %": ", ".join(
                    f"{p} {v:+.1f}"
                    for p, v in rows[["perturbation", "percent"]].itertuples(index=False)
                    if np.isfinite(v)
                ),
                "characters changed": ", ".join(
                    f"{p} {v:.2f}"
                    for p, v in rows[["perturbation", "changed_share"]].itertuples(index=False)
                    if np.isfinite(v)
                ),
                "CC lower, %": "" if pd.isna(first["lower_pct"]) else f"{first['lower_pct']:.0f}",
                "items": str(first["n_items"]),
                "note": first["note"],
            }
        )
    return pd.DataFrame(shown)


def _with_interval(value: float, low: float, high: float) -> str:
    if pd.isna(value):
        return ""
    # An index has no interval where draws of items are among the bootstrap's of which no score moves.
    return f"{value:+.2f} [not known]" if pd.isna(low) else f"{value:+.2f} [{low:+.2f}, {high:+.2f}]"
