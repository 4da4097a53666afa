from collections import Counter

import pytest
import yaml
from support import ROOT

from polyreward.sources.off_topic import off_topic_rows
from polyreward.sources.templates import expanded, filled_fields, template_rows

SCHEMA = yaml.safe_load((ROOT / "workflow/schemas/templates.schema.yaml").read_text(encoding="utf-8"))
DATASETS = yaml.safe_load((ROOT / "workflow/catalog/datasets.yaml").read_text(encoding="utf-8"))


def template(name, chosen, fills=1):
    return {
        "id": name, "subset": "advice", "slots": {"n": "number"}, "fills": [{"n": n + len(name)} for n in range(fills)],
        "prompt": f"{name} {{n}}?", "chosen": chosen, "rejected": f"not {name}",
    }  # fmt: skip


def family(name):
    return {
        "id": name, "subset": "advice", "slots": {"n": "number"}, "fills": [{"n": 7}],
        "prompts": [f"{name} one {{n}}?", f"{name} two {{n}}?"], "answers": [f"{name} first {{n}}", f"{name} second {{n}}"],
    }  # fmt: skip


def rows_of(*items):
    return off_topic_rows(expanded(items, "data/chat"), "chat_off_topic")


def test_a_row_rejects_what_a_template_of_like_length_chooses():
    rows = rows_of(template("a", "short {n}"), template("long", "much, much longer {n}"), template("bbb", "brief {n}"),
                   template("longer", "much, much, much longer {n}"))  # fmt: skip
    assert {row["id"]: (row["prompt"], row["chosen"], row["rejected"]) for row in rows} == {
        "a-1-off": ("a 1?", "short 1", "brief 3"),
        "bbb-1-off": ("bbb 3?", "brief 3", "short 1"),
        "long-1-off": ("long 4?", "much, much longer 4", "much, much, much longer 6"),
        "longer-1-off": ("longer 6?", "much, much, much longer 6", "much, much longer 4"),
    }
    assert {row["subset"] for row in rows} == {"chat_off_topic"}
    assert [row["template"] for row in rows] == ["a", "bbb", "long", "longer"]


def test_each_field_is_translated_with_its_own_slots():
    row, _ = rows_of(template("a", "short {n}"), template("bbb", "brief {n}"))
    texts = {"a {n}?": "\u00bfa {n}?", "short {n}": "corto {n}", "brief {n}": "breve {n}"}
    assert filled_fields(row["messages"], row["slots"], "es", texts) == {
        "prompt": "\u00bfa 1?",
        "chosen": "corto 1",
        "rejected": "breve 3",
    }


def test_every_answer_is_right_as_often_as_it_is_wrong():
    rows = rows_of(
        family("a"),
        family("bb"),
        family("ccc"),
        template("d", "d {n}", fills=2),
        template("ee", "ee {n}", fills=2),
    )
    assert len(rows) == 8  # one family has nobody left
    assert Counter(row["chosen"] for row in rows) == Counter(row["rejected"] for row in rows)


def test_templates_that_choose_the_same_are_not_taken_together():
    rows = rows_of(template("a", "yes"), template("b", "yes"), template("c", "no"))
    assert sorted((row["template"], row["rejected"]) for row in rows) == [("a", "no"), ("c", "yes")]


@pytest.mark.parametrize(
    ("name", "kinds"), [("mini-eval", {False, True}), ("mini-pool", {False}), ("mini-pool-off-topic", {True})]
)
def test_a_dataset_says_which_wrong_answers_its_rows_have(name, kinds):
    rows = template_rows({**DATASETS[name], "path": ROOT / DATASETS[name]["path"]}, name, SCHEMA)
    assert {row["id"].endswith("-off") for row in rows} == kinds
    assert len({row["id"] for row in rows}) == len(rows)
    off_topic = [row for row in rows if row["id"].endswith("-off")]
    assert Counter(row["chosen"] for row in off_topic) == Counter(row["rejected"] for row in off_topic)
