"""The tables made of comparisons."""

import numpy as np
import pandas as pd
import pytest
from comparisons import ALONE, BENCHMARK, INTERVAL, ROWS, families, independent, scores

from polyreward.analysis import tables as reports
from polyreward.analysis.comparison import Benchmark
from polyreward.core.unavailable import absent_scores
from polyreward.transfer.tables import display_language_table, display_ready_made


def test_only_ties_of_baselines_are_half_right():
    assert reports.ties_of(["length", "rm"], ["length", "random"]) == {"length": "half", "rm": "wrong"}


def test_the_scorer_table_has_each_scorer_on_each_slice():
    tables = {"length": scores([1, 0, 1, 0, None]), "rm": scores([1, 1, 1, 1, None])}
    table, _ = reports.scorer_tables(
        ROWS, tables, ["length"], "en", Benchmark("b", BENCHMARK.sections, {}), INTERVAL
    )
    safety = table.set_index(["slice", "scorer"])["safety"].to_dict()
    assert safety["all", "length"] == pytest.approx(25)  # wrong on 4, half right on the tie of 5
    assert safety["all", "rm"] == pytest.approx(50)  # right on 4, wrong on the tie of 5
    assert safety["chosen_shorter", "length"] == 0
    assert np.isnan(safety["chosen_longer", "length"])  # no such pair in that section
    assert table.columns.tolist() == reports.SCORER_COLUMNS


def test_the_subset_table_has_all_pairs_of_each_scorer_once():
    tables = {"length": scores([1, 0, 1, 0, None]), "rm": scores([1, 1, 1, 1, 0])}
    _, table = reports.scorer_tables(ROWS, tables, ["length"], "en", BENCHMARK, INTERVAL)
    assert set(table.columns) == set(reports.SUBSET_COLUMNS)
    assert table.groupby("scorer")["n_pairs"].sum().to_dict() == {"length": 5, "rm": 5}
    assert dict(zip(table["scorer"], table["kind"], strict=True)) == {
        "length": "baseline",
        "rm": "reward model",
    }


def test_the_transfer_table_takes_each_language_s_own_rows():
    key = ("base", "es", 1)
    benchmark = Benchmark("b", {"chat": ["u"], "chat_hard": ["w"], "safety": ["v"], "reasoning": ["v"]}, {})
    spanish = [{**row, "id": f"es{row['id']}"} for row in ROWS]
    table = reports.transfer_table(
        {"es": spanish, "it": ROWS},
        {key: scores([1] * 5, spanish)},
        {key: scores([0] * 5, spanish)},
        benchmark,
        INTERVAL,
    )
    assert table["avg"].tolist() == [0, 100, 100]
    assert set(table.columns) == set(reports.TRANSFER_COLUMNS)


def test_the_language_table_tells_trained_reward_models_from_others():
    benchmark = Benchmark("b", {"chat": ["u"], "chat_hard": ["w"], "safety": ["v"], "reasoning": ["v"]}, {})
    tables = {"my-rm": scores([1] * 5), "gemma-3_ko": scores([0] * 5)}
    table = reports.language_table(ROWS, tables, "es", benchmark, INTERVAL)
    assert table["avg"].tolist() == [100, 0]
    assert table["base_model"].fillna("").tolist() == ["", "gemma-3"]
    assert table["rm_training"].fillna("").tolist() == ["", "ko"]
    assert set(table.columns) == set(reports.LANGUAGE_COLUMNS)


def test_the_language_table_is_the_mean_over_seeds():
    benchmark = Benchmark("b", {"chat": ["u"], "chat_hard": ["w"], "safety": ["v"], "reasoning": ["v"]}, {})
    tables = {
        "gemma-3_ko": scores([0] * 5),
        "gemma-3_en": scores([1] * 5),
        "gemma-3_ko_seed2": scores([1] * 5),
    }
    table = reports.language_table(ROWS, tables, "es", benchmark, INTERVAL).set_index("reward_model")
    assert table["avg"].to_dict() == {"gemma-3_ko": 50, "gemma-3_en": 100}
    assert table["n_seeds"].to_dict() == {"gemma-3_ko": 2, "gemma-3_en": 1}
    assert table.loc["gemma-3_ko", "avg_sd"] == pytest.approx(100 / 2**0.5)


