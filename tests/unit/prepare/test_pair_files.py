"""Files of pairs in each format that people have, and what is refused in words."""

import gzip
import io
import json
from types import SimpleNamespace

import datasets
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pair_data import ASKED, KINDS, PAIR, VOTE, said, write
from support import ROOT, refused, script

from polyreward.core.errors import PolyrewardError
from polyreward.core.files import read_jsonl
from polyreward.prepare.pair_files import read_pair_file, read_pairs

NOTATION = {"prompt": 'one, "two"\nthree; \ud55c\uad6d\uc5b4', "chosen": "[4]", "rejected": "$x$\t\\"}
ROWS = [{"id": "a", "subset": "x", **PAIR}, {"id": "b", "subset": "y", **NOTATION}]
TALKS = [{"chosen": [*ASKED, said("4")], "rejected": [*ASKED, said("5")]}]


@pytest.mark.parametrize("kind", KINDS)
def test_each_format_gives_the_same_pairs(tmp_path, kind):
    rows = read_pairs(write(tmp_path, ROWS, kind))
    assert [{key: row[key] for key in ROWS[0]} for row in rows] == ROWS


@pytest.mark.parametrize("kind", [".jsonl", ".json", ".parquet", ".dataset", ".table.json"])
def test_conversations_are_the_same_in_each_format(tmp_path, kind):
    (row,) = read_pairs(write(tmp_path, TALKS, kind))
    assert (row["prompt"], row["chosen"], row["rejected"]) == (ASKED, "4", "5")


@pytest.mark.parametrize("as_text", [json.dumps, repr])
@pytest.mark.parametrize("kind", [".csv", ".jsonl", ".parquet"])
def test_a_message_list_that_is_held_as_text_is_a_message_list(tmp_path, kind, as_text):
    rows = [{key: as_text(value) for key, value in TALKS[0].items()}]
    (row,) = read_pairs(write(tmp_path, rows, kind))
    assert (row["prompt"], row["chosen"], row["rejected"]) == (ASKED, "4", "5")


@pytest.mark.parametrize("as_text", [json.dumps, repr])
def test_a_message_that_is_held_as_text_is_a_message_whatever_key_comes_first(tmp_path, as_text):
    roles = ("chosen", "rejected")
    row = {key: as_text({"id": 1, "content": "a {b}: " + key, "role": "assistant"}) for key in roles}
    row["prompt"] = as_text([{"name": "me", "content": "q", "role": "user"}])
    (found,) = read_pairs(write(tmp_path, [row], ".csv"))
    assert (found["prompt"], found["chosen"]) == ([{"role": "user", "content": "q"}], "a {b}: chosen")


@pytest.mark.parametrize("key", ["chosen", "rejected"])
def test_a_column_of_lists_that_are_held_as_text_is_refused(tmp_path, key):
    rows = [{**PAIR, "id": number, key: f"['{number}', 'b']"} for number in range(2)]
    with pytest.raises(PolyrewardError, match=f"every `{key}` is a list that was written as text"):
        read_pairs(write(tmp_path, rows, ".csv"))
    mixed = [rows[0], {**PAIR, "id": 1}]
    assert read_pairs(write(tmp_path, mixed, ".csv"))[0][key] == "['0', 'b']"
    assert read_pairs(write(tmp_path, [{**PAIR, "rejected": ["['0']"]}], ".jsonl"))[0]["rejected"] == [
        "['0']"
    ]


def test_a_list_that_numpy_wrote_is_refused(tmp_path):
    text = "[{'role': 'user', 'content': 'a'}\n {'role': 'assistant', 'content': 'b'}]"
    with pytest.raises(PolyrewardError, match="message list as text that cannot be read"):
        read_pairs(write(tmp_path, [{**PAIR, "chosen": text}], ".csv"))


def test_ids_that_pandas_made_floats_are_whole_numbers_and_missing_ones_the_row(tmp_path):
    path = write(tmp_path, [{"id": 8, **PAIR}, {"id": None, **PAIR}], ".parquet")
    assert [row["id"] for row in read_pairs(path)] == ["8", "2"]


def test_zero_is_a_name(tmp_path):
    zeros = dict.fromkeys(("id", "subset", "template", "category"), 0)
    (row,) = read_pairs(write(tmp_path, [{**PAIR, **zeros}], ".jsonl"))
    assert {key: row[key] for key in zeros} == dict.fromkeys(zeros, "0")


def test_names_that_print_alike_are_the_same_name(tmp_path):
    names = [
        *("caf\u00e9 x", "cafe\u0301 x", "caf\u00e9\u00a0x", " caf\u00e9 x"),
        *("caf\u00e9\u200b x", "ca\u00adf\u00e9\u2060 x"),
    ]
    rows = [{"id": number, "subset": name, **PAIR} for number, name in enumerate(names)]
    assert {row["subset"] for row in read_pairs(write(tmp_path, rows, ".jsonl"))} == {"caf\u00e9 x"}


