"""The sheet of scorers as scripts read it."""

import pandas as pd
import pytest
from support import refused

from polyreward.core.sheet import SHEET_COLUMNS, baselines, half_right, kinds, of_table, read_sheet

ROWS = [
    ["1.10", "classifier", "007", "en", "1", "wrong", "bench:*", "table1 gate", ""],
    ["NA", "generative", "null", "", "", "half", "", "", '{"kind": "generative", "path": "a,b"}'],
    ["007", "baseline", "1.10", "", "", "half", "bench:ko+en twins:ko", "gate", ""],
    ["true", "classifier", "nan", "no", "12", "wrong", "", "table10", ""],
]


@pytest.fixture
def write(tmp_path):
    """Return a function that writes a sheet and returns its path."""

    def written(rows, columns=SHEET_COLUMNS):
        path = tmp_path / "scorers.csv"
        pd.DataFrame(rows, columns=columns).to_csv(path, index=False)
        return path

    return written


def test_every_text_is_read_back_as_it_was_written_and_seeds_are_numbers(write):
    sheet = read_sheet(write(ROWS))
    assert list(sheet.columns) == SHEET_COLUMNS
    texts = [name for name in SHEET_COLUMNS if name != "seed"]
    wanted = pd.DataFrame(ROWS, columns=SHEET_COLUMNS)[texts].to_numpy().tolist()
    assert sheet[texts].to_numpy().tolist() == wanted
    assert list(sheet.index) == ["1.10", "NA", "007", "true"]
    assert sheet.at["1.10", "seed"] == 1 and sheet.at["true", "seed"] == 12
    assert list(sheet["seed"].isna()) == [False, True, True, False]


def test_scorers_are_chosen_by_their_kind_ties_and_tables(write):
    sheet = read_sheet(write(ROWS))
    assert half_right(sheet) == ["NA", "007"]
    assert baselines(sheet) == ["007"]
    assert list(kinds(sheet, ["007", "1.10"]).items()) == [("007", "baseline"), ("1.10", "classifier")]
    assert of_table(sheet, "gate") == ["1.10", "007"]
    assert of_table(sheet, "table1") == ["1.10"]  # not table10


def test_every_missing_column_is_named_with_what_to_do(write):
    path = write([row[:4] for row in ROWS], SHEET_COLUMNS[:4])
    text = refused(read_sheet, path)
    assert text.startswith(f"{path}; delete it and run the same command again: 5 problems")
    missing = [f"no column {name}" for name in ("seed", "ties", "benchmarks", "tables", "entry")]
    assert [line.strip(" -") for line in text.splitlines()[1:]] == missing


def test_scorers_that_are_there_twice_or_whose_ties_are_unknown_are_listed_at_once(write):
    odd = [*ROWS[0][:5], "right", *ROWS[0][6:]]
    path = write([*ROWS, ROWS[1], ["x", *odd[1:]], ["y", *odd[1:5], "", *odd[6:]]])
    assert refused(read_sheet, path).splitlines() == [
        f"{path}: 3 problems",
        "  - NA: there are two such scorers",
        "  - x: ties are neither wrong nor half",
        "  - y: ties are neither wrong nor half",
    ]
