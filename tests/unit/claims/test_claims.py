"""The table of claims, and the same tests on the papers' printed numbers."""

import types

import numpy as np
import pandas as pd
import pytest
from made_up import evidence, transfer, wins
from made_up_carb import carb_evidence, judges, topic_scores
from published import CLAIMS, PRINTED, SHORTS, of_paper, rows_of

from polyreward.analysis.verdicts import (
    FAILS,
    FEWEST_UNITS,
    HOLDS,
    NOT_ALL,
    SUGGESTED,
    SUGGESTED_AGAINST,
    UNDECIDED,
    UNTESTED,
)
from polyreward.claims.carb_evidence import Facts, Places
from polyreward.claims.estimate import Estimate
from polyreward.claims.quantities import QUANTITIES
from polyreward.claims.table import (
    corrected,
    display_claims,
    interval_text,
    read_claims,
    rule_hash,
    write_claims,
)

TABLES = PRINTED["transfer"]


@pytest.fixture(scope="module")
def table():
    win_rates = wins({"base": 0.3, "target": 0.5, "english": 0.7})
    return rows_of(of_paper("transfer"), evidence(accuracies=transfer(0.9, 0.3), win_rates=win_rates))


@pytest.fixture(scope="module")
def carb_table():
    scores = topic_scores({"judge-1": 0.9, "judge-2": 0.8})
    trained = judges({"full": 0.9, "base-with-criteria": 0.3, "no-corr": 0.3, "no-appr": -0.9})
    # Without place quartets about facts, Holm's correction is for the other claims: 401 draws show no small p
    untested = Places(None, ["en"], "en", {})
    return rows_of(
        of_paper("carb"),
        carb_evidence(scores=scores, judges=trained, places=untested, facts=Facts(None, ["en"], "en", {})),
    )


def test_every_claim_has_a_row_with_a_verdict(table, carb_table):
    both = pd.concat([table, carb_table])
    assert list(both["claim"]) == [*of_paper("transfer"), *of_paper("carb")]
    assert set(both["verdict"]) == {HOLDS, NOT_ALL, SUGGESTED, UNDECIDED, UNTESTED}
    numbers = both.groupby("paper")["number"].unique().map(sorted).to_dict()
    assert numbers == {"transfer": [1, 2, 3, 4, 5], "carb": [1, 2, 3, 4, 5]}
    # where p is small
    tested = both.dropna(subset="p")
    assert ((tested["p_holm"] < 0.05) == (tested["verdict"] != UNDECIDED)).all()
    estimated = table.dropna(subset="estimate")
    assert len(estimated) > 10
    assert (estimated["low"] <= estimated["estimate"] + 1e-9).all()
    assert (estimated["estimate"] <= estimated["high"] + 1e-9).all()


def test_each_quantity_is_in_a_claim_of_some_paper():
    named = {entry["quantity"]["name"] for paper in SHORTS for entry in of_paper(paper).values()}
    assert named == set(QUANTITIES)


def test_a_claim_that_cannot_be_tested_here_says_why(table, carb_table):
    row = table.loc["llama_collapses_more_than_qwen"]
    assert row["verdict"] == UNTESTED and row[["estimate", "p", "n"]].isna().all()
    said = (
        "Cannot be tested here: the claim is about llama-3.2-3b-instruct and qwen2.5-3b-instruct; this run's"
    )
    assert row["note"].startswith(said)
    row = carb_table.loc["think_as_locals_lifts_carb_over_its_warmup"]
    said = "Cannot be tested here: the claim is about the judges warmup; this run trained full, base-with-criteria"
    assert row["verdict"] == UNTESTED and row["note"].startswith(said)


def test_known_claims_of_made_up_data_hold(table, carb_table):
    columns = ["verdict", "n", "n_of", "estimate"]
    # 401 draws show no p below 2 / 401, which Holm's correction multiplies by the 16 claims that are tested
    expected = [UNDECIDED, 120, "templates", pytest.approx(60)]
    assert table.loc["english_beats_target", columns].tolist() == expected
    said = "Before Holm's correction it is `holds`."
    assert table.loc["english_beats_target", "note"].endswith(said)
    found = carb_table.loc["generative_beats_classifiers", columns].tolist()
    assert found == [SUGGESTED, 80, "topics", pytest.approx(35)]
    known = {
        "carb_predicts_alignment": HOLDS,
        "rewardbench_does_not_predict_alignment": NOT_ALL,  # a correlation near -1, whose negative is small
        "think_as_locals_lifts_carb": SUGGESTED,
        "both_rewards_are_needed": UNDECIDED,  # no-appr is as good
    }
    assert pd.concat([table, carb_table])["verdict"][list(known)].to_dict() == known


