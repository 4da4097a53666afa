"""Item templates: every mistake is named, and what is right expands to rows."""

import json
from pathlib import Path

import pytest
import yaml
from support import refused

from polyreward.core.errors import PolyrewardError
from polyreward.sources.templates import (
    data_files,
    expanded,
    read_templates,
    resolved_slots,
    template_texts,
)

SCHEMA = yaml.safe_load((Path(__file__).parents[3] / "workflow/schemas/templates.schema.yaml").read_text())
ITEM = {
    "id": "sum", "subset": "arithmetic", "slots": {"n": "number"}, "fills": [{"n": 1}],
    "prompt": "{n}?", "chosen": "yes", "rejected": "no",
}  # fmt: skip
TWIN = {
    "id": "twin", "subset": "arithmetic", "slots": {"n": "number"}, "fills": [{"n": 4}],
    "prompts": ["More than {n}?", "Less than {n}?"], "answers": ["It is 9.", "It is 2."],
}  # fmt: skip

HISTORY = [{"role": "user", "content": "Hello, I am {n}."}, {"role": "assistant", "content": "Hello."}]


@pytest.fixture
def read(tmp_path):
    """Write each argument (a list of items, or YAML text) to a file of its own, a.yaml, b.yaml, ..., and read
    them."""

    def write_and_read(*files):
        for name, items in zip("abc", files, strict=False):
            (tmp_path / f"{name}.yaml").write_text(items if isinstance(items, str) else yaml.safe_dump(items))
        return read_templates(data_files(tmp_path), SCHEMA)

    return write_and_read


def computed(value, **more):
    """Return an item whose slot x is computed from n."""
    slots = {"n": "number", "x": {"type": "number", "value": value, **more}}
    return {**ITEM, "slots": slots, "prompt": "{n} {x}"}


def test_good_templates_are_read_in_the_order_of_file_names(read):
    assert [item["id"] for item in read([ITEM], [TWIN])] == ["sum", "twin"]


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"prompt": "{n} {z}?"}, "`{z}` is used but not declared under slots"),
        ({"check": "f() == {z}"}, "`{z}` is used but not declared under slots"),
        (
            {"slots": {"n": "number", "m": "number"}, "fills": [{"n": 1, "m": 1}]},
            "slot `m` is declared but never used",
        ),
        ({"slots": {"n": "numbr"}}, "slot `n` has the unknown type `numbr`; use one of country,"),
        ({"fills": [{"n": 1}, {}]}, "fill 2 has [], its slots are ['n']"),
        ({"fills": [{"n": 1, "m": 2}]}, "fill 1 has ['m', 'n'], its slots are ['n']"),
        ({"rejected": "{n} {"}, "rejected: Single '{' encountered in format string; double a literal brace"),
        ({"history": HISTORY[::-1]}, "the history's roles are assistant, user; begin with user"),
        ({"history": [*HISTORY, HISTORY[0]]}, "the history's roles are user, assistant, user"),
        (
            {"history": [{**HISTORY[0], "content": "{z}"}, HISTORY[1]]},
            "`{z}` is used but not declared under slots",
        ),
    ],
)
def test_a_mistake_is_named_with_its_file_and_id(read, tmp_path, change, problem):
    text = refused(read, [{**ITEM, "id": "good"}, {**ITEM, **change}])
    assert f"{tmp_path}/a.yaml: `sum`: {problem}" in text
    assert "`good`" not in text


def test_what_the_schema_forbids_is_named_with_file_and_place(read, tmp_path):
    history = [{**HISTORY[0], "content": " "}, HISTORY[1]]
    for change, place, problem in [
        ({"subset": "Not A Name"}, "`sum` subset", "'Not A Name' does not match"),
        ({"promt": "x"}, "`sum`", "'promt' was unexpected"),
        ({"history": history}, "`sum` history 0 content", "' ' does not match"),
    ]:
        text = refused(read, [{**ITEM, "id": "good"}, {**ITEM, **change}])
        assert f"{tmp_path}/a.yaml: {place}: " in text and problem in text and "`good`" not in text


def test_what_is_no_template_and_no_family_is_named_by_its_id_or_number(read):
    without = {key: {name: value for name, value in ITEM.items() if name != key} for key in ("id", "prompt")}
    families = [{**TWIN, "fills": []}, {**TWIN, "fills": [{"n": 4}, {"n": 5}]}]
    text = refused(read, [ITEM, without["id"]], [{**TWIN, **ITEM}, without["prompt"]], families)
    (_, no_id, both, no_prompt, *twins) = text.splitlines()
    assert "a.yaml: item 2: 'id' is a required property" in no_id
    assert "b.yaml: `sum`: " in both
    assert "b.yaml: `sum`: needs prompt, chosen and rejected; or prompts, answers and one fill" in no_prompt
    assert len(twins) == 2 and all("c.yaml: `twin`" in text for text in twins)


def test_an_id_in_two_files_is_named_with_both(read, tmp_path):
    text = refused(read, [ITEM], [TWIN, ITEM])
    assert f"{tmp_path}/b.yaml: `sum` is also in {tmp_path}/a.yaml; give it another id" in text


