"""Translation: what survives any engine, and catalogs."""

import shutil

import pytest
from babel.messages.pofile import read_po
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st
from tiny_models import ROOT, TEMPLATE_SCHEMA

from polyreward.core.conversations import contents
from polyreward.core.errors import PolyrewardError
from polyreward.sources.templates import TEXTS, data_files, expanded, read_templates, template_texts
from polyreward.translation.catalog import read_translations, update_catalog
from polyreward.translation.engines import UNITS, Said, gettext_rows, lm_rows, source_rows, translated_texts
from polyreward.translation.invariants import broken_invariants, code_blocks, numbers
from polyreward.translation.lm import LmSettings, LmTranslator
from polyreward.translation.run import translated

CATALOGS = ROOT / "resources/mini/catalogs"
ITEM = {
    "id": "rice", "subset": "advice", "slots": {"n": "number", "place": "country"}, "fills": [{"n": 1500, "place": "FR"}],
    "prompt": "How do I cook rice for {n} people in {place}?", "chosen": "Use a pot.", "rejected": "Use 2 cars.",
}  # fmt: skip


def each_line(translate):
    """Make an engine of a function of one line."""
    return lambda lines, source, target: [Said(translate(line)) for line in lines]


# --- what survives

ADVERSARIES = {
    "drops digits": lambda line: "".join(c for c in line if not c.isdigit()),
    "is empty": lambda line: "",
    "adds newlines": lambda line: f"\n{line}\n\nand more\n",
    "upper-cases": str.upper,
    "reverses": lambda line: line[::-1],
    "invents placeholders": lambda line: line + " {invented}",
    "drops placeholders": lambda line: line.replace("{n}", "").replace("{place}", ""),
    "changes numbers": lambda line: line.replace("1", "2"),
    "adds a code block": lambda line: f"{line} ```x```",
    "opens a code block": lambda line: f"{line} ```",
    "chatters": lambda line: f"Sure! Here are 3 translations of {line}",
}
words = st.text("abcdefgzßéñжя한국中 ", min_size=1, max_size=8)
number_texts = st.from_regex(r"[0-9]{1,4}([.,][0-9]{1,3})?%?", fullmatch=True)
signs = st.sampled_from(["{n}", "{place}", "{", "}", "-", ".", ": "])
prose_lines = st.lists(words | number_texts | signs, max_size=6).map("".join)
fences = st.builds("```{}{}```".format, st.sampled_from(["", "python\n", "\n"]), st.text("abc 12{}n\n", max_size=12))
texts = st.lists(prose_lines | fences | st.sampled_from(["\n", "\n\n", " \n"]), max_size=8).map("".join)


@hypothesis_settings(max_examples=300, deadline=None)
@given(st.lists(texts, max_size=3), st.sampled_from(sorted(ADVERSARIES)), st.sampled_from(UNITS))
def test_whatever_the_engine_says_all_invariants_hold(sources, adversary, unit):
    targets = translated_texts(sources, "es", each_line(ADVERSARIES[adversary]), unit)
    assert len(targets) == len(sources)
    for source, target in zip(sources, targets, strict=True):
        assert list(broken_invariants(source, target)) == []


def test_a_backtick_beside_a_code_block_does_not_change_it():
    (target,) = translated_texts(["Run:```x = 1```"], "es", each_line(lambda line: f"{line}`"))
    assert code_blocks(target) == ["```x = 1```"]


@given(texts, st.sampled_from(UNITS))
def test_an_engine_that_repeats_changes_nothing(text, unit):
    assert translated_texts([text], "es", each_line(str), unit) == [text]


def test_a_sound_translation_is_taken_line_by_line():
    source = "  Hello {n}!\n```python\nhello()\n```\n- 7 dogs\n\n12 %"
    assert translated_texts([source], "es", each_line(str.upper)) == ["  Hello {n}!\n```python\nhello()\n```\n- 7 DOGS\n\n12 %"]


def test_only_distinct_lines_of_prose_are_sent():
    sent = []

    def engine(lines, source, target):
        sent.append((list(lines), source, target))
        return [Said(line) for line in lines]

    translated_texts(["Hello\n```\ncode\n```\n  Hello \n42\n", "Bye\nHello"], "it", engine)
    assert sent == [(["Hello", "Bye"], "en", "it")]


STORY = "One day. Two nights!\n\n```\nOne day.\n```\nThree."


