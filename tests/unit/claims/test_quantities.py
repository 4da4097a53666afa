"""Every quantity of the transfer paper's claims, on made-up data that should hold, fail and be undecided."""

import dataclasses
from functools import cache

import numpy as np
import pandas as pd
import pytest
from made_up import (
    ABOVE,
    BASE,
    BENCHMARK,
    INTERVAL,
    LANGUAGES,
    SECTIONS,
    TARGETS,
    accuracies,
    everywhere,
    evidence,
    found,
    norms,
    quantity,
    scores,
    setting,
    shares,
    states,
    together,
    transfer,
    wins,
)  # fmt: skip
from scipy.stats import ks_2samp, norm

from polyreward.analysis.accuracies import Accuracies
from polyreward.analysis.comparison import Comparison, transfer_rows
from polyreward.analysis.verdicts import FAILS, HOLDS, NOT_ALL, UNDECIDED, Rule, from_ks
from polyreward.claims.estimate import UntestableError
from polyreward.claims.transfer_evidence import Shares
from polyreward.core.errors import PolyrewardError
from polyreward.core.naming import taught

TIE = Rule("above", 0, 2)
ALIKE, APART = Rule("below", 0.197, 0), Rule("above", 0.197, 0)
# Half the templates right, counted from the first or from the last: no difference, and much spread
EVEN = (0.5, -0.5)
TWO = {"bases": ["one", "two"]}
MULTILINGUAL = {"panel": "all", "pretraining": "multilingual"}


def sections(reasoning, rest, **others):
    return {**dict.fromkeys(SECTIONS, rest), "reasoning": reasoning, **others}


def of_transfer(english, target):
    return evidence(accuracies=transfer(english, target))


def by_language(english, target):
    """Evidence from {language: share} of the English and of the target reward models."""
    rights = {(f"{BASE}_en", language): share for language, share in english.items()}
    rights |= {(f"{BASE}_{language}", language): share for language, share in target.items()}
    return evidence(accuracies=accuracies(rights))


def of_other_sources(english, other):
    rights = {(f"{BASE}_{one}", two): other for one in TARGETS for two in TARGETS if one != two}
    at_home = {(f"{BASE}_{language}", language): -1.0 for language in TARGETS}  # does not count
    return evidence(accuracies=accuracies(rights | everywhere(f"{BASE}_en", english) | at_home))


def of_scripts(latin, other):
    english = {"es": latin, "it": latin, "ko": other, "zh": other}
    return by_language(english, dict.fromkeys(TARGETS, 0.4))


def of_shares(noise, **of_training):
    return evidence(shares=shares(of_training, noise))


def of_two_shares(of_bases, languages=LANGUAGES):
    """Evidence of bases one and two from (share, noise) of their reward models of some languages."""
    models = {
        base: {name: states(*given) if name in languages else states(0.6) for name in ["base", *LANGUAGES]}
        for base, given in zip(("one", "two"), of_bases, strict=True)
    }
    return evidence(setting=setting(["one", "two"]), shares=Shares(models, INTERVAL))


def of_wins(english, target):
    return evidence(win_rates=wins({"base": 0.1, "english": english, "target": target}))


def of_shelf(rights, names):
    """Evidence of off-the-shelf reward models."""
    shelf = dict.fromkeys(names, "unknown")
    return evidence(setting=setting(off_the_shelf=shelf), accuracies=accuracies(rights, tuple(names)))


def of_scorers(**shares_of):
    rights = {(name, language): share for name, share in shares_of.items() for language in TARGETS}
    return of_shelf(rights, shares_of)


def two_bases(rights, off_the_shelf=(), trainings=("en",)):
    """Evidence of bases one and two, with reward models of some training languages. rights: {(reward model,
    language): share of templates}, 0.3 where none is named."""
    names = [f"{base}_{language}" for base in ("one", "two") for language in trainings]
    return evidence(
        setting=setting(["one", "two"], off_the_shelf=dict.fromkeys(off_the_shelf, "unknown")),
        accuracies=accuracies(rights, [*names, *off_the_shelf]),
    )


def gaps(one, two):
    """Evidence of two bases from shares of their (English, target) reward models."""
    rights = {}
    for base, (english, own) in (("one", one), ("two", two)):
        rights |= everywhere(f"{base}_en", english)
        rights |= {(f"{base}_{language}", language): own for language in TARGETS}
    return two_bases(rights, trainings=LANGUAGES)


