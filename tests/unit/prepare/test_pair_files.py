"""Files of pairs in each format and each layout that people have."""

import csv
import json

import pandas as pd
import pytest
from support import ROOT

from polyreward.core.errors import PolyrewardError
from polyreward.prepare.pair_files import read_pairs

PAIR = {"prompt": "2 + 2?", "chosen": "4", "rejected": "5"}
ASKED = [{"role": "user", "content": "2 + 2?"}]
TURNS = [*ASKED, {"role": "assistant", "content": "4"}, {"role": "user", "content": "and 3?"}]
READ = {"id": "1", "subset": "all", "category": None, **PAIR}


def said(text: str) -> dict:
    return {"role": "assistant", "content": text}


def written(folder, rows: list[dict], suffix: str):
    path = folder / f"pairs{suffix}"
    if suffix == ".jsonl":
        path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    elif suffix == ".json":
        path.write_text(json.dumps(rows, indent=1))
    elif suffix == ".parquet":
        pd.DataFrame(rows).to_parquet(path)
    else:
        with open(path, "w", newline="", encoding="utf-8") as stream:
            writer = csv.DictWriter(stream, dict.fromkeys(key for row in rows for key in row))
            writer.writeheader()
            writer.writerows(
                {key: json.dumps(value) if isinstance(value, list) else value for key, value in row.items()}
                for row in rows
            )
    return path


# {layout: (the row as people have it, what it is read as)}
LAYOUTS = {
    "texts": (PAIR, READ),
    "a number as id": ({"id": 7, **PAIR}, {**READ, "id": "7"}),
    "RewardBench": (
        {**PAIR, "chosen_model": "a", "rejected_model": "b", "subset": "math-prm", "id": 12},
        {**READ, "subset": "math-prm", "id": "12"},
    ),
    "TRL with a prompt": ({"prompt": ASKED, "chosen": [said("4")], "rejected": [said("5")]}, {**READ, "prompt": ASKED}),
    "whole conversations": ({"chosen": [*TURNS, said("6")], "rejected": [*TURNS, said("8")]},
                            {**READ, "prompt": TURNS, "chosen": "6", "rejected": "8"}),
    "whole conversations and their prompt": ({**PAIR, "chosen": [*ASKED, said("4")], "rejected": [*ASKED, said("5")]}, READ),
    "a message list as prompt alone": ({**PAIR, "prompt": TURNS}, {**READ, "prompt": TURNS}),
    "several lines and a comma": ({**PAIR, "chosen": 'one, "two"\nthree'}, {**READ, "chosen": 'one, "two"\nthree'}),
    "a text like a list": ({**PAIR, "chosen": "[4]"}, {**READ, "chosen": "[4]"}),
}  # fmt: skip


@pytest.mark.parametrize("suffix", [".jsonl", ".json", ".csv", ".parquet"])
@pytest.mark.parametrize("layout", LAYOUTS)
def test_each_layout_is_read_in_each_format(tmp_path, layout, suffix):
    given, expected = LAYOUTS[layout]
    (row,) = read_pairs(written(tmp_path, [given], suffix))
    assert {key: row.get(key) for key in READ} == expected


@pytest.mark.parametrize("suffix", [".jsonl", ".json", ".parquet"])
@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({**PAIR, "rejected": ["5", "6"]}, {**READ, "rejected": ["5", "6"]}),
        ({**PAIR, "rejected": ["5"]}, {**READ, "rejected": ["5"]}),
        ({**PAIR, "chosen": ["4"], "rejected": ["5", "6", "7"]}, {**READ, "rejected": ["5", "6", "7"]}),  # RewardBench 2
        ({"prompt": ASKED, "chosen": [said("4")], "rejected": [[said("5")], [said("6")]]},
         {**READ, "prompt": ASKED, "rejected": ["5", "6"]}),
    ],
)  # fmt: skip
def test_there_may_be_several_rejected_answers(tmp_path, given, expected, suffix):
    (row,) = read_pairs(written(tmp_path, [given], suffix))
    assert {key: row.get(key) for key in READ} == expected