@pytest.mark.parametrize(
    ("trainings", "expected"),
    [(None, ""), (1, "these models only"), (2, "these models only"), (3, "trainings")],
)
def test_few_trainings_speak_of_these_models_only(trainings, expected):
    assert Estimate(None, 100, "templates", "", trainings=trainings).speaks_of == expected


@pytest.mark.parametrize(
    ("verdict", "p_holm", "speaks_of", "expected", "note"),
    [
        (HOLDS, 0.01, "trainings", HOLDS, ""),
        (HOLDS, 0.01, "", HOLDS, ""),  # nothing was trained
        (HOLDS, 0.01, "these models only", SUGGESTED, ""),
        (FAILS, 0.01, "these models only", SUGGESTED_AGAINST, ""),
        (
            NOT_ALL,
            0.01,
            "these models only",
            SUGGESTED_AGAINST,
            "With more trainings this would be `not all`.",
        ),
        (HOLDS, 0.051, "trainings", UNDECIDED, "Before Holm's correction it is `holds`."),
        (
            FAILS,
            0.051,
            "these models only",
            UNDECIDED,
            "Before Holm's correction it is `fails`.",
        ),
        (UNDECIDED, 0.051, "these models only", UNDECIDED, ""),
        (UNTESTED, np.nan, "", UNTESTED, ""),
    ],
)
def test_a_verdict_is_corrected_and_rests_on_trainings(verdict, p_holm, speaks_of, expected, note):
    row = {"verdict": verdict, "p_holm": p_holm, "speaks_of": speaks_of, "note": "Noted."}
    assert corrected(row, 0.95) == (expected, f"Noted. {note}".strip())


def test_a_row_says_what_its_verdict_speaks_of(table, carb_table):
    assert table.loc["english_beats_target", "speaks_of"] == "these models only"
    assert table.loc["english_beats_target", "note"].startswith("Trainings of each model: 1.")
    # One training of each reward model is scored on CARB
    names = ["generative_beats_classifiers", "safety_is_the_easiest_domain", "think_as_locals_lifts_carb"]
    names += ["surface_moves_scores_more_than_culture"]
    assert set(carb_table.loc[names, "speaks_of"]) == {"these models only"}
    assert (
        display_claims(carb_table, "95%", SHORTS).set_index("Claim")["Verdict"][
            "CARB 1 generative beats classifiers"
        ]
        == "suggested (these models only)"
    )
    assert table.loc["off_the_shelf_models_transfer", "speaks_of"] == ""  # nothing was trained


@pytest.mark.parametrize(("n", "verdict"), [(FEWEST_UNITS - 1, UNDECIDED), (FEWEST_UNITS, SUGGESTED)])
def test_few_units_decide_nothing(n, verdict):
    name = "think_as_locals_lifts_carb"
    made_up = carb_evidence(judges=judges({"full": 0.9, "base-with-criteria": 0.1}, n))
    (row,) = rows_of({name: CLAIMS[name]}, made_up).to_dict("records")
    assert row["verdict"] == verdict and row["low"] > 0
    said = "Fewer than 10 topics decide nothing." in row["note"]
    assert np.isnan(row["p"]) == said == (verdict == UNDECIDED)


@pytest.mark.parametrize("rights", [(1.0, 0.0), (0.0, 1.0)])
def test_a_standard_error_of_zero_decides_nothing_however_far_the_interval_is_from_the_bound(rights):
    name = "think_as_locals_lifts_carb"
    made_up = carb_evidence(judges=judges(dict(zip(("full", "base-with-criteria"), rights, strict=True))))
    (row,) = rows_of({name: CLAIMS[name]}, made_up).to_dict("records")
    assert row["se"] == pytest.approx(0, abs=1e-9)
    assert row["low"] * row["high"] > 0  # made-up units give the interval its width
    assert (row["verdict"], row["p"], row["p_holm"]) == (UNDECIDED, 1, 1)
    assert "The standard error is zero or no number: the interval has no variance" in row["note"]


def test_p_is_corrected_by_holm_for_all_claims_that_are_tested(table):
    p = table["p"].dropna().sort_values()
    steps = [min(1, value * (len(p) - place)) for place, value in enumerate(p)]
    expected = np.maximum.accumulate(steps).tolist()
    assert table["p_holm"].dropna().loc[p.index].tolist() == pytest.approx(expected)
    assert table.loc[table["p"].isna(), "p_holm"].isna().all()