def of_a_base_that_table1_does_not_show(one, two):
    made_up = gaps(one, two)
    return dataclasses.replace(made_up, setting=dataclasses.replace(made_up.setting, bases=["one"]))


def losses(english_centric, multilingual):
    away = everywhere("one_en", english_centric) | everywhere("two_en", multilingual)
    made_up = two_bases(away | {("one_en", "en"): 0.9, ("two_en", "en"): 0.9})
    kinds = {"one": "english", "two": "multilingual"}
    return dataclasses.replace(made_up, setting=dataclasses.replace(made_up.setting, pretraining=kinds))


def next_to_scorer(english, scorer):
    rights = {(name, language): english for name in ("one_en", "two_en") for language in LANGUAGES}
    return two_bases(rights | {("armo", language): scorer for language in LANGUAGES}, ["armo"])


def of_a_and_b(first, second):
    return of_shelf(everywhere("a", first) | everywhere("b", second), "abc")  # c is at 0.3


def of_losses(away):
    rights = everywhere("a", away) | everywhere("b", 0.6) | everywhere("c", 0.2)
    return of_shelf(rights | {(name, "en"): 0.9 for name in "abc"}, "abc")


@cache
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


MEAN, EACH = {"over": "mean"}, {"over": "each"}
A_TO_C = {"scorer": "a", "among": ["b", "c"]}
# {base, then training language: share}
NEAR = {"base": 0.6, "en": 0.61, "es": 0.7, "it": 0.5, "ko": 0.8, "zh": 0.7}
MIXED = {"base": 0.6, "en": 0.7, "es": 0.61, "it": 0.5, "ko": 0.8, "zh": 0.7}
FAR = {"base": 0.6, "en": 0.8, "es": 0.61, "it": 0.59, "ko": 0.61, "zh": 0.7}
EQUAL = {"base": 0.6, "en": 0.7, "es": 0.71, "it": 0.71, "ko": 0.71, "zh": 0.71}
# (quantity, its options, its rule, what makes the evidence, [(arguments, verdict, or verdict and estimate)])
KNOWN = [
    *(("english_lead", {"section": "avg", **over}, ABOVE, of_transfer,
       [((0.9, 0.3), HOLDS), ((0.3, 0.9), FAILS), (EVEN, UNDECIDED)]) for over in (MEAN, EACH)),
    # One bad language of four is against each and not against the mean
    *(("english_lead", {"section": "avg", **over}, ABOVE, by_language,
       [(({"es": 0.9, "it": 0.9, "ko": 0.9, "zh": 0.1}, dict.fromkeys(TARGETS, 0.5)), expected)])
      for over, expected in ((MEAN, HOLDS), (EACH, NOT_ALL))),
    ("lead_over_other_sources", {}, ABOVE, of_other_sources,
     [((0.9, 0.3), HOLDS), ((0.3, 0.9), FAILS), (EVEN, UNDECIDED)]),
    # All others are at 0.3
    ("lead_over_other_sources", {"section": "reasoning"}, ABOVE, of_transfer, [((sections(0.9, 0.1), 0.3), (HOLDS, 60))]),
    ("lead_over_other_sources", {}, ABOVE, of_transfer, [((sections(0.9, 0.1), 0.3), (UNDECIDED, 0))]),
    ("lead_of_section", {"section": "reasoning"}, ABOVE, of_transfer,
     [((sections(0.9, 0.5), sections(0.3, 0.5)), HOLDS), ((sections(0.5, 0.9), sections(0.5, 0.3)), FAILS),
      ((sections(0.5, 0.5), sections(-0.5, -0.5)), UNDECIDED),
      ((sections(0.9, 0.5, chat=0.9), sections(0.3, 0.5, chat=0.3)), UNDECIDED)]),  # two gain alike
    *(("lead_of_scripts", {"section": section}, ABOVE, of_scripts,
       [((0.4, 0.9), HOLDS), ((0.9, 0.4), FAILS), (EVEN, UNDECIDED)]) for section in ("avg", "reasoning")),
    *(("gap_between_bases", {**TWO, "of": of, **over}, ABOVE, gaps,
       list(zip([((0.9, 0.5), (0.6, 0.5)), ((0.6, 0.8), (0.6, 0.4)), ((0.5, 0.5), (-0.5, 0.5))], expected, strict=True)))
      for over in (MEAN, EACH) for of, expected in (("lead", [(HOLDS, 30), (FAILS, -40), (UNDECIDED, 0)]),
                                                    ("target", [(UNDECIDED, 0), (HOLDS, 40), (UNDECIDED, 0)]))),
    ("gap_between_bases", {**TWO, "of": "lead", **MEAN}, ABOVE, of_a_base_that_table1_does_not_show,
     [(((0.9, 0.5), (0.6, 0.5)), (HOLDS, 30)), (((0.6, 0.5), (0.9, 0.5)), (FAILS, -30))]),
    # A base that is not shown is in no quantity over all bases
    ("english_lead", {"section": "avg", **MEAN}, ABOVE, of_a_base_that_table1_does_not_show,
     [(((0.9, 0.5), (0.5, 0.9)), (HOLDS, 40))]),
    ("loss_between_kinds", {}, ABOVE, losses,
     [((0.4, 0.8), (HOLDS, 40)), ((0.8, 0.4), (FAILS, -40)), (EVEN, (UNDECIDED, 0))]),
    ("english_against_scorer", {**TWO, "scorer": "armo"}, TIE, next_to_scorer,
     [((0.7, 0.5), (HOLDS, 20)), ((0.3, 0.7), (FAILS, -40)), (EVEN, (UNDECIDED, 0))]),
    # The least over the others and over languages
    ("lead_of_scorer", A_TO_C, ABOVE, of_a_and_b,
     [((0.9, 0.5), (HOLDS, 40)), ((0.4, 0.8), (NOT_ALL, -40)), ((0.1, 0.9), (FAILS, -80)), (EVEN, (UNDECIDED, 0))]),
    # From English to the mean of the targets
    ("least_loss", A_TO_C, ABOVE, of_losses, [((0.8,), (HOLDS, 20)), ((0.3,), (NOT_ALL, -30)), ((0.1,), (FAILS, -50))]),
    ("correlation_with_preservation", {}, ABOVE, of_bases,
     [((8, (0.9, 0.7, 0.8, 0.6, 0.5)), (HOLDS, 0.9)), ((8, (0.5, 0.6, 0.8, 0.7, 0.9)), (FAILS, -0.9)),
      ((8, (0.5, 0.6, 0.5, 0.6, 0.5)), (UNDECIDED, 0)), ((2, (0.9, 0.7, 0.8, 0.6, 0.5)), (UNDECIDED, 0.9))]),
    *(("win_rate_lead", {"against": "target", **over}, TIE, of_wins,
       [((0.6, 0.3), HOLDS), ((0.5, 0.5), UNDECIDED), ((0.2, 0.6), FAILS), (EVEN, UNDECIDED)])  # no spread, no tie
      for over in (MEAN, EACH)),
]  # fmt: skip
# The same with keywords: (quantity, its options, what makes the evidence, [(arguments, verdict)])
BY_NAME = [
    *(("closeness_to_base", {"language": "en", **over}, of_shares,
       [({"noise": 0.01, **NEAR}, HOLDS),  # farther down counts too
        ({"noise": 0.01, **MIXED}, NOT_ALL), ({"noise": 0.01, **FAR}, FAILS),
        ({"noise": 0, **NEAR, "es": 0.57}, (UNDECIDED, 0.02)),  # without width; es: 0.03 - 0.01
        ({"noise": 0.1, **EQUAL}, UNDECIDED)]) for over in (MEAN, EACH)),
    *(("most_collapsed", {"language": "ko", **over}, of_shares,
       [({"noise": 0.01, "ko": 0.8}, HOLDS), ({"noise": 0.01, "ko": 0.7, "zh": 0.8}, NOT_ALL),
        ({"noise": 0.01, "ko": 0.55}, FAILS),  # below the base: no collapse
        ({"noise": 0.1, "ko": 0.61}, UNDECIDED)]) for over in (MEAN, EACH)),
    # Bases that disagree are against each and not against the mean
    *(("most_collapsed", {"language": "ko", **over}, of_two_shares,
       [({"of_bases": [(0.9, 0.01), (0.55, 0.01)], "languages": ["ko"]}, expected)])
      for over, expected in ((MEAN, HOLDS), (EACH, NOT_ALL))),
    ("collapse_between_bases", TWO, of_two_shares,
     [({"of_bases": [(0.8, 0.01), (0.65, -0.01)]}, HOLDS), ({"of_bases": [(0.65, 0.01), (0.8, -0.01)]}, FAILS),
      ({"of_bases": [(0.7, 0.1), (0.7, -0.1)]}, UNDECIDED)]),
    *(("above_chance", over, of_scorers, [({"rm": first, "judge": second}, expected)])
      for first, second, mean, each in ((0.9, 0.8, HOLDS, HOLDS), (0.9, 0.3, HOLDS, NOT_ALL), (0.3, 0.1, FAILS, FAILS),
                                        (0.5, 0.55, UNDECIDED, UNDECIDED))
      for over, expected in ((MEAN, mean), (EACH, each))),
]  # fmt: skip


