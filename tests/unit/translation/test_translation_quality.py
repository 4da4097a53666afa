"""How good a translation engine is."""

import pytest
from support import script

from polyreward.core.errors import PolyrewardError

quality = script("analyse/translation_quality")
QUALITY_COLUMNS, quality_row = quality.QUALITY_COLUMNS, quality.quality_row


def rows_of(*texts):
    return [{"id": str(n), "prompt": text, "chosen": text, "rejected": text} for n, text in enumerate(texts)]


def measured(source, translated, reference):
    table = quality_row(source, translated, reference, engine="gettext", language="es")
    assert list(table.columns) == QUALITY_COLUMNS
    (row,) = table.to_dict("records")
    return row


def test_quality_of_a_translation_that_equals_its_reference_by_id_is_100():
    source, reference = rows_of("a good dog", "two cats", "x"), rows_of("un buen perro", "dos gatos", "y")
    row = measured(source, reference[1::-1], reference)  # in another order, and one is not translated
    assert row["chrf"] == pytest.approx(100)
    assert row["length_ratio"] == pytest.approx((13 + 9) / (10 + 8))
    assert row["untranslated_pct"] == 0
    assert (row["engine"], row["language"], row["n_texts"]) == ("gettext", "es", 6)


def test_quality_counts_texts_left_as_they_were():
    source, reference = rows_of("aaaa", "bb", "cc", "dd"), rows_of("ññññ", "éé", "íí", "óó")
    row = measured(source, [*source[:1], *reference[1:]], reference)
    assert row["untranslated_pct"] == 25
    assert row["length_ratio"] == 1
    assert 0 < row["chrf"] < 100
    assert measured(source, source, reference)["chrf"] == 0


def test_quality_is_that_of_the_rows_that_the_reference_has_which_each_need_a_source():
    source = rows_of("a good dog", "two cats", "x", "y")
    assert measured(source, source, source[:1])["n_texts"] == 3
    for given, reference in ((source[:1], source[:2]), (source[:2], [])):
        with pytest.raises(PolyrewardError, match="no translated id has a reference, or one has no source"):
            measured(given, source[:2], reference)
    passage, human = ([{"id": "a", "text": text}] for text in ("A dog sleeps here.", "Un perro duerme aquí."))
    row = measured(passage, human, human)
    assert (row["chrf"], row["n_texts"]) == (pytest.approx(100), 1)


def test_texts_that_a_translation_left_as_they_were_are_counted():
    rows = [{"id": "a", "prompt": "Why?", "chosen": "```\nprint(1)\n```", "rejected": "No."}]
    left = script("translate/translated_rows").unchanged_texts
    assert left(rows, [{**rows[0], "rejected": "Nein."}]) == 1  # not the code
    assert left(rows, [{**rows[0], "prompt": "Warum?", "rejected": "Nein."}]) == left(rows, []) == 0
