"""The table of claims, and the same tests on the papers' printed numbers."""

import types

import numpy as np
import pandas as pd
import pytest
import yaml
from made_up import SCRIPTS, evidence, transfer, wins
from made_up_carb import carb_evidence, judges, topic_scores
from support import ROOT

from polyreward.analysis.verdicts import FEWEST_UNITS, HOLDS, NOT_ALL, UNDECIDED, UNTESTED, Rule
from polyreward.claims.carb_printed import CarbPrinted, pairs_behind
from polyreward.claims.estimate import Estimate
from polyreward.claims.table import (
    PAPERS,
    claims_table,
    display_claims,
    interval_text,
    read_claims,
    rule_hash,
    write_claims,
)
from polyreward.claims.transfer_printed import Printed, leads, printed_estimate

ALL = yaml.safe_load((ROOT / "workflow/claims.yaml").read_text(encoding="utf-8"))
CLAIMS, CARB_CLAIMS = (
    {name: entry for name, entry in ALL.items() if entry["paper"] == paper} for paper in ("transfer", "carb")
)
PUBLISHED = [ROOT / f"resources/published/transfer_{name}.csv" for name in ("table1", "table2", "tables3to7")]
PRINTED = Printed(*map(pd.read_csv, PUBLISHED), SCRIPTS)
CARB_PUBLISHED = [
    ROOT / f"resources/published/carb_{name}.csv"
    for name in ("leaderboard", "correlation", "perturbation", "think_as_locals")
]
CARB_PRINTED = CarbPrinted(*map(pd.read_csv, CARB_PUBLISHED))
ABOVE = Rule("above", 0, 0)


@pytest.fixture(scope="module")
def table():
    made_up = evidence(
        accuracies=transfer(0.9, 0.3), win_rates=wins({"base": 0.3, "target": 0.5, "english": 0.7})
    )
    return claims_table(CLAIMS, made_up, PRINTED, 0.95).set_index("claim", drop=False)


@pytest.fixture(scope="module")
def carb_table():
    made_up = carb_evidence(
        scores=topic_scores({"judge-1": 0.9, "judge-2": 0.8}),
        judges=judges({"full": 0.9, "base": 0.3, "no-corr": 0.3, "no-appr": -0.9}),
    )
    return claims_table(CARB_CLAIMS, made_up, CARB_PRINTED, 0.95).set_index("claim", drop=False)


def test_every_claim_has_a_row_with_a_verdict(table, carb_table):
    assert [*table["claim"], *carb_table["claim"]] == [*CLAIMS, *CARB_CLAIMS]
    assert set(table["verdict"]) | set(carb_table["verdict"]) == {HOLDS, NOT_ALL, UNDECIDED, UNTESTED}
    assert sorted(table["number"].unique()) == [1, 2, 3, 4, 5]
    assert sorted(carb_table["number"].unique()) == [1, 2, 3, 4]
    assert set(carb_table["paper"]) == {"carb"}


@pytest.mark.parametrize("paper", PAPERS)
def test_each_quantity_of_a_paper_is_in_its_claims(paper):
    quantities, _ = PAPERS[paper]
    assert {entry["quantity"]["name"] for entry in ALL.values() if entry["paper"] == paper} == set(quantities)


def test_the_interval_holds_the_estimate(table):
    tested = table.dropna(subset="estimate")
    assert len(tested) > 10
    assert (tested["low"] <= tested["estimate"] + 1e-9).all() and (
        tested["estimate"] <= tested["high"] + 1e-9
    ).all()


def test_a_claim_that_cannot_be_tested_here_says_why(table):
    row = table.loc["llama_collapses_more_than_qwen"]
    assert row["verdict"] == UNTESTED
    assert np.isnan(row["estimate"]) and np.isnan(row["p"]) and pd.isna(row["n"])
    assert row["note"].startswith(
        "Cannot be tested here: it is about llama-3.2-3b-instruct and qwen2.5-3b-instruct; the bases"
    )


def test_known_claims_of_made_up_data_hold(table):
    row = table.loc["english_beats_target"]
    assert (row["verdict"], row["n"], row["n_of"]) == (HOLDS, 120, "templates")
    assert row["estimate"] == pytest.approx(60)
    assert table.loc["english_labels_beat_or_tie", "verdict"] == HOLDS
    assert table.loc["english_labels_improve_the_base", "verdict"] == HOLDS