def test_ids_that_pandas_made_floats_are_whole_numbers_and_missing_ones_the_row(tmp_path):
    path = written(tmp_path, [{"id": 8, **PAIR}, {"id": None, **PAIR}], ".parquet")
    assert [row["id"] for row in read_pairs(path)] == ["8", "2"]


@pytest.mark.parametrize("suffix", [".jsonl", ".json", ".csv", ".parquet"])
def test_a_limit_reads_the_first_rows_and_checks_no_other(tmp_path, suffix):
    path = written(
        tmp_path, [{"id": "a", **PAIR}, {"id": "b", **PAIR}, {"id": "c", **PAIR, "chosen": ""}], suffix
    )
    assert [row["id"] for row in read_pairs(path, limit=2)] == ["a", "b"]
    with pytest.raises(PolyrewardError, match="`chosen` is empty"):
        read_pairs(path)


# {what is wrong: (the rows, words of the error)}
WRONG = {
    "ends with the user": (
        [{"chosen": ASKED, "rejected": [*ASKED, said("5")]}],
        ["`chosen` ends with a message of role `user`"],
    ),
    "another prompt": (
        [{"prompt": "3?", "chosen": [*ASKED, said("4")], "rejected": [said("5")]}],
        ["`chosen` has other messages"],
    ),
    "nothing shared": (
        [{"chosen": [*ASKED, said("4")], "rejected": [*TURNS, said("5")]}],
        ["differ before their last message"],
    ),
    "an answer alone": ([{"chosen": [said("4")], "rejected": [said("5")]}], ["`prompt` is empty"]),
    "no content": (
        [{"prompt": "3?", "chosen": [{"role": "assistant"}], "rejected": "5"}],
        ["`chosen` has a message without"],
    ),
    "an id that is none": (
        [{"id": 1.5, **PAIR}, {"id": True, **PAIR}],
        ["`id` is 1.5; give a text", "`id` is true"],
    ),
    "two right answers": ([{**PAIR, "chosen": ["4", "four"]}], ["`chosen` has 2 answers; give one"]),
    "the same answer": ([{"prompt": ASKED, "chosen": [said("4")], "rejected": [said("4")]}], ["identical"]),
    "an id twice": ([{"id": 1, **PAIR}, {"id": "1", **PAIR}], ["id `1` is that of line 1, too"]),
}


@pytest.mark.parametrize("case", WRONG)
def test_what_is_no_pair_is_named_with_its_line(tmp_path, case):
    rows, words = WRONG[case]
    path = written(tmp_path, rows, ".jsonl")
    with pytest.raises(PolyrewardError) as error:
        read_pairs(path)
    assert [word for word in words if word not in str(error.value)] == []
    assert f"{path}:{len(rows)}: " in str(error.value)


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("a.csv", "prompt,chosen\na,b\n", "has no column rejected; rename one of prompt, chosen"),
        ("a.csv", "", "has no column chosen or rejected"),
        ("a.csv", "prompt,chosen,rejected\na,b\n", "a.csv:2: `rejected` is empty"),
        (
            "a.csv",
            'prompt,chosen,rejected\na,"b\nc",d\na,b,c,d\n',
            "a.csv:4: has more cells than there are columns",
        ),
        ("a.csv", "prompt,chosen,rejected\n", "holds no row"),
        ("a.csv", b"prompt,chosen,rejected\na,b,\xff\n", "not UTF-8 (byte"),
        ("a.parquet", "PAR2", "not a Parquet file"),
        (
            "a.xlsx",
            "x",
            "`.xlsx` is no format that is read here; save it as one of .jsonl, .json, .csv, .parquet",
        ),
    ],
)
def test_a_file_that_cannot_be_read_is_named(tmp_path, name, content, words):
    path = tmp_path / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(PolyrewardError) as error:
        read_pairs(path)
    assert words in str(error.value)
    assert str(path) in str(error.value)


def test_the_example_of_the_documents_is_read():
    assert len(read_pairs(ROOT / "resources/example/best_of_four.jsonl")) == 8
