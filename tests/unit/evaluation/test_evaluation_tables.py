"""Tables of several models, with known answers; names; files by suffix."""

import numpy as np
import pandas as pd
import pytest

from polyreward.core.tables import read_sealed
from polyreward.evaluation.score import short_names
from polyreward.evaluation.tables import accuracy_tables, one_table, write_by_suffix


def rows(count: int) -> list[dict]:
    return [
        {"id": f"r{n}", "subset": "ab"[n % 2], "prompt": "p", "chosen": "c", "rejected": "d"}
        for n in range(count)
    ]


def scores(right: list[bool], near: int = 0) -> pd.DataFrame:
    """A model's scores; the first `near` margins are within noise."""
    table = pd.DataFrame(rows(len(right)))[["id", "subset"]].assign(
        category=None, template=lambda rows: rows["id"], score_rejected=0.0, truncated_share=0.0
    )
    return table.assign(score_chosen=np.where(right, 1.0, -1.0), within_noise=np.arange(len(right)) < near)


def test_the_best_model_of_each_file_comes_first():
    found = {
        ("x", "one"): scores([True] * 5 + [False] * 5, near=2), ("x", "two"): scores([True] * 8 + [False] * 2),
        ("y", "one"): scores([True] * 4), ("y", "two"): scores([False] * 4),
    }  # fmt: skip
    table, subsets = accuracy_tables({"x": rows(10), "y": rows(4)}, found, None)
    assert list(table[["data", "model", "accuracy_pct", "n_items", "n_within_noise"]].itertuples(index=False, name=None)) == [
        ("x", "two", 80.0, 10, 0), ("x", "one", 50.0, 10, 2), ("y", "one", 100.0, 4, 0), ("y", "two", 0.0, 4, 0),
    ]  # fmt: skip
    assert table.loc[1, ["low", "high"]].round(1).tolist() == [23.7, 76.3]  # Wilson's for 5 of 10
    assert table["chance_pct"].tolist() == [50.0] * 4
    assert list(subsets[["data", "model", "subset"]].itertuples(index=False, name=None))[:3] == [
        ("x", "two", "a"), ("x", "two", "b"), ("x", "one", "a"),
    ]  # fmt: skip


def test_differences_are_paired():
    """One is right on all that two is, and on 20 of 100 more: a narrower interval than of unpaired ones."""
    one, two = [True] * 70 + [False] * 30, [True] * 50 + [False] * 50
    found = {("x", "two"): scores(two), ("x", "one"): scores(one)}
    table, _ = accuracy_tables({"x": rows(100)}, found, "two")
    best, reference = table.to_dict("records")
    assert (best["model"], best["difference"]) == ("one", pytest.approx(20))
    # Of the mean of 100 differences, of which 20 are 1 and the others 0
    half = 1.96 * np.sqrt(0.2 * 0.8 / 100) * 100
    assert best["difference_low"] == pytest.approx(20 - half, abs=1.5)
    assert best["difference_high"] == pytest.approx(20 + half, abs=1.5)
    assert best["p_mcnemar"] == pytest.approx(2 * 0.5**20)
    assert reference["model"] == "two" and np.isnan(reference["difference"])
    single = {("x", "one"): scores([True]), ("x", "two"): scores([False])}
    table, _ = accuracy_tables({"x": rows(1)}, single, "two")
    assert table["difference"].tolist()[0] == 100
    assert table[["difference_low", "difference_high"]].isna().all().all()


@pytest.mark.parametrize(
    ("sources", "with_suffix", "expected"),
    [
        (["a/rm-2.5", "b/other"], True, ["rm-2.5", "other"]),
        (["a/x/rm", "b/x/rm", "c"], True, ["a--x--rm", "b--x--rm", "c"]),
        (["owner/rm", "/data/rm"], True, ["owner--rm", "data--rm"]),
        (["rm", "a/rm"], True, ["rm", "a--rm"]),
        (["a/es.jsonl", "b/en.csv"], False, ["es", "en"]),
        (["a/es.jsonl", "a/es.csv"], False, ["es.jsonl", "es.csv"]),
        (["a/es.jsonl", "b/es.jsonl"], False, ["a--es.jsonl", "b--es.jsonl"]),
    ],
)
def test_names_are_as_short_as_tells_them_apart(sources, with_suffix, expected):
    assert list(short_names(sources, with_suffix).values()) == expected


READERS = {".parquet": read_sealed, ".csv": pd.read_csv}


@pytest.mark.parametrize("suffix", READERS)
def test_a_table_is_written_by_suffix_with_all_digits(tmp_path, suffix):
    table = scores([True, False]).assign(score_chosen=[0.1 + 0.2, -1 / 3])
    write_by_suffix(table, tmp_path / f"out{suffix}")
    found = READERS[suffix](tmp_path / f"out{suffix}")
    assert list(found.columns) == list(table.columns)
    assert found["score_chosen"].tolist() == table["score_chosen"].tolist()
    assert found["id"].tolist() == ["r0", "r1"] and found["category"].isna().all()


def test_tables_of_several_say_whose_they_are():
    both = one_table({("x", "one"): scores([True]), ("x", "two"): scores([False])})
    assert list(both.columns)[:3] == ["data", "model", "id"]
    assert both["model"].tolist() == ["one", "two"]
    assert list(one_table({("x", "one"): scores([True])}).columns)[0] == "id"