@pytest.mark.parametrize(
    ("unit", "sent"),
    [
        ("text", ["One day. Two nights!", "Three."]),
        ("line", ["One day. Two nights!", "Three."]),
        ("sentence", ["One day.", "Two nights!", "Three."]),
    ],
)
def test_texts_are_sent_whole_by_line_or_by_sentence(unit, sent):
    asked = []

    def engine(pieces, source, target):
        asked.append(list(pieces))
        return [Said(piece.upper()) for piece in pieces]

    assert translated_texts([STORY], "es", engine, unit) == ["ONE DAY. TWO NIGHTS!\n\n```\nOne day.\n```\nTHREE."]
    assert asked == [sent]


def test_what_is_cut_or_broken_is_tried_again_in_smaller_parts_and_only_what_fails_there_stays():
    asked = []

    def engine(pieces, source, target):  # it is cut after 12 letters, and cannot count
        asked.append(list(pieces))
        return [Said(piece.upper().replace("7", "8"), whole=len(piece) <= 12) for piece in pieces]

    source = "One day.\nTwo nights! I saw 7. Four far.\nThis one is far too long."
    done = translated_texts([source], "es", engine, "text")
    assert done == ["ONE DAY.\nTWO NIGHTS! I saw 7. FOUR FAR.\nThis one is far too long."]
    assert asked == [
        [source],
        ["One day.", "Two nights! I saw 7. Four far.", "This one is far too long."],
        ["Two nights!", "I saw 7.", "Four far."],
    ]


@pytest.mark.parametrize("answers", [[], ["uno"], ["uno", "dos", "tres"]])
def test_an_engine_that_loses_count_is_refused(answers):
    with pytest.raises(PolyrewardError, match=f"{len(answers)} lines came back for 2; it must keep their number"):
        translated_texts(["one\ntwo"], "es", lambda *_: answers)


@pytest.mark.parametrize(
    ("source", "target", "problem"),
    [
        ("a ```x``` b", "a ```y``` b", "a code block was changed"),
        ("a ```x``` b", "a b", "a code block was changed"),
        ("a\nb", "a b", "1 line breaks became 0"),
        ("{n} of {m}", "{n} de", "lost {m}"),
        ("{n}", "{n} {x}", "has {x}, which the source has not"),
        ("3 and 3", "3", "lost the number 3"),
        ("1,250.5", "1.250", "lost the number 12505"),
        ("x", "``` x", "a code block was changed"),
    ],
)
def test_each_broken_invariant_is_named(source, target, problem):
    assert list(broken_invariants(source, target)) == [problem]


@pytest.mark.parametrize(
    ("source", "target"),
    [
        ("10,000 people", "1万人"),
        ("15000 won", "1만 5천 원"),
        ("12,500 people", "1.25万人"),
        ("120 million, or 1.5 billion", "1억 2000만, 15억"),
        ("15 cats", "十五只猫"),
        ("at 3 PM", "下午15点"),
        ("at 3 PM", "a las 15:00"),
        ("at 3:30 p.m.", "下午3点半"),
        ("at 9:00 AM", "오전 9시"),
        ("at 12 AM", "a las 0:00"),
        ("2 pm and 2 cats", "14点和2只猫"),
    ],
)
def test_east_asian_numerals_and_clock_times_are_the_same_numbers(source, target):
    assert list(broken_invariants(source, target)) == []


@pytest.mark.parametrize(
    ("source", "target", "lost"),
    [
        ("10,000 people", "2万人", "10000"),
        ("at 3 PM", "下午4点", "3"),
        ("at 3 AM", "15点", "3"),
        ("3 cats", "15只猫", "3"),
        ("at 3:30 PM", "下午3点", "30"),
        ("2 pm and 2 cats", "14点", "2"),
        ("15 cats", "十六只猫", "15"),
    ],
)
def test_another_numeral_or_hour_is_another_number(source, target, lost):
    assert list(broken_invariants(source, target)) == [f"lost the number {lost}"]


def test_a_number_may_change_its_separators_and_place_and_be_added():
    assert list(broken_invariants("1,250.5 and {n}", "{n} y 1.250,5 y 7")) == []
    assert numbers("1,250.5 in ```9``` {x2}") == {"12505": 1}


def test_lm_rows_translate_each_text_and_keep_ids():
    rows = [{"id": "a", "source": "s", "subset": "t", "prompt": "one", "chosen": "two", "rejected": "three", "slots": {}}]
    (row,) = lm_rows(rows, "es", each_line(str.upper))
    assert row == {"id": "a", "source": "s", "subset": "t", "prompt": "ONE", "chosen": "TWO", "rejected": "THREE"}


