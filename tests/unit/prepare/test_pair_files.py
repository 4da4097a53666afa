"""Files of pairs in each format that people have, and what is refused in words."""

import contextlib
import gc
import gzip
import io
import json
import os
from types import SimpleNamespace

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pair_data import ASKED, PAIR, SYSTEM, VOTE, WRITERS, said, user, write
from support import ROOT, refused, script

from polyreward.core.errors import PolyrewardError
from polyreward.core.files import read_jsonl
from polyreward.prepare.pair_files import read_pair_file, read_pairs

NOTATION = {"prompt": 'one, "two"\nthree; \ud55c\uad6d\uc5b4', "chosen": "[4]", "rejected": "$x$\t\\"}
ROWS = [{"id": "a", "subset": "x", **PAIR}, {"id": "b", "subset": "y", **NOTATION}]
TALKS = [{"chosen": [*ASKED, said("4")], "rejected": [*ASKED, said("5")]}]


@pytest.mark.parametrize("kind", WRITERS)
def test_each_format_gives_the_same_pairs(tmp_path, kind):
    rows = read_pairs(write(tmp_path, ROWS, kind))
    assert [{key: row[key] for key in ROWS[0]} for row in rows] == ROWS


@pytest.mark.parametrize("kind", [".jsonl", ".json", ".csv", ".parquet", ".columns.json"])
def test_conversations_are_the_same_in_each_format_and_as_text(tmp_path, kind):
    held = [{key: how(value) for key, value in TALKS[0].items()} for how in (json.dumps, repr)]
    for rows in (TALKS, held[:1], held[1:]):  # CSV holds the first as Python writes lists
        (row,) = read_pairs(write(tmp_path, rows, kind))
        assert (row["prompt"], row["chosen"], row["rejected"]) == (ASKED, "4", "5")


@pytest.mark.parametrize("as_text", [json.dumps, repr])
def test_a_message_that_is_held_as_text_is_a_message_whatever_key_comes_first(tmp_path, as_text):
    roles = ("chosen", "rejected")
    row = {key: as_text({"id": 1, "content": "a {b}: " + key, "role": "assistant"}) for key in roles}
    row["prompt"] = as_text([{"name": "me", "content": "q", "role": "user"}])
    (found,) = read_pairs(write(tmp_path, [row], ".csv"))
    assert (found["prompt"], found["chosen"]) == ([{"role": "user", "content": "q"}], "a {b}: chosen")


# How a list or messages without a role look in a cell
AS_CELLS = [
    "['{}', 'b']",
    '["{}", "b"]',
    "['{}' 'b']",
    "array(['{}', 'b'], dtype=object)",
    '{{"content": "{}"}}',
    '"[\\"{}\\"]"',
]


@pytest.mark.parametrize("key", ["prompt", "chosen", "rejected"])
@pytest.mark.parametrize("cell", AS_CELLS)
def test_a_list_in_a_cell_is_refused_with_its_row_and_where_lists_can_be_written_it_is_counted(
    tmp_path, cell, key
):
    rows = [{**PAIR, "id": number, key: cell.format(number)} for number in range(2)]
    words = f"`{key}` is a list that was written as text in"
    assert f"{words} 2 of 2 pairs (line 2, line 3)" in refused(read_pairs, write(tmp_path, rows, ".csv"))
    mixed = [{**PAIR, "id": 1}, rows[0]]
    assert f"{words} 1 of 2 pairs (line 3)" in refused(read_pairs, write(tmp_path, mixed, ".csv"))
    found = read_pair_file(write(tmp_path, mixed, ".jsonl"))
    assert found.rows[1][key] == rows[0][key]
    assert f"{words} 1 of 2 pairs (line 2); taken as plain text" in found.summary()
    if key != "prompt":
        assert f"{words} 2 of 2 pairs" in refused(read_pairs, write(tmp_path, rows, ".jsonl"))
    one = read_pairs(write(tmp_path, [{**PAIR, "rejected": ["['0']"]}], ".jsonl"))
    assert one[0]["rejected"] == ["['0']"]


