"""The sheet of a small made-up scale, with answers by hand: its rows, its cells, its printed form, and bad input."""

import dataclasses
import json
from io import StringIO
from itertools import product

import pandas as pd
import pytest
from small_scale import CATALOG, small_scale, small_settings
from support import refused

from polyreward.core.sheet import SHEET_COLUMNS, half_right, of_table, read_sheet
from polyreward.sheet.scorers import (
    gate_models,
    local_judges,
    printed,
    published,
    sheet_of,
    sheet_text,
    trained_models,
    without_question,
)

TEXT = "length tfidf-answer tfidf-prompt-answer"
SMALLER = {"bases": ["a"], "target_languages": ["es"], "own_benchmarks__yours__language": "es"}


def sheet_with(**changes):
    return sheet_of(small_settings(**changes), CATALOG)


def cells_of(sheet, table, benchmark=None):
    """Return the score files that a table reads, in order, of all benchmarks or of one."""
    return ["/".join(one) for name, *one in sheet.cells if name == table and benchmark in (None, one[0])]


def by_scorer(benchmarks, scorers, languages):
    """Return score files, scorer after scorer, and for each of its languages a file of each benchmark."""
    parts = product(scorers.split(), languages.split(), benchmarks.split())
    return [f"{benchmark}/{scorer}/{language}" for scorer, language, benchmark in parts]


def by_language(benchmark, scorers, languages):
    parts = product(languages.split(), scorers.split())
    return [f"{benchmark}/{scorer}/{language}" for language, scorer in parts]


def test_a_row_says_of_each_scorer_its_kind_base_training_seed_and_ties():
    trained = [
        (f"{base}_{language}{suffix}", "classifier", base, language, seed, "wrong")
        for base in ("a", "b") for language in ("en", "es", "ko") for seed, suffix in ((1, ""), (2, "_seed2"))
    ]  # fmt: skip
    expected = [
        *trained,
        ("a_en_seed3", "classifier", "a", "en", 3, "wrong"),  # of the gate
        *((f"a_ko{suffix}-taught", "classifier", "a", "ko", seed, "wrong") for seed, suffix in ((1, ""), (2, "_seed2"))),
        ("my-rm", "classifier", "my-rm", "", None, "wrong"),  # nothing says on which base
        ("judge", "generative", "b", "", None, "wrong"),
        ("judge-knockout", "generative", "b", "", None, "wrong"),
        *((name, "baseline", "", "", None, "half") for name in [*TEXT.split(), "script", "shared"]),
        *((f"{kind}-{base}", "baseline", base, "", None, "half") for kind in ("probe", "loglik", "pmi") for base in "ab"),
        ("base", "generative", "b", "", None, "wrong"),
        ("base-with-criteria", "generative", "b", "", None, "wrong"),
        *((name, "generative", "b", "", 1, "wrong") for name in ("warmup", "full", "bare", "no-criteria")),
        ("full-2", "generative", "b", "", 2, "wrong"),
        ("rm-r1", "generative", "rm-r1", "", None, "half"),
        *((f"locals-{name}", "generative", "b", "", None, "wrong") for name in ("base", "without-criteria", "with-criteria")),
    ]  # fmt: skip
    sheet = sheet_with()
    found = [
        (row.scorer, row.kind, row.base, row.trained_in, row.seed, row.ties) for row in sheet.rows.values()
    ]
    assert found == expected
    assert list(sheet.scorers.index) == list(sheet.rows) == [row[0] for row in expected]
    assert sheet.scorers.at["judge", "entry"] == CATALOG.reward_models["judge"]


def test_a_scorer_s_entry_says_how_it_is_loaded_and_one_that_only_reads_texts_has_none():
    rows = sheet_with().rows
    assert rows["a_es_seed2"].entry == {"kind": "classifier", "path": "out/work/4_models/a_es_seed2"}
    assert rows["my-rm"].entry == {"kind": "classifier", "path": "rm"}
    assert rows["loglik-b"].entry == {"kind": "implicit", "model": "b", "pmi": False}
    assert rows["pmi-b"].entry == {"kind": "implicit", "model": "b", "pmi": True}
    assert rows["judge-knockout"].entry == rows["judge"].entry
    asked = {"kind": "generative", "max_length": 640, "max_new_tokens": 9}
    assert rows["full-2"].entry == {**asked, "verdict": "criteria", "think_as_locals": "full-2"}
    assert rows["locals-without-criteria"].entry == rows["no-criteria"].entry
    assert [name for name, row in rows.items() if row.entry is None] == [*TEXT.split(), "script", "shared"]