@pytest.mark.parametrize(
    ("name", "options", "rule", "made", "known"),
    KNOWN + [(name, options, ABOVE, made, known) for name, options, made, known in BY_NAME],
    ids=lambda one: (
        one if isinstance(one, str) else "-".join(map(str, one.values())) if isinstance(one, dict) else ""
    ),
)
def test_a_quantity_has_the_known_verdict_and_estimate(name, options, rule, made, known):
    for given, expected in known:
        made_up = made(**given) if isinstance(given, dict) else made(*given)
        verdict, value = found(name, made_up, rule, **options)
        if isinstance(expected, tuple):
            assert (verdict, pytest.approx(value, abs=1e-6)) == expected, given
        else:
            assert verdict == expected, given


@pytest.mark.parametrize(
    ("name", "options", "made", "said"),
    [
        ("collapse_between_bases", {"bases": ["llama", "qwen"]}, evidence,
         "the claim is about llama and qwen; this run's bases are base"),
        ("gap_between_bases", {"bases": ["one", "llama"], "of": "lead", **MEAN}, lambda: two_bases({}),
         "the claim is about one and llama; this run's bases are one and two"),
        ("english_against_scorer", {"bases": ["one"], "scorer": "gpt"}, lambda: two_bases({}, ["armo"]),
         "the claim is about gpt; this run's models are armo"),
        ("least_loss", {"scorer": "armo", "among": ["gpt"]}, lambda: two_bases({}, ["armo"]),
         "the claim is about armo and gpt; this run's models are armo"),
        ("loss_between_kinds", {}, lambda: two_bases({}),
         "it takes English-centric and multilingual bases; this run has one and two"),
        ("norm_distance", {"panel": "all", "pretraining": "english"}, evidence,
         "bases with english pretraining; there is none among base"),
        ("above_chance", MEAN, lambda: evidence(setting=setting(off_the_shelf={"smol": "english"})),
         "on a multilingual base was scored, but smol"),
        ("win_rate_lead", {"against": "base", **MEAN},
         lambda: evidence(win_rates=wins({"english": 0.5, "base": 0.5}, languages=["en"])),
         "the claim is about target languages; this run judged answers in en"),
        ("correlation_with_preservation", {}, lambda: of_bases(2, (0.5,) * 5), "all reward models of a base are alike"),
    ],
)  # fmt: skip
def test_what_a_run_cannot_test_says_why(name, options, made, said):
    with pytest.raises(UntestableError, match=said):
        quantity(name, made(), **options)


