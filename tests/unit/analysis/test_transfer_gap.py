"""What English reward models lose in other languages, and what training adds to their base."""

import numpy as np
import pandas as pd
import pytest
from made_up_sheet import sheet

from polyreward.analysis.bootstrap import Interval
from polyreward.analysis.comparison import Benchmark
from polyreward.analysis.tables import DIFFERENCE_COLUMNS, seed_differences, training_added, transfer_gaps
from polyreward.core.errors import PolyrewardError

BENCHMARK = Benchmark("b", {"chat": ["advice"], "safety": ["refuse"]}, {})
INTERVAL = Interval(samples=1000, confidence=0.95, seed=1)
NAMED = ["a", "b"], ["en", "ko", "es"]
SHEET = sheet(["a_en", "a_en_seed2", "b_en"])
KEY = ["base_model", "eval_language"]
N = 20  # templates of a section


def scores(right: dict[tuple[str, str], float]) -> pd.DataFrame:
    """Return scores of which each scorer and language gets this share, the same templates first."""
    tables = []
    for (scorer, language), share in right.items():
        for subset in ("advice", "refuse"):
            margins = np.where(np.arange(N) < share * N, 1.0, -1.0)
            ids = [f"{subset}{n}" for n in range(N)]
            tables.append(pd.DataFrame({
                "benchmark": "b", "scorer": scorer, "language": language, "id": ids, "template": ids, "subset": subset,
                "score_chosen": margins, "score_rejected": 0.0,
            }))  # fmt: skip
    return pd.concat(tables, ignore_index=True)


def test_a_gap_is_english_less_the_language_and_bases_are_compared_in_it():
    made_up = {
        ("a_en", "en"): 0.9, ("a_en", "ko"): 0.5, ("a_en", "es"): 0.9,
        ("b_en", "en"): 0.8, ("b_en", "ko"): 0.7, ("b_en", "es"): 0.8,
    }  # fmt: skip
    table = transfer_gaps(scores(made_up), SHEET, *NAMED, BENCHMARK, INTERVAL).set_index(KEY)
    gaps = table["gap_points"].to_dict()
    assert gaps == pytest.approx({
        ("a", "ko"): 40, ("a", "es"): 0, ("b", "ko"): 10, ("b", "es"): 0, ("a - b", "ko"): 30, ("a - b", "es"): 0,
    })  # fmt: skip
    assert table.loc[("a", "ko"), ["source_pct", "language_pct"]].tolist() == pytest.approx([90, 50])
    assert table.loc[("a - b", "ko"), "source_pct":"language_pct"].isna().all()
    assert table.loc[("a", "ko"), "low"] > 0 and table.loc[("a - b", "ko"), "low"] > 0
    assert (table["low"] <= table["gap_points"]).all() and (table["gap_points"] <= table["high"]).all()
    assert set(table["n_templates"]) == {2 * N} and set(table["n_seeds"]) == {1}


def test_pairs_that_a_language_lacks_are_left_out():
    table = scores({("a_en", "en"): 0.9, ("a_en", "ko"): 0.5})
    lacking = table[~((table["language"] == "ko") & table["id"].str.endswith("9"))]  # the 10th and the 20th
    found = transfer_gaps(lacking, SHEET, ["a"], ["en", "ko"], BENCHMARK, INTERVAL).iloc[0]
    assert found["gap_points"] == pytest.approx(100 * (17 - 9) / 18) and found["n_templates"] == 2 * (N - 2)


def test_languages_without_a_common_pair_are_refused():
    table = scores({("a_en", "en"): 0.9, ("a_en", "ko"): 0.5})
    table.loc[table["language"] == "ko", "id"] += "-ko"
    said = "b: no pair is in all of en, ko. Give every language the same ids"
    with pytest.raises(PolyrewardError, match=said):
        transfer_gaps(table, SHEET, ["a"], ["en", "ko"], BENCHMARK, INTERVAL)


