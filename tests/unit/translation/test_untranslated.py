"""How much of a translation is still in the source language."""

import pytest
from support import script

from polyreward.core.errors import PolyrewardError

untranslated = script("analyse/untranslated")
UNTRANSLATED_COLUMNS, untranslated_rows = untranslated.UNTRANSLATED_COLUMNS, untranslated.untranslated_rows

SOURCE = [
    {"id": "a", "category": "chat", "prompt": "Say it. Now!", "chosen": "Ten letters", "rejected": "12"},
    {
        "id": "b",
        "category": "safety",
        "prompt": "Halt",
        "chosen": "Stop\n```\ncode that stays\n```",
        "rejected": "Go on",
    },
]
SPANISH = [
    {"id": "a", "category": "chat", "prompt": "Dilo. Now!", "chosen": "Diez letras", "rejected": "12"},
    {
        "id": "b",
        "category": "safety",
        "prompt": "Halt",
        "chosen": "Para\n```\ncode that stays\n```",
        "rejected": "Sigue",
    },
]


def test_letters_in_sentences_that_stayed_are_counted_by_section_without_code():
    table = untranslated_rows(SOURCE, SPANISH, rows="train", language="es")
    assert table.columns.tolist() == UNTRANSLATED_COLUMNS
    found = table.set_index("section")
    # Chat: "Now!" of "Say it.", "Now!" and "Ten letters"; "12" has no letter. Safety: "Halt" of "Halt",
    # "Stop" and "Go on".
    assert found["source_left_pct"].to_dict() == pytest.approx(
        {"chat": 100 * 3 / 18, "safety": 100 * 4 / 12, "all": 100 * 7 / 30}
    )
    assert found["untranslated_pct"].to_dict() == pytest.approx({"chat": 0, "safety": 100 / 3, "all": 20})
    assert found["n_texts"].to_dict() == {"chat": 2, "safety": 3, "all": 5}
    assert set(table["rows"]) == {"train"} and set(table["language"]) == {"es"}


def test_rows_without_a_section_are_in_all_alone():
    plain = [{key: value for key, value in row.items() if key != "category"} for row in SOURCE]
    table = untranslated_rows(plain, plain, rows="train", language="es")
    assert table["section"].tolist() == ["all"]
    assert table["source_left_pct"].tolist() == [100]


def test_a_translation_of_nothing_is_refused():
    with pytest.raises(PolyrewardError, match="some translated ids have no source"):
        untranslated_rows(SOURCE[:1], SPANISH, rows="train", language="es")
