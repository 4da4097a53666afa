"""Catalogs of translations: read, filled, brought up to date."""

import re

import pytest
from babel.messages.pofile import read_po
from support import refused
from translation_data import ITEM, SPANISH, po

from polyreward.core.errors import PolyrewardError
from polyreward.sources.templates import expanded, template_texts
from polyreward.translation.catalog import catalog_of, read_translations, update_catalog
from polyreward.translation.engines import gettext_rows


@pytest.fixture
def spanish(tmp_path):
    """Return a function that writes a catalog of entries."""

    def write(*entries):
        (tmp_path / "es.po").write_text(po(*entries), encoding="utf-8")
        return tmp_path / "es.po"

    return write


def message(role, content):
    return {"role": role, "content": content}


def test_gettext_rows_fill_the_translation_with_localised_slots(spanish):
    rows = gettext_rows(expanded([ITEM], "test"), "es", spanish(*SPANISH))
    assert rows == [{
        "id": "rice-1", "template": "rice", "source": "test", "subset": "advice",
        "prompt": "¿Cómo preparo arroz para 1500 personas en Francia?", "chosen": "Usa una olla.", "rejected": "Usa 2 coches.",
    }]  # fmt: skip


def test_gettext_rows_translate_every_message_of_a_conversation(spanish):
    history = [message("user", "I am in {place}."), message("assistant", "What do you cook?")]
    more = ("I am in {place}.", "Estoy en {place}."), ("What do you cook?", "¿Qué cocinas?")
    (row,) = gettext_rows(expanded([{**ITEM, "history": history}], "test"), "es", spanish(*SPANISH, *more))
    assert row["prompt"] == [
        message("user", "Estoy en Francia."),
        message("assistant", "¿Qué cocinas?"),
        message("user", "¿Cómo preparo arroz para 1500 personas en Francia?"),
    ]
    assert (row["chosen"], row["rejected"]) == ("Usa una olla.", "Usa 2 coches.")


def test_one_error_lists_every_bad_entry(spanish):
    listed = {
        ("Good.", "Bien."): None,
        ("Untranslated.", ""): "is not translated",
        ("Doubtful.", "Dudoso.", "fuzzy"): "is fuzzy; check its msgstr and delete the fuzzy flag",
        ("Meet {name} now.", "Ven ya."): "lost {name}",
        ("Bring 3 apples.", "Trae manzanas."): "lost the number 3",
        ("Run\n```\nx = 1\n```", "Usa\n```\nx = 2\n```"): "a code block was",
    }
    path = spanish(*listed)
    text = refused(
        read_translations, path, "es", dict.fromkeys(("Not here.", *(entry[0] for entry in listed)), "rice")
    )
    first, *problems = text.split("\n  - ")
    assert first == f"catalog {path}: 6 problems"
    expected = ["is not in the catalog", *filter(None, listed.values())]
    for problem, words in zip(problems, expected, strict=True):
        assert problem.startswith(f"{path}: `rice`: ") and words in problem
    assert "Good." not in text


def test_rows_that_come_from_no_template_are_translated_as_they_are(spanish):
    path = spanish(("Use {braces}.", "Usa {braces}."), ("Good.", "Bueno."))
    rows = [{"id": "i", "prompt": "Use {braces}.", "reference": "Good."}, {"id": "p", "text": "Good."}]
    i, p = gettext_rows(rows, "es", path)
    assert (i, p) == (
        {"id": "i", "prompt": "Usa {braces}.", "reference": "Bueno."},
        {"id": "p", "text": "Bueno."},
    )
    assert "`x`: “Never written.” is not in" in refused(
        gettext_rows, [{"id": "x", "text": "Never written."}], "es", path
    )


def test_of_a_part_rows_that_are_not_translated_whole_are_left_out(spanish):
    path = spanish(("A.", "Uno."), ("B.", "Dos."), ("C.", ""))
    rows = [{"id": "1", "prompt": "A.", "reference": "B."}, {"id": "2", "prompt": "A.", "reference": "C."}]
    assert [row["id"] for row in gettext_rows(rows, "es", path, part=True)] == ["1"]
    assert "is not translated" in refused(gettext_rows, rows, "es", path)
    text = refused(gettext_rows, rows[1:], "es", path, part=True)
    assert "of 1 rows such as `2` none is translated whole" in text


def pair(row_id, *texts, **more):
    roles = ("prompt", "chosen", "rejected")
    messages = {"messages": dict(zip(roles, texts, strict=True)), "slots": dict.fromkeys(roles, {})}
    return {"id": row_id, "template": "t", **messages, **more}