def test_roles_parts_and_spaces_around_a_prompt_make_no_difference(tmp_path):
    parts = [{"type": "text", "text": "2 +"}, {"type": "text", "text": " 2?"}]
    row = {
        "prompt": "2 + 2?\n",
        "chosen": [{"role": "user", "content": parts, "name": "me"}, said("4")],
        "rejected": [{"from": "human", "value": "2 + 2?"}, {"from": "gpt", "value": "5"}],
    }
    assert read_pairs(write(tmp_path, [row], ".jsonl"))[0]["rejected"] == "5"


@pytest.mark.parametrize("kind", [".jsonl", ".json", ".csv", ".parquet"])
def test_a_limit_reads_the_first_rows_and_checks_no_other(tmp_path, kind):
    path = write(tmp_path, [{"id": one, **PAIR, "chosen": one.strip()} for one in ("a", "b", " ")], kind)
    assert [row["id"] for row in read_pairs(path, limit=2)] == ["a", "b"]
    with pytest.raises(PolyrewardError, match="`chosen` is empty"):
        read_pairs(path)


def answer(**more):
    return [{"role": "assistant", "content": "4", **more}]


# {what is wrong: (the rows, words of the error)}
WRONG = {
    "ends with the user": ([{"chosen": ASKED, "rejected": [*ASKED, said("5")]}], "`chosen` ends with a message of role `user`"),
    "another prompt": ([{**PAIR, "chosen": [{"role": "user", "content": "3?"}, said("4")]}], "other messages before it than `prompt`"),
    "nothing shared": ([{"chosen": [*ASKED, said("4")], "rejected": [said("0"), *ASKED, said("5")]}], "differ before their last"),
    "an answer without a prompt": ([{"chosen": [said("4")], "rejected": [said("5")]}], "`prompt` is empty"),
    "no content": ([{**PAIR, "chosen": [{"role": "assistant"}]}], "`chosen`: message 1 has no `role` or no `content`"),
    "hidden reasoning": ([{**PAIR, "chosen": answer(reasoning_content="so")}], "has `reasoning_content`, which is not scored"),
    "tool calls": ([{**PAIR, "chosen": answer(tool_calls=[{"name": "f"}])}], "has `tool_calls`, which is not scored"),
    "an image": ([{**PAIR, "chosen": [{"role": "assistant", "content": [{"type": "image_url"}]}]}], "parts that are no text"),
    "an id that is none": ([{"id": 1.5, **PAIR}], "`id` is 1.5; give a text or a whole number"),
    "a template of dicts": ([{**PAIR, "template": {"a": 1}}], "`template` is {"),
    "the name of all": ([{**PAIR, "subset": "all items"}], "`subset` is `all items`"),
    "a name nobody sees": ([{**PAIR, "subset": "a\u202eb"}], "invisible characters"),
    "an answer that is a number": ([{**PAIR, "chosen": 4}], "`chosen` is 4, not a text"),
    "a message that is none": ([{**PAIR, "chosen": [*ASKED, 3]}], "`chosen`: message 2 is 3; write {role, content}"),
    "a strength that is none": ([{**VOTE, "preference_strength": float("nan")}], "`preference_strength` is NaN; give a number"),
    "a strength that is yes": ([{**VOTE, "preference_strength": True}], "`preference_strength` is true; give a number"),
    "half a vote": ([{"prompt": ["a"], "response_a": ["4"], "response_b": ["5"], "winner_model_a": 0.5, "winner_model_b": 0.2}], "are not 0 or 1"),
    "two winners": ([{"prompt": ["a"], "response_a": ["4"], "response_b": ["5"], "winner_model_a": 1, "winner_model_b": 1}], "at most one of them 1"),
    "the same answer": ([{**PAIR, "rejected": "4"}], "identical"),
    "an id twice": ([{"id": 1, **PAIR}, {"id": "1", **PAIR}], "id `1` is also in line 1"),
    "a vote that is none": ([{"input": "a", "output_1": "4", "output_2": "5", "label": "3"}], "`label` is `3`; use one of 1, 2"),
    "no number": ([{"prompt": "a", "response_1": "4", "response_2": "5", "preference_strength": "x"}], "give a number"),
}  # fmt: skip


@pytest.mark.parametrize("case", WRONG)
def test_what_is_no_pair_is_named_with_its_line(tmp_path, case):
    rows, words = WRONG[case]
    path = write(tmp_path, rows, ".jsonl")
    text = refused(read_pairs, path)
    assert words in text and f"{path}:{len(rows)}: " in text


