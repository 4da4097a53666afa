"""The registry: tables of one language each, what a scale makes of it, and what a page shows."""

import pytest
from settings_data import settings_with

from polyreward.core.errors import PolyrewardError
from polyreward.sheet.registry import Registry, by_language

ONE = {
    "paper": "carb", "number": "Figure 1", "target": "one.png", "published": None,
    "caption": "At {confidence}. {check}",
}  # fmt: skip
TABLE = {
    "paper": "transfer", "number": "Table {number}", "target": "{table}.csv", "published": "printed.csv",
    "caption": "On the {language} benchmark, {confidence}.",
}  # fmt: skip
ENTRIES = {"one": ONE, "per_language": {"tables": {"table3": "en", "table7": "zh"}, **TABLE}}
NAMES = {"en": "English", "zh": "Chinese"}


def registry_with(**own):
    """Return the registry of a scale in English and Spanish with a benchmark of the user's own."""
    own = {"mine": {"path": "m.jsonl", "language": "de", **own}}
    settings = settings_with({"results": "out", "target_languages": ["es"], "own_benchmarks": own})
    return Registry(settings, "A check.", by_language(ENTRIES, NAMES), lambda path, **flags: (path, flags))


@pytest.fixture
def registry():
    return registry_with()


def test_an_entry_of_several_languages_is_a_table_for_each_and_a_further_language_gets_the_next():
    found = by_language(ENTRIES, NAMES)
    chinese = {"number": "Table 7", "target": "table7.csv", "language": "zh"}
    caption = "On the Chinese benchmark, {confidence}."
    assert found == {
        "one": ONE,
        "table3": found["table3"],
        "table7": {**TABLE, **chinese, "caption": caption},
    }
    found = by_language(ENTRIES, {**NAMES, "fr": "French", "pt": "Portuguese"}, ["en", "fr", "zh", "pt"])
    assert [(name, found[name]["language"]) for name in found if name != "one"] == [
        ("table3", "en"), ("table7", "zh"), ("table8", "fr"), ("table9", "pt")
    ]  # fmt: skip
    assert found["table8"]["number"] == "Table 8" and "On the French benchmark" in found["table8"]["caption"]
    assert (found["table7"]["published"], found["table8"]["published"]) == ("printed.csv", None)
    with pytest.raises(PolyrewardError, match="per_language: `zh` is not in resources/languages.yaml"):
        by_language(ENTRIES, {"en": "English"})


@pytest.mark.parametrize(("entries", "both"), [
    ({"table8": ONE, **ENTRIES}, "`table8` and `per_language`"),
    ({**ENTRIES, "table8": ONE}, "`table8` and `per_language`"),
    ({**ENTRIES, "others": {"tables": {"table8": "en"}, **TABLE}}, "`per_language` and `others`"),
])  # fmt: skip
def test_a_table_of_a_further_language_replaces_no_other_artifact(entries, both):
    names, languages = {**NAMES, "fr": "French"}, ["en", "zh", "fr"]
    with pytest.raises(PolyrewardError, match=f"workflow/artifacts.yaml: {both} both make `table8`. Give"):
        by_language(entries, names, languages)


def test_only_tables_of_the_scale_s_languages_are_made(registry):
    assert registry.targets() == ["out/one.png", "out/table3.csv"]
    assert registry.targets("carb") == ["out/one.png"]
    assert registry.language_tables == {"table3": "en"}
    assert registry.printed() == registry.printed("transfer") == {"table3": "printed.csv"}
    assert registry.printed("carb") == {}
    assert registry.compared_targets() == registry.compared_targets("transfer") == ["out/compare/table3.csv"]
    assert registry.compared_targets("carb") == []
    assert registry.own_targets == ["out/benchmark_mine.csv"]


def test_captions_say_the_level_of_the_intervals_and_an_own_benchmark_s_what_it_holds(registry):
    assert registry.caption("table3") == "On the English benchmark, 95%."
    assert registry.caption("one") == "At 95%. A check."
    entry = registry.entry("benchmark_mine")
    assert (entry["rule"], entry["target"]) == ("own_benchmark_table", "benchmark_mine.csv")
    begin = "Accuracy (%) of every scorer on mine (de), on each subset and "
    after = "The chosen answer must score above every rejected one"
    intervals = "with 95% Wilson intervals, which count the items of a template as one."
    for own, said in (({}, ""), ({"about": "Pairs of {mine}."}, "Pairs of {mine}. ")):
        caption = registry_with(**own).caption("benchmark_mine")
        assert caption.startswith(begin) and f"{intervals} {said}{after}" in caption


def test_the_report_shows_a_file_under_its_artifact_s_number(registry):
    path, flags = registry.shown("{table}.csv", "{table}", "table")
    wildcards = {"table": "table3"}
    assert path == "out/{table}.csv"
    assert flags["category"](wildcards) == "Transfer paper"
    assert flags["labels"](wildcards) == {"number": "Table 3", "kind": "table", "format": "csv"}
    assert sorted(registry.table_files("one")) == ["csv", "html", "md", "tex"]
    assert sorted(registry.figure_files("one")) == ["csv", "pdf", "png"]
    assert registry.table_files("one")["md"] == "out/one.md"
