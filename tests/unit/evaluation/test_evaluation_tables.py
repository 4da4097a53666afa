"""Tables of several models, with known answers; names; files by suffix."""

import numpy as np
import pandas as pd
import pytest
from statsmodels.stats.proportion import proportion_confint

from polyreward.core.tables import read_sealed
from polyreward.evaluation.options import short_names
from polyreward.evaluation.tables import accuracy_tables, one_table, with_others, write_by_suffix


def rows(count: int) -> list[dict]:
    return [
        {"id": f"r{n}", "subset": "ab"[n % 2], "prompt": f"p{n}", "chosen": "c", "rejected": "d"}
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


def test_pairs_of_one_request_count_as_one_in_intervals_and_tests():
    """Nine pairs of each of four requests, all right or all wrong: as sure as four pairs."""
    right, four = [True] * 27 + [False] * 9, rows(4)
    named = [{**four[n // 9], "id": f"r{n}", "subset": "a", "template": f"t{n // 9}"} for n in range(36)]
    by_prompt = [{**row, "template": None} for row in named]
    single, _ = accuracy_tables({"x": four}, {("x", "one"): scores([True] * 3 + [False])}, None)
    other = scores([False] * 36).assign(subset="a")
    for given in (named, by_prompt):
        given_scores = {("x", "one"): scores(right).assign(subset="a"), ("x", "none"): other}
        table, subsets = accuracy_tables({"x": given}, given_scores, "none")
        for found in (table, subsets):
            assert found.loc[0, ["accuracy_pct", "n_items"]].tolist() == [75.0, 36]
            assert found.loc[0, ["low", "high"]].tolist() == single.loc[0, ["low", "high"]].tolist()
        assert table.loc[0, "p_mcnemar"] == 2 * 0.5**3  # three requests differ


def test_requests_of_unequal_size_are_worth_fewer():
    given = [{**row, "subset": "a", "template": "t" if n < 5 else None} for n, row in enumerate(rows(10))]
    table, _ = accuracy_tables({"x": given}, {("x", "one"): scores([True] * 5 + [False] * 5)}, None)
    worth = 10**2 / (5**2 + 5)
    expected = proportion_confint(worth / 2, worth, method="wilson")
    assert table.loc[0, ["low", "high"]].tolist() == pytest.approx([100 * one for one in expected])


def test_a_table_keeps_the_lines_of_other_models_whose_scores_are_there(tmp_path):
    def table(model, share, data="x"):
        return pd.DataFrame({"data": [data], "model": [model], "accuracy_pct": [share], "difference": [1.0]})

    path = tmp_path / "accuracy.csv"
    assert with_others(table("one", 60.0), path)[1] == 0
    write_by_suffix(pd.concat([table("one", 60.0), table("gone", 99.0), table("two", 70.0)]), path)
    (tmp_path / "x").mkdir()
    for model in ("one", "two"):
        (tmp_path / f"x/{model}.parquet").touch()
    found, others = with_others(table("two", 50.0), path)
    assert others == 1 and found["model"].tolist() == ["one", "two"]
    assert found["accuracy_pct"].tolist() == [60.0, 50.0]
    assert found["difference"].isna().tolist() == [True, False]  # from whom is not known
    path.write_text("something else\n1\n")
    assert with_others(table("two", 50.0), path)[1] == 0


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


def test_a_model_in_this_folder_has_the_folder_s_name(tmp_path, monkeypatch):
    (tmp_path / "rm/below").mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "rm")
    assert short_names([".", "../other", "below/../.."], True) == {
        ".": "rm", "../other": "other", "below/../..": tmp_path.name,
    }  # fmt: skip


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
        (["a/e\udcc3\udca9.jsonl"], False, [r"e\udcc3\udca9"]),
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
