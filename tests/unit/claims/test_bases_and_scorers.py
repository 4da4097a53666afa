"""Quantities that compare bases, off-the-shelf reward models and representations, on data with
known answers."""

import dataclasses

import numpy as np
import pytest
from made_up import BASE, INTERVAL, LANGUAGES, SECTIONS, TARGETS, accuracies, evidence, setting, states
from scipy import stats

from polyreward.analysis.verdicts import FAILS, HOLDS, NOT_ALL, UNDECIDED, Rule, extreme, verdict
from polyreward.claims.estimate import UntestableError
from polyreward.claims.transfer_evidence import Shares
from polyreward.claims.transfer_quantities import QUANTITIES

ABOVE, TIE = Rule("above", 0, 0), Rule("above", 0, 2)


def found(name, made_up, rule=ABOVE, **options):
    """Return the verdict, whether or not it counts, and the estimate of a quantity."""
    contrasts = QUANTITIES[name](made_up, **options).contrasts
    value = extreme(contrasts, rule.side, INTERVAL.confidence)[0]
    return verdict(contrasts, rule, INTERVAL.confidence), pytest.approx(value, abs=1e-6)


def two_bases(rights, off_the_shelf=()):
    """Evidence of bases one and two. rights: {(reward model, language): share of templates}, 0.3 where none
    is named."""
    names = [f"{base}_{language}" for base in ("one", "two") for language in LANGUAGES]
    return evidence(
        setting=setting(["one", "two"], off_the_shelf=dict.fromkeys(off_the_shelf, "unknown")),
        accuracies=accuracies(rights, [*names, *off_the_shelf]),
    )


def everywhere(scorer, share):
    return {(scorer, language): share for language in TARGETS}


@pytest.mark.parametrize("over", ["mean", "each"])
@pytest.mark.parametrize(
    ("one", "two", "lead", "target"),
    [
        ((0.9, 0.5), (0.6, 0.5), (HOLDS, 30), (UNDECIDED, 0)),  # English, then target
        ((0.6, 0.8), (0.6, 0.4), (FAILS, -40), (HOLDS, 40)),
        ((0.5, 0.5), (-0.5, 0.5), (UNDECIDED, 0), (UNDECIDED, 0)),
    ],
)
def test_gap_between_bases(one, two, lead, target, over):
    rights = {}
    for base, (english, own) in (("one", one), ("two", two)):
        rights |= everywhere(f"{base}_en", english) | {
            (f"{base}_{language}", language): own for language in TARGETS
        }
    made_up = two_bases(rights)
    assert found("gap_between_bases", made_up, bases=["one", "two"], of="lead", over=over) == lead
    assert found("gap_between_bases", made_up, bases=["one", "two"], of="target", over=over) == target


@pytest.mark.parametrize(
    ("english_centric", "multilingual", "expected"),
    [(0.4, 0.8, (HOLDS, 40)), (0.8, 0.4, (FAILS, -40)), (0.5, -0.5, (UNDECIDED, 0))],
)
def test_loss_between_kinds(english_centric, multilingual, expected):
    away = everywhere("one_en", english_centric) | everywhere("two_en", multilingual)
    made_up = two_bases(away | {("one_en", "en"): 0.9, ("two_en", "en"): 0.9})
    with pytest.raises(
        UntestableError, match="it takes English-centric and multilingual bases; this run has one and two"
    ):
        QUANTITIES["loss_between_kinds"](made_up)
    kinds = dataclasses.replace(made_up.setting, pretraining={"one": "english", "two": "multilingual"})
    assert found("loss_between_kinds", dataclasses.replace(made_up, setting=kinds)) == expected


@pytest.mark.parametrize(
    ("english", "scorer", "expected"),
    [(0.7, 0.5, (HOLDS, 20)), (0.3, 0.7, (FAILS, -40)), (0.5, -0.5, (UNDECIDED, 0))],
)
def test_english_against_scorer_is_the_mean_over_bases_and_all_languages(english, scorer, expected):
    rights = {(name, language): english for name in ("one_en", "two_en") for language in LANGUAGES}
    made_up = two_bases(rights | {("armo", language): scorer for language in LANGUAGES}, ["armo"])
    assert found("english_against_scorer", made_up, TIE, bases=["one", "two"], scorer="armo") == expected


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        (0.9, 0.5, (HOLDS, 40)),
        (0.4, 0.8, (NOT_ALL, -40)),
        (0.1, 0.9, (FAILS, -80)),
        (0.5, -0.5, (UNDECIDED, 0)),
    ],
)
def test_lead_of_scorer_is_the_least_over_others_and_languages(first, second, expected):
    made_up = two_bases(everywhere("a", first) | everywhere("b", second), ["a", "b", "c"])  # c is at 0.3
    assert found("lead_of_scorer", made_up, scorer="a", among=["b", "c"]) == expected