@pytest.mark.parametrize(("entry", "base", "ties"), [
    ({"kind": "implicit", "path": "dpo", "reference": {"model": "p"}}, "p", "wrong"),
    ({"kind": "generative", "think_as_locals": "full"}, "b", "wrong"),
    ({"kind": "classifier", "hub": "some/one"}, "r", "wrong"),
    ({"kind": "generative", "model": "a", "verdict": "text"}, "a", "half"),
    ({"kind": "generative", "model": "a", "question": "q"}, "a", "half"),
])  # fmt: skip
def test_a_reward_model_s_base_and_ties_are_known_by_its_entry(entry, base, ties):
    row = sheet_with(reward_models={"r": entry}).rows["r"]
    assert (row.base, row.ties, row.trained_in) == (base, ties, "")


def test_each_table_reads_its_scores_in_the_order_of_its_rows():
    sheet = sheet_with(**SMALLER)
    every, first, shelf = "a_en a_en_seed2 a_es a_es_seed2", "a_en a_es", "my-rm judge"
    baselines = f"{TEXT} probe-a loglik-a pmi-a"
    twins = [
        *by_language("pairs", f"my-rm a_en {baselines}", "en"),
        *by_language("pairs", f"my-rm a_en a_es {TEXT}", "es"),
    ]
    models = f"{first} {shelf}"
    locals_ = "carb_perturbation", "locals-base locals-without-criteria locals-with-criteria", "ko"
    expected = {
        "table1": by_scorer("bench", every, "es"),
        "transfer_gap": by_scorer("bench", "a_en a_en_seed2", "en es"),
        "training_added": [
            *("bench/a_en/en", "bench/a_en/es", "bench/a_en_seed2/en", "bench/a_en_seed2/es"),
            *by_scorer("bench", "a_es a_es_seed2", "es"),
            *by_scorer("bench", "probe-a pmi-a", "en es"),
        ],
        "language_comparison": by_language("bench", f"{shelf} {every}", "en es"),
        "language_tables": by_language("bench", f"{shelf} {first}", "en es"),
        "table2": by_language("bench", "judge my-rm loglik-a", "en es"),
        "baselines": [*by_language("bench", f"{shelf} {first} {baselines}", "en es"), *twins],
        "twins": twins,
        "gate": by_scorer("bench", f"a_en a_en_seed2 a_en_seed3 {TEXT} probe-a pmi-a", "en"),
        "transfer_claims": by_scorer("bench", f"{every} {shelf} length", "en es"),
        "benchmark_mine": by_scorer("mine", f"my-rm {first}", "de"),  # text baselines are not fitted in German
        "benchmark_yours": by_scorer("yours", f"my-rm {first} {TEXT}", "es"),
        "anchor": ["rewardbench/judge/en", "multilingual-rewardbench/judge/es"],
        "carb_leaderboard": by_scorer("carb", f"{models} judge-knockout length script loglik-a pmi-a", "ar ko"),
        "carb_claims": [
            *by_scorer("carb", f"{models} judge-knockout length", "ar ko"),
            *by_scorer("carb_perturbation", f"{models} length", "ar ko"),
        ],
        "carb_culture": [
            *by_scorer("quartets", f"loglik-a {every} my-rm length shared", "ar ko"),
            *by_scorer("unplaced_quartets", "loglik-a", "ar ko"),
        ],
        "carb_perturbation": [
            *by_scorer("carb carb_perturbation", f"{models} length", "ar ko"),
            *by_scorer(*locals_),
        ],
        "carb_consistency": by_scorer("carb carb_consistency", models, "ar ko"),
        "carb_correlation": by_scorer("candidates", f"{models} judge-knockout", "p"),
        "carb_think_as_locals": by_scorer("locals", "base base-with-criteria warmup full no-criteria rm-r1", "rewardbench carb"),
        "carb_reward_ablation": by_scorer("locals", "warmup full bare", "rewardbench carb"),
        "carb_judge_claims": by_scorer("locals", "base base-with-criteria warmup full bare", "rewardbench carb"),
        "carb_locals_learning": by_scorer("locals", "base-with-criteria warmup full bare full-2", "held_out"),
    }  # fmt: skip
    assert {table for table, *_ in sheet.cells} == set(expected)
    assert {table: cells_of(sheet, table) for table in expected} == expected
    assert list(sheet.scores.itertuples(index=False, name=None)) == list(sheet.cells)


def test_table_1_has_both_reward_models_of_each_base_language_and_seed():
    found = cells_of(sheet_with(), "table1")
    assert found[:4] == ["bench/a_en/es", "bench/a_en_seed2/es", "bench/a_es/es", "bench/a_es_seed2/es"]
    assert len(found) == 2 * 2 * 2 * 2  # bases, target languages, trainings, seeds
    shown = cells_of(sheet_with(table1_bases=["b"]), "table1")
    assert shown == [one for one in found if "/b_" in one]