def test_a_long_list_of_problems_is_cut(tmp_path):
    rows = [{"id": number, **PAIR, "chosen": None} for number in range(800)]
    text = refused(read_pairs, write(tmp_path, rows, ".jsonl"))
    assert "800 problems" in text and len(text.splitlines()) < 30


def parquet_with_a_column_twice():
    stream = io.BytesIO()
    arrays = [pa.array([text]) for text in "abcd"]
    pq.write_table(pa.table(arrays, ["prompt", "chosen", "chosen", "rejected"]), stream)
    return stream.getvalue()


TWICE = parquet_with_a_column_twice()
# (name, content, words of the error)
FILES = [
    ("a.csv", "prompt,chosen\na,b\n", "no layout of pairs has these columns: `prompt`, `chosen`"),
    ("a.csv", "", "holds no row"),
    ("a.csv", "prompt,chosen,rejected\na,b\n", "a.csv:2: `rejected` is empty"),
    ("a.csv", 'prompt,chosen,rejected\na,"b\nc",d\na,b,c,d\n', "a.csv:4: has more cells than there are columns"),
    ("a.csv", b"prompt,chosen,rejected\na,b,\xff\n", "not UTF-8 (byte"),
    ("a.parquet", "PAR2", "not a Parquet file"),
    ("a.xlsx", "x", "cannot read `.xlsx` files; save it as one of .jsonl"),
    ("a.jsonl.gz", "x", "not a JSON file (Not a gzipped file"),
    ("a.parquet.gz", gzip.compress(b"PAR1", mtime=0)[:12], "not a Parquet file (Compressed file ended"),
    ("a.csv", 'prompt,chosen,rejected\na,b,"c\n', "not a CSV file (unexpected end of data)"),
    ("a.jsonl", json.dumps(PAIR) + "\n\n{}\n", "a.jsonl:2: the line is empty"),
    ("a.json", json.dumps({"train": [PAIR], "test": [PAIR]}), "holds several tables (train, test)"),
    ("a.json", "[1, 2", "not JSON"),
    ("a.json", json.dumps({"columns": [*PAIR], "data": [["a", "b", "c"], ["a", "b"]]}), "item 2 has not one value for each of 3"),
    ("a.jsonl", "[1]", "item 1: 1: not an object; write {...} for each item"),
    ("a.csv", "prompt,chosen,chosen,rejected\na,b,c,d\n", "has the column `chosen` more than once"),
    ("a.parquet", TWICE, "has the column `chosen` more than once"),
]  # fmt: skip


@pytest.mark.parametrize(("name", "content", "words"), FILES)
def test_a_file_that_cannot_be_read_is_named(tmp_path, name, content, words):
    path = tmp_path / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    text = refused(read_pairs, path)
    assert words in text and str(path) in text


@pytest.mark.parametrize("first", ['{"prompt": "q",', '{"prompt": "q" "a"}', "hello"])
def test_a_broken_first_line_hides_no_other(tmp_path, first):
    (tmp_path / "a.jsonl").write_text(f'{first}\n{json.dumps(PAIR)}\n{{"prompt":\n')
    text = refused(read_pairs, tmp_path / "a.jsonl")
    for words in ("2 problems", ":1: not JSON", ":3: not JSON"):
        assert words in text


def test_a_folder_that_datasets_did_not_save_and_one_of_several_splits_are_refused(tmp_path):
    with pytest.raises(PolyrewardError, match="save_to_disk did not write"):
        read_pairs(tmp_path)
    one = datasets.Dataset.from_list([PAIR])
    datasets.DatasetDict({"train": one, "test": one}).save_to_disk(tmp_path / "two")
    with pytest.raises(PolyrewardError, match="holds the splits train, test; name one"):
        read_pairs(tmp_path / "two")
    assert len(read_pairs(tmp_path / "two/test")) == 1


def test_a_benchmark_of_the_user_s_own_is_read_in_the_layout_that_its_setting_names(tmp_path, capsys):
    row = {**PAIR, "input": "q", "output_1": "4", "output_2": "5", "label": 2}
    path = write(tmp_path, [row], ".jsonl")
    job = SimpleNamespace(input=[path], output=[tmp_path / "out"], params=SimpleNamespace(layout=None))
    with pytest.raises(
        PolyrewardError, match="fit the layouts llmbar, pairs; name one of them with --layout"
    ):
        script("translate/own_benchmark").main(job)
    job.params.layout = "llmbar"
    script("translate/own_benchmark").main(job)
    (found,) = read_jsonl(tmp_path / "out")
    assert (found["chosen"], found["rejected"]) == ("5", "4")
    assert "1 rows, layout llmbar, 1 pairs\n  not used: prompt, chosen, rejected" in capsys.readouterr().err


def test_the_example_of_the_documents_is_read():
    assert len(read_pair_file(ROOT / "resources/example/best_of_four.jsonl").rows) == 8