def test_of_several_trainings_it_is_the_mean_and_their_spread_widens_the_interval():
    alike = {
        ("a_en", "en"): 0.9, ("a_en", "ko"): 0.6, ("a_en_seed2", "en"): 0.9, ("a_en_seed2", "ko"): 0.6,
    }  # fmt: skip
    apart = {**alike, ("a_en", "ko"): 0.45, ("a_en_seed2", "ko"): 0.75}
    one, other = (
        transfer_gaps(scores(made_up), SHEET, ["a"], ["en", "ko"], BENCHMARK, INTERVAL).iloc[0]
        for made_up in (alike, apart)
    )
    assert one["gap_points"] == pytest.approx(30) and other["gap_points"] == pytest.approx(30)
    assert other["high"] - other["low"] > one["high"] - one["low"]
    assert other["n_seeds"] == 2


def test_the_order_of_scores_does_not_matter():
    made_up = scores({("a_en", "en"): 0.9, ("a_en", "ko"): 0.5, ("b_en", "en"): 0.8, ("b_en", "ko"): 0.7})
    turned = made_up.sort_values(["language", "scorer"], kind="stable", ascending=False)
    one, other = (
        transfer_gaps(table, SHEET, ["a", "b"], ["en", "ko"], BENCHMARK, INTERVAL).set_index(KEY)[
            "gap_points"
        ]
        for table in (made_up, turned)
    )
    assert one["a", "ko"] == other["a", "ko"] and one["b", "ko"] == other["b", "ko"]


def test_what_training_adds_is_the_reward_model_less_its_base_and_the_gap_beyond_the_base_s():
    made_up = {
        ("a_en", "en"): 0.9, ("a_en", "ko"): 0.6, ("a_ko", "ko"): 0.7, ("a_ko", "en"): 0.5,
        ("probe-a", "en"): 0.8, ("probe-a", "ko"): 0.6, ("pmi-a", "en"): 0.9, ("pmi-a", "ko"): 0.5,
    }  # fmt: skip
    kinds = dict.fromkeys(["a_en", "a_ko"], "classifier") | dict.fromkeys(["probe-a", "pmi-a"], "baseline")
    names = sheet(kinds)
    table = training_added(scores(made_up), names, ["a"], ["en", "ko"], BENCHMARK, INTERVAL)
    found = table.set_index(["eval_language", "rm_training", "quantity", "baseline"])[
        "added_points"
    ].to_dict()
    assert found == pytest.approx({
        ("en", "en", "accuracy", "probe"): 10, ("en", "en", "accuracy", "pmi"): 0,
        ("ko", "en", "accuracy", "probe"): 0, ("ko", "en", "accuracy", "pmi"): 10,
        ("ko", "ko", "accuracy", "probe"): 10, ("ko", "ko", "accuracy", "pmi"): 20,
        ("ko", "en", "gap", "probe"): 30 - 20, ("ko", "en", "gap", "pmi"): 30 - 40,
    })  # fmt: skip
    assert (table["low"] <= table["added_points"]).all() and (table["added_points"] <= table["high"]).all()
    assert (table["rm_value"] - table["baseline_value"]).tolist() == pytest.approx(list(found.values()))


def test_trainings_of_one_model_are_compared_two_by_two_and_those_of_others_are_not():
    made_up = {
        ("a_en", "ko"): 0.9, ("a_en_seed2", "ko"): 0.6, ("a_en_seed3", "ko"): 0.9, ("a_ko", "ko"): 0.5, ("b_en", "ko"): 0.1,
    }  # fmt: skip
    names = sheet([name for name, _ in made_up])
    table = seed_differences(scores(made_up), names, BENCHMARK, INTERVAL)
    assert list(table.columns) == DIFFERENCE_COLUMNS
    several = table.dropna(subset="second")
    found = {(row.rm_training, row.first, row.second): row.avg for row in several.itertuples()}
    assert found == pytest.approx({("en", 1, 2): 30, ("en", 1, 3): 0, ("en", 2, 3): -30})
    assert ((several["avg_low"] > 0) == (several["avg"] > 1)).all() and set(several["base_model"]) == {"a"}
    single = table[table["second"].isna()]
    assert list(zip(single["base_model"], single["rm_training"], strict=True)) == [("a", "ko"), ("b", "en")]
    assert single["avg"].isna().all() and set(table["n_templates"]) == {2 * N}