@pytest.mark.parametrize(
    ("trainings", "expected"),
    [(None, ""), (1, "these models only"), (2, "these models only"), (3, "trainings")],
)
def test_few_trainings_speak_of_these_models_only(trainings, expected):
    assert Estimate(None, 100, "templates", "", trainings=trainings).speaks_of == expected


def test_a_row_says_what_its_verdict_speaks_of(table, carb_table):
    assert table.loc["english_beats_target", "speaks_of"] == "these models only"
    assert table.loc["english_beats_target", "note"].startswith("Trainings of each model: 1.")
    assert carb_table.loc["generative_beats_classifiers", "speaks_of"] == ""  # nothing was trained


@pytest.mark.parametrize(("n", "verdict"), [(FEWEST_UNITS - 1, UNDECIDED), (FEWEST_UNITS, HOLDS)])
def test_few_units_decide_nothing(n, verdict):
    name = "think_as_locals_lifts_carb"
    made_up = carb_evidence(judges=judges({"full": 0.9, "base": 0.1}, n))
    (row,) = claims_table({name: CARB_CLAIMS[name]}, made_up, CARB_PRINTED, 0.95).to_dict("records")
    assert row["verdict"] == verdict and row["low"] > 0
    assert (
        np.isnan(row["p"])
        == ("Fewer than 10 topics decide nothing." in row["note"])
        == (verdict == UNDECIDED)
    )


def test_p_is_corrected_by_holm_for_all_claims_that_are_tested(table):
    p = table["p"].dropna().sort_values()
    steps = [min(1, value * (len(p) - place)) for place, value in enumerate(p)]
    assert table["p_holm"].dropna().loc[p.index].tolist() == pytest.approx(
        np.maximum.accumulate(steps).tolist()
    )
    assert table.loc[table["p"].isna(), "p_holm"].isna().all()


def test_a_verdict_is_where_p_is_small(table, carb_table):
    tested = pd.concat([table, carb_table]).dropna(subset="p")
    assert ((tested["p"] < 0.05) == (tested["verdict"] != UNDECIDED)).all()


def test_the_hash_of_a_rule_is_of_what_decides(table):
    entry = ALL["english_beats_target"]
    assert table.loc["english_beats_target", "rule_sha256"] == rule_hash(entry)
    assert rule_hash({**entry, "says": "Other words.", "where": "elsewhere"}) == rule_hash(entry)
    assert rule_hash(dict(reversed(entry.items()))) == rule_hash(entry)
    moved = {**entry, "rule": {**entry["rule"], "margin": 1}}
    asked = {**entry, "quantity": {**entry["quantity"], "over": "each"}}
    null = {**entry, "null_model": {"by": "length", "beyond": True}}
    assert len({rule_hash(one) for one in (entry, moved, asked, null, {**entry, "measures": "Other."})}) == 5


def test_printed_leads_are_the_paper_s_differences():
    cells = leads(PRINTED.table1)
    assert len(cells) == 8
    assert cells["avg"].round(1).tolist().count(4.3) == 3
    assert cells.loc[("zh", "Llama-3.2-3B-Instruct"), "reasoning"] == pytest.approx(26.7)
    assert cells.loc[("zh", "Llama-3.2-3B-Instruct"), "chat"] == pytest.approx(-14.0)


def test_printed_lead_of_english(table):
    row = table.loc["english_beats_target"]
    assert row["printed_estimate"] == pytest.approx(4.0125)  # 32.1 / 8
    assert (row["printed_n"], row["printed_verdict"]) == (
        8,
        UNDECIDED,
    )  # which its interval, above zero, would not be
    assert "Printed: fewer than 10 decide nothing." in row["note"]
    assert row["printed_p"] < 0.001
    assert row["printed_p_rank"] == pytest.approx(2 / 2**8, abs=0.01)  # all eight are positive
    assert (row["printed_low"], row["printed_high"]) == pytest.approx((3.08, 4.94), abs=0.01)


