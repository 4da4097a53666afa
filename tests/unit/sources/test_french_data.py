"""The French of the example overlay keeps what the other languages' texts keep, as far as it goes."""

from collections import Counter, defaultdict

import pytest
import yaml
from support import ROOT

from polyreward.config.scale import read_scale
from polyreward.core.draws import drawn
from polyreward.sources.templates import data_files, expanded, read_templates, subsets_of
from polyreward.translation.catalog import translated_rows
from polyreward.translation.invariants import FENCE

CATALOG = ROOT / "resources/languages/fr/catalog.po"
SCHEMA = yaml.safe_load((ROOT / "workflow/schemas/templates.schema.yaml").read_text(encoding="utf-8"))
SCALE = read_scale([], ROOT)
CATEGORY = SCALE.categories("mini-rewardbench")
LEAST = {"eval": 32, "pool": 24}


@pytest.fixture(scope="module", params=LEAST)
def name(request):
    return request.param


@pytest.fixture(scope="module")
def rows(name):
    items = read_templates(data_files(ROOT / "resources/mini" / name), SCHEMA)
    return translated_rows(expanded(items, name), CATALOG, "fr", part=True)


def test_the_templates_that_are_drawn_first_are_there(name, rows):
    items = read_templates(data_files(ROOT / "resources/mini" / name), SCHEMA)
    every = [{"id": item["id"], "category": CATEGORY[subsets_of(item)[-1]]} for item in items]
    first = drawn(every, ["category"], LEAST[name], SCALE.settings.seed, "template")
    assert Counter(item["category"] for item in first) == dict.fromkeys(
        ["chat", "chat_hard", "safety", "reasoning"], LEAST[name]
    )
    assert {item["id"] for item in first} <= {row["template"] for row in rows}


def test_chosen_is_the_longer_one_in_40_to_60_percent_of_each_section(rows):
    longer = defaultdict(list)
    for row in rows:
        longer[CATEGORY[row["subset"]]].append(len(row["chosen"]) > len(row["rejected"]))
    for section, values in longer.items():
        assert 0.4 <= sum(values) / len(values) <= 0.6, section


def test_the_two_answers_to_a_request_differ(rows):
    assert [row["id"] for row in rows if row["chosen"] == row["rejected"]] == []


def test_a_narrow_no_break_space_stands_before_two_part_marks_and_inside_quotes(rows):
    wrong = []
    for row in rows:
        for text in (row["chosen"], row["rejected"]):
            prose = FENCE.sub("", text)
            wrong += [row["id"] for marks in (" ;", " :", " !", " ?", "« ", " »") if marks in prose]
    assert wrong == []