def test_bases_that_table1_does_not_show_have_their_trainings_among_the_evidence():
    names = [f"{base}_{language}" for base in ("one", "two") for language in LANGUAGES]
    rows = [(scorer, *name.split("_"), 1) for name in names for scorer in (name, taught(name))]
    sheet = pd.DataFrame(rows, columns=["scorer", "base", "trained_in", "seed"])
    trainings = dataclasses.replace(setting(["one", "two"]), bases=["one"]).trainings(sheet)
    assert trainings["two", "ko"] == ["two_ko"]  # and none that had lessons and len(trainings) == len(names)


def test_english_lead_is_the_mean_of_table_1_s_differences():
    english = {"es": 0.9, "it": 0.5, "ko": 0.4, "zh": 0.8}
    target = {"es": 0.3, "it": 0.6, "ko": -0.5, "zh": 0.2}
    differences = []
    for language in TARGETS:
        rights = {"e": english[language], "t": target[language]}
        tables = {(name, language): scores(dict.fromkeys(SECTIONS, share)) for name, share in rights.items()}
        comparison = Comparison(together(tables), BENCHMARK, INTERVAL)
        differences.append(transfer_rows(comparison, ["t"], ["e"])[2]["avg"])
    made_up = by_language(english, target)
    for over, expected in ((MEAN, np.mean(differences)), (EACH, min(differences))):
        assert found("english_lead", made_up, section="avg", **over)[1] == pytest.approx(expected)


