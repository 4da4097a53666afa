"""INCLUDE, BLEnD and OMGEval in small folders that have their layout: files, configs, columns; and what is
amiss with them."""

from pathlib import Path

import pytest
import yaml
from hub_layout import CATALOG, cache, entry_at, write_dataset  # noqa: F401 - cache is a fixture
from support import ROOT, refused

from polyreward.sources.hub_data import hub_rows

SETS = ("include-base-44", "blend", "omgeval")


def exam(language: str, number: int) -> dict:
    """A row of INCLUDE, with its twelve columns."""
    facts = dict.fromkeys(("country", "domain", "subject", "regional_feature", "level"), "x")
    options = {f"option_{letter}": f"{language} {number}{letter}" for letter in "abcd"}
    asked = {"language": language, "question": f"{language} {number}? "}
    return {**asked, **facts, **options, "answer": number % 4}


def include(folder: Path, languages=("Spanish", "Korean"), change=lambda row: row) -> dict:
    """A config for each language, with the splits test and validation."""
    files = {f"{name}/test.jsonl": [change(exam(name, number)) for number in range(5)] for name in languages}
    files |= {f"{name}/validation.jsonl": [change(exam(name, 8))] for name in languages}
    configs = {
        name: {split: f"{name}/{split}.jsonl" for split in ("test", "validation")} for name in languages
    }
    write_dataset(folder, files, configs)
    return entry_at(folder, "include-base-44", "es", "ko")


def said(*texts: str, count: int = 1) -> dict:
    return {"answers": [f"{text} aquí" for text in texts], "en_answers": list(texts), "count": count}


BLEND = [
    {"ID": "Al-en-01", "question": "¿Qué se come?", "en_question": "What is eaten?",
     "annotations": [said("rice", count=3), said("bread")], "idks": {"idk": 4, "no-answer": 1, "not-applicable": 1}},
    {"ID": "Al-en-02", "question": "¿Y quién?", "en_question": "Who?", "annotations": [said("me")],
     "idks": {"idk": 0, "no-answer": 2, "not-applicable": 1}},
    {"ID": "Al-en-03", "question": "¿Por qué?", "en_question": "Why?", "annotations": [said("so")],
     "idks": {"idk": 5, "no-answer": 0, "not-applicable": 0}},
    {"ID": "Al-en-04", "question": "¿Dónde?", "en_question": "Where?", "annotations": [],
     "idks": {"idk": 0, "no-answer": 0, "not-applicable": 0}},
    {"ID": "Ko-ko-05", "question": "¿Cuándo?", "en_question": "When?", "annotations": [said("now"), said("now", "soon")],
     "idks": {"idk": 0, "no-answer": 0, "not-applicable": 0}},
]  # fmt: skip


def blend(folder: Path, rows=BLEND) -> dict:
    """One JSON list for each country, which the card names as splits; a country's idks have another type."""
    korea = [
        {**row, "idks": {key: f"{count}" for key, count in row["idks"].items()} | {"other": 1}}
        for row in BLEND
    ]
    files = {"data/annotations_hf/Spain_data.json": rows, "data/annotations_hf/South_Korea_data.json": korea}
    write_dataset(folder, files, {"annotations": dict(zip(("ES", "KR"), files, strict=True))})
    return entry_at(folder, "blend", "es")


def omgeval(folder: Path, languages=("spanish", "russia"), output="output") -> dict:
    """AlpacaEval's form: each model's answers in a file for each language."""
    rows = {name: [{"instruction": f"{name} {n}?", output: f"{name} {n}." if n else "", "generator": "gpt4"} for n in range(3)]
            for name in languages}  # fmt: skip
    files = {
        f"model_outputs/{name}/{model}.json": of for name, of in rows.items() for model in ("gpt4", "okapi")
    }
    write_dataset(folder, files, {})
    return entry_at(folder, "omgeval", "es", "ru")


def test_include_gives_its_options_and_the_right_one_of_the_split_test(tmp_path):
    rows = hub_rows(include(tmp_path), "include-base-44")
    assert len(rows) == 10 and [row["right"] for row in rows[:5]] == [0, 1, 2, 3, 0]
    assert rows[6] == {
        "prompt": "Korean 1?", "options": ["Korean 1a", "Korean 1b", "Korean 1c", "Korean 1d"], "right": 1,
        "id": "include-base-44-2_ko", "language": "ko",
    }  # fmt: skip


def test_blend_accepts_what_anyone_said_in_either_language_unless_too_many_could_not_say(tmp_path, capsys):
    rows = hub_rows(blend(tmp_path, [BLEND[0], *BLEND]), "blend")
    assert rows == [
        {"id": "blend-Al-en-01_es", "prompt": "¿Qué se come?", "language": "es",
         "accepted": ["rice aquí", "bread aquí", "rice", "bread"]},
        {"id": "blend-Ko-ko-05_es", "prompt": "¿Cuándo?", "accepted": ["now aquí", "soon aquí", "now", "soon"], "language": "es"},
    ]  # fmt: skip
    said = capsys.readouterr().err
    assert "dataset blend, es: 4 of 6 questions, without an answer or twice, are left out" in said


def test_omgeval_gives_open_questions_with_a_reference(tmp_path):
    rows = hub_rows(omgeval(tmp_path), "omgeval")
    assert [(row["id"], row["prompt"], row["reference"]) for row in rows] == [
        ("omgeval-1_es", "spanish 1?", "spanish 1."), ("omgeval-2_es", "spanish 2?", "spanish 2."),
        ("omgeval-1_ru", "russia 1?", "russia 1."), ("omgeval-2_ru", "russia 2?", "russia 2."),
    ]  # fmt: skip


def test_include_in_its_older_layout_is_refused_with_what_there_is(tmp_path):
    def older(row):
        kept = {key: row[key] for key in ("language", "question", "answer")}
        return {**kept, "choices": [row["option_a"], row["option_b"]]}

    text = refused(hub_rows, include(tmp_path, change=older), "include-base-44")
    assert "config Spanish, split test: 1 problem" in text
    there = "it has language, question, answer, choices: correct `columns`"
    assert f"no column option_a, option_b, option_c, option_d; {there}" in text


def test_answers_of_another_form_are_refused(tmp_path):
    changes = [
        (lambda n: "ABCD"[n], "column answer holds text, and `answer` numbers"),
        (lambda n: n + 1, "row 3: answer 4 is none of 0 to 3"),
    ]
    for number, (change, words) in enumerate(changes):
        entry = include(
            tmp_path / str(number), change=lambda row, to=change: {**row, "answer": to(row["answer"])}
        )
        assert words in refused(hub_rows, entry, "include-base-44")
    other = [{**row, "annotations": [{"text": "rice"}]} for row in BLEND]
    sets = [
        (other, "and `annotations` lists of answers, en_answers: correct `columns` of blend"),
        (BLEND[1:3], "none of its 2 rows has a question and an answer"),  # too few gave one
    ]
    for number, (rows, words) in enumerate(sets):
        text = refused(hub_rows, blend(tmp_path / f"blend {number}", rows), "blend")
        assert "file data/annotations_hf/Spain_data.json" in text and words in text


@pytest.mark.parametrize("name", SETS)
def test_every_language_of_a_set_is_a_culture_of_carb(name):
    cultures = yaml.safe_load((ROOT / "config.yaml").read_text(encoding="utf-8"))["carb"]["cultures"]
    assert set(CATALOG[name]["languages"]) <= set(cultures)