def test_lm_rows_translate_every_message_of_a_conversation_and_keep_its_roles():
    turns = [{"role": "user", "content": "one"}, {"role": "assistant", "content": "two"}, {"role": "user", "content": "three"}]
    (row,) = lm_rows([{"id": "a", "prompt": turns, "chosen": "b", "rejected": "c"}], "es", each_line(str.upper))
    assert [(turn["role"], turn["content"]) for turn in row["prompt"]] == [
        ("user", "ONE"),
        ("assistant", "TWO"),
        ("user", "THREE"),
    ]
    assert (row["chosen"], row["rejected"]) == ("B", "C")


@pytest.mark.parametrize("row", [{"id": "a", "prompt": "one"}, {"id": "a", "text": "one"}], ids=["prompt alone", "passage"])
def test_lm_rows_translate_what_a_row_has(row):
    (done,) = lm_rows([row], "es", each_line(str.upper))
    assert done == {key: "ONE" if value == "one" else value for key, value in row.items()}
    assert source_rows([row]) == [row]


# --- catalogs


def po(*entries) -> str:
    """Return a .po file of (msgid, msgstr) or (msgid, msgstr, flag) entries, in one line each."""
    header = 'msgid ""\nmsgstr ""\n"Content-Type: text/plain; charset=utf-8\\n"\n"Language: es\\n"\n'
    flagged = ["".join(f"#, {flag}\n" for flag in flags) for _, _, *flags in entries]
    quoted = [f"msgid {_quoted(a)}\nmsgstr {_quoted(b)}\n" for a, b, *_ in entries]
    return "\n".join([header, *map(str.__add__, flagged, quoted)])


def _quoted(text):
    return '"' + text.replace("\n", "\\n") + '"'


SPANISH = [
    ("How do I cook rice for {n} people in {place}?", "¿Cómo preparo arroz para {n} personas en {place}?"),
    ("Use a pot.", "Usa una olla."),
    ("Use 2 cars.", "Usa 2 coches."),
]


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
        po(*SPANISH, ("I am in {place}.", "Estoy en {place}."), ("What do you cook?", "¿Qué cocinas?")), encoding="utf-8"
    )
    (row,) = gettext_rows(expanded([CHAT], "test"), "es", path)
    assert row["prompt"] == [
        {"role": "user", "content": "Estoy en Francia."},
        {"role": "assistant", "content": "¿Qué cocinas?"},
        {"role": "user", "content": "¿Cómo preparo arroz para 1500 personas en Francia?"},
    ]
    assert (row["chosen"], row["rejected"]) == ("Usa una olla.", "Usa 2 coches.")


def test_messages_without_translation_are_all_named_with_their_ids(tmp_path):
    path = tmp_path / "es.po"
    path.write_text(po(*SPANISH, ("I am in {place}.", "")), encoding="utf-8")
    other = {**CHAT, "id": "other", "prompt": "And {n} in {place}?"}
    with pytest.raises(PolyrewardError) as error:
        gettext_rows(expanded([CHAT, other], "test"), "es", path)
    assert str(error.value).splitlines()[0] == f"catalog {path}: 3 problems"
    for problem in (
        "`chat`: “I am in {place}.” is not translated",
        "`chat`: “What do you cook?” is not in the catalog",
        "`other`: “And {n} in {place}?” is not in the catalog",
    ):
        assert f"{path}: {problem}" in str(error.value)


@pytest.mark.parametrize("language", ["es", "it", "ko", "zh"])
def test_the_real_catalogs_translate_the_templates_that_are_in_them(language):
    path = CATALOGS / f"{language}.po"
    with open(path, "rb") as stream:
        known = {message.id for message in read_po(stream, locale=language) if message.string and not message.fuzzy}
    templates = read_templates(data_files(ROOT / "resources/mini/pool"), TEMPLATE_SCHEMA)
    complete = [item for item in templates if known.issuperset(text for _, text in template_texts(item))]
    english = expanded(complete, "pool")
    rows = gettext_rows(english, language, path)
    assert len(rows) == len(english) > 20
    for source, row in zip(english, rows, strict=True):
        assert row["id"] == source["id"]
        assert "messages" not in row
        assert row["prompt"] != source["prompt"]
        for role in TEXTS:
            for text, english_text in zip(contents(row[role]), contents(source[role]), strict=True):
                assert code_blocks(text) == code_blocks(english_text)
                assert text.count("\n") == english_text.count("\n")


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
    listed = ["is not in the catalog", "is not translated", "is fuzzy", "lost {name}", "lost the number 3", "a code block was"]
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


