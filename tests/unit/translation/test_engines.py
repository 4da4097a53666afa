"""Engines of translation: one way for all, and language models."""

import pytest
from support import script
from translation_data import ITEM, SPANISH, po

from polyreward.settings.translation import GettextEngine, LmEngine
from polyreward.sources.templates import TEXTS, expanded
from polyreward.translation.engines import Reply, gettext_rows, lm_rows, source_rows
from polyreward.translation.lm import LmTranslator

translated = script("translate/translated_rows").translated

PO = GettextEngine(kind="gettext", catalogs="anywhere")


def test_rows_of_the_source_language_are_kept_without_what_engines_need():
    (row,) = rows = expanded([ITEM], "test")
    kept = {key: row[key] for key in ("id", "template", "source", "subset", *TEXTS)}
    assert translated(rows, PO, None, "en", "en") == source_rows(rows) == [kept]


def test_translated_runs_the_engine_that_is_asked_for(tiny_gemma, tmp_path):
    rows = expanded([ITEM], "test")
    (tmp_path / "es.po").write_text(po(*SPANISH), encoding="utf-8")
    assert translated(rows, PO, tmp_path / "es.po", "en", "es") == gettext_rows(
        rows, "es", tmp_path / "es.po"
    )
    assert translated(rows, SETTINGS, str(tiny_gemma), "en", "es") == lm_rows(
        rows, "es", LmTranslator(tiny_gemma, SETTINGS)
    )


SIZES = {"batch_size": 2, "max_new_tokens": 8}
SETTINGS = LmEngine(kind="lm", model="tiny-gemma", prompt="{source}: {text}\n{target}:", **SIZES)
LINES = ["Good morning!", "How do I cook rice for 4 people?", "Yes.", "A {placeholder} and 7 dogs", "Yes."]


@pytest.fixture(scope="module")
def translator(tiny_gemma):
    return LmTranslator(tiny_gemma, SETTINGS)


def test_a_language_model_gives_single_lines_in_order_whatever_the_batch(translator):
    answers = translator(LINES, "en", "es")
    assert len(set(answers)) > 1 and len(answers) == len(LINES)
    assert all(text == text.strip() and "\n" not in text for text, _ in answers)
    assert translator(LINES, "en", "es") == answers
    assert translator(LINES[::-1], "en", "es") == answers[::-1]
    assert [translator([line], "en", "es")[0] for line in LINES] == answers
    assert translator([], "en", "es") == []


@pytest.mark.parametrize("chat", [False, True])
def test_the_prompt_names_both_languages_and_holds_the_line(tiny_gemma, chat):
    prompt = LmTranslator(tiny_gemma, SETTINGS.model_copy(update={"chat": chat}))._prompt(
        "Keep {this}.", "en", "ko"
    )
    assert "English: Keep {this}.\nKorean:" in prompt
    assert prompt.endswith("<start_of_turn>model\n") is chat


def test_answers_that_are_bare_code_are_not_sent():
    sent = []

    def shouting(pieces, source, target):
        sent.extend(pieces)
        return [Reply(piece.upper()) for piece in pieces]

    rows = [
        {"id": "1", "subset": subset, "prompt": "Add up", "chosen": "return sum(a)", "rejected": "return 0"}
        for subset in ("hep-python", "math-prm")
    ]
    code, prose = lm_rows(rows, "es", shouting, "text", ["hep-python"])
    assert (code["prompt"], code["chosen"], code["rejected"]) == ("ADD UP", "return sum(a)", "return 0")
    assert prose["chosen"] == "RETURN SUM(A)" and "return sum(a)" in sent
