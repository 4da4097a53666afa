"""Tables of ours as files: CSV, and scores as Parquet."""

import re

import numpy as np
import pandas as pd
import pytest
from support import ROOT, refused, texts_that_may_be_numbers

from polyreward.core.tables import (
    LEAST_P,
    P_VALUES,
    as_markdown,
    as_written,
    p_text,
    parse_score_path,
    read_csv,
    read_exact,
    read_scores,
    read_table,
    unavailable_reasons,
    write_csv,
    write_exact,
    write_scores,
    write_sealed,
    write_table,
    write_unavailable,
)

COLUMNS = ["name", "value", "count"]
TABLE = pd.DataFrame({"name": ["a", "b"], "value": [0.1, 2 / 3], "count": [1, 2]})
PAIRS = pd.DataFrame({"id": ["a", "b"], "score_chosen": [0.1 + 0.2, 1.0], "score_rejected": [-1e-9, 0.0]})
FINISHED = sorted((ROOT / "docs/data").glob("*/*.csv"))
MINE = {"benchmark": "bench", "scorer": "rm", "language": "es"}


@pytest.fixture
def path(tmp_path):
    return tmp_path / "t.csv"


def test_numbers_have_six_digits_and_whole_numbers_none_and_are_read_back(path):
    write_table(TABLE, path, COLUMNS)
    assert path.read_bytes() == b"name,value,count\na,0.100000,1\nb,0.666667,2\n"
    pd.testing.assert_frame_equal(read_table(path, COLUMNS), as_written(TABLE))
    assert as_written(TABLE)["value"].tolist() == [0.1, 0.666667]


def test_a_language_called_nan_is_not_missing_and_a_name_like_a_number_stays_text(path):
    table = pd.DataFrame({"eval_language": ["nan", "es"], "scorer": ["001", "002"], "avg": [1.5, None]})
    write_csv(table, path)
    pd.testing.assert_frame_equal(read_csv(path), table)
    table = pd.DataFrame({"subset": ["001", "1e3", "NA"], "accuracy_pct": [50.0, 75.0, 100.0]})
    printed = as_markdown(table, floatfmt=".1f")
    assert [line.split("|")[1].strip() for line in printed.splitlines()[2:]] == ["001", "1e3", "NA"]
    assert "50.0 |" in printed
    write_table(table, path, list(table.columns))
    read = read_table(path, list(table.columns))
    assert read["subset"].tolist() == ["001", "1e3", "NA"] and read["accuracy_pct"].sum() == 225


P_VALUES_WRITTEN = [
    (1.0, "1.000000"), (0.05, "0.050000"), (0.0002, "0.000200"), (0.00009996, "0.000100"), (0.0000994, "9.94e-05"),
    (3e-9, "3.00e-09"), (1e-151, "1.00e-151"), (0.0, "2.23e-308"),
]  # fmt: skip


@pytest.mark.parametrize(("p", "written"), P_VALUES_WRITTEN)
def test_no_p_value_is_written_as_zero_and_one_that_is_read_is_written_alike(path, p, written):
    columns = ["model", "low", "p", "p_mcnemar"]
    table = pd.DataFrame({"model": ["rm"], "low": [p], "p": [p], "p_mcnemar": [np.nan]})
    write_table(table, path, columns)
    assert path.read_text() == f"{','.join(columns)}\nrm,{p:.6f},{written},\n"
    read = read_table(path, columns)
    assert read["p"].tolist() == as_written(table)["p"].tolist() == [float(written)] != [0]
    write_table(read, path, columns)
    assert f",{written}," in path.read_text()


def test_every_column_of_p_values_is_known():
    columns = {name for file in FINISHED for name in pd.read_csv(file, nrows=0)}
    assert {name for name in columns if re.fullmatch("p|p_.*|.*_p", name)} == set(P_VALUES)


def test_a_p_value_for_readers_is_small_and_not_zero():
    assert [p_text(p) for p in (1.0, 0.0123, 0.001, 0.00099, 0.0, np.nan)] == [
        "1.000", "0.012", "0.001", "<0.001", "<0.001", ""
    ]  # fmt: skip


ODD_NAMES = ["1.10", "1.5", "NA", "null", "True", "inf", "007", "1e5", "nan"]


@pytest.mark.parametrize("column", [
    "reward_model", "base_model", "policy", "judge", "scorer", "model", "subset", "key", "rule_sha256", "missing"
])  # fmt: skip
def test_texts_that_look_like_numbers_or_gaps_stay_texts(path, column):
    table = pd.DataFrame({column: ODD_NAMES, "value": 1.5})
    write_table(table, path, list(table))
    for options in ({}, {"dtype": {"value": "float64"}}, {"dtype_backend": "numpy_nullable"}):
        assert read_csv(path, **options)[column].tolist() == ODD_NAMES, options
    write_table(pd.DataFrame({column: ["1.10"], "value": 1.5}), path, list(table))
    assert read_csv(path)[column].tolist() == ["1.10"]


# Written for pages, not by a rule
OF_DOCS = [
    "costs",
    "run",
    "times",
    "coverage",
    "compare",
    "compare_power",
    "compare_run",
    "changes",
    "chosen",
    "pooling",
    "starts",
    "starts_run",
    "jobs",
    "steps",
]


