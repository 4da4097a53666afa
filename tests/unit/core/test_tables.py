"""Tables of ours as files: CSV, and scores as Parquet."""

import pandas as pd
import pytest

from polyreward.core.errors import PolyrewardError
from polyreward.core.tables import (
    as_markdown,
    as_written,
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

TABLE = pd.DataFrame({"name": ["a", "b"], "value": [0.1, 2 / 3], "count": [1, 2]})
COLUMNS = ["name", "value", "count"]


def test_numbers_have_six_digits_and_whole_numbers_none_and_are_read_back(tmp_path):
    write_table(TABLE, tmp_path / "t.csv", COLUMNS)
    assert (tmp_path / "t.csv").read_bytes() == b"name,value,count\na,0.100000,1\nb,0.666667,2\n"
    pd.testing.assert_frame_equal(read_table(tmp_path / "t.csv", COLUMNS), as_written(TABLE))
    assert as_written(TABLE)["value"].tolist() == [0.1, 0.666667]


def test_a_language_called_nan_is_not_missing_and_a_name_stays_text(tmp_path):
    table = pd.DataFrame({"eval_language": ["nan", "es"], "scorer": ["001", "002"], "avg": [1.5, None]})
    write_csv(table, tmp_path / "t.csv")
    pd.testing.assert_frame_equal(read_csv(tmp_path / "t.csv"), table)


@pytest.mark.parametrize(
    ("table", "message"),
    [
        (TABLE.drop(columns="value"), r"missing columns \['value'\], unknown columns \[\]"),
        (TABLE.assign(more=1), r"missing columns \[\], unknown columns \['more'\]"),
        (TABLE.iloc[:0], "t.csv: the table has no rows"),
    ],
)
def test_a_table_with_other_columns_or_no_rows_is_neither_written_nor_read(tmp_path, table, message):
    write_table(TABLE, tmp_path / "t.csv", COLUMNS)
    with pytest.raises(PolyrewardError, match=message):
        write_table(table, tmp_path / "t.csv", COLUMNS)
    assert list(tmp_path.iterdir()) == [tmp_path / "t.csv"]
    assert len(read_table(tmp_path / "t.csv", COLUMNS)) == 2  # the older one
    table.to_csv(tmp_path / "t.csv", index=False)
    with pytest.raises(PolyrewardError, match=message):
        read_table(tmp_path / "t.csv", COLUMNS)


PAIRS = pd.DataFrame({"id": ["a", "b"], "score_chosen": [0.1 + 0.2, 1.0], "score_rejected": [-1e-9, 0.0]})
MINE = {"benchmark": "bench", "scorer": "rm", "language": "es"}


def score_files(folder, **tables):
    """Write a score file for each {scorer: table} and return the paths."""
    for scorer, table in tables.items():
        write_scores(table, folder / f"{scorer}.parquet", **MINE | {"scorer": scorer})
    return [folder / f"{scorer}.parquet" for scorer in tables]


def test_a_score_file_says_what_it_is_and_loses_no_digit(tmp_path):
    write_scores(PAIRS, tmp_path / "s.parquet", **MINE)
    expected = PAIRS.assign(**MINE)[[*MINE, *PAIRS]]
    for table in (pd.read_parquet(tmp_path / "s.parquet"), read_scores(tmp_path / "s.parquet")):
        pd.testing.assert_frame_equal(table, expected, check_exact=True)


def test_rows_of_several_languages_keep_their_own(tmp_path):
    write_scores(PAIRS.assign(language=["es", "ko"]), tmp_path / "s.parquet", benchmark="bench", scorer="rm")
    assert read_scores(tmp_path / "s.parquet")["language"].tolist() == ["es", "ko"]


def test_several_score_files_are_one_table_in_their_order(tmp_path):
    paths = score_files(tmp_path, b=PAIRS, a=PAIRS.assign(within_noise=True))
    assert read_scores(paths)["scorer"].tolist() == ["b", "b", "a", "a"]
    assert read_scores(map(str, paths))["within_noise"].isna().sum() == 2


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_a_score_that_is_not_finite_is_neither_written_nor_read(tmp_path, value):
    bad = PAIRS.assign(score_rejected=[0.0, value])
    message = r"rm.parquet: 1 values of score_rejected are NaN or infinite \(first: id b\). Delete the file"
    with pytest.raises(PolyrewardError, match=message):
        score_files(tmp_path, rm=bad)
    assert list(tmp_path.iterdir()) == []
    write_sealed(bad.assign(**MINE), tmp_path / "rm.parquet")
    with pytest.raises(PolyrewardError, match=message):
        read_scores([tmp_path / "rm.parquet"])


def test_all_problems_of_score_files_are_told_at_once(tmp_path):
    for name, missing in (("one", "id"), ("two", "scorer")):
        write_sealed(PAIRS.assign(**MINE).drop(columns=missing), tmp_path / f"{name}.parquet")
    with pytest.raises(
        PolyrewardError, match=r"(?s)2 problems.*one.parquet: no column id.*two.parquet: no column"
    ):
        read_scores([tmp_path / "one.parquet", tmp_path / "two.parquet"])


def test_the_same_pair_twice_is_an_error_that_names_both_files(tmp_path):
    write_scores(PAIRS, tmp_path / "one.parquet", **MINE)
    write_scores(PAIRS.iloc[1:], tmp_path / "two.parquet", **MINE)
    with pytest.raises(
        PolyrewardError, match="one.parquet and .*two.parquet: bench, rm, es, b has two scores"
    ):
        read_scores([tmp_path / "one.parquet", tmp_path / "two.parquet"])


def test_scores_of_pairs_and_of_items_are_not_read_together(tmp_path):
    items = pd.DataFrame({"id": ["a", "a"], "candidate": [0, 1], "score": [1.0, 2.0]})
    with pytest.raises(
        PolyrewardError, match="b.parquet has score, but .*a.parquet has score_chosen, score_rej"
    ):
        read_scores(score_files(tmp_path, a=PAIRS, b=items))


def test_a_file_without_rows_says_whose_scores_are_unavailable_and_why(tmp_path):
    paths = [*score_files(tmp_path, rm=PAIRS), tmp_path / "gone.parquet"]
    write_unavailable("the hub has no such model", paths[1], **MINE | {"scorer": "gone"})
    assert read_scores(paths)["scorer"].unique().tolist() == ["rm"]
    assert unavailable_reasons(paths) == {"gone": "the hub has no such model"}
    assert read_scores(paths[1]).empty and unavailable_reasons(paths[0]) == {}


def test_a_path_of_scores_names_what_the_file_holds():
    assert parse_score_path("results/work/5_scores/bench/rm/es.parquet") == MINE


def test_a_name_like_a_number_stays_text_where_it_is_printed_and_read(tmp_path):
    table = pd.DataFrame({"subset": ["001", "1e3", "NA"], "accuracy_pct": [50.0, 75.0, 100.0]})
    assert [line.split("|")[1].strip() for line in as_markdown(table, floatfmt=".1f").splitlines()[2:]] == [
        "001", "1e3", "NA",
    ]  # fmt: skip
    assert "50.0 |" in as_markdown(table, floatfmt=".1f")
    write_table(table, tmp_path / "a.csv", list(table.columns))
    read = read_table(tmp_path / "a.csv", list(table.columns))
    assert read["subset"].tolist() == ["001", "1e3", "NA"] and read["accuracy_pct"].sum() == 225


def test_a_table_for_later_steps_keeps_every_digit_and_what_is_missing(tmp_path):
    table = pd.DataFrame(
        {"name": ["a", None], "value": [1 / 3, float("nan")], "count": pd.array([1, None], dtype="Int64")}
    )
    write_exact(table, tmp_path / "t.parquet", ["name", "value", "count"])
    again = read_exact(tmp_path / "t.parquet", ["name", "value", "count"])
    pd.testing.assert_frame_equal(again, table)
    with pytest.raises(PolyrewardError, match="unknown columns \\['count'\\]"):
        read_exact(tmp_path / "t.parquet", ["name", "value"])
    with pytest.raises(PolyrewardError, match="missing columns \\['more'\\]"):
        write_exact(table, tmp_path / "t.parquet", ["name", "value", "count", "more"])