def test_a_correlation_with_preservation_counts_one_pair_less_for_each_base():
    estimate = quantity("correlation_with_preservation", of_bases(8, (0.9, 0.7, 0.8, 0.6, 0.5)))
    assert (estimate.n, estimate.n_of, estimate.note) == (40, "trained reward models", "")
    _, (high,) = estimate.contrasts.ends(0.95)
    reach = norm.ppf(0.975) / np.sqrt(40 - 8 + 1 - 3)
    assert np.arctanh(high) - np.arctanh(0.9) == pytest.approx(reach, abs=1e-4)
    few = quantity("correlation_with_preservation", of_bases(2, (0.9, 0.7, 0.8, 0.6, 0.5)))
    assert few.n == 10 and few.note.startswith("Fewer than 8 bases decide nothing")


@pytest.mark.parametrize("panel", ["all", "matched"])
@pytest.mark.parametrize(
    ("shifts", "n", "alike", "apart"),
    [
        (dict.fromkeys(TARGETS, 0.05), 4000, HOLDS, FAILS),
        (dict.fromkeys(TARGETS, 3), 4000, FAILS, HOLDS),
        (dict.fromkeys(TARGETS, 0.05), 12, UNDECIDED, UNDECIDED),
        ({"ko": 3}, 4000, NOT_ALL, NOT_ALL),
    ],
)
def test_norm_distance(shifts, n, alike, apart, panel):
    made_up = evidence(norms=norms(shifts, n))
    for rule, expected in ((ALIKE, alike), (APART, apart)):
        assert found("norm_distance", made_up, rule, **{**MULTILINGUAL, "panel": panel})[0] == expected


def test_norms_that_are_constant_by_construction_are_left_out_or_decide_nothing():
    made_up = evidence(constant={BASE: True})
    assert found("norm_distance", made_up, ALIKE, **MULTILINGUAL)[0] == UNDECIDED
    note = quantity("norm_distance", made_up, **MULTILINGUAL).note
    assert note == "Says nothing: norms constant over the vocabulary (base)."
    both = pd.concat([norms({}, 4000), norms({"ko": 3}, 4000, base="flat")])
    two = evidence(setting=setting([BASE, "flat"]), norms=both, constant={BASE: False, "flat": True})
    assert found("norm_distance", two, ALIKE, **MULTILINGUAL)[0] == HOLDS
    assert "Left out" in quantity("norm_distance", two, **MULTILINGUAL).note


def test_a_language_without_matched_tokens_has_no_statistic():
    made_up = evidence(norms=norms({}).query("not (panel == 'matched' and eval_language == 'ko')"))
    verdict, value = found("norm_distance", made_up, ALIKE, **{**MULTILINGUAL, "panel": "matched"})
    assert verdict == UNDECIDED and np.isnan(value)


def test_ks_is_scipy_s_with_bounds_that_cover():
    generator = np.random.default_rng(5)
    one, other = generator.normal(size=50), generator.normal(1, 1, size=80)
    contrasts = from_ks([(one, other)])
    assert contrasts.points[0] == ks_2samp(one, other).statistic
    (low,), (high,) = contrasts.ends(0.95)
    assert low < 0.383 < high  # 2 Phi(1/2) - 1
    # sqrt(log(4 / 0.05) / (2 n)), of each n
    assert high - contrasts.points[0] == pytest.approx(0.2093 + 0.1655, abs=1e-4)


def test_off_the_shelf_models_on_other_bases_are_left_out_and_named():
    kinds = {"rm": "multilingual", "smol": "english"}
    known = accuracies(everywhere("rm", 0.9), ("rm", "smol"))  # smol is at a third
    made_up = evidence(setting=setting(off_the_shelf=kinds), accuracies=known)
    assert found("above_chance", made_up, over="each")[0] == HOLDS
    note = quantity("above_chance", made_up, over="each").note
    assert note == "Tested: rm. Left out, as their bases are not multilingual: smol."


def test_languages_share_the_draws_of_templates():
    made_up = transfer(0.5, 0.5)
    assert np.array_equal(made_up.draws(f"{BASE}_en", "es", "avg"), made_up.draws(f"{BASE}_en", "zh", "avg"))


def test_languages_of_other_pairs_and_bases_of_other_passages_are_refused():
    tables = {("rm", language): scores(dict.fromkeys(SECTIONS, 0.5)) for language in ("en", "ko")}
    tables["rm", "ko"].loc[3, "template"] = "another"
    with pytest.raises(PolyrewardError, match="rm ko and rm en differ in 1 pairs, as `chat-3`"):
        Accuracies(together(tables), {}, BENCHMARK, INTERVAL)
    with pytest.raises(PolyrewardError, match="unequal numbers of passages"):
        Shares({"one": {"base": states(0.6)}, "two": {"base": states(0.6, passages=7)}}, INTERVAL)
