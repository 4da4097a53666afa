"""Catalogs of translations: read, filled, brought up to date."""

import pytest
from babel.messages.pofile import read_po
from translation_data import ITEM, SPANISH, po

from polyreward.core.errors import PolyrewardError
from polyreward.sources.templates import expanded, template_texts
from polyreward.translation.catalog import read_translations, update_catalog
from polyreward.translation.engines import gettext_rows


def test_gettext_rows_fill_the_translation_with_localised_slots(tmp_path):
    path = tmp_path / "es.po"
    path.write_text(po(*SPANISH), encoding="utf-8")
    rows = gettext_rows(expanded([ITEM], "test"), "es", path)
    assert rows == [{
        "id": "rice-1", "template": "rice", "source": "test", "subset": "advice",
        "prompt": "¿Cómo preparo arroz para 1500 personas en Francia?", "chosen": "Usa una olla.", "rejected": "Usa 2 coches.",
    }]  # fmt: skip


CHAT = {
    **ITEM, "id": "chat",
    "history": [{"role": "user", "content": "I am in {place}."}, {"role": "assistant", "content": "What do you cook?"}],
}  # fmt: skip


def test_gettext_rows_translate_every_message_of_a_conversation(tmp_path):
    path = tmp_path / "es.po"
    path.write_text(
        po(*SPANISH, ("I am in {place}.", "Estoy en {place}."), ("What do you cook?", "¿Qué cocinas?")),
        encoding="utf-8",
    )
    (row,) = gettext_rows(expanded([CHAT], "test"), "es", path)
    assert row["prompt"] == [
        {"role": "user", "content": "Estoy en Francia."},
        {"role": "assistant", "content": "¿Qué cocinas?"},
        {"role": "user", "content": "¿Cómo preparo arroz para 1500 personas en Francia?"},
    ]
    assert (row["chosen"], row["rejected"]) == ("Usa una olla.", "Usa 2 coches.")


def test_one_error_lists_every_bad_entry(tmp_path):
    entries = [
        ("Good.", "Bien."),
        ("Untranslated.", ""),
        ("Doubtful.", "Dudoso.", "fuzzy"),
        ("Meet {name} now.", "Ven ya."),
        ("Bring 3 apples.", "Trae manzanas."),
        ("Run\n```\nx = 1\n```", "Usa\n```\nx = 2\n```"),
    ]
    path = tmp_path / "es.po"
    path.write_text(po(*entries), encoding="utf-8")
    with pytest.raises(PolyrewardError) as error:
        read_translations(path, "es", dict.fromkeys(("Not here.", *(entry[0] for entry in entries)), "rice"))
    first, *problems = str(error.value).split("\n  - ")
    assert first == f"catalog {path}: 6 problems"
    listed = [
        "is not in the catalog",
        "is not translated",
        "is fuzzy",
        "lost {name}",
        "lost the number 3",
        "a code block was",
    ]
    assert len(problems) == 6
    for problem, expected in zip(problems, listed, strict=True):
        assert problem.startswith(f"{path}: `rice`: ") and expected in problem
    assert "Good." not in str(error.value)


def test_rows_that_come_from_no_template_are_translated_as_they_are(tmp_path):
    path = tmp_path / "es.po"
    path.write_text(po(("Use {braces}.", "Usa {braces}."), ("Good.", "Bueno.")), encoding="utf-8")
    rows = [{"id": "i", "prompt": "Use {braces}.", "reference": "Good."}, {"id": "p", "text": "Good."}]
    assert gettext_rows(rows, "es", path) == [
        {"id": "i", "prompt": "Usa {braces}.", "reference": "Bueno."},
        {"id": "p", "text": "Bueno."},
    ]
    with pytest.raises(PolyrewardError, match="`x`: .*is not in the catalog"):
        gettext_rows([{"id": "x", "text": "Never written."}], "es", path)


def test_of_a_part_rows_that_are_not_translated_whole_are_left_out(tmp_path):
    path = tmp_path / "es.po"
    path.write_text(po(("A.", "Uno."), ("B.", "Dos."), ("C.", "")), encoding="utf-8")
    rows = [{"id": "1", "prompt": "A.", "reference": "B."}, {"id": "2", "prompt": "A.", "reference": "C."}]
    assert [row["id"] for row in gettext_rows(rows, "es", path, part=True)] == ["1"]
    with pytest.raises(PolyrewardError, match="is not translated"):
        gettext_rows(rows, "es", path)
    with pytest.raises(PolyrewardError, match="of 1 rows such as `2` none is translated whole"):
        gettext_rows(rows[1:], "es", path, part=True)