def test_single_printed_cells_have_a_sign_test_and_no_verdict(table):
    row = table.loc["english_beats_target_everywhere"]
    assert row["printed_estimate"] == pytest.approx(2.6)
    assert row["printed_p_rank"] == pytest.approx(2 / 2**8)
    assert row["printed_verdict"] == "" and np.isnan(row["printed_low"])
    assert row["printed_test"] == "sign test over cells"


def test_printed_lead_of_reasoning_is_the_least_and_undecided_where_chat_varies(table):
    row = table.loc["reasoning_gains_most"]
    # sums of eight: reasoning 93.6, safety 19.5, chat_hard 15.2, chat 0.3; the least lead is over safety
    assert row["printed_estimate"] == pytest.approx((93.6 - 19.5) / 8, abs=1e-6)
    assert row["printed_verdict"] == UNDECIDED  # over chat: 11.7, but from -2.9 to 40.7


def test_printed_gain_of_scripts_is_of_reasoning_alone(table):
    row = table.loc["non_latin_reasoning_gains_more"]
    assert row["printed_estimate"] == pytest.approx(
        (12.9 + 12.2 + 26.7 + 16.9) / 4 - (6.9 + 5.4 + 9.4 + 3.2) / 4
    )
    average = printed_estimate("lead_of_scripts", {"section": "avg"}, PRINTED, ABOVE)
    assert average.contrasts.points[0] == pytest.approx(16.0 / 4 - 16.1 / 4)  # why the average has no claim


def test_printed_gaps_between_bases(table):
    gains = table.loc["llama_gains_more_than_qwen"]
    assert gains["printed_estimate"] == pytest.approx(
        (4.3 + 6.0 + 4.3 + 4.6) / 4 - (2.6 + 3.2 + 4.3 + 2.8) / 4
    )
    assert gains["printed_n"] == 4
    targets = table.loc["qwen_beats_llama_when_trained_in_the_target_language"]
    assert targets["printed_estimate"] == pytest.approx(0.5)  # Spanish: 75.5 and 75.0
    assert (targets["printed_n"], targets["printed_test"]) == (4, "sign test over cells")


def test_printed_leads_in_reasoning(table):
    assert table.loc["english_leads_in_reasoning_everywhere", "printed_estimate"] == pytest.approx(3.2)
    row = table.loc["english_transfers_best_in_reasoning"]
    cells = PRINTED.tables3to7.query("eval_language in ['es', 'it', 'ko']").pivot(
        index=["base_model", "eval_language"], columns="rm_language", values="reasoning"
    )
    found = printed_estimate("lead_over_other_sources", {"section": "reasoning"}, PRINTED, ABOVE)
    assert found.contrasts.points[3] == pytest.approx((cells["en"] - cells["zh"]).mean())
    assert row["printed_n"] == 9 and row["printed_estimate"] == found.contrasts.points.min()


def test_printed_models_on_par_with_armorm(table):
    row = table.loc["english_models_are_on_par_with_armorm"]
    differences = [
        -0.4,
        -0.8,
        0.1,
        0.1,
        0.6,
        -3.6,
        -2.0,
        0.1,
        1.3,
        2.6,
    ]  # Llama's, then Qwen's: en, es, it, ko, zh
    assert row["printed_estimate"] == pytest.approx(np.mean(differences))
    assert (row["printed_n"], row["printed_verdict"]) == (10, HOLDS)


def test_printed_off_the_shelf_models_beside_each_other(table):
    loss, best = table.loc["gpt_4o_loses_least"], table.loc["self_taught_evaluator_is_best_everywhere"]
    assert loss["printed_estimate"] == pytest.approx(
        11.425 - 10.125
    )  # of English less the mean; the others' are 15.375 and 12.9
    assert best["printed_estimate"] == pytest.approx(0.4)  # Korean: 75.6 and GPT-4o's 75.2
    assert (best["printed_n"], best["printed_test"]) == (12, "sign test over cells")
    seventy = table.loc["off_the_shelf_models_exceed_seventy"]
    assert (seventy["rule"], seventy["printed_estimate"]) == ("above 20", pytest.approx(26.66875))


