"""The value of claims for an uninformed scorer, and that they hold only beyond it."""

import numpy as np
import pytest
from made_up import BASE, TARGETS, accuracies, evidence, norms, quantity, setting, transfer
from made_up_carb import DOMAINS, KINDS, carb_evidence, length_scores, points, sensitivity, topic_scores
from published import CLAIMS, SHORTS, rows_of
from scipy.stats import ks_2samp

from polyreward.analysis.verdicts import HOLDS, SUGGESTED, SUGGESTED_AGAINST, UNDECIDED, from_permuted_ks
from polyreward.claims.estimate import NULLS, null_of
from polyreward.claims.quantities import QUANTITIES
from polyreward.claims.table import display_claims

WITHIN = "Beyond the bound, but not beyond its null, the value for an uninformed scorer."


def row(name, made_up):
    """Return a claim's row on made-up evidence."""
    table = rows_of({name: CLAIMS[name]}, made_up)
    return table.iloc[0].to_dict() | {"shown": display_claims(table, "95%", SHORTS)["Null [95%]"].iloc[0]}


def test_claims_have_each_kind_of_null():
    assert {entry["null_model"]["by"] for entry in CLAIMS.values()} == set(NULLS)


def test_a_lead_s_null_is_zero_by_symmetry():
    found = row("english_beats_target", evidence(accuracies=transfer(0.9, 0.3)))
    assert (found["verdict"], found["shown"]) == (SUGGESTED, "+0.0 symmetry")
    assert found["p"] == pytest.approx(2 / 401)  # as without a null


def shelf(right, length):
    """Return evidence of an off-the-shelf reward model and of length, with these shares right in every
    language."""
    shares = {"rm": right, "length": length}
    rights = {(name, language): share for name, share in shares.items() for language in ["en", *TARGETS]}
    return evidence(
        accuracies=accuracies(rights, (f"{BASE}_en", "rm")),
        setting=setting(off_the_shelf={"rm": "multilingual"}),
    )


@pytest.mark.parametrize(
    ("right", "length", "expected", "null"),
    [
        (0.8, 0.5, HOLDS, 0),
        (0.8, 0.1, HOLDS, -40),
        (0.8, 0.9, UNDECIDED, 40),
        (0.8, -0.8, UNDECIDED, 30),  # as good as length, on other templates
        (0.7, 0.6, HOLDS, 10),
    ],
)
def test_above_chance_is_above_length_too(right, length, expected, null):
    found = row("off_the_shelf_models_transfer", shelf(right, length))
    assert (found["verdict"], found["null"]) == (expected, pytest.approx(null))
    assert (WITHIN in found["note"]) == (expected == UNDECIDED) == (found["p"] > 0.05)
    assert found["null_low"] < null < found["null_high"] and found["low"] > 0
    assert found["null_of"].startswith("length")


def of_surface(length, moves=(0.2, 1.0, 0.1)):
    return carb_evidence(
        sensitivity=sensitivity(dict.fromkeys(KINDS, moves)),
        length_sensitivity=sensitivity({"length": length}),
    )


@pytest.mark.parametrize(
    ("length", "expected", "null"),
    [
        ((1.0, 1.0, 0.2), SUGGESTED, 0),
        ((0.25, 0.75, 0.1), SUGGESTED, -0.5),
        ((0.2, 1.0, 0.1), UNDECIDED, -2 / 3),  # the same as ours
        ((0.1, 1.0, 0.05), UNDECIDED, -0.9 / 1.1),
    ],
)
def test_surface_moves_scores_more_than_it_moves_length(length, expected, null):
    found = row("surface_moves_scores_more_than_culture", of_surface(length))
    assert found["verdict"] == expected and found["shown"].startswith(f"{null:+.2f} [")
    assert (found["estimate"], found["null"]) == pytest.approx((-0.8 / 1.2, null))
    assert (WITHIN in found["note"]) == (expected == UNDECIDED)


def test_a_domain_that_is_easy_for_length_is_not_easy_for_that():
    rights = {**dict.fromkeys(DOMAINS, 0.3), "safety": 0.8}
    scores = topic_scores(dict.fromkeys(KINDS, rights))
    for of_length, expected in ((0.3, (SUGGESTED, 0)), (rights, (UNDECIDED, 50))):
        made_up = carb_evidence(scores=scores, length_scores=length_scores(of_length))
        found = row("safety_is_the_easiest_domain", made_up)
        assert found["estimate"] == pytest.approx(50)
        assert (found["verdict"], found["null"]) == (expected[0], pytest.approx(expected[1]))


def test_a_claim_that_fails_fails_whatever_its_null_is():
    found = row("surface_moves_scores_more_than_culture", of_surface((0.1, 1.0, 0.05), (1.0, 0.2, 0.1)))
    assert found["verdict"] == SUGGESTED_AGAINST and WITHIN not in found["note"]


def test_a_claim_that_there_is_nothing_is_not_held_to_its_null():
    found = row("multilingual_norms_are_alike", evidence(norms=norms({}, n=5000)))
    assert found["verdict"] == HOLDS and found["estimate"] == 0
    assert 0 < found["null_low"] < found["null"] < found["null_high"] < 0.05


def test_ks_statistics_by_chance_are_kolmogorov_s():
    """Known: a mean of 0.8687 and a 95% point of 1.3581, over the root of n m / (n + m)."""
    null, roots = from_permuted_ks([(np.zeros(n), np.zeros(n)) for n in (100, 400)]), np.sqrt([50, 200])
    assert null.points == pytest.approx(0.8687 / roots, rel=1e-3)
    assert null.ends(0.9)[1] == pytest.approx(1.3581 / roots, rel=1e-3)
    generator, pooled = np.random.default_rng(1), np.arange(200.0)
    drawn = [generator.permuted(pooled) for _ in range(300)]
    found = [ks_2samp(values[:100], values[100:], method="asymp").statistic for values in drawn]
    assert np.mean(found) == pytest.approx(null.points[0], abs=0.015)


NOISE = np.random.default_rng(3).normal(size=40)
LINE = np.linspace(0, 10, 40)


@pytest.mark.parametrize(("bases", "expected"), [(40, HOLDS), (8, HOLDS), (7, UNDECIDED), (2, UNDECIDED)])
def test_a_correlation_of_few_bases_is_not_decided(bases, expected):
    found = row("carb_predicts_alignment", carb_evidence(points=points(LINE, NOISE, LINE + NOISE, bases)))
    assert (found["verdict"], found["n"], found["n_of"]) == (expected, bases, "bases")
    assert ("Fewer than 8 bases decide nothing." in found["note"]) == (bases < 8) == np.isnan(found["p"])
    assert "Reward models: 40." in found["note"] and "Reliability: carb 1.00, match 1.00." in found["note"]
    assert found["null"] == pytest.approx(0, abs=0.6)
    assert found["null_low"] < found["null"] < found["null_high"]


def test_a_null_that_a_quantity_does_not_have_is_an_error():
    made_up, options = evidence(), {"section": "avg", "over": "mean"}
    estimate = quantity("english_lead", made_up, **options)
    with pytest.raises(ValueError, match="english_lead has no null by permutation"):
        null_of("permutation", estimate, QUANTITIES["english_lead"].compute, made_up, options)