def test_the_hash_of_a_rule_is_of_what_decides(table):
    entry = CLAIMS["english_beats_target"]
    assert table.loc["english_beats_target", "rule_sha256"] == rule_hash(entry)
    assert rule_hash({**entry, "says": "Other words.", "where": "elsewhere"}) == rule_hash(entry)
    assert rule_hash(dict(reversed(entry.items()))) == rule_hash(entry)
    others = {
        "rule": {**entry["rule"], "margin": 1}, "quantity": {**entry["quantity"], "over": "each"},
        "null_model": {"by": "length", "beyond": True}, "measures": "Other.",
    }  # fmt: skip
    assert len({rule_hash(entry)} | {rule_hash({**entry, key: value}) for key, value in others.items()}) == 5


R_CARB, R_REWARDBENCH, SURFACE = np.sqrt(0.649), np.sqrt(0.039), (3.9 + 39.1 + 6.5) / 3
# {claim: the papers' printed number}
PRINTED_ANSWERS = {
    "english_beats_target": 32.1 / 8,
    "english_beats_target_everywhere": 2.6,
    # sums of eight: reasoning 93.6, safety 19.5, chat_hard 15.2, chat 0.3; the least lead is over safety
    "reasoning_gains_most": (93.6 - 19.5) / 8,
    "non_latin_reasoning_gains_more": (12.9 + 12.2 + 26.7 + 16.9) / 4 - (6.9 + 5.4 + 9.4 + 3.2) / 4,
    "llama_gains_more_than_qwen": (4.3 + 6.0 + 4.3 + 4.6) / 4 - (2.6 + 3.2 + 4.3 + 2.8) / 4,
    "qwen_beats_llama_when_trained_in_the_target_language": 0.5,  # Spanish: 75.5 and 75.0
    # Qwen 3B's leads, then Qwen 7B's, which only Tables 4-7 have
    "english_lead_shrinks_with_size": (2.6 + 3.2 + 4.3 + 2.8) / 4 - (-0.9 + 0.9 + 0.6 + 1.1) / 4,
    "english_leads_in_reasoning_everywhere": 3.2,
    # Llama's differences from ArmoRM, then Qwen's: en, es, it, ko, zh
    "english_models_are_on_par_with_armorm": np.mean([-0.4, -0.8, 0.1, 0.1, 0.6, -3.6, -2.0, 0.1, 1.3, 2.6]),
    "gpt_4o_loses_least": 11.425 - 10.125,  # the others' losses from English are 15.375 and 12.9
    "self_taught_evaluator_is_best_everywhere": 0.4,  # Korean: 75.6 and GPT-4o's 75.2
    "off_the_shelf_models_exceed_seventy": 26.66875,
    "off_the_shelf_models_transfer": TABLES.table("table2")[["es", "it", "ko", "zh"]].to_numpy().mean() - 50,
    "generative_beats_classifiers": (76.5 + 75.9 + 74.7 + 74.5) / 4 - (73.0 + 71.0) / 2,
    "best_generative_beats_best_classifier": 3.5,
    "carb_predicts_alignment": R_CARB,  # the lower of two
    "rewardbench_does_not_predict_alignment": R_REWARDBENCH,
    "carb_predicts_better_than_rewardbench": np.arctanh(R_CARB) - np.arctanh(R_REWARDBENCH),
    "surface_moves_scores_more_than_culture": (12.7 - SURFACE) / (12.7 + SURFACE),
    "each_change_of_wording_moves_scores_more_than_culture": (12.7 - 3.9) / (12.7 + 3.9),  # RC moves least
    "think_as_locals_lifts_carb": (16.2 + 18.5 + 12.9) / 3,
    "think_as_locals_lifts_rewardbench": (3.3 + 3.6 + 3.5) / 3,
}


@pytest.mark.parametrize("claim", PRINTED_ANSWERS)
def test_a_claim_on_printed_numbers_has_the_known_answer(table, carb_table, claim):
    row = pd.concat([table, carb_table]).loc[claim]
    assert row["printed_estimate"] == pytest.approx(PRINTED_ANSWERS[claim])


def test_a_claim_without_printed_numbers_says_so(table):
    figure = table.loc["english_keeps_the_base"]
    assert np.isnan(figure["printed_estimate"]) and "No printed numbers" in figure["note"]