def test_the_ready_made_table_halves_a_baselines_ties():
    benchmark = Benchmark("b", {"chat": ["u"], "chat_hard": ["w"], "safety": ["v"], "reasoning": ["v"]}, {})
    tied = scores([0] * 5).assign(score_chosen=0.0, score_rejected=0.0)
    by_language = {language: {"judge": tied, "loglik-gemma": tied} for language in ("en", "es")}
    kinds = {"judge": "generative", "loglik-gemma": "baseline"}
    table = reports.ready_made_table({"en": ROWS, "es": ROWS}, by_language, kinds, benchmark, INTERVAL)
    assert table.set_index(["reward_model", "eval_language"])["avg"].to_dict() == {
        ("judge", "en"): 0, ("judge", "es"): 0, ("loglik-gemma", "en"): 50, ("loglik-gemma", "es"): 50,
    }  # fmt: skip
    assert set(table.columns) == set(reports.READY_MADE_COLUMNS)


def test_who_has_no_scores_has_an_empty_row_with_its_reason():
    benchmark = Benchmark("b", {"chat": ["u"], "chat_hard": ["w"], "safety": ["v"], "reasoning": ["v"]}, {})
    tables = {"gone-rm": absent_scores("gone"), "rm": scores([1] * 5)}
    table = reports.language_table(ROWS, tables, "es", benchmark, INTERVAL)
    assert (
        table["missing"].fillna("").tolist() == ["gone", ""]
        and np.isnan(table["avg"][0])
        and table["avg"][1] == 100
    )
    assert table["n_templates"].dtype == "Int64"
    shown = display_language_table(table, "95%")
    assert shown["Base"].tolist() == ["gone-rm", "rm"] and shown.iloc[0, 2:].tolist() == [
        "",
        "",
        "",
        "",
        "missing",
    ]
    kinds = {"gone-rm": "classifier", "rm": "classifier"}
    ready = reports.ready_made_table(
        {"es": ROWS, "ko": ROWS}, {"es": tables, "ko": tables}, kinds, benchmark, INTERVAL
    )
    assert ready.set_index(["reward_model", "eval_language"])["missing"].dropna().to_dict() == {
        ("gone-rm", "es"): "gone", ("gone-rm", "ko"): "gone",
    }  # fmt: skip
    assert display_ready_made(ready, "95%").iloc[0, 2:].tolist() == ["missing", "missing"]
    of_scorer, of_subset = reports.scorer_tables(ROWS, tables, [], "es", BENCHMARK, INTERVAL)
    assert set(of_scorer["scorer"]) == set(of_subset["scorer"]) == {"rm"}


def test_a_judge_s_ties_are_half_right_where_it_writes_its_verdict():
    benchmark = Benchmark("b", {"chat": ["u"], "chat_hard": ["w"], "safety": ["v"], "reasoning": ["v"]}, {})
    tied = scores([0] * 5).assign(score_chosen=0.5, score_rejected=0.5)
    tables = {"judge": tied, "rm": tied}
    of_language = reports.language_table(ROWS, tables, "es", benchmark, INTERVAL, ["judge"])
    assert of_language.set_index("reward_model")["avg"].to_dict() == {"judge": 50, "rm": 0}
    kinds = {"judge": "generative", "rm": "classifier"}
    of_shelf = reports.ready_made_table({"es": ROWS}, {"es": tables}, kinds, benchmark, INTERVAL, ["judge"])
    assert of_shelf.set_index("reward_model")["avg"].to_dict() == {"judge": 50, "rm": 0}
    of_scorers, _ = reports.scorer_tables(ROWS, tables, [], "es", benchmark, INTERVAL, ["judge"])
    every = of_scorers[of_scorers["slice"] == "all"].set_index("scorer")
    assert every["avg"].to_dict() == {"judge": 50, "rm": 0}
    assert set(every["kind"]) == {"reward model"}