def test_a_family_is_left_out_with_both_its_requests(tmp_path):
    path = tmp_path / "es.po"
    path.write_text(po(("A.", "Uno."), ("B.", "Dos.")), encoding="utf-8")
    rows = [
        {"id": f"f-{suffix}", "template": "f", "slots": {}, "messages": {"prompt": text, "chosen": "A.", "rejected": "B."}}
        for suffix, text in (("a", "A."), ("b", "C."))
    ]
    with pytest.raises(PolyrewardError, match="none is translated whole"):
        gettext_rows(rows, "es", path, part=True)


def test_no_catalog_says_how_to_make_one(tmp_path):
    with pytest.raises(PolyrewardError, match="there is no catalog for `es`; run `polyreward catalog update`"):
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
    with pytest.raises(PolyrewardError, match=r"es.po: 1 problem\n  - line 14: .a\nb. stands in line 4, too; delete one entry"):
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


@pytest.mark.parametrize("language", ["es", "it", "ko", "zh"])
def test_updating_a_real_catalog_keeps_every_translation(tmp_path, language):
    path = tmp_path / f"{language}.po"
    shutil.copy(CATALOGS / path.name, path)
    files = [file for name in ("pool", "eval", "twins") for file in data_files(ROOT / "resources/mini" / name)]
    templates = read_templates(files, TEMPLATE_SCHEMA)
    with open(path, "rb") as stream:
        before = {message.id: message.string for message in read_po(stream, locale=language) if message.id}
    update_catalog(path, templates, language)
    with open(path, "rb") as stream:
        after = {message.id: message.string for message in read_po(stream, locale=language, abort_invalid=True) if message.id}
    wanted = {text for item in templates for _, text in template_texts(item)}
    assert after.keys() == wanted
    assert {text: after[text] for text in wanted & before.keys()} == {text: before[text] for text in wanted & before.keys()}


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


# --- one way for all engines


def test_rows_of_the_source_language_are_kept_without_what_engines_need():
    (row,) = rows = expanded([ITEM], "test")
    kept = {key: row[key] for key in ("id", "template", "source", "subset", *TEXTS)}
    assert translated(rows, {"kind": "gettext"}, None, "en", "en") == source_rows(rows) == [kept]


def test_translated_runs_the_engine_that_is_asked_for(tiny_gemma, tmp_path):
    rows = expanded([ITEM], "test")
    (tmp_path / "es.po").write_text(po(*SPANISH), encoding="utf-8")
    assert translated(rows, {"kind": "gettext"}, tmp_path / "es.po", "en", "es") == gettext_rows(rows, "es", tmp_path / "es.po")
    engine = {"kind": "lm", "model": "tiny-gemma", **vars(SETTINGS)}
    assert translated(rows, engine, str(tiny_gemma), "en", "es") == lm_rows(rows, "es", LmTranslator(tiny_gemma, SETTINGS))


# --- language models

SETTINGS = LmSettings(
    prompt="{source}: {text}\n{target}:", batch_size=2, max_new_tokens=8, chat=False, dtype="float32", unit="line"
)
LINES = ["Good morning!", "How do I cook rice for 4 people?", "Yes.", "A {placeholder} and 7 dogs", "Yes."]


@pytest.fixture(scope="module")
def translator(tiny_gemma):
    return LmTranslator(tiny_gemma, SETTINGS)


def test_a_language_model_gives_as_many_single_lines_as_it_got(translator):
    answers = translator(LINES, "en", "es")
    assert len(answers) == len(LINES)
    assert all(text == text.strip() and "\n" not in text for text, _ in answers)
    assert translator([], "en", "es") == []


def test_a_language_model_is_deterministic_and_keeps_the_order(translator):
    answers = translator(LINES, "en", "es")
    assert len(set(answers)) > 1
    assert translator(LINES, "en", "es") == answers
    assert translator(LINES[::-1], "en", "es") == answers[::-1]


def test_an_answer_does_not_depend_on_its_batch(translator):
    assert [translator([line], "en", "es")[0] for line in LINES] == translator(LINES, "en", "es")


@pytest.mark.parametrize("chat", [False, True])
def test_the_prompt_names_both_languages_and_holds_the_line(tiny_gemma, chat):
    prompt = LmTranslator(tiny_gemma, LmSettings(**{**vars(SETTINGS), "chat": chat}))._prompt("Keep {this}.", "en", "ko")
    assert "English: Keep {this}.\nKorean:" in prompt
    assert prompt.endswith("<start_of_turn>model\n") is chat


def test_a_chat_engine_translates_too(tiny_gemma):
    answers = LmTranslator(tiny_gemma, LmSettings(**{**vars(SETTINGS), "chat": True}))(LINES, "en", "es")
    assert len(answers) == len(LINES)
