"""Files of pairs in each format that people have, and what is refused in words."""

import json
from types import SimpleNamespace

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