@pytest.mark.parametrize(
    "text", ["[4]", "[1] says so.", '{"name": "Ann", "role": "cook"}', '"So" [he said]', "{x}", "[a]"]
)
def test_an_answer_that_is_no_list_of_texts_stays_what_it_is(tmp_path, text):
    for kind in (".csv", ".jsonl"):
        found = read_pair_file(write(tmp_path, [{**PAIR, "chosen": text}], kind))
        assert (found.rows[0]["chosen"], found.remarks) == (text, [])


AS_TEXTS = [  # how a message looks as text: (text, answer)
    *(
        json.dumps([{"role": role, "content": "4"}])
        for role in ("assistant", "Assistant", "bot", "model", "AI")
    ),
    json.dumps([{"from": "chatgpt", "value": "4"}]),
    json.dumps(json.dumps([said("4")])),
    json.dumps(json.dumps(json.dumps(said("4")))),
    "array([{'content': '4', 'role': 'assistant'}], dtype=object)",
]


@pytest.mark.parametrize("kind", [".csv", ".jsonl", ".parquet"])
@pytest.mark.parametrize("text", AS_TEXTS)
def test_messages_in_a_cell_are_messages_also_in_one_row_of_many(tmp_path, text, kind):
    rows = read_pairs(write(tmp_path, [PAIR, {**PAIR, "chosen": text}], kind))
    assert [row["chosen"] for row in rows] == ["4", "4"]


@pytest.mark.parametrize("role", ["tool", "function", "zork"])
def test_a_message_of_another_role_in_a_cell_is_no_answer(tmp_path, role):
    text = json.dumps([{"role": role, "content": "4"}])
    words = f"`chosen` ends with a message of role `{role}`"
    assert words in refused(read_pairs, write(tmp_path, [{**PAIR, "chosen": text}], ".csv"))


HALF = "half \\ud83d"  # as JSON and Python write half of a character


@pytest.mark.parametrize("row", [
    {"id": 1, "prompt": '["a"]', "response_a": '["4"]', "response_b": f'["{HALF}"]', "winner_model_a": 1, "winner_model_b": 0},
    {**PAIR, "rejected": f"[{{'role': 'assistant', 'content': '{HALF}'}}]"},
    {**PAIR, "rejected": f'[{{"role": "assistant", "content": "{HALF}"}}]'},
    {**PAIR, "prompt": f"[{{'role': 'user', 'content': '{HALF}'}}]"},
], ids=["votes", "Python", "JSON", "prompt"])  # fmt: skip
def test_half_of_a_character_in_a_cell_is_named_with_its_row(tmp_path, row):
    text = refused(read_pairs, write(tmp_path, [row], ".csv"))
    assert "pairs.csv:2: " in text and ("half of a character" in text or "cannot be read" in text)


def test_a_missing_prompt_is_one_line_with_the_columns(tmp_path):
    rows = [{"system": "Add.", "query": "2 + 2?", "chosen": "4", "rejected": "5"}] * 30
    text = refused(read_pairs, write(tmp_path, rows, ".jsonl"))
    assert "has no column `prompt`" in text and "`query`" in text and len(text.splitlines()) == 1


def test_ids_that_pandas_made_floats_are_whole_numbers_missing_ones_the_row_and_zero_is_a_name(tmp_path):
    path = write(tmp_path, [{"id": 8, **PAIR}, {"id": None, **PAIR}], ".parquet")
    assert [row["id"] for row in read_pairs(path)] == ["8", "2"]
    zeros = dict.fromkeys(("id", "subset", "template", "category"), 0)
    (row,) = read_pairs(write(tmp_path, [{**PAIR, **zeros}], ".jsonl"))
    assert {key: row[key] for key in zeros} == dict.fromkeys(zeros, "0")


