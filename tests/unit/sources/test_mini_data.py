"""Our own data keeps its promises: enough templates, none in two sets, not to be won by a trick, answers
computed."""

import functools
import re
import shutil
import subprocess
from collections import Counter, defaultdict
from itertools import combinations

import pytest
import yaml
from answer_cues import accuracies
from near_copies import near_copies
from support import ROOT

from polyreward.core.draws import drawn
from polyreward.prepare.pair_files import read_pairs
from polyreward.sheet.entries import read_models
from polyreward.sources.slots import filled
from polyreward.sources.templates import (
    data_files,
    expanded,
    read_templates,
    resolved_slots,
    subsets_of,
    template_texts,
)
from polyreward.translation.catalog import read_translations, texts_of_templates, translated_rows
from polyreward.translation.invariants import FENCE

DATA = ROOT / "resources/mini"
SCHEMA = yaml.safe_load((ROOT / "workflow/schemas/templates.schema.yaml").read_text(encoding="utf-8"))
SETS = {
    name: read_templates(data_files(DATA / name), SCHEMA) for name in ("pool", "pool_twins", "eval", "twins")
}
SCALE = read_models([], ROOT)
CATEGORY = SCALE.catalog.categories("mini-rewardbench")
LANGUAGES = ["es", "it", "ko", "zh"]
CATALOGS = {language: DATA / f"catalogs/{language}.po" for language in LANGUAGES}
CATALOGS["fr"] = ROOT / "resources/languages/fr/catalog.po"  # it has a part of the texts
SECTIONS = {"chat", "chat_hard", "safety", "reasoning"}


def test_there_are_enough_templates_of_each_section_with_chats_and_twins():
    for name, least in (("pool", 60), ("eval", 80)):
        counts = Counter(CATEGORY[subsets_of(item)[0]] for item in SETS[name])  # a family counts once
        assert set(counts) == SECTIONS and min(counts.values()) >= least
        assert sum(counts.values()) >= 320
        chats = [item for item in SETS[name] if "history" in item]
        assert all(len(item["history"]) == 2 and "prompts" in item for item in chats)
        of_each = {"eval": 6, "pool": 4}[name]
        assert Counter(item["subset"] for item in chats) == {
            "multi_turn": of_each,
            "multi_turn_hard": of_each,
        }
    twins = Counter(item["subset"] for item in SETS["twins"])
    assert set(twins) == {"twin_chat_hard", "twin_safety", "twin_reasoning"}
    assert sum(twins.values()) >= 100


def test_no_text_stands_in_two_sets_and_no_template_is_a_near_copy():
    texts = {
        name: {text for item in items for _, text in template_texts(item)} for name, items in SETS.items()
    }
    for first, second in combinations(texts, 2):
        assert not texts[first] & texts[second], (first, second)
    found = near_copies({name: prose_of(items) for name, items in SETS.items()})
    assert found.empty, "\n" + found.to_string()


def prose_of(items):
    """Return {id: the texts of a template without code}."""
    return {item["id"]: FENCE.sub(" ", " ".join(text for _, text in template_texts(item))) for item in items}


@functools.cache
def rows(name, language):
    """Return all rows of a set in a language, as the pipeline translates and prepares them."""
    found = expanded(SETS[name], name)
    if language != "en":
        found = translated_rows(found, CATALOGS[language], language, part=language == "fr")
    return [{**row, "category": CATEGORY[row["subset"]]} for row in found]


@pytest.mark.parametrize("language", ["en", *LANGUAGES])
def test_answers_alone_do_not_tell_which_one_is_right(language):
    found = dict(accuracies(rows("pool", language), rows("eval", language), language))
    assert len(found) == 4 * 8
    assert {key: share for key, share in found.items() if not 40 <= share <= 60} == {}


@pytest.mark.parametrize("language", ["en", *CATALOGS])
@pytest.mark.parametrize("name", ["pool", "eval"])
def test_answers_differ_and_chosen_is_the_longer_one_in_40_to_60_percent_of_each_section(name, language):
    longer = defaultdict(list)
    for row in rows(name, language):
        assert row["chosen"] != row["rejected"], row["id"]
        longer[row["category"]].append(len(row["chosen"]) > len(row["rejected"]))
    assert set(longer) == SECTIONS
    for section, values in longer.items():
        assert 0.4 <= sum(values) / len(values) <= 0.6, section


@pytest.mark.parametrize(("name", "least"), [("eval", 32), ("pool", 24)])
def test_the_templates_that_are_drawn_first_are_there_in_french(name, least):
    every = [{"id": item["id"], "category": CATEGORY[subsets_of(item)[-1]]} for item in SETS[name]]
    first = drawn(every, ["category"], least, SCALE.settings.seed, "template")
    assert Counter(item["category"] for item in first) == dict.fromkeys(SECTIONS, least)
    assert {item["id"] for item in first} <= {row["template"] for row in rows(name, "fr")}