@pytest.mark.parametrize("file", [
    *(one for one in FINISHED if one.stem not in OF_DOCS), *sorted((ROOT / "workflow/papers").glob("*/printed/*.csv"))
], ids=lambda file: f"{file.parent.name}/{file.stem}")  # fmt: skip
def test_columns_of_texts_are_read_as_texts_and_a_finished_table_is_written_as_it_was(path, file):
    table = read_csv(file, dtype_backend="numpy_nullable")
    assert set(texts_that_may_be_numbers(file)) <= {"run"}
    if file.parent.name == "mini" and not (table.get("p_value", pd.Series([1])) < LEAST_P).any():
        write_table(table, path, list(table))
        assert path.read_bytes() == file.read_bytes()


@pytest.mark.parametrize(("table", "message"), [
    (TABLE.drop(columns="value"), "missing columns ['value'], unknown columns []"),
    (TABLE.assign(more=1), "missing columns [], unknown columns ['more']"),
    (TABLE.iloc[:0], "t.csv: the table has no rows"),
])  # fmt: skip
def test_a_table_with_other_columns_or_no_rows_is_neither_written_nor_read(path, table, message):
    write_table(TABLE, path, COLUMNS)
    assert message in refused(write_table, table, path, COLUMNS)
    assert list(path.parent.iterdir()) == [path]
    assert len(read_table(path, COLUMNS)) == 2  # the older one
    table.to_csv(path, index=False)
    assert message in refused(read_table, path, COLUMNS)


def test_a_table_for_later_steps_keeps_every_digit_and_what_is_missing(tmp_path):
    path, count = tmp_path / "t.parquet", pd.array([1, None], dtype="Int64")
    table = pd.DataFrame({"name": ["a", None], "value": [1 / 3, float("nan")], "count": count})
    write_exact(table, path, COLUMNS)
    pd.testing.assert_frame_equal(read_exact(path, COLUMNS), table)
    assert "unknown columns ['count']" in refused(read_exact, path, COLUMNS[:2])
    assert "missing columns ['more']" in refused(write_exact, table, path, [*COLUMNS, "more"])


def score_files(folder, **tables):
    """Write a score file for each {scorer: table} and return the paths."""
    for scorer, table in tables.items():
        write_scores(table, folder / f"{scorer}.parquet", **MINE | {"scorer": scorer})
    return [folder / f"{scorer}.parquet" for scorer in tables]


def test_a_score_file_says_what_it_is_as_its_path_does_and_loses_no_digit(tmp_path):
    (path,) = score_files(tmp_path, rm=PAIRS)
    expected = PAIRS.assign(**MINE)[[*MINE, *PAIRS]]
    for table in (pd.read_parquet(path), read_scores(path)):
        pd.testing.assert_frame_equal(table, expected, check_exact=True)
    assert parse_score_path("results/work/5_scores/bench/rm/es.parquet") == MINE
    write_scores(PAIRS.assign(language=["es", "ko"]), path, benchmark="bench", scorer="rm")
    assert read_scores(path)["language"].tolist() == ["es", "ko"]


def test_several_score_files_are_one_table_in_their_order(tmp_path):
    paths = score_files(tmp_path, b=PAIRS, a=PAIRS.assign(within_noise=True))
    assert read_scores(paths)["scorer"].tolist() == ["b", "b", "a", "a"]
    assert read_scores(map(str, paths))["within_noise"].isna().sum() == 2


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_a_score_that_is_not_finite_is_neither_written_nor_read(tmp_path, value):
    bad = PAIRS.assign(score_rejected=[0.0, value])
    message = "rm.parquet: 1 values of score_rejected are NaN or infinite (first: id b). Delete the file"
    assert message in refused(score_files, tmp_path, rm=bad)
    assert list(tmp_path.iterdir()) == []
    write_sealed(bad.assign(**MINE), tmp_path / "rm.parquet")
    assert message in refused(read_scores, [tmp_path / "rm.parquet"])


def test_faults_of_score_files_are_told_at_once_with_the_files(tmp_path):
    one, two = tmp_path / "one.parquet", tmp_path / "two.parquet"
    for path, missing in ((one, "id"), (two, "scorer")):
        write_sealed(PAIRS.assign(**MINE).drop(columns=missing), path)
    text = refused(read_scores, [one, two])
    assert "2 problems" in text and "one.parquet: no column id" in text and "two.parquet: no column" in text
    write_scores(PAIRS, one, **MINE)
    write_scores(PAIRS.iloc[1:], two, **MINE)
    assert f"{one} and {two}: bench, rm, es, b has two scores" in refused(read_scores, [one, two])
    items = pd.DataFrame({"id": ["a", "a"], "candidate": [0, 1], "score": [1.0, 2.0]})
    a, b = score_files(tmp_path, a=PAIRS, b=items)
    assert f"{b} has score, but {a} has score_chosen, score_rej" in refused(read_scores, [a, b])


def test_a_file_without_rows_says_whose_scores_are_unavailable_and_why(tmp_path):
    paths = [*score_files(tmp_path, rm=PAIRS), tmp_path / "gone.parquet"]
    write_unavailable("the hub has no such model", paths[1], **MINE | {"scorer": "gone"})
    assert read_scores(paths)["scorer"].unique().tolist() == ["rm"]
    assert unavailable_reasons(paths) == {"gone": "the hub has no such model"}
    assert read_scores(paths[1]).empty and unavailable_reasons(paths[0]) == {}