def test_names_that_print_alike_are_the_same_name(tmp_path):
    names = [
        "caf\u00e9 x",
        "cafe\u0301 x",
        "caf\u00e9\u00a0x",
        " caf\u00e9 x",
        "caf\u00e9\u200b x",
        "ca\u00adf\u00e9\u2060 x",
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
    return {**PAIR, "chosen": [{"role": "assistant", "content": "4", **more}]}


def won(first, second):
    answers = {"prompt": ["a"], "response_a": ["4"], "response_b": ["5"]}
    return {**answers, "winner_model_a": first, "winner_model_b": second}


NEXT_TO_ANSWERS = {
    "images": ["a.png"],
    "image": {"bytes": "x"},
    "tools": '[{"type": "function"}]',
    "audio": "a.wav",
    "history": [["a", "b"]],
}
UNKNOWN = {
    "reasoning_details": [{"text": "so"}],
    "thought": "so",
    "refusal": "no",
    "image_url": "a.png",
    "documents": ["a page"],
    "zork": "so",
}
NUMPY = "[{'role': 'user', 'content': 'a'}\n {'role': 'assistant', 'content': 'b'}]"
# Words of the error, and the row that it is about
WRONG = [
    ("`chosen` ends with a message of role `user`", {"chosen": ASKED, "rejected": [*ASKED, said("5")]}),
    ("other messages before it than `prompt`", {**PAIR, "chosen": [user("3?"), said("4")]}),
    ("differ before their last", {"chosen": [*ASKED, said("4")], "rejected": [said("0"), *ASKED, said("5")]}),
    ("`prompt` is empty", {"prompt": None, "chosen": [said("4")], "rejected": [said("5")]}),
    ("`system` and the system turn of `prompt` differ", {"system": "a", **PAIR, "prompt": [SYSTEM, *ASKED]}),
    ("`system` is 3, not a text", {"system": 3, **PAIR}),
    (
        "other messages before it than `prompt`",
        {**PAIR, "chosen": [SYSTEM, *ASKED, said("4")], "rejected": [*ASKED, said("5")]},
    ),
    *(
        (f"`{column}` belongs to the conversation and is not scored", {**PAIR, column: held})
        for column, held in NEXT_TO_ANSWERS.items()
    ),
    *((f"has `{key}`, which is not scored", answer(**{key: held})) for key, held in UNKNOWN.items()),
    ("`chosen`: message 1 has no `role` or no `content`", {**PAIR, "chosen": [{"role": "assistant"}]}),
    ("has `reasoning_content`, which is not scored", answer(reasoning_content="so")),
    ("has `tool_calls`, which is not scored", answer(tool_calls=[{"name": "f"}])),
    ("such as an image (image_url)", answer(content=[{"type": "image_url"}])),
    ("message list as text that cannot be read", {**PAIR, "chosen": NUMPY}),
    ("`id` is 1.5; give a text or a whole number", {"id": 1.5, **PAIR}),
    ("`template` is {", {**PAIR, "template": {"a": 1}}),
    ("`subset` is `all items`", {**PAIR, "subset": "all items"}),
    ("invisible characters", {**PAIR, "subset": "a\u202eb"}),
    ("`chosen` is 4, not a text", {**PAIR, "chosen": 4}),
    ("`chosen`: message 2 is 3; write {role, content}", {**PAIR, "chosen": [*ASKED, 3]}),
    ("identical", {**PAIR, "rejected": "4"}),
    ("`preference_strength` is NaN; give a number", {**VOTE, "preference_strength": float("nan")}),
    ("`preference_strength` is true; give a number", {**VOTE, "preference_strength": True}),
    ('`preference_strength` is "x"; give a number', {**VOTE, "preference_strength": "x"}),
    ("are not 0 or 1", won(0.5, 0.2)),
    ("at most one of them 1", won(1, 1)),
    ("`label` is `3`; use one of 1, 2", {"input": "a", "output_1": "4", "output_2": "5", "label": "3"}),
    (
        "does not fit layout rmb-pairwise",
        {"conversation_input": "a", "chosen": {"answer": "4"}, "reject": "5"},
    ),
    (
        "correct the row (docs/reference/files.md shows the layout)",
        {"conversations": 5, "chosen": "4", "rejected": "5"},
    ),
    ("it is no dialogue of hh-rlhf", {"chosen": "\n\nHuman: a\n\nAssistant: 4", "rejected": "5"}),
]


@pytest.mark.parametrize(("words", "row"), WRONG, ids=[one[0] for one in WRONG])
def test_what_is_no_pair_is_named_with_its_line(tmp_path, words, row):
    path = write(tmp_path, [row], ".jsonl")
    assert f"{path}:1: " in (text := refused(read_pairs, path)) and words in text


def test_columns_and_keys_that_say_nothing_are_no_matter(tmp_path):
    harmless = {
        "name": "me",
        "timestamp": "now",
        "weight": 1.0,
        "toxic": False,
        "reasoning": "",
        "tool_calls": [],
        "refusal": None,
    }
    row = {**answer(**harmless), "images": [], "tools": "[]", "system": " "}
    found = read_pair_file(write(tmp_path, [row], ".jsonl"))
    assert {key: found.rows[0][key] for key in PAIR} == PAIR


def test_an_id_twice_is_named_with_both_lines(tmp_path):
    path = write(tmp_path, [{"id": 1, **PAIR}, {"id": "1", **PAIR}], ".jsonl")
    assert f"{path}:2: id `1` is also in line 1" in refused(read_pairs, path)


def test_a_long_list_of_problems_is_cut(tmp_path):
    rows = [{"id": number, **PAIR, "chosen": None} for number in range(800)]
    text = refused(read_pairs, write(tmp_path, rows, ".jsonl"))
    assert "800 problems" in text and len(text.splitlines()) < 30


def parquet_with_a_column_twice():
    arrays = [pa.array([text]) for text in "abcd"]
    pq.write_table(pa.table(arrays, ["prompt", "chosen", "chosen", "rejected"]), stream := io.BytesIO())
    return stream.getvalue()


LFS = "version https://git-lfs.github.com/spec/v1\noid sha256:abc\nsize 134217728\n"
# (name, content, words of the error)
FILES = [
    ("a.csv", "prompt,chosen\na,b\n", "no layout of pairs has these columns: `prompt`, `chosen`"),
    ("a.csv", "", "holds no row"),
    ("a.csv", "prompt,chosen,rejected\na,b\n", "a.csv:2: `rejected` is empty"),
    ("a.csv", 'prompt,chosen,rejected\na,"b\nc",d\na,b,c,d\n', "a.csv:4: has more cells than there are columns"),
    ("a.csv", b"prompt,chosen,rejected\na,b,\xff\n", "not UTF-8 (byte"),
    ("a.parquet", "PAR2", "not a Parquet file"),
    ("a.xlsx", "x", "cannot read `.xlsx` files; save it as one of .jsonl"),
    ("a.jsonl.gz", "x", "a.jsonl.gz:1: not JSON"),
    ("a.jsonl", LFS, "is a Git LFS pointer, not the file itself; run `git lfs pull`"),
    ("a.csv.gz", LFS, "is a Git LFS pointer"),
    ("a.parquet", LFS, "is a Git LFS pointer"),
    ("a.jsonl", gzip.compress(LFS.encode(), mtime=0), "is a Git LFS pointer"),
    ("a.json", "\n <!DOCTYPE html>\n<html></html>", "is a web page (HTML); download the file itself"),
    ("a.parquet", "<HTML>", "is a web page"),
    ("a.csv", '<?xml version="1.0"?><Error/>', "is XML, such as a server's error"),
    ("a.csv", b"PK\x03\x04\x14\x00", "as an Excel workbook is"),
    ("a.csv", b"\xd0\xcf\x11\xe0\xa1", "is an old Excel workbook"),
    ("a.json", b"ARROW1\0\0", "is an Arrow file, as datasets keeps them"),
    ("a.json", '{\n "prompt": "a"\n}\n{\n "prompt": "b"\n}\n', "write one object a line, as `jq -c .` does"),
    ("a.jsonl", '["a", "b"]\n["c", "d"]\n', "write one object a line, as `jq -c .` does"),
    ("a.parquet.gz", gzip.compress(b"PAR1", mtime=0)[:12], "not a Parquet file (Compressed file ended"),
    ("a.csv", 'prompt,chosen,rejected\na,"b\nb",c\na,b,"c\nd,e,f\n', "a.csv:4: in the row that begins here, a quote is not closed"),
    ("a.csv", 'prompt,chosen,rejected\na,"b,c\nd,"e",f\n', "a.csv:2: in the row that begins here, a quote is not closed"),
    ("a.csv", 'sep=;\nprompt;chosen;rejected\na;b;"c\n', "a.csv:3: in the row that begins here, a quote is not closed"),
    ("a.csv", 'prompt,"chosen,rejected\na,b,c\n', "a.csv:1: in the row that begins here, a quote is not closed"),
    ("a.csv", "prompt,chosen,rejected\na,b,c\n\na,b\n", "a.csv:4: `rejected` is empty"),
    ("a.jsonl", json.dumps(PAIR) + "\n\n{}\n", "a.jsonl:2: the line is empty"),
    ("a.json", json.dumps({"train": [PAIR], "test": [PAIR]}), "holds several tables (train, test)"),
    ("a.json", "[1, 2", "not JSON"),
    ("a.jsonl", "[1]", "item 1: 1: not an object; write {...} for each item"),
    ("a.csv", "prompt,chosen,chosen,rejected\na,b,c,d\n", "has the column `chosen` more than once"),
    ("a.parquet", parquet_with_a_column_twice(), "has the column `chosen` more than once"),
]  # fmt: skip


@pytest.mark.parametrize(("name", "content", "words"), FILES)
def test_a_file_that_cannot_be_read_is_named(tmp_path, name, content, words):
    path = tmp_path / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    text = refused(read_pairs, path)
    assert words in text and str(path) in text


def test_reading_leaves_the_search_for_cycles_on(tmp_path):
    path = tmp_path / "a.jsonl"
    for content in (json.dumps(PAIR), "{}"):
        path.write_text(content + "\n")
        with contextlib.suppress(PolyrewardError):
            read_pairs(path)
        assert gc.isenabled()


def zstd(content):
    stream = pa.BufferOutputStream()
    with pa.CompressedOutputStream(stream, "zstd") as compressed:
        compressed.write(content)
    return stream.getvalue().to_pybytes()


LINE = json.dumps(PAIR).encode() + b"\n"
TABLE = "prompt,chosen,rejected\n2 + 2?,4,5\n"
# Files that are read although their names or first bytes are not the usual ones
UNUSUAL = {
    "compressed.jsonl": gzip.compress(LINE, mtime=0),
    "plain.jsonl.gz": LINE,
    "pairs.jsonl.zst": zstd(LINE),
    "pairs.csv.zst": zstd(TABLE.encode()),
    "powershell.jsonl": LINE.decode().encode("utf-16"),
    "unicode_text.csv": TABLE.replace(",", "\t").encode("utf-16"),
    "big_endian.csv": b"\xfe\xff" + TABLE.encode("utf-16-be"),
    "excel.csv": b"\xef\xbb\xbfsep=;\r\n" + TABLE.replace(",", ";").encode(),
    "parquet.jsonl": WRITERS[".parquet"]([PAIR]),
}


@pytest.mark.parametrize("name", UNUSUAL)
def test_first_bytes_tell_what_a_file_is(tmp_path, name):
    (tmp_path / name).write_bytes(UNUSUAL[name])
    (row,) = read_pair_file(tmp_path / name).rows
    assert {key: row[key] for key in PAIR} == PAIR


def test_a_line_below_a_delimiter_of_excel_s_has_its_number(tmp_path):
    (tmp_path / "a.csv").write_text("sep=;\nprompt;chosen;rejected\na;b;c\na;;c\n")
    assert "a.csv:4: `chosen` is empty" in refused(read_pairs, tmp_path / "a.csv")


def test_a_pipe_is_refused_by_name(tmp_path):
    os.mkfifo(tmp_path / "a.jsonl")
    assert "a.jsonl: a pipe or a device; write its content to a file" in refused(
        read_pairs, tmp_path / "a.jsonl"
    )


@pytest.mark.parametrize("first", ['{"prompt": "q",', '{"prompt": "q" "a"}', "hello"])
def test_a_broken_first_line_hides_no_other(tmp_path, first):
    (tmp_path / "a.jsonl").write_text(f'{first}\n{json.dumps(PAIR)}\n{{"prompt":\n')
    text = refused(read_pairs, tmp_path / "a.jsonl")
    for words in ("2 problems", ":1: not JSON", ":3: not JSON"):
        assert words in text


def test_a_folder_is_refused(tmp_path):
    assert "a folder; name one of the files in it" in refused(read_pairs, tmp_path)


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
