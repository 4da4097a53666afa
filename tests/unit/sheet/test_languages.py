"""A language that brings a folder of its own: what is missing is listed at once, before anything runs, and a
part is enough."""

import shutil

import pytest
from babel.messages.pofile import read_po, write_po
from support import ROOT, TINY, refused

from polyreward.cli import main
from polyreward.core.yaml_files import read_yaml
from polyreward.ops.preflight import check_languages, update_folder
from polyreward.sheet.engines import engine_of
from polyreward.sheet.entries import Models, read_models, with_language
from polyreward.sheet.languages import CATALOG, FACTS, folder_problems, with_folders
from polyreward.sheet.registry import registry_of

GERMAN = "name: German\nscript: Latn\nresource_class: 5\nfamily: Indo-European\ncoverage: {}\n"


@pytest.fixture(scope="module")
def models():
    return read_models([TINY], ROOT)


@pytest.fixture(scope="module")
def begun(models, tmp_path_factory):
    """Return a folder as `polyreward language update de` begins it."""
    folder = tmp_path_factory.mktemp("languages") / "de"
    update_folder("de", folder, models, ROOT)
    return folder


def messages(folder):
    with open(folder / CATALOG, "rb") as stream:
        catalog = read_po(stream, locale="de")
    return catalog, [message for message in catalog if message.id]


@pytest.fixture
def german(begun, tmp_path, models):
    """Return a function that gives scale tiny German as its one target language, by a begun folder.

    coverage: all or part. texts: translates, by a text's number and itself."""

    def translated(coverage, texts):
        folder = tmp_path / "de"
        folder.mkdir(exist_ok=True)
        (folder / FACTS).write_text(GERMAN.format(coverage), encoding="utf-8")
        catalog, found = messages(begun)
        for number, message in enumerate(found):
            message.string = texts(number, message.id)
        with open(folder / CATALOG, "wb") as stream:
            write_po(stream, catalog)
        return with_language(models, "de", str(folder), ROOT)

    return translated


def test_a_folder_is_begun_with_what_cldr_knows_and_the_texts_that_are_drawn_first_come_first(begun):
    assert (begun / FACTS).read_text().splitlines()[:3] == [
        "name: German  # its English name",
        "script: Latn  # its script, ISO 15924, such as Latn",
        "resource_class:  # 0 to 5, Joshi et al. 2020",
    ]
    _, found = messages(begun)
    owners = list(dict.fromkeys(message.auto_comments[0].split(": ")[0] for message in found))
    first = [name.rsplit("-", 1)[0] for name in owners[:8]]
    assert sorted(first) == sorted(["chat", "chat-hard", "reasoning", "safety"] * 2)
    templates = [
        name for name in owners if "-p" in name and name[-1].isdigit()
        and not name.startswith(("passage", "instruction"))
    ]  # fmt: skip
    assert owners.index("passage-01") > max(map(owners.index, templates))


def test_what_a_folder_lacks_and_has_wrong_is_listed_at_once(begun, tmp_path):
    problems = list(folder_problems("de", begun))
    assert [problem.split(": ", 1)[1] for problem in problems] == [
        "`resource_class` is missing; give 0 to 5, Joshi et al. 2020",
        "`family` is missing; give the top level of Glottolog",
    ]
    (missing,) = folder_problems("de", tmp_path / "de")
    assert "there is no folder" in missing and "`polyreward language update de --folder" in missing
    (unknown,) = folder_problems("qq", tmp_path)
    assert "`qq` is no language of CLDR" in unknown
    wrong = GERMAN.format("some").replace("5", "9") + "colour: red\n"
    (tmp_path / FACTS).write_text(wrong)
    texts = "\n".join(folder_problems("de", tmp_path))
    missing = f"there is no `{tmp_path / CATALOG}`"
    for wanted in ("`coverage` is `some`", "`resource_class` is `9`", "`colour` is unknown", missing):
        assert wanted in texts
    (tmp_path / FACTS).write_text("a: [")
    assert "not YAML" in next(folder_problems("de", tmp_path))


def test_every_missing_text_of_a_whole_language_is_listed(german):
    text = refused(
        check_languages, german("all", lambda number, text: "" if number in (3, 8) else text), ROOT
    )
    assert text.count("is not translated; fill in its msgstr") == 2


