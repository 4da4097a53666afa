"""What claims could decide at other scales: known answers, and the page from made-up results."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from support import ROOT

from polyreward import cli
from polyreward.analysis.power import (
    Measured,
    UnknownError,
    errors_to_decide,
    holds_from,
    measured_error,
    needed_value,
    scaled,
)
from polyreward.analysis.verdicts import UNDECIDED, Rule, from_correlations
from polyreward.ops.power_page import is_reached
from polyreward.sheet.papers import PAPERS, read_paper

ABOVE, BELOW = Rule("above", 0, 0), Rule("below", 0, 0)
CLAIMS = {
    name: entry
    for paper in ("transfer", "carb")
    for name, entry in read_paper(ROOT / PAPERS / paper).claims.items()
}
ROW = {
    "estimate": 2.0, "low": -2.0, "high": 6.0, "unit": "points", "n": 160, "n_of": "templates", "rule": "above 0",
    "se": 2.0, "se_trainings": 0.0, "test": "paired bootstrap over templates", "verdict": UNDECIDED,
    "speaks_of": "these models only", "note": "Noted.",
}  # fmt: skip


@pytest.mark.parametrize(
    ("freedom", "expected"),  # 0.9960: of tables for n = 10
    [(np.inf, 1.959964 + 0.841621), (9, 0.9960 * np.sqrt(10)), (99, 2.829)],
)
def test_the_errors_to_decide_are_those_of_a_t_test_s_power(freedom, expected):
    found = errors_to_decide(0.95, freedom)
    assert found == pytest.approx(expected, abs=1e-3)
    if np.isfinite(freedom):
        assert stats.nct.sf(stats.t.ppf(0.975, freedom), freedom, found) == pytest.approx(0.8, abs=1e-4)


@pytest.mark.parametrize(
    ("confidence", "freedom"), [(1 - 0.05 / 1260, 50), (1 - 0.05 / 1260, 2), (0.95, 1), (0.5, 4)]
)
def test_the_errors_to_decide_have_that_power_also_at_the_levels_of_many_comparisons(confidence, freedom):
    found = errors_to_decide(confidence, freedom)
    power = stats.nct.sf(stats.t.isf((1 - confidence) / 2, freedom), freedom, found)
    assert power == pytest.approx(0.8, abs=1e-4)


def test_units_divide_their_own_variance_and_not_that_between_trainings():
    assert scaled(Measured(3.0, 100), 2) == pytest.approx((3 / np.sqrt(2), 199))
    assert scaled(Measured(3.0, 100), 1) == (3, 99)
    measured = Measured(5.0, 100, share=0.36, seeds=3)  # 9 between trainings, 16 between units
    # Satterthwaite's degrees of freedom: 4 of two models' three trainings, 99 of templates
    assert scaled(measured, 1) == pytest.approx((5, 25**2 / (9**2 / 4 + 16**2 / 99)))
    assert scaled(measured, 1e12) == pytest.approx((3, 4))
    one = Measured(5.0, 100, share=0.36, seeds=1)  # an interval of these models
    assert scaled(one, 4) == pytest.approx((2, 399))


def test_a_row_s_error_is_half_its_interval_or_the_end_that_decides():
    quantile = stats.t.ppf(0.975, 159)
    assert measured_error(ROW, ABOVE, 1, 0.95) == Measured(pytest.approx(4 / quantile), 160)
    least = "paired bootstrap over templates; the least of 8, by intersection-union"
    for rule, ends in ((ABOVE, {"high": 60.0}), (BELOW, {"low": -60.0})):
        found = measured_error({**ROW, **ends, "test": least}, rule, 1, 0.95)
        assert found.error == pytest.approx(4 / quantile)
    seeded = {**ROW, "se": 2.5, "se_trainings": 1.5}
    assert measured_error(seeded, ABOVE, 3, 0.95) == Measured(2.5, 160, pytest.approx(0.36), 3)
    assert measured_error(ROW, ABOVE, 3, 0.95).share == 0  # trainings are alike


def test_a_correlation_s_error_is_fisher_s():
    low, high = (float(end[0]) for end in from_correlations([0.4], 19).ends(0.95))
    row = {**ROW, "unit": "correlation", "estimate": 0.4, "low": low, "high": high, "n": 19}
    measured = measured_error(row, ABOVE, 1, 0.95)
    assert measured.error == pytest.approx(1 / 4)
    assert needed_value(measured, ABOVE, "correlation", 1, 0.95) == pytest.approx(np.tanh(2.801585 / 4))


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"verdict": "not tested", "note": "It is about llama-3.2. Printed: a guide."}, r"llama-3\.2\.$"),
        ({"unit": "KS"}, "has no standard error"),
        ({"low": np.nan, "high": np.nan}, "no width"),
        ({"low": 2.0, "high": 2.0}, "no width"),
        ({"se": 0.0}, "has no variance"),
        ({"n": 2, "n_of": "bases"}, "counts bases"),
    ],
)
def test_a_claim_without_an_interval_says_why(changed, said):
    with pytest.raises(UnknownError, match=said):
        measured_error({**ROW, **changed}, ABOVE, 1, 0.95)


@pytest.mark.parametrize(
    ("rule", "unit", "error", "expected"),
    [
        (ABOVE, "points", 2.0, 5.6),
        (BELOW, "index", 0.1, -0.28),
        (Rule("above", 3, 0), "points", 2.0, 8.6),
        (Rule("above", 0, 2), "points", 2.0, 3.6),
        (ABOVE, "points", 36.0, np.nan),  # 100.8 points: there is no such lead
        (ABOVE, "Fisher z", 36.0, 100.8),
    ],
)
def test_a_claim_holds_from_so_many_errors_off_its_bound(rule, unit, error, expected):
    assert holds_from(rule, unit, error, 2.8) == pytest.approx(expected, nan_ok=True)


@pytest.mark.parametrize(("n", "possible"), [(16, False), (37, False), (38, True), (1000, True)])
def test_that_a_correlation_is_small_takes_38_reward_models(n, possible):
    error, multiple = 1 / np.sqrt(n - 3), errors_to_decide(0.95, np.inf)
    value = holds_from(Rule("below", 0.5, 0), "correlation", error, multiple, either_sign=True)
    assert np.isfinite(value) == possible


@pytest.mark.parametrize(
    ("value", "needed", "either_sign", "reached"),
    [(-0.1, 0.2, True, True), (-0.9, 0.2, True, False), (-0.9, 0.2, False, True), (np.nan, 0.2, False, False),
     (0.1, np.nan, False, False)],
)  # fmt: skip
def test_a_correlation_that_is_to_be_small_counts_without_its_sign(value, needed, either_sign, reached):
    assert is_reached(value, needed, Rule("below", 0.5, 0), either_sign=either_sign) == reached


def test_few_units_decide_nothing():
    assert np.isnan(needed_value(Measured(1.0, 100), ABOVE, "points", 0.09, 0.95))
    value = needed_value(Measured(1.0, 100), ABOVE, "points", 0.1, 0.95)
    assert value == pytest.approx(np.sqrt(10) * 3.1496, abs=0.01)


def test_a_claim_holds_at_its_value_in_four_of_five_samples():
    value = needed_value(Measured(1 / np.sqrt(400), 400), ABOVE, "points", 25 / 400, 0.95)
    samples = np.random.default_rng(1).normal(value, 1, (4000, 25))
    lows = samples.mean(axis=1) - stats.t.ppf(0.975, 24) * stats.sem(samples, axis=1)
    assert np.mean(lows > 0) == pytest.approx(0.8, abs=0.02)


def claims(**changed):
    """Rows of claims.csv, all with ROW's interval, but for {claim: {column: value}}."""
    rows = [
        {"claim": name, **ROW, "rule": str(Rule(**entry["rule"])), **changed.get(name, {})}
        for name, entry in CLAIMS.items()
        if entry["paper"] == "transfer" and entry["unit"] == "points"
    ]
    return pd.DataFrame(rows)


