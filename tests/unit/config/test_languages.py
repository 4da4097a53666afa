"""A language that brings a folder of its own: what is missing is listed at once, before anything runs, and a
part is enough."""

import shutil

import pytest
from babel.messages.pofile import read_po, write_po
from support import ROOT, TINY

from polyreward.cli import main
from polyreward.config.languages import CATALOG, FACTS, folder_problems, with_folders
from polyreward.config.registry import registry_of
from polyreward.config.scale import Scale, read_scale
from polyreward.config.translation import engine_of, languages_brought, languages_translated
from polyreward.core.errors import PolyrewardError
from polyreward.core.yaml_files import read_yaml
from polyreward.ops.preflight import check_languages, update_folder

GERMAN = "name: German\nscript: Latn\nresource_class: 5\nfamily: Indo-European\ncoverage: {}\n"


@pytest.fixture(scope="module")
def scale():
    """Return scale tiny, whose one target language is German, by a folder."""
    return read_scale([TINY], ROOT)


@pytest.fixture(scope="module")
def begun(scale, tmp_path_factory):
    """Return a folder as `polyreward language update de` begins it."""
    folder = tmp_path_factory.mktemp("languages") / "de"
    update_folder("de", folder, scale, ROOT)
    return folder


def written(begun, tmp_path, coverage, texts):
    """Return a copy of a begun folder, each text translated by `texts`, a function of its number and itself."""
    folder = tmp_path / "de"
    folder.mkdir()
    (folder / FACTS).write_text(GERMAN.format(coverage), encoding="utf-8")
    with open(begun / CATALOG, "rb") as stream:
        catalog = read_po(stream, locale="de")
    for number, message in enumerate(message for message in catalog if message.id):
        message.string = texts(number, message.id)
    with open(folder / CATALOG, "wb") as stream:
        write_po(stream, catalog)
    return folder


def of_german(scale, folder):
    return scale.with_language("de", str(folder), ROOT)


def test_a_folder_is_begun_with_what_cldr_knows_and_the_texts_that_are_drawn_first_come_first(begun, scale):
    assert (begun / FACTS).read_text().splitlines()[:3] == [
        "name: German  # its English name",
        "script: Latn  # its script, ISO 15924, such as Latn",
        "resource_class:  # 0 to 5, Joshi et al. 2020",
    ]
    with open(begun / CATALOG, "rb") as stream:
        messages = [message for message in read_po(stream) if message.id]
    owners = list(dict.fromkeys(message.auto_comments[0].split(": ")[0] for message in messages))
    first = [name.rsplit("-", 1)[0] for name in owners[:8]]
    assert sorted(first) == sorted(["chat", "chat-hard", "reasoning", "safety"] * 2)
    assert owners.index("passage-01") > max(place for place, name in enumerate(owners) if "-p" in name and name[-1].isdigit()
                                            and not name.startswith(("passage", "instruction")))  # fmt: skip


def test_all_that_a_begun_folder_lacks_is_listed_at_once(begun):
    problems = list(folder_problems("de", begun))
    assert [problem.split(": ", 1)[1] for problem in problems] == [
        "`resource_class` is missing; give 0 to 5, Joshi et al. 2020",
        "`family` is missing; give the top level of Glottolog",
    ]


def test_a_missing_folder_a_wrong_code_and_wrong_facts_are_named(tmp_path):
    (missing,) = folder_problems("de", tmp_path / "de")
    assert "there is no folder" in missing and "`polyreward language update de --folder" in missing
    (unknown,) = folder_problems("qq", tmp_path)
    assert "`qq` is no language of CLDR" in unknown
    (tmp_path / FACTS).write_text(
        "name: German\nscript: Latn\nresource_class: 9\nfamily: x\ncoverage: some\ncolour: red\n"
    )
    texts = "\n".join(folder_problems("de", tmp_path))
    missing = f"there is no `{tmp_path / CATALOG}`"
    for wanted in ("`coverage` is `some`", "`resource_class` is `9`", "`colour` is unknown", missing):
        assert wanted in texts
    (tmp_path / FACTS).write_text("a: [")
    assert "not YAML" in next(folder_problems("de", tmp_path))


def test_every_missing_text_of_a_whole_language_is_listed(begun, tmp_path, scale):
    folder = written(begun, tmp_path, "all", lambda number, text: "" if number in (3, 8) else text)
    with pytest.raises(PolyrewardError) as error:
        check_languages(of_german(scale, folder), ROOT)
    assert str(error.value).count("is not translated; fill in its msgstr") == 2