@pytest.mark.parametrize(("section", "column"), [("reasoning", "reasoning"), (None, "avg")])
def test_a_printed_lead_over_other_sources_is_of_third_languages_and_table_1_s_bases(table, section, column):
    options = {"section": section} if section else {}
    values = QUANTITIES["lead_over_other_sources"].printed_values(options, TABLES)
    of_bases = TABLES.table("tables3to7").query(
        "base_model != 'Qwen2.5-7B-Instruct' and eval_language in ['it', 'ko', 'zh']"
    )
    spanish = of_bases.pivot(index=["base_model", "eval_language"], columns="rm_language", values=column)
    assert values[0] == pytest.approx((spanish["en"] - spanish["es"]).mean())
    name = "english_transfers_best_in_reasoning" if section else "english_transfers_best"
    assert table.loc[name, "printed_estimate"] == min(values)


def test_claims_are_written_and_read_again(table, carb_table, tmp_path):
    paths = {kind: tmp_path / f"claims.{kind}" for kind in ("csv", "md", "tex", "html")}
    output = types.SimpleNamespace(**paths)
    both = pd.concat([table, carb_table])
    write_claims(both, "claims", "About 95%.", "95%", SHORTS, output)
    again = read_claims(output.csv)
    pd.testing.assert_frame_equal(again, both.reset_index(drop=True), atol=1e-6, check_dtype=False)
    texts = ["Claim", "Says", "n", "Holds if", "Verdict"]
    shown = [display_claims(of, "95%", SHORTS)[texts].reset_index(drop=True) for of in (again, both)]
    pd.testing.assert_frame_equal(*shown)
    markdown, says = output.md.read_text(encoding="utf-8"), CLAIMS["english_beats_target"]["says"]
    assert "Transfer 1 english beats target" in markdown and says in markdown
    assert "CARB 1 safety is the easiest domain" in markdown
    assert says in output.html.read_text(encoding="utf-8")
    assert "\\toprule" in output.tex.read_text(encoding="utf-8")


def test_the_display_has_signs_units_and_gaps(table):
    shown = display_claims(table, "95%", SHORTS).set_index("Claim")
    known = shown.loc["Transfer 1 english beats target", ["Ours [95%]", "n", "Verdict", "p (Holm)"]]
    # 1.98 sqrt(0.24 / 29 / 4); 2 of 401 draws, and 16 claims tested
    assert known.tolist() == [
        "+60.0 [+50.8, +69.1]", "120 templates", "not decided", "0.005 (0.080)",
    ]  # fmt: skip
    small = display_claims(table.assign(p=table["p"] * 1e-9), "95%", SHORTS).set_index("Claim")
    assert small.loc["Transfer 1 english beats target", "p (Holm)"] == "<0.001 (0.080)"
    untested = shown.loc["Transfer 2 llama collapses more than qwen", ["Ours [95%]", "Verdict", "p (Holm)"]]
    assert untested.tolist() == ["", "not tested", ""]
    assert shown.loc["Transfer 1 english beats target everywhere", "Printed"] == "+2.6"
    assert shown.loc["Transfer 3 multilingual norms are alike", "Ours [95%]"].startswith("0.000 [0.000, ")


@pytest.mark.parametrize(
    ("unit", "values", "shown"),
    [
        ("share", (0.00034, 0.00012, 0.00071), "+0.00034 [+0.00012, +0.00071]"),
        ("share", (-0.00965, -0.01017, -0.00887), "-0.0097 [-0.0102, -0.0089]"),
        ("share", (0.25, 0.1, 0.4), "+0.250 [+0.100, +0.400]"),
        ("points", (-3.44, -12.0, 5.0), "-3.4 [-12.0, +5.0]"),
        ("points", (3e-17, 0.0, 0.0), "+0.0 [+0.0, +0.0]"),
        ("index", (0.5, 0.499, 0.501), "+0.500 [+0.499, +0.501]"),
        ("correlation", (0.5, 0.3, 0.7), "+0.50 [+0.30, +0.70]"),
        ("share", (0.2, np.nan, np.nan), "+0.200"),
        ("share", (np.nan, np.nan, np.nan), ""),
    ],
)
def test_an_estimate_has_digits_that_tell_it_from_zero(unit, values, shown):
    row = dict(zip(("estimate", "low", "high"), values, strict=True))
    assert interval_text({"unit": unit, **row}, "") == shown