def cells(text, claim):
    lines = [line for line in text.splitlines() if line.startswith("|")]
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    (row,) = [row for row in rows if row[0].endswith(f": {claim}")]
    return row


def test_the_page_has_what_each_claim_needs_and_how_many_units_the_printed_value_takes(
    tmp_path, monkeypatch, capsys
):
    monkeypatch.chdir(tmp_path)
    untested = {"verdict": "not tested", "note": "Cannot be tested here: it is about judges."}
    another, printed = {"rule": "above 1"}, {"printed_estimate": 3.5}
    seeded = {
        "test": "bootstrap and variance between trainings",
        "se": 2.0,
        "se_trainings": 0.6,
        "speaks_of": "trainings",
    }
    table = claims(
        off_the_shelf_models_transfer=untested,
        english_beats_target=printed,
        english_leads_by_three_points={**printed, **seeded},
        reasoning_gains_most=another,
    )
    (tmp_path / "results").mkdir()
    table.to_csv("results/transfer_claims.csv", index=False)
    assert cli.main(["power"]) == 0
    text = capsys.readouterr().out
    error = 4 / stats.t.ppf(0.975, 159)
    needed = error * errors_to_decide(0.95, 159)
    row = cells(text, "english beats target")
    assert row[1:5] == ["above 0 (points)", "+2.0 [-2.0, +6.0]", f"{error:.1f}", "160 templates"]
    assert row[5:7] == [f"{needed:+.1f}*", "+3.5"]
    assert float(row[7].replace(",", "")) == pytest.approx(160 * (needed / 3.5) ** 2, rel=0.05)
    assert cells(text, "english transfers best")[6:8] == ["", ""]
    of_trainings = cells(text, "english leads by three points")
    assert of_trainings[3] == "2.0" and not of_trainings[5].endswith("*")
    assert "off the shelf models transfer. Cannot be tested here: it is about judges." in text
    assert "generative beats classifiers. It is not in these results." in text
    assert "reasoning gains most. It was measured by another rule (above 1)." in text


@pytest.mark.parametrize("files", [[], ["workflow/scales/tiny.yaml"]])
def test_results_that_are_not_there_are_named_with_what_makes_them(tmp_path, monkeypatch, capsys, files):
    monkeypatch.chdir(tmp_path)
    assert cli.main(["power", *(["--configfile", *files] if files else [])]) == 1
    folder, overlay = ("results/tiny", f" --configfile {files[0]}") if files else ("results", "")
    assert f"`snakemake --cores all {folder}/claims.csv{overlay}`" in capsys.readouterr().err