def test_of_a_part_what_is_left_out_is_counted_and_what_is_broken_is_an_error(german):
    lines = check_languages(german("part", lambda number, text: "" if number == 3 else text), ROOT)
    assert lines[0] == "de: mini-eval: 327 of 328 are translated; of the 104 that this scale uses, 103"
    assert lines[1].startswith("de: mini-pool: 323 of 323")
    spoilt = german("part", lambda number, text: text.replace("{", "<") if number < 3 else "")
    assert "lost {" in refused(check_languages, spoilt, ROOT)


def test_of_too_small_a_part_all_that_cannot_be_made_is_listed_at_once(german):
    text = refused(check_languages, german("part", lambda number, text: text if number < 4 else ""), ROOT)
    for wanted in (
        "no template of mini-eval's subset multi_turn is translated whole; translate some, such as `chat-e",
        "no template of mini-pool's section safety is translated whole",
        "mini-passages: 0 of the 200 that this scale uses are translated; translate 4 or more",
        "no template of mini-twins's subset twin_reasoning",
    ):
        assert wanted in text


def test_a_language_that_a_model_translates_needs_no_texts(german, tmp_path):
    by_catalog = german("all", lambda number, text: "")
    engine = {"default": "gettext", "de": "tiny-gemma"}
    translation = by_catalog.settings.translation.model_copy(update={"engine": engine})
    settings = by_catalog.settings.model_copy(update={"translation": translation})
    by_model = Models(settings, by_catalog.catalog)
    assert check_languages(by_model, ROOT) == []
    (tmp_path / "de" / CATALOG).unlink()
    assert check_languages(by_model, ROOT) == []
    assert f"there is no `{tmp_path / 'de' / CATALOG}`" in refused(check_languages, by_catalog, ROOT)
    assert engine_of(by_model, "de").is_lm and not engine_of(by_model, "es").is_lm


def test_the_command_begins_a_folder_and_lists_what_it_lacks(tmp_path, capsys):
    folder = tmp_path / "de"
    assert main(["language", "update", "de", "--folder", str(folder), "--configfile", str(ROOT / TINY)]) == 0
    *files, last = capsys.readouterr().out.splitlines()
    assert files == [str(folder / FACTS), str(folder / CATALOG)]
    check = f"polyreward language check de --configfile {ROOT / TINY} --folder {folder}"
    assert last == f"Fill in both files. Then: {check}"
    assert main(["language", "check", "de", "--folder", str(folder)]) == 1
    assert "`family` is missing" in capsys.readouterr().err
    (folder / FACTS).write_text(GERMAN.format("part"))
    found = with_folders({"en": {"name": "English"}}, {"de": "de", "fr": "nowhere"}, tmp_path)
    assert list(found) == ["en", "de"] and found["de"]["coverage"] == "part"


def test_french_is_an_overlay_whose_table_is_the_next_one_and_whose_texts_are_there():
    french = read_models([TINY, "workflow/scales/french.yaml"], ROOT)
    tables = registry_of(french.settings, french.catalog, read_yaml(ROOT / "workflow/artifacts.yaml"))
    languages = ["en", "es", "it", "ko", "zh", "fr"]
    assert tables.language_tables == {f"table{number}": one for number, one in enumerate(languages, 3)}
    assert tables.entry("table8")["number"] == "Table 8" and "French benchmark" in tables.caption("table8")
    assert "table8" not in tables.printed() and "results/french/table8.csv" in tables.targets("transfer")
    engine = engine_of(french, "fr")
    assert engine.file == "resources/languages/fr/catalog.po"
    assert engine.arguments == {"engine": engine.settings, "part": True}
    assert not engine_of(french, "es").arguments["part"]
    used = [line.split("; ")[1] for line in check_languages(french, ROOT)[:2]]
    assert used == [f"of the {count} that this scale uses, {count}" for count in (104, 48)]


def test_french_is_updated_in_seconds_and_a_check_ends_with_a_clear_line(tmp_path, capsys, monkeypatch):
    shutil.copytree(ROOT / "resources/languages/fr", tmp_path / "fr")
    monkeypatch.setattr("babel.messages.catalog.get_close_matches", None)  # which takes minutes
    assert main(["language", "update", "fr", "--folder", str(tmp_path / "fr")]) == 0
    french = ["--configfile", str(ROOT / TINY), str(ROOT / "workflow/scales/french.yaml")]
    assert main(["language", "check", "fr", *french, "--folder", str(tmp_path / "fr")]) == 0
    assert capsys.readouterr().out.splitlines()[-1] == "fr: nothing is missing"
