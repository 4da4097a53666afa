"""How good a translation engine is."""

import pytest
from support import script

from polyreward.core.errors import PolyrewardError

quality = script("analyse/translation_quality")
QUALITY_COLUMNS, quality_row = quality.QUALITY_COLUMNS, quality.quality_row


def quality_rows(*texts_):
    return [{"id": str(n), "prompt": text, "chosen": text, "rejected": text} for n, text in enumerate(texts_)]


def test_quality_of_a_translation_that_equals_its_reference_is_100():
    source, reference = quality_rows("a good dog", "two cats"), quality_rows("un buen perro", "dos gatos")
    table = quality_row(source, reference, reference, engine="gettext", language="es")
    assert list(table.columns) == QUALITY_COLUMNS
    (row,) = table.to_dict("records")
    assert row["chrf"] == pytest.approx(100)
    assert row["length_ratio"] == pytest.approx((13 + 9) / (10 + 8))
    assert row["untranslated_pct"] == 0
    assert (row["engine"], row["language"], row["n_texts"]) == ("gettext", "es", 6)


def test_quality_counts_texts_left_as_they_were():
    source, reference = quality_rows("aaaa", "bb", "cc", "dd"), quality_rows("ññññ", "éé", "íí", "óó")
    output = [*source[:1], *reference[1:]]
    (row,) = quality_row(source, output, reference, engine="e", language="es").to_dict("records")
    assert row["untranslated_pct"] == 25
    assert row["length_ratio"] == 1
    assert 0 < row["chrf"] < 100


def test_quality_of_a_translation_with_nothing_in_common_is_0():
    source, reference = quality_rows("aaaa"), quality_rows("bbbb")
    assert quality_row(source, source, reference, engine="e", language="es")["chrf"][0] == 0


def test_quality_matches_rows_by_id_not_by_order():
    source, reference = (
        quality_rows("a good dog", "two cats", "x"),
        quality_rows("un buen perro", "dos gatos", "y"),
    )
    (row,) = quality_row(source, reference[1::-1], reference, engine="e", language="es").to_dict("records")
    assert row["chrf"] == pytest.approx(100)
    assert row["n_texts"] == 6


def test_quality_is_that_of_the_rows_that_the_reference_has():
    source = quality_rows("a good dog", "two cats", "x", "y")
    human = source[:1]
    assert quality_row(source, source, human, engine="e", language="es").loc[0, "n_texts"] == 3


def test_quality_refuses_ids_without_a_source_and_references_of_other_rows():
    for source, reference in ((quality_rows("a"), quality_rows("a", "b")), (quality_rows("a", "b"), [])):
        with pytest.raises(PolyrewardError, match="no translated id has a reference, or one has no source"):
            quality_row(source, quality_rows("a", "b"), reference, engine="e", language="es")


def test_the_quality_of_passages_is_that_of_their_texts():
    source, human = ([{"id": "a", "text": text}] for text in ("A dog sleeps here.", "Un perro duerme aquí."))
    table = quality_row(source, human, human, engine="e", language="es")
    assert table.loc[0, "chrf"] == pytest.approx(100)
    assert table.loc[0, "n_texts"] == 1


def test_texts_that_a_translation_left_as_they_were_are_counted():
    rows = [{"id": "a", "prompt": "Why?", "chosen": "```\nprint(1)\n```", "rejected": "No."}]
    left = script("translate/translated_rows")._as_before
    assert left(rows, [{**rows[0], "rejected": "Nein."}]) == 1  # not the code
    assert left(rows, [{**rows[0], "prompt": "Warum?", "rejected": "Nein."}]) == left(rows, []) == 0