def test_printed_lead_over_other_sources_is_of_third_languages(table):
    row = table.loc["english_transfers_best"]
    assert row["printed_n"] == 9  # three bases, three third languages
    found = printed_estimate("lead_over_other_sources", {}, PRINTED, ABOVE)
    spanish = PRINTED.tables3to7.query("eval_language in ['it', 'ko', 'zh']").pivot(
        index=["base_model", "eval_language"], columns="rm_language", values="avg"
    )
    assert found.contrasts.points[0] == pytest.approx((spanish["en"] - spanish["es"]).mean())


def test_printed_off_the_shelf_models_are_above_chance(table):
    row = table.loc["off_the_shelf_models_transfer"]
    assert row["printed_estimate"] == pytest.approx(
        PRINTED.table2[["es", "it", "ko", "zh"]].to_numpy().mean() - 50
    )
    assert (row["printed_n"], row["printed_verdict"]) == (4, UNDECIDED) and row["printed_low"] > 0


def test_figures_have_no_printed_numbers(table):
    row = table.loc["english_keeps_the_base"]
    assert row["printed_verdict"] == "" and pd.isna(row["printed_n"])
    assert "No printed numbers" in row["note"]


def test_known_claims_of_made_up_carb_data(carb_table):
    row = carb_table.loc["generative_beats_classifiers"]
    assert (row["verdict"], row["n"], row["n_of"], row["estimate"]) == (
        HOLDS,
        80,
        "topics",
        pytest.approx(35),
    )
    assert carb_table.loc["carb_predicts_alignment", "verdict"] == HOLDS
    assert (
        carb_table.loc["rewardbench_does_not_predict_alignment", "verdict"] == NOT_ALL
    )  # a correlation near -1, whose negative is small
    assert carb_table.loc["think_as_locals_lifts_carb", "verdict"] == HOLDS
    assert carb_table.loc["both_rewards_are_needed", "verdict"] == UNDECIDED  # no-appr is as good
    row = carb_table.loc["think_as_locals_lifts_carb_over_its_warmup"]
    assert row["verdict"] == UNTESTED
    assert row["note"].startswith(
        "Cannot be tested here: it is about the judges warmup; trained here were full, base"
    )


def test_printed_leads_of_generative_reward_models(carb_table):
    mean, best = (
        carb_table.loc["generative_beats_classifiers"],
        carb_table.loc["best_generative_beats_best_classifier"],
    )
    assert mean["printed_estimate"] == pytest.approx((76.5 + 75.9 + 74.7 + 74.5) / 4 - (73.0 + 71.0) / 2)
    assert (mean["printed_n"], mean["printed_verdict"]) == (6, UNDECIDED)  # two classifiers alone
    assert best["printed_estimate"] == pytest.approx(3.5)
    assert best["printed_verdict"] == "" and np.isnan(best["printed_low"])
    assert carb_table.loc["safety_is_the_easiest_domain", "note"].endswith(
        "No printed numbers to hold it against."
    )


def test_printed_correlations_are_of_seventeen_reward_models(carb_table):
    rows = CARB_PRINTED.correlation.itertuples()
    assert {pairs_behind(row.r_squared, row.p_value) for row in rows} == {17}
    carb, rewardbench = (
        carb_table.loc[name] for name in ("carb_predicts_alignment", "rewardbench_does_not_predict_alignment")
    )
    assert carb["printed_estimate"] == pytest.approx(np.sqrt(0.649))  # the lower of two
    assert (carb["printed_n"], carb["printed_verdict"]) == (17, HOLDS)
    assert carb["printed_low"] == pytest.approx(np.tanh(np.arctanh(np.sqrt(0.649)) - 1.959964 / np.sqrt(14)))
    assert rewardbench["printed_estimate"] == pytest.approx(np.sqrt(0.039))
    assert rewardbench["printed_verdict"] == UNDECIDED  # 17 are too few to call it small
    assert rewardbench["printed_high"] == pytest.approx(
        np.tanh(np.arctanh(np.sqrt(0.039)) + 1.959964 / np.sqrt(14))
    )
    between = carb_table.loc["carb_predicts_better_than_rewardbench"]
    assert between["printed_estimate"] == pytest.approx(
        np.arctanh(np.sqrt(0.649)) - np.arctanh(np.sqrt(0.039))
    )
    assert between["printed_verdict"] == "" and "is not known" in between["note"]