def test_judges_answer_place_quartets_only_where_the_settings_say_so():
    files = {"en": "mine.jsonl", "it": "more.jsonl"}
    judged = sheet_with(**SMALLER, carb__quartets={"judges": True, "files": files})
    found = cells_of(judged, "carb_culture")
    expected = "loglik-a a_en a_en_seed2 a_es a_es_seed2 my-rm judge length shared"
    unplaced = by_scorer("unplaced_quartets", "loglik-a", "en it")
    assert found == [*by_scorer("quartets", expected, "en it"), *unplaced]


def test_policies_are_one_after_another_and_so_are_their_scorers():
    found = cells_of(sheet_with(**SMALLER, carb__policies=["p", "a"]), "carb_correlation")
    scorers = ("a_en", "a_es", "my-rm", "judge", "judge-knockout")
    assert found == [f"candidates/{scorer}/{policy}" for policy in ("p", "a") for scorer in scorers]


def test_a_reward_model_is_trained_for_each_base_language_and_seed():
    settings = small_settings()
    assert trained_models(settings) == ["a_en", "a_es", "a_ko", "b_en", "b_es", "b_ko"]
    seeds = [f"{name}{seed}" for name in trained_models(settings) for seed in ("", "_seed2")]
    assert trained_models(settings, [1, 2]) == seeds
    assert gate_models(settings) == ["a_en", "a_en_seed2", "a_en_seed3"]


def test_twins_see_reward_models_of_their_language_or_the_source_and_none_of_the_catalog():
    found = cells_of(sheet_with(), "twins")
    models = ["my-rm", "a_en", "a_ko", "b_en", "b_ko"]
    korean = [one for one in found if one.endswith("/ko")]
    assert korean[:5] == [f"pairs/{name}/ko" for name in models]
    assert korean[5:] == [f"pairs/{name}/ko" for name in TEXT.split()]
    untrained = [f"{kind}-{base}" for base in "ab" for kind in ("probe", "loglik", "pmi")]
    assert [one for one in found if "-a/" in one or "-b/" in one] == [
        f"pairs/{name}/en" for name in untrained
    ]


def test_tables_have_the_off_the_shelf_rows_that_are_named_and_carb_has_all():
    shelf = ["judge", "unused"]
    both = sheet_with(**SMALLER, off_the_shelf=shelf)
    assert cells_of(both, "table2")[:4] == by_scorer("bench", "judge unused my-rm loglik-a", "en")
    rows = {"table2": ["unused"], "language_tables": []}
    some = sheet_with(**SMALLER, off_the_shelf=shelf, off_the_shelf_rows=rows)
    assert cells_of(some, "table2")[:3] == by_scorer("bench", "unused my-rm loglik-a", "en")
    assert cells_of(some, "language_tables")[:2] == by_scorer("bench", "my-rm a_en", "en")
    for table, benchmark in (("language_comparison", "bench"), ("carb_leaderboard", "carb")):
        scorers = {one.split("/")[1] for one in cells_of(some, table, benchmark)}
        assert {*shelf, "my-rm"} <= scorers


def test_only_reward_models_of_the_catalog_in_a_table_are_published():
    settings = small_settings(think_as_locals__others=["unused", "my-rm"])
    assert list(published(settings, CATALOG)) == ["judge", "unused"]


def test_without_bases_nothing_is_trained_and_what_is_listed_is_scored():
    sheet = sheet_with(bases=[])
    assert not [name for name, row in sheet.rows.items() if row.trained_in]
    assert cells_of(sheet, "table1") == cells_of(sheet, "gate") == []
    assert cells_of(sheet, "benchmark_mine") == ["mine/my-rm/de"]
    assert cells_of(sheet, "carb_leaderboard")[:2] == ["carb/my-rm/ar", "carb/my-rm/ko"]


def test_judges_without_a_warm_up():
    settings = small_settings(think_as_locals__warmup=None)
    assert list(local_judges(settings)) == [
        "base",
        "base-with-criteria",
        "full",
        "bare",
        "no-criteria",
        "full-2",
    ]
    verdicts = {name: entry["verdict"] for name, entry in local_judges(settings).items()}
    assert [name for name, verdict in verdicts.items() if verdict == "no-criteria"] == ["base", "no-criteria"]
    learning = cells_of(sheet_of(settings, CATALOG), "carb_locals_learning")
    assert learning == by_scorer("locals", "base-with-criteria full bare full-2", "held_out")