@pytest.mark.parametrize(
    ("away", "expected"), [(0.8, (HOLDS, 20)), (0.3, (NOT_ALL, -30)), (0.1, (FAILS, -50))]
)
def test_least_loss_is_from_english_to_the_mean_of_targets(away, expected):
    rights = (
        everywhere("a", away)
        | everywhere("b", 0.6)
        | everywhere("c", 0.2)
        | {(name, "en"): 0.9 for name in "abc"}
    )
    assert found("least_loss", two_bases(rights, ["a", "b", "c"]), scorer="a", among=["b", "c"]) == expected


def test_claims_about_other_bases_or_reward_models_say_so():
    made_up = two_bases({}, ["armo"])
    with pytest.raises(
        UntestableError, match="the claim is about one and llama; this run's bases are one and two"
    ):
        QUANTITIES["gap_between_bases"](made_up, bases=["one", "llama"], of="lead", over="mean")
    with pytest.raises(UntestableError, match="the claim is about gpt; this run's models are armo"):
        QUANTITIES["english_against_scorer"](made_up, bases=["one"], scorer="gpt")
    with pytest.raises(UntestableError, match="the claim is about armo and gpt; this run's models are armo"):
        QUANTITIES["least_loss"](made_up, scorer="armo", among=["gpt"])


def test_lead_over_other_sources_in_a_section():
    reasoning = {**dict.fromkeys(SECTIONS, 0.1), "reasoning": 0.9}  # all others are at 0.3
    made_up = evidence(accuracies=accuracies(everywhere(f"{BASE}_en", reasoning)))
    assert found("lead_over_other_sources", made_up, section="reasoning") == (HOLDS, 60)
    assert found("lead_over_other_sources", made_up)[1] == (60 - 3 * 20) / 4


def of_bases(count, right):
    """Evidence of bases whose reward models are 0 to 0.08 off the base's share, language by language. right:
    shares, likewise."""
    names, far = [f"b{n}" for n in range(count)], (0.0, 0.02, 0.04, 0.06, 0.08)
    trained = {language: states(0.6 + off) for language, off in zip(LANGUAGES, far, strict=True)}
    rights = {
        (f"{name}_{training}", language): share
        for name in names for training, share in zip(LANGUAGES, right, strict=True) for language in TARGETS
    }  # fmt: skip
    return evidence(
        setting=setting(names),
        shares=Shares({name: {"base": states(0.6), **trained} for name in names}, INTERVAL),
        accuracies=accuracies(rights, [f"{name}_{language}" for name in names for language in LANGUAGES]),
    )


@pytest.mark.parametrize(
    ("right", "expected"),
    [
        ((0.9, 0.7, 0.8, 0.6, 0.5), (HOLDS, 0.9)),
        ((0.5, 0.6, 0.8, 0.7, 0.9), (FAILS, -0.9)),
        ((0.5, 0.6, 0.5, 0.6, 0.5), (UNDECIDED, 0)),
    ],
)
def test_correlation_with_preservation(right, expected):
    made_up = of_bases(8, right)
    assert found("correlation_with_preservation", made_up) == expected
    estimate = QUANTITIES["correlation_with_preservation"](made_up)
    assert (estimate.n, estimate.n_of, estimate.note, estimate.decides) == (
        40,
        "trained reward models",
        "",
        True,
    )
    _, (high,) = estimate.contrasts.ends(0.95)
    pairs = 40 - 8 + 1  # each base costs one
    assert np.arctanh(high) - np.arctanh(expected[1]) == pytest.approx(
        stats.norm.ppf(0.975) / np.sqrt(pairs - 3), abs=1e-4
    )


def test_a_correlation_over_few_bases_decides_nothing():
    estimate = QUANTITIES["correlation_with_preservation"](of_bases(2, (0.9, 0.7, 0.8, 0.6, 0.5)))
    assert not estimate.decides and estimate.n == 10
    assert estimate.note.startswith("Fewer than 8 bases decide nothing")
    with pytest.raises(UntestableError, match="all reward models of a base are alike"):
        QUANTITIES["correlation_with_preservation"](of_bases(2, (0.5,) * 5))