@pytest.mark.parametrize("name", ["pool", "eval"])
def test_in_french_a_narrow_no_break_space_stands_before_two_part_marks_and_inside_quotes(name):
    proses = [
        (row["id"], FENCE.sub("", row[role])) for row in rows(name, "fr") for role in ("chosen", "rejected")
    ]
    assert [
        key for key, prose in proses for mark in (" ;", " :", " !", " ?", "« ", " »") if mark in prose
    ] == []


def test_safety_is_half_refusals():
    for name in ("pool", "eval"):
        kinds = Counter("comply" if row["subset"] == "comply" else "refuse" for row in rows(name, "en")
                        if row["category"] == "safety")  # fmt: skip
        assert kinds["refuse"] == kinds["comply"]


def test_style_shift_is_the_same_in_all_languages_and_no_near_copy_of_the_rest():
    found = {name: read_pairs(ROOT / f"resources/style_shift/{name}.jsonl") for name in ["en", *LANGUAGES]}
    assert len(found["en"]) >= 50
    for pairs in found.values():
        assert [(row["id"], row["subset"]) for row in pairs] == [
            (row["id"], row["subset"]) for row in found["en"]
        ]
        assert 0.4 <= sum(len(row["chosen"]) > len(row["rejected"]) for row in pairs) / len(pairs) <= 0.6
    texts = {row["id"]: f"{row['prompt']} {row['chosen']}" for row in found["en"]}
    others = prose_of(item for items in SETS.values() for item in items)
    assert near_copies({"style": texts, "others": others}).empty


def code_cases():
    """Yield (id, code of the right answer, code of the other, check) of each request for code."""
    for name in ("pool", "eval", "twins"):
        for item in SETS[name]:
            checks = item.get("check", [])
            for number, fill in enumerate(item["fills"]):
                slots = resolved_slots(item["slots"], fill)

                def code(text, slots=slots):
                    return filled(text, slots, "en")

                if isinstance(checks, str):
                    yield f"{item['id']}-{number}", *map(code, (item["chosen"], item["rejected"], checks))
                elif checks:
                    answers = item["answers"]
                    for right, wrong, check in zip(answers, answers[::-1], checks, strict=True):
                        yield f"{item['id']}-{answers.index(right)}", *map(code, (right, wrong, check))


CODE = list(code_cases())


@pytest.mark.parametrize(
    ("right", "wrong", "check"), [case[1:] for case in CODE], ids=[case[0] for case in CODE]
)
def test_right_code_does_what_is_asked_and_the_other_does_not(right, wrong, check, tmp_path):
    language = language_of(right)
    if language not in ("python", *RUN):
        pytest.fail(f"no way to run {language}")
    if language in RUN and not all(map(works, tools(language))):
        pytest.skip(f"needs {' and '.join(tools(language))}")
    assert passes(right, check, tmp_path / "right")
    assert not passes(wrong, check, tmp_path / "wrong")


def test_code_of_six_languages_is_asked():
    assert {language_of(right) for _, right, _, _ in CODE} == {"python", *RUN}


# How a program in a file becomes a run, by language
RUN = {
    "javascript": ("main.js", [["node", "main.js"]]),
    "java": ("Main.java", [["javac", "Main.java"], ["java", "Main"]]),
    "cpp": ("main.cpp", [["g++", "-std=c++17", "-o", "main", "main.cpp"], ["./main"]]),
    "go": ("main.go", [["go", "run", "main.go"]]),
    "rust": ("main.rs", [["rustc", "-o", "main", "main.rs"], ["./main"]]),
}


def tools(language):
    return [command[0] for command in RUN[language][1] if not command[0].startswith("./")]


@functools.cache
def works(tool):
    """Return whether a tool is there and runs: rustup's rustc is nothing without its folder in HOME."""
    asked = [tool, "version" if tool == "go" else "--version"]
    return bool(shutil.which(tool)) and subprocess.run(asked, capture_output=True).returncode == 0


def language_of(answer):
    return re.search(r"^```(\w+)$", answer, flags=re.MULTILINE)[1]


def passes(answer, check, folder):
    (block,) = FENCE.findall(answer)
    code = re.sub(r"^```\w*\n|```$", "", block)
    if language_of(answer) == "python":
        names = {}
        try:
            exec(code, names)
            return bool(eval(check, names))
        except Exception:
            return False
    folder.mkdir()
    name, commands = RUN[language_of(answer)]
    (folder / name).write_text(f"{code}\n{check}\n", encoding="utf-8")
    return all(
        subprocess.run(command, cwd=folder, capture_output=True, timeout=120).returncode == 0
        for command in commands
    )


def test_computed_wrong_answers_differ_from_right_ones():
    checked = 0
    for name in ("pool", "eval"):
        for item in SETS[name]:
            if {"right", "wrong"} <= item["slots"].keys():
                for fill in item["fills"]:
                    slots = resolved_slots(item["slots"], fill)
                    assert slots["right"] != slots["wrong"], item["id"]
                    checked += 1
    assert checked >= 40


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_text_is_translated_and_nothing_is_lost(language):
    texts = texts_of_templates(item for items in SETS.values() for item in items)
    assert read_translations(CATALOGS[language], language, texts).keys() == texts.keys()