def test_of_a_part_what_is_left_out_is_counted_and_what_is_broken_is_an_error(begun, tmp_path, scale):
    folder = written(begun, tmp_path, "part", lambda number, text: "" if number == 3 else text)
    main_line, *others = check_languages(of_german(scale, folder), ROOT)
    assert main_line.startswith("de: mini-eval: 327 of 328 are translated (")
    assert main_line.endswith("; of the 104 that this scale uses, 103")
    assert others[0].startswith("de: mini-pool: 323 of 323")
    shutil.rmtree(folder)
    spoilt = written(
        begun, tmp_path, "part", lambda number, text: text.replace("{", "<") if number < 3 else ""
    )
    with pytest.raises(PolyrewardError, match="lost {"):
        check_languages(of_german(scale, spoilt), ROOT)


def test_of_too_small_a_part_all_that_cannot_be_made_is_listed_at_once(begun, tmp_path, scale):
    folder = written(begun, tmp_path, "part", lambda number, text: text if number < 4 else "")
    with pytest.raises(PolyrewardError) as error:
        check_languages(of_german(scale, folder), ROOT)
    text = str(error.value)
    for wanted in (
        "no template of mini-eval's subset multi_turn is translated whole; translate some, such as `chat-e",
        "no template of mini-pool's section safety is translated whole",
        "mini-passages: 0 of the 200 that this scale uses are translated; translate 4 or more",
        "no template of mini-twins's subset twin_reasoning",
    ):
        assert wanted in text


def test_a_language_that_a_model_translates_needs_no_texts(begun, tmp_path, scale):
    folder = written(begun, tmp_path, "all", lambda number, text: "")
    german = of_german(scale, folder)
    engine = {"default": "gettext", "de": "tiny-gemma"}
    translation = german.settings.translation.model_copy(update={"engine": engine})
    by_model = Scale(german.settings.model_copy(update={"translation": translation}), german.known)
    assert check_languages(by_model, ROOT) == []
    (folder / CATALOG).unlink()
    assert check_languages(by_model, ROOT) == []
    with pytest.raises(PolyrewardError, match=f"there is no `{folder / CATALOG}`"):
        check_languages(german, ROOT)
    assert engine_of(by_model, "de").is_lm and not engine_of(by_model, "es").is_lm


def test_the_command_begins_a_folder_and_lists_what_it_lacks(tmp_path, capsys):
    folder = tmp_path / "de"
    assert main(["language", "update", "de", "--folder", str(folder), "--configfile", str(ROOT / TINY)]) == 0
    assert capsys.readouterr().out.splitlines() == [str(folder / FACTS), str(folder / CATALOG)]
    assert main(["language", "check", "de", "--folder", str(folder)]) == 1
    assert "`family` is missing" in capsys.readouterr().err


def test_facts_of_folders_join_those_that_are_known(tmp_path):
    (tmp_path / "de").mkdir()
    (tmp_path / "de" / FACTS).write_text(GERMAN.format("part"))
    found = with_folders({"en": {"name": "English"}}, {"de": "de", "fr": "nowhere", "it": 3}, tmp_path)
    assert list(found) == ["en", "de"] and found["de"]["coverage"] == "part"
    assert with_folders({"en": {}}, None, tmp_path) == {"en": {}}


@pytest.fixture(scope="module")
def french():
    return read_scale([TINY, "workflow/scales/french.yaml"], ROOT)


def test_french_is_an_overlay_whose_table_is_the_next_one(french):
    tables = registry_of(french, read_yaml(ROOT / "workflow/artifacts.yaml"))
    languages = ["en", "es", "it", "ko", "zh", "fr"]
    assert tables.language_tables == {f"table{number}": one for number, one in enumerate(languages, 3)}
    assert tables.entry("table8")["number"] == "Table 8" and "French benchmark" in tables.caption("table8")
    assert "table8" not in tables.printed() and "results/french/table8.csv" in tables.targets("transfer")


def test_what_data_does_not_bring_is_translated_by_the_language_s_engine(french):
    assert languages_brought(french, "mini-passages") == ["en", "es", "it", "ko", "zh"]
    assert languages_translated(french, "mini-passages") == ["fr"]
    engine = engine_of(french, "fr")
    assert engine.file == "resources/languages/fr/catalog.po"
    assert engine.arguments == {"engine": engine.settings, "part": True}
    assert not engine_of(french, "es").arguments["part"]


def test_the_overlay_s_french_is_there(french):
    lines = check_languages(french, ROOT)
    assert [line.split("; ")[1] for line in lines[:2]] == [
        "of the 104 that this scale uses, 104",
        "of the 48 that this scale uses, 48",
    ]