def test_the_printed_sheet_has_texts_and_is_read_back(tmp_path):
    sheet = sheet_with(**SMALLER)
    table = printed(sheet)
    assert list(table.columns) == SHEET_COLUMNS
    rows = table.set_index("scorer").T
    items = "carb:* carb_perturbation:* carb_consistency:* candidates:p"
    assert rows["a_es"].to_dict() == {
        "kind": "classifier", "base": "a", "trained_in": "es", "seed": "1", "ties": "wrong",
        "benchmarks": f"bench:* pairs:es mine:de yours:es {items} quartets:*",
        "tables": "table1 training_added language_comparison language_tables baselines twins transfer_claims benchmark_mine"
        " benchmark_yours carb_leaderboard carb_claims carb_perturbation carb_consistency carb_correlation carb_culture",
        "entry": "",  # the folder of a model that is trained here is known by its name
    }  # fmt: skip
    assert rows["judge"]["benchmarks"] == f"bench:* rewardbench:en multilingual-rewardbench:es {items}"
    assert rows["judge"]["entry"] == '{"kind": "generative", "model": "b"}'
    assert rows["judge"]["seed"] == rows["judge"]["trained_in"] == ""
    assert json.loads(rows["full"]["entry"])["think_as_locals"] == "full"
    assert rows["locals-base"]["benchmarks"] == "carb_perturbation:ko"
    table.to_csv(tmp_path / "scorers.csv", index=False)
    read = read_sheet(tmp_path / "scorers.csv")
    assert list(read.index) == list(sheet.rows)
    assert half_right(read) == [name for name, row in sheet.rows.items() if row.ties == "half"]
    assert of_table(read, "table2") == ["my-rm", "judge", "loglik-a"]


def test_the_command_prints_scorers_or_score_files_all_or_those_whose_names_have_a_part():
    models = small_scale(**SMALLER)
    heading, *lines = sheet_text(models, ["knockout", "a_en_seed3"]).splitlines()
    assert heading.split() == [*SHEET_COLUMNS[:-1]]
    assert [line.split()[0] for line in lines] == ["a_en_seed3", "judge-knockout"]
    columns = [line.index("wrong") for line in lines]
    assert columns[0] == columns[1] == heading.index("ties")
    heading, *lines = sheet_text(models, ["a_en_seed3"], scores=True, csv=True).splitlines()
    assert (heading, lines) == ("table,benchmark,scorer,language", ["gate,bench,a_en_seed3,en"])
    read = pd.read_csv(StringIO(sheet_text(models, [], csv=True)), dtype=str, keep_default_na=False)
    assert read.equals(printed(sheet_of(models.settings, models.catalog)))
    text = refused(sheet_text, models, ["judge", "nobody", "nothing"])
    assert text.splitlines()[1:] == [
        "  - `nobody` is in no scorer's name; `polyreward sheet` lists all",
        "  - `nothing` is in no scorer's name; `polyreward sheet` lists all",
    ]


def test_what_is_wrong_with_a_sheet_is_reported_at_once():
    """Two scorers of one name, a base that is in no catalog, and a benchmark that nobody scores."""
    shelf = {
        "script": {"kind": "generative", "model": "a"},
        "odd": {"kind": "classifier", "model": "gone"},
    }
    catalog = dataclasses.replace(CATALOG, reward_models={**CATALOG.reward_models, **shelf})
    changes = {"bases": [], "reward_models": {}, "off_the_shelf": list(shelf), "carb__knockout": []}
    heading, *problems = refused(sheet_of, small_settings(**changes), catalog).splitlines()
    assert heading == "the sheet of scorers: 3 problems"
    assert problems == [
        "  - 2 scorers are named `script` (generative and baseline): rename one in reward_models or in the catalog",
        "  - odd: its base `gone` is not in workflow/catalog/models.yaml; add it, or correct the name",
        "  - mine: no scorer scores this benchmark; name bases or reward_models, or leave it out",
    ]
    assert sheet_of(small_settings(**changes | {"off_the_shelf": [], "own_benchmarks": {}}), catalog)


def test_a_benchmark_made_from_a_dataset_has_the_bases_next_to_the_reward_models():
    sheet = sheet_with(own_benchmarks={"solved": {"dataset": "problems", "language": "ko"}})
    trained = [f"{base}_{language}" for base in "ab" for language in ("en", "ko")]  # the source's and its own
    bases = ["loglik-a", "pmi-a", "loglik-b", "pmi-b"]
    scorers = ["my-rm", *trained, *TEXT.split(), *bases]
    assert cells_of(sheet, "benchmark_solved") == [f"solved/{name}/ko" for name in scorers]
    assert sheet.scorers.at["pmi-a", "kind"] == "baseline"


@pytest.mark.parametrize("name", ["full", "warmup", "full-2", "locals-base", "script"])
def test_a_reward_model_of_the_user_s_is_not_called_as_another_scorer(name):
    entry = {"kind": "classifier", "path": "rm"}
    text = refused(sheet_of, small_settings(reward_models={name: entry}), CATALOG)
    assert f"2 scorers are named `{name}` (classifier and " in text


def test_carb_asks_a_judge_about_four_answers_without_its_question_about_two():
    judge = {"kind": "generative", "model": "a", "verdict": "text", "question": "rewardbench"}
    assert without_question(judge) == {"kind": "generative", "model": "a", "verdict": "text"}