def test_of_a_template_all_rows_are_left_out_but_of_pairs_of_kinds_each_by_itself(spanish):
    path = spanish(("A.", "Uno."), ("B.", "Dos."), ("C.", "Tres."))
    family = [pair("f-a", "A.", "B.", "C."), pair("f-b", "Untranslated.", "C.", "B.")]
    assert "none is translated whole" in refused(gettext_rows, family, "es", path, part=True)
    kinds = {"written": "C.", "off_topic": "Of another template."}
    rows = [pair(f"t-1-{kind}", "A.", "B.", rejected, kind=kind) for kind, rejected in kinds.items()]
    (row,) = gettext_rows(rows, "es", path, part=True)
    assert (row["kind"], row["rejected"]) == ("written", "Tres.")


def test_no_catalog_or_another_file_is_refused(tmp_path):
    path = tmp_path / "es.po"
    assert "no catalog for `es`; run `polyreward catalog update`" in refused(
        read_translations, path, "es", {}
    )
    path.write_text("hello\n")
    assert "not a .po file" in refused(read_translations, path, "es", {})


def test_a_text_with_two_entries_is_named_with_both_lines(tmp_path):
    head = 'msgid ""\nmsgstr "Content-Type: text/plain; charset=utf-8\\n"\n\n'
    entries = 'msgid "a\\n"\n"b"\nmsgstr "x"\n\n#~ msgid "a"\n#~ msgstr "y"\n\nmsgid "a"\nmsgstr "y"\n\n'
    (tmp_path / "es.po").write_text(head + entries, encoding="utf-8")
    assert read_translations(tmp_path / "es.po", "es", {"a": "rice"}) == {"a": "y"}
    (tmp_path / "es.po").write_text(head + entries + 'msgid "a\\nb"\nmsgstr "z"\n', encoding="utf-8")
    with pytest.raises(
        PolyrewardError,
        match=r"es.po: 1 problem\n  - line 14: .a\nb. is also in line 4; delete one entry",
    ):
        read_translations(tmp_path / "es.po", "es", {})


def updated(path, item):
    update_catalog(path, [item], "es")
    with open(path, "rb") as stream:
        return read_po(stream, locale="es", abort_invalid=True)


def test_a_new_catalog_has_every_text_with_its_id_role_and_example(tmp_path):
    catalog = updated(tmp_path / "es.po", ITEM)
    assert [message.id for message in catalog if message.id] == [text for _, text in template_texts(ITEM)]
    message = catalog.get(ITEM["prompt"])
    assert message.string == "" and not catalog.fuzzy
    assert message.auto_comments == ["rice: prompt", "How do I cook rice for 1,500 people in France?"]


@pytest.mark.parametrize("entries", [[], SPANISH], ids=["from nothing", "from a translation"])
def test_updating_twice_is_byte_identical(tmp_path, spanish, entries):
    path = spanish(*entries) if entries else tmp_path / "es.po"
    updated(path, ITEM)
    first = path.read_bytes()
    updated(path, ITEM)
    assert path.read_bytes() == first


def test_updating_keeps_translations_and_marks_changed_texts_fuzzy_until_a_person_says_otherwise(spanish):
    path = spanish(*SPANISH)
    updated(path, ITEM)
    changed = {**ITEM, "prompt": "How do I cook some rice for {n} people in {place}?"}
    for catalog in (updated(path, changed), updated(path, changed)):
        kept, new = catalog.get("Use a pot."), catalog.get(changed["prompt"])
        assert (kept.string, kept.fuzzy, new.string, new.fuzzy) == (
            "Usa una olla.",
            False,
            SPANISH[0][1],
            True,
        )
        assert catalog.get(ITEM["prompt"]) is None and not catalog.obsolete
    path.write_text(re.sub("fuzzy, |#, fuzzy\n", "", path.read_text(encoding="utf-8")), encoding="utf-8")
    assert not updated(path, changed).get(changed["prompt"]).fuzzy


def test_hundreds_of_new_texts_take_no_comparison_with_each_other(tmp_path, monkeypatch):
    """Babel compares each new text with all translations, which took minutes on resources/languages/fr."""
    old, new = ([{"id": f"{name}-{n}", "text": f"Text {n}."} for n in range(300)] for name in ("old", "new"))
    items = [*old, *({**one, "text": f"New {one['text']}"} for one in new)]
    path = tmp_path / "es.po"
    assert update_catalog(path, old, "es") and not update_catalog(path, old, "es")
    monkeypatch.setattr("babel.messages.catalog.get_close_matches", None)
    assert update_catalog(path, items, "es")
    with open(path, "rb") as stream:
        assert list(read_po(stream)._messages) == list(catalog_of(items, "es")._messages)