def test_the_table_of_an_own_benchmark_has_chance_per_subset():
    rows = [{"id": "1", "subset": "a", "prompt": "p", "chosen": "x", "rejected": ["y", "z", "w"]},
            {"id": "2", "subset": "b", "prompt": "p", "chosen": "x", "rejected": "y"}]  # fmt: skip
    known = {"truncated_share": 0.0, "within_noise": False, "category": None}
    tied = pd.DataFrame([{**row, **known, "score_chosen": 1.0, "score_rejected": 1.0} for row in rows])
    scores = {"length": tied, "rm": tied.assign(score_chosen=2.0)}
    table = reports.own_table(rows, scores, ["length"], 0.95)
    by_key = table.set_index(["scorer", "subset"])
    assert by_key["chance_pct"].to_dict() == {
        (scorer, subset): chance for scorer in ("length", "rm")
        for subset, chance in (("a", 25), ("b", 50), ("all items", 37.5))
    }  # fmt: skip
    assert by_key.loc[("length", "all items"), "accuracy_pct"] == 50  # a baseline's ties are half right
    assert by_key.loc[("rm", "all items"), "accuracy_pct"] == 100
    assert set(table.columns) == set(reports.OWN_COLUMNS)
    # Wilson's interval of 1 of 1 begins at 1 / (1 + z^2), with 1.96 and 1.645
    narrow = reports.own_table(rows, scores, ["length"], 0.9).set_index(["scorer", "subset"])
    found = [of.loc[("rm", "a"), "low"] for of in (by_key, narrow)]
    assert found == pytest.approx([100 / (1 + 1.95996**2), 100 / (1 + 1.64485**2)], abs=1e-3)
    judged = reports.own_table(rows, {"length": tied, "rm": tied}, ["length"], 0.95, halves=["rm"]).set_index(
        ["scorer", "subset"]
    )
    assert judged.loc[("rm", "all items"), ["kind", "accuracy_pct"]].tolist() == ["reward model", 50]


def test_the_twin_table_has_all_families_and_each_section():
    rows = [{**row, "subset": "v" if row["template"] == "0" else "u"} for row in families(3)]
    table = reports.twin_table(
        rows, {"rm": scores([1, 1, 0, 0, 0, 0], rows)}, [], "en", {"safety": ["v"], "chat": ["u"]}, INTERVAL
    )
    by_section = table.set_index("section")
    assert by_section["n_families"].to_dict() == {"all": 3, "safety": 1, "chat": 2}
    assert by_section["both_right_pct"].to_dict() == {"all": pytest.approx(100 / 3), "safety": 100, "chat": 0}
    assert set(table.columns) == set(reports.TWIN_COLUMNS)


@pytest.mark.parametrize(
    ("model", "baseline", "verdict"),
    [(1, 0, "above"), (0, 1, "below"), (1, 1, "not decided")],
)
def test_the_gate_s_verdict_follows_the_interval(model, baseline, verdict):
    rows = independent(20)
    tables = {"rm": scores([model] * 20, rows), "length": scores([baseline] * 20, rows)}
    table = reports.gate_table(rows, tables, ["rm"], ["length"], "en", ALONE, INTERVAL)
    assert table["verdict"].tolist() == [verdict]


@pytest.mark.parametrize("sign", [1, -1])
def test_the_gate_is_not_decided_where_the_interval_holds_zero(sign):
    rows = independent(20)
    better, worse = scores([1, 0] * 10, rows), scores([0, 1] * 9 + [0, 0], rows)
    model, baseline = (better, worse) if sign > 0 else (worse, better)
    table = reports.gate_table(
        rows, {"rm": model, "length": baseline}, ["rm"], ["length"], "en", ALONE, INTERVAL
    )
    (row,) = table.to_dict("records")
    assert row["avg"] == pytest.approx(sign * 5)  # 10 right and 9, of 20
    assert row["avg_low"] < 0 < row["avg_high"] and row["verdict"] == "not decided"


def test_the_gate_takes_the_mean_of_the_models():
    rows = independent(4)
    tables = {
        "m1": scores([1, 1, 1, 1], rows),
        "m2": scores([1, 1, 0, 0], rows),
        "length": scores([None] * 4, rows),
    }
    (row,) = reports.gate_table(rows, tables, ["m1", "m2"], ["length"], "en", ALONE, INTERVAL).to_dict(
        "records"
    )
    assert row["avg"] == pytest.approx(25)  # (100 + 50) / 2 - 50, for a baseline's ties are half right
    assert row["models"] == "m1 m2"
