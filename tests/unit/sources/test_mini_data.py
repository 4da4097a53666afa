"""Our own data keeps its promises: enough templates, none in two sets, not to be won by a trick, answers computed."""

import ast
import re
from collections import Counter, defaultdict
from itertools import combinations

import pytest
import yaml
from support import ROOT

from polyreward.sources.slots import filled
from polyreward.sources.templates import data_files, expanded, read_templates, resolved_slots, template_texts
from polyreward.translation.catalog import read_translations
from polyreward.translation.invariants import code_blocks

DATA = ROOT / "resources/mini"
SCHEMA = yaml.safe_load((ROOT / "workflow/schemas/templates.schema.yaml").read_text(encoding="utf-8"))
SETS = {name: read_templates(data_files(DATA / name), SCHEMA) for name in ("pool", "pool_twins", "eval", "twins")}
CATEGORY = {
    subset: section
    for section, subsets in yaml.safe_load((ROOT / "workflow/catalog/benchmarks.yaml").read_text(encoding="utf-8"))[
        "mini-rewardbench"
    ]["sections"].items()
    for subset in subsets
}
LANGUAGES = ["es", "it", "ko", "zh"]


def ordinary(name):
    return [item for item in SETS[name] if "prompt" in item]


def test_there_are_enough_templates_with_two_pairs_each():
    assert len(ordinary("pool")) >= 125  # 100 are left to train on when a fifth is kept for tuning
    assert min(Counter(CATEGORY[item["subset"]] for item in ordinary("eval")).values()) >= 25
    assert len(ordinary("eval")) >= 100
    assert all(len(item["fills"]) == 2 for name in ("pool", "eval") for item in ordinary(name))


def test_there_are_enough_twin_families_in_three_categories():
    counts = Counter(item["subset"] for item in SETS["twins"])
    assert set(counts) == {"twin_chat_hard", "twin_safety", "twin_reasoning"}
    assert sum(counts.values()) >= 60


def test_no_text_stands_in_two_sets():
    texts = {name: {text for item in items for _, text in template_texts(item)} for name, items in SETS.items()}
    for first, second in combinations(texts, 2):
        assert not texts[first] & texts[second], (first, second)


@pytest.mark.parametrize("language", ["en", *LANGUAGES])
@pytest.mark.parametrize("name", ["pool", "eval"])
def test_chosen_is_the_longer_one_in_40_to_60_percent_of_each_category(name, language):
    translations = defaultdict(str)
    if language != "en":
        texts = [text for items in SETS.values() for item in items for _, text in template_texts(item)]
        translations = read_translations(DATA / f"catalogs/{language}.po", language, texts)
    longer = defaultdict(list)
    for item in ordinary(name):
        for fill in item["fills"]:
            slots = resolved_slots(item["slots"], fill)
            chosen, rejected = (
                filled(item[role] if language == "en" else translations[item[role]], slots, language)
                for role in ("chosen", "rejected")
            )
            longer[CATEGORY[item["subset"]]].append(len(chosen) > len(rejected))
    for category, values in longer.items():
        assert 0.4 <= sum(values) / len(values) <= 0.6, category


def test_safety_is_half_refusals_and_each_half_is_balanced_in_length():
    for name in ("pool", "eval"):
        halves = defaultdict(list)
        for item in ordinary(name):
            if item["subset"] in ("refuse", "comply"):
                halves[item["subset"]].append(len(item["chosen"]) > len(item["rejected"]))
        assert len(halves["refuse"]) == len(halves["comply"])
        assert all(0.4 <= sum(values) / len(values) <= 0.6 for values in halves.values())


CODE = [
    (item, fill) for name in ("pool", "eval") for item in ordinary(name) if item["subset"] == "code" for fill in item["fills"]
]


@pytest.mark.parametrize(("item", "fill"), CODE, ids=[f"{item['id']}-{n % 2}" for n, (item, _) in enumerate(CODE)])
def test_chosen_code_does_what_is_asked_and_rejected_code_does_not(item, fill):
    slots = resolved_slots(item["slots"], fill)
    check = filled(item["check"], slots, "en")
    assert passes(filled(item["chosen"], slots, "en"), check)
    assert not passes(filled(item["rejected"], slots, "en"), check)


def passes(answer, check):
    (block,) = code_blocks(answer)
    names = {}
    try:
        exec(re.sub(r"^```\w*\n|```$", "", block), names)
        return bool(eval(check, names))
    except Exception:
        return False


def test_code_in_catalogs_is_the_code_of_the_source_and_parses():
    for item, fill in CODE:
        for role in ("chosen", "rejected"):
            (block,) = code_blocks(filled(item[role], resolved_slots(item["slots"], fill), "en"))
            ast.parse(re.sub(r"^```\w*\n|```$", "", block))


def test_computed_wrong_answers_differ_from_right_ones():
    checked = 0
    for name in ("pool", "eval"):
        for item in ordinary(name):
            if {"right", "wrong"} <= item["slots"].keys():
                for fill in item["fills"]:
                    slots = resolved_slots(item["slots"], fill)
                    assert slots["right"] != slots["wrong"], item["id"]
                    checked += 1
    assert checked >= 40


def test_twins_swap_their_answers():
    rows = defaultdict(list)
    for row in expanded(SETS["twins"], "twins"):
        rows[row["template"]].append(row)
    for first, second in rows.values():
        assert (first["chosen"], first["rejected"]) == (second["rejected"], second["chosen"])
        assert first["prompt"] != second["prompt"]


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_text_is_translated_and_nothing_is_lost(language):
    texts = [text for items in SETS.values() for item in items for _, text in template_texts(item)]
    assert len(read_translations(DATA / f"catalogs/{language}.po", language, texts)) == len(set(texts))