def test_the_printed_index_of_perturbations_is_the_base_s(carb_table):
    row = carb_table.loc["surface_moves_scores_more_than_culture"]
    surface = (3.9 + 39.1 + 6.5) / 3
    assert row["printed_estimate"] == pytest.approx((12.7 - surface) / (12.7 + surface))
    assert (row["printed_n"], row["printed_verdict"]) == (1, "")


def test_printed_lifts_are_over_three_bases(carb_table):
    carb, rewardbench = (
        carb_table.loc["think_as_locals_lifts_carb"],
        carb_table.loc["think_as_locals_lifts_rewardbench"],
    )
    assert carb["printed_estimate"] == pytest.approx((16.2 + 18.5 + 12.9) / 3)
    assert (carb["printed_n"], carb["printed_verdict"]) == (3, UNDECIDED) and carb["printed_low"] > 0
    assert rewardbench["printed_estimate"] == pytest.approx((3.3 + 3.6 + 3.5) / 3)
    assert carb_table.loc["both_rewards_are_needed", "printed_verdict"] == ""


def test_claims_are_written_and_read_again(table, carb_table, tmp_path):
    output = types.SimpleNamespace(
        **{kind: tmp_path / f"claims.{kind}" for kind in ("csv", "md", "tex", "html")}
    )
    both = pd.concat([table, carb_table])
    write_claims(both, "claims", "About 95%.", "95%", output)
    again = read_claims(output.csv)
    pd.testing.assert_frame_equal(again, both.reset_index(drop=True), atol=1e-6, check_dtype=False)
    texts = ["Claim", "Says", "n", "Holds if", "Verdict", "Printed verdict"]
    shown = [display_claims(of, "95%")[texts].reset_index(drop=True) for of in (again, both)]
    pd.testing.assert_frame_equal(*shown)
    markdown = output.md.read_text(encoding="utf-8")
    assert (
        "Transfer 1 english beats target" in markdown and CLAIMS["english_beats_target"]["says"] in markdown
    )
    assert "CARB 1 safety is the easiest domain" in markdown
    assert CLAIMS["english_beats_target"]["says"] in output.html.read_text(encoding="utf-8")
    assert "\\toprule" in output.tex.read_text(encoding="utf-8")


def test_the_display_has_signs_units_and_gaps(table):
    shown = display_claims(table, "95%").set_index("Claim")
    assert (
        shown.loc["Transfer 1 english beats target", "Ours [95%]"] == "+60.0 [+50.8, +69.1]"
    )  # 1.98 sqrt(0.24 / 29 / 4)
    assert shown.loc["Transfer 1 english beats target", "n"] == "120 templates"
    assert shown.loc["Transfer 2 llama collapses more than qwen", "Ours [95%]"] == ""
    assert shown.loc["Transfer 2 llama collapses more than qwen", "Verdict"] == "not tested"
    assert shown.loc["Transfer 2 llama collapses more than qwen", "p (Holm)"] == ""
    assert shown.loc["Transfer 1 english beats target", "Verdict"] == "holds, of these models only"
    assert (
        shown.loc["Transfer 1 english beats target", "p (Holm)"] == "0.005 (0.080)"
    )  # 2 of 401 draws, and 16 claims tested
    assert shown.loc["Transfer 1 english beats target everywhere", "Printed [95%]"] == "+2.6"
    assert shown.loc["Transfer 3 multilingual norms are alike", "Ours [95%]"].startswith("0.000 [0.000, ")


@pytest.mark.parametrize(
    ("unit", "values", "shown"),
    [
        ("share", (0.00034, 0.00012, 0.00071), "+0.0003 [+0.0001, +0.0007]"),
        ("share", (0.25, 0.1, 0.4), "+0.250 [+0.100, +0.400]"),
        ("points", (-3.44, -12.0, 5.0), "-3.4 [-12.0, +5.0]"),
        ("points", (3e-17, 0.0, 0.0), "+0.0 [+0.0, +0.0]"),
        ("share", (0.2, np.nan, np.nan), "+0.200"),
        ("share", (np.nan, np.nan, np.nan), ""),
    ],
)
def test_an_estimate_has_digits_that_tell_it_from_zero(unit, values, shown):
    assert (
        interval_text({"unit": unit, **dict(zip(("estimate", "low", "high"), values, strict=True))}, "")
        == shown
    )
