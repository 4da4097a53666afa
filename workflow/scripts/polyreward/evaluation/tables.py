"""Accuracies of several models on several sets of pairs, the best first, and files by suffix."""

import fcntl
import json
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pandas as pd

from polyreward.analysis.accuracy import ALL, chance, subset_summary
from polyreward.analysis.bootstrap import Interval
from polyreward.analysis.comparison import Benchmark, Comparison
from polyreward.core.tables import read_csv, write_csv, write_sealed

# A draw counts every pair: 10,000 draws would take GBs on 100,000 pairs.
INTERVAL = Interval(samples=2000, confidence=0.95, seed=42)
KEY = ["data", "model"]
DIFFERENCE = ["difference", "difference_low", "difference_high", "p_mcnemar"]

Scores = Mapping[tuple[str, str], pd.DataFrame]  # {(data, model): table of scoring.pairs.score_rows}


def accuracy_tables(
    rows: Mapping[str, Sequence[dict]], scores: Scores, against: str | None
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return (accuracies over all pairs, accuracies of each subset), for each file the best model first.

    Pairs of one request count as one in intervals and tests.

    Columns: data, model, accuracy_pct, low, high, n_items, truncated_pct, n_within_noise, chance_pct. With
    `against`, also each other model's difference from it in percentage points (difference, difference_low,
    difference_high: paired bootstrap) and p_mcnemar.
    """
    scores = {(data, model): by_request(table, rows[data]) for (data, model), table in scores.items()}
    summaries = {key: subset_summary(table, units=table["template"]) for key, table in scores.items()}
    overall = []
    for (data, model), summary in summaries.items():
        (record,) = summary[summary["subset"] == ALL].drop(columns="subset").to_dict("records")
        overall.append({"data": data, "model": model, **record, "chance_pct": chance(rows[data])})
    table = pd.DataFrame(overall).sort_values("accuracy_pct", ascending=False, kind="stable")
    place = {name: number for number, name in enumerate(rows)}
    table = table.sort_values("data", key=lambda names: names.map(place), kind="stable", ignore_index=True)
    order = list(table[KEY].itertuples(index=False, name=None))
    found = [summaries[key].assign(data=key[0], model=key[1]) for key in order]
    subsets = pd.concat(found, ignore_index=True)
    subsets = subsets[subsets["subset"] != ALL][[*KEY, *subsets.columns.drop(KEY)]].reset_index(drop=True)
    if against is not None:
        records = [record for data in rows for record in _differences(data, rows[data], scores, against)]
        table = table.merge(pd.DataFrame(records), on=KEY, how="left", validate="one_to_one")
    return table, subsets


def by_request(scores: pd.DataFrame, rows: Sequence[dict]) -> pd.DataFrame:
    """Return scores whose template is the row's, or its prompt where it names none."""
    requests = {row["id"]: row.get("template") or json.dumps(row["prompt"]) for row in rows}
    return scores.assign(template=scores["id"].map(requests))


@contextmanager
def one_at_a_time(folder: Path) -> Iterator[None]:
    """Wait until no other process is inside for the same folder."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


def with_others(table: pd.DataFrame, path: Path) -> tuple[pd.DataFrame, int]:
    """Return a table with the lines that its file has of other models or data, and how many these are.

    Their scores must still be there, in <data>/<model>.parquet next to the file. What they were compared with
    may be another model, so their differences are left out."""
    try:
        before = read_csv(path)
        own = set(table[KEY].itertuples(index=False, name=None))
        keys = list(before[KEY].itertuples(index=False, name=None))
    except (OSError, ValueError, KeyError):  # none yet, or a file that is no such table
        return table, 0
    others = [key not in own and (path.parent / str(key[0]) / f"{key[1]}.parquet").is_file() for key in keys]
    kept = before[np.array(others, dtype=bool)].reindex(columns=table.columns)
    if kept.empty:
        return table, 0
    kept = kept.assign(**{name: np.nan for name in DIFFERENCE if name in table})
    joined = pd.concat([table, kept], ignore_index=True)
    if "subset" in joined:
        return joined, len(kept)
    place = {name: number for number, name in enumerate(dict.fromkeys(joined["data"]))}
    joined = joined.sort_values("accuracy_pct", ascending=False, kind="stable")
    joined = joined.sort_values("data", key=lambda names: names.map(place), kind="stable")
    return joined.reset_index(drop=True), len(kept)


def _differences(data: str, rows: Sequence[dict], scores: Scores, against: str) -> list[dict]:
    named = {"benchmark": data, "language": ""}
    tables = [table.assign(scorer=model, **named) for (name, model), table in scores.items() if name == data]
    subsets = list(dict.fromkeys(row["subset"] for row in rows))
    comparison = Comparison(pd.concat(tables), Benchmark(data, {"all": subsets}, {}), INTERVAL)
    records = []
    for model in comparison.scorers:
        if model != against:
            found = comparison.contrast({model: 1.0, against: -1.0})
            record = {"data": data, "model": model, "difference": found["all"]}
            record |= {"difference_low": found["all_low"], "difference_high": found["all_high"]}
            records.append({**record, "p_mcnemar": comparison.mcnemar_p(model, against)})
    return records


def one_table(scores: Scores) -> pd.DataFrame:
    """Return all score tables as one; of more than one, `data` and `model` come first."""
    if len(scores) == 1:
        return next(iter(scores.values()))
    joined = pd.concat(
        [table.assign(data=data, model=model) for (data, model), table in scores.items()], ignore_index=True
    )
    return joined[[*KEY, *joined.columns.drop(KEY)]]


def write_by_suffix(table: pd.DataFrame, path: Path) -> None:
    """Write a table as Parquet or CSV, by its suffix; no digit is lost."""
    (write_sealed if path.suffix.lower() == ".parquet" else write_csv)(table, path)