def test_several_mistakes_are_all_named_at_once(read):
    bad = {**ITEM, "prompt": "{z}", "slots": {"n": "numbr"}}
    text = refused(read, [bad, {**bad, "id": "other", "fills": [{}]}])
    assert text.startswith("templates: 7 problems")  # `{z}`, n unused, n's type, of both; and the fill of one
    assert text.count("`sum`: ") == 3 and text.count("`other`: ") == 4


def test_a_file_that_is_no_list_of_items_is_named_and_so_is_a_folder_without_any(read, tmp_path):
    assert f"{tmp_path}: holds no .yaml file" in refused(read)
    for text in ("", "id: x\n", "[]\n", "- id: [\n"):
        assert "a.yaml" in refused(read, text)


def test_texts_of_templates_and_twins_are_named_by_role():
    assert list(template_texts(ITEM)) == [("prompt", "{n}?"), ("chosen", "yes"), ("rejected", "no")]
    assert [role for role, _ in template_texts(TWIN)] == ["prompt 1", "prompt 2", "answer 1", "answer 2"]
    assert list(template_texts({**ITEM, "history": HISTORY}))[:3] == [
        ("history 1, user", "Hello, I am {n}."), ("history 2, assistant", "Hello."), ("prompt", "{n}?"),
    ]  # fmt: skip


@pytest.mark.parametrize(("item", "requests"), [(ITEM, ["1?"]), (TWIN, ["More than 4?", "Less than 4?"])])
def test_a_history_comes_before_each_request(item, requests):
    rows = expanded([{**item, "history": HISTORY}], "chat")
    said = [{"role": "user", "content": f"Hello, I am {item['fills'][0]['n']}."}, HISTORY[1]]
    assert [row["prompt"] for row in rows] == [
        [*said, {"role": "user", "content": request}] for request in requests
    ]
    assert all(row["messages"]["prompt"][:2] == HISTORY for row in rows)
    assert json.loads(json.dumps(rows)) == rows


def test_each_fill_gives_a_row_that_keeps_the_texts_with_placeholders_and_the_slots():
    rows = expanded([{**ITEM, "fills": [{"n": 1000}, {"n": 2}]}], "chat")
    assert [(row["id"], row["prompt"], row["template"]) for row in rows] == [
        ("sum-1", "1,000?", "sum"),
        ("sum-2", "2?", "sum"),
    ]
    assert (rows[0]["source"], rows[0]["subset"]) == ("chat", "arithmetic")
    assert rows[1]["messages"] == {"prompt": "{n}?", "chosen": "yes", "rejected": "no"}
    assert rows[1]["slots"] == dict.fromkeys(("prompt", "chosen", "rejected"), {"n": ["number", 2]})


def test_twins_give_two_rows_with_swapped_answers():
    rows = expanded([TWIN], "twins")
    keys = ("id", "template", "prompt", "chosen", "rejected")
    assert [tuple(row[key] for key in keys) for row in rows] == [
        ("twin-a", "twin", "More than 4?", "It is 9.", "It is 2."), ("twin-b", "twin", "Less than 4?", "It is 2.", "It is 9."),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("expression", "value"),
    [("n / 4", 10.25), ("n / 41", 1), ("n * 2 - 1", 81), ("max(n, 50)", 50), ("n / 3", 13.666667)],
)
def test_a_slot_is_computed_from_the_numbers_of_its_fill(expression, value):
    result = resolved_slots(computed(expression)["slots"], {"n": 41})["x"]
    assert result == ["number", value] and type(result[1]) is type(value)


def test_a_computed_slot_has_its_unit_and_reads_a_literal_as_a_number_where_it_is_one():
    slots = {"n": "number", "x": {"type": "measure", "value": "n * 2", "unit": "length-kilometer"}}
    assert resolved_slots(slots, {"n": 3})["x"] == ["measure", [6, "length-kilometer"]]
    (row,) = expanded([{**ITEM, "slots": slots, "fills": [{"n": 3}], "prompt": "{n}, {x}"}], "chat")
    assert row["prompt"] == "3, 6 kilometers"
    slots = {"n": "literal", "x": {"type": "number", "value": "n + 1"}}
    assert resolved_slots(slots, {"n": "41"}) == {"n": ["literal", "41"], "x": ["number", 42]}


@pytest.mark.parametrize(
    "expression", ["n / 0", "z + 1", "n.x", "open('f')", "__import__('os')", "n +", "'a' + n"]
)
def test_an_expression_error_is_named_with_id_and_fill(expression):
    with pytest.raises(PolyrewardError, match="^chat: 1 problem\n  - `sum`, fill 1: "):
        expanded([ITEM | {"id": "good"}, computed(expression)], "chat")


def test_bad_values_are_all_named_with_id_and_fill():
    months = {**ITEM, "id": "months", "slots": {"n": "month"}, "fills": [{"n": 12}, {"n": 13}, {"n": 0}]}
    dates = {**ITEM, "id": "dates", "slots": {"n": "date"}, "fills": [{"n": "2023-02-29"}]}
    text = refused(expanded, [months, dates], "chat")
    assert text.startswith("chat: 3 problems")
    assert "`months`, fill 2: month `13`" in text and "`months`, fill 3: month `0`" in text
    assert "`dates`, fill 1: date `2023-02-29`" in text and "fill 1: month" not in text