def test_a_pair_that_holds_another_templates_untranslated_text_is_left_out_by_itself(tmp_path):
    path = tmp_path / "es.po"
    path.write_text(po(("A.", "Uno."), ("B.", "Dos."), ("C.", "Tres.")), encoding="utf-8")
    rows = [
        {
            "id": f"t-1-{kind}",
            "template": "t",
            "kind": kind,
            "slots": dict.fromkeys(("prompt", "chosen", "rejected"), {}),
            "messages": {"prompt": "A.", "chosen": "B.", "rejected": rejected},
        }
        for kind, rejected in (("written", "C."), ("off_topic", "Of another template."))
    ]
    (row,) = gettext_rows(rows, "es", path, part=True)
    assert (row["kind"], row["rejected"]) == ("written", "Tres.")


def test_a_family_is_left_out_with_both_its_requests(tmp_path):
    path = tmp_path / "es.po"
    path.write_text(po(("A.", "Uno."), ("B.", "Dos.")), encoding="utf-8")
    rows = [
        {
            "id": f"f-{suffix}",
            "template": "f",
            "slots": {},
            "messages": {"prompt": text, "chosen": "A.", "rejected": "B."},
        }
        for suffix, text in (("a", "A."), ("b", "C."))
    ]
    with pytest.raises(PolyrewardError, match="none is translated whole"):
        gettext_rows(rows, "es", path, part=True)


def test_no_catalog_says_how_to_make_one(tmp_path):
    with pytest.raises(
        PolyrewardError, match="there is no catalog for `es`; run `polyreward catalog update`"
    ):
        read_translations(tmp_path / "es.po", "es", {})


def test_a_file_that_is_no_catalog_is_refused(tmp_path):
    (tmp_path / "es.po").write_text("hello\n")
    with pytest.raises(PolyrewardError, match=r"not a .po file .*; fix that line"):
        read_translations(tmp_path / "es.po", "es", {})


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


def test_a_new_catalog_has_every_text_with_its_id_role_and_example(tmp_path):
    update_catalog(tmp_path / "es.po", [ITEM], "es")
    with open(tmp_path / "es.po", "rb") as stream:
        catalog = read_po(stream, locale="es", abort_invalid=True)
    assert [message.id for message in catalog if message.id] == [text for _, text in template_texts(ITEM)]
    message = catalog.get(ITEM["prompt"])
    assert message.string == ""
    assert message.auto_comments == ["rice: prompt", "How do I cook rice for 1,500 people in France?"]
    assert not catalog.fuzzy


@pytest.mark.parametrize("start", ["", po(*SPANISH)], ids=["from nothing", "from a translation"])
def test_updating_twice_is_byte_identical(tmp_path, start):
    path = tmp_path / "es.po"
    if start:
        path.write_text(start, encoding="utf-8")
    update_catalog(path, [ITEM], "es")
    first = path.read_bytes()
    update_catalog(path, [ITEM], "es")
    assert path.read_bytes() == first


def test_updating_keeps_translations_and_marks_changed_texts_fuzzy(tmp_path):
    path = tmp_path / "es.po"
    path.write_text(po(*SPANISH), encoding="utf-8")
    changed = {**ITEM, "prompt": "How do I cook some rice for {n} people in {place}?"}
    update_catalog(path, [changed], "es")
    with open(path, "rb") as stream:
        catalog = read_po(stream, locale="es", abort_invalid=True)
    assert catalog.get("Use a pot.").string == "Usa una olla."
    assert not catalog.get("Use a pot.").fuzzy
    assert catalog.get(changed["prompt"]).fuzzy
    assert catalog.get(changed["prompt"]).string == SPANISH[0][1]
    assert catalog.get(ITEM["prompt"]) is None
    assert not catalog.obsolete
    with pytest.raises(PolyrewardError, match="is fuzzy; check its msgstr and delete the fuzzy flag"):
        read_translations(path, "es", {changed["prompt"]: "rice"})


def test_a_fuzzy_entry_stays_fuzzy_until_a_person_says_otherwise(tmp_path):
    path = tmp_path / "es.po"
    path.write_text(po((*SPANISH[0], "fuzzy"), *SPANISH[1:]), encoding="utf-8")
    update_catalog(path, [ITEM], "es")
    with pytest.raises(PolyrewardError, match="is fuzzy"):
        read_translations(path, "es", {ITEM["prompt"]: "rice"})
