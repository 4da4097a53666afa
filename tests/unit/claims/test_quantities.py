"""Every quantity of the claims, on made-up data that should hold, fail and be undecided."""

import numpy as np
import pandas as pd
import pytest
from made_up import (
    BASE,
    BENCHMARK,
    INTERVAL,
    LANGUAGES,
    SECTIONS,
    TARGETS,
    accuracies,
    evidence,
    judgements,
    norms,
    scores,
    setting,
    shares,
    states,
    together,
    transfer,
    wins,
)  # fmt: skip
from scipy.stats import ks_2samp
from scipy.stats import t as student

from polyreward.analysis.accuracies import Accuracies
from polyreward.analysis.comparison import Comparison, transfer_rows
from polyreward.analysis.verdicts import FAILS, HOLDS, NOT_ALL, UNDECIDED, Rule, extreme, verdict
from polyreward.claims.estimate import UntestableError
from polyreward.claims.transfer_evidence import Shares, WinRates
from polyreward.claims.transfer_quantities import QUANTITIES, ks_contrasts
from polyreward.core.errors import PolyrewardError

ABOVE = Rule("above", 0, 0)
TIE = Rule("above", 0, 2)
ALIKE, APART = Rule("below", 0.197, 0), Rule("above", 0.197, 0)


def found(name, made_up, rule=ABOVE, **options):
    """Return the verdict and the estimate of a quantity."""
    estimate = QUANTITIES[name](made_up, **options)
    value, _, _ = extreme(estimate.contrasts, rule.side, INTERVAL.confidence)
    return verdict(estimate.contrasts, rule, INTERVAL.confidence) if estimate.decides else UNDECIDED, value


def sections(reasoning, rest):
    return {**dict.fromkeys(SECTIONS, rest), "reasoning": reasoning}


def transfer_by_language(english, target):
    """Accuracies from {language: share} of the English and of the target reward models."""
    rights = {(f"{BASE}_en", language): share for language, share in english.items()}
    return accuracies(
        {**rights, **{(f"{BASE}_{language}", language): share for language, share in target.items()}}
    )


# half the templates right, counted from the first or from the last: no difference, and much spread
EVEN = transfer(0.5, -0.5)


@pytest.mark.parametrize("over", ["mean", "each"])
@pytest.mark.parametrize(
    ("made_up", "expected"), [(transfer(0.9, 0.3), HOLDS), (transfer(0.3, 0.9), FAILS), (EVEN, UNDECIDED)]
)
def test_english_lead(made_up, expected, over):
    assert found("english_lead", evidence(accuracies=made_up), section="avg", over=over)[0] == expected


def test_english_lead_is_the_mean_of_table_1_s_differences():
    english, target = (
        {"es": 0.9, "it": 0.5, "ko": 0.4, "zh": 0.8},
        {"es": 0.3, "it": 0.6, "ko": -0.5, "zh": 0.2},
    )
    made_up = transfer_by_language(english, target)
    differences = []
    for language in TARGETS:
        tables = {
            (name, language): scores(dict.fromkeys(SECTIONS, of[language]))
            for name, of in (("e", english), ("t", target))
        }
        comparison = Comparison(together(tables), BENCHMARK, INTERVAL)
        differences.append(transfer_rows(comparison, ["t"], ["e"])[2]["avg"])
    assert found("english_lead", evidence(accuracies=made_up), section="avg", over="mean")[
        1
    ] == pytest.approx(np.mean(differences))
    assert found("english_lead", evidence(accuracies=made_up), section="avg", over="each")[
        1
    ] == pytest.approx(min(differences))


def test_one_bad_language_fails_each_and_not_the_mean():
    made_up = transfer_by_language({"es": 0.9, "it": 0.9, "ko": 0.9, "zh": 0.1}, dict.fromkeys(TARGETS, 0.5))
    assert found("english_lead", evidence(accuracies=made_up), section="avg", over="mean")[0] == HOLDS
    assert found("english_lead", evidence(accuracies=made_up), section="avg", over="each")[0] == NOT_ALL


@pytest.mark.parametrize(
    ("english", "other", "expected"), [(0.9, 0.3, HOLDS), (0.3, 0.9, FAILS), (0.5, -0.5, UNDECIDED)]
)
def test_lead_over_other_sources(english, other, expected):
    rights = {(f"{BASE}_en", language): english for language in TARGETS}
    rights |= {(f"{BASE}_{one}", two): other for one in TARGETS for two in TARGETS if one != two}
    rights |= {(f"{BASE}_{language}", language): -1.0 for language in TARGETS}  # at home: of no concern
    assert found("lead_over_other_sources", evidence(accuracies=accuracies(rights)))[0] == expected


@pytest.mark.parametrize(
    ("english", "target", "expected"),
    [
        (sections(0.9, 0.5), sections(0.3, 0.5), HOLDS),
        (sections(0.5, 0.9), sections(0.5, 0.3), FAILS),
        (sections(0.5, 0.5), sections(-0.5, -0.5), UNDECIDED),
        (
            {**sections(0.9, 0.5), "chat": 0.9},
            {**sections(0.3, 0.5), "chat": 0.3},
            UNDECIDED,
        ),  # two gain alike
    ],
)
def test_lead_of_section(english, target, expected):
    assert (
        found("lead_of_section", evidence(accuracies=transfer(english, target)), section="reasoning")[0]
        == expected
    )


@pytest.mark.parametrize("section", ["avg", "reasoning"])
@pytest.mark.parametrize(
    ("latin", "other", "expected"), [(0.4, 0.9, HOLDS), (0.9, 0.4, FAILS), (0.5, -0.5, UNDECIDED)]
)
def test_lead_of_scripts(latin, other, expected, section):
    english = {"es": latin, "it": latin, "ko": other, "zh": other}
    made_up = evidence(accuracies=transfer_by_language(english, dict.fromkeys(TARGETS, 0.4)))
    assert found("lead_of_scripts", made_up, section=section)[0] == expected


@pytest.mark.parametrize("over", ["mean", "each"])
@pytest.mark.parametrize(
    ("of_training", "noise", "expected"),
    [
        (
            {"base": 0.6, "en": 0.61, "es": 0.7, "it": 0.5, "ko": 0.8, "zh": 0.7},
            0.01,
            HOLDS,
        ),  # farther down counts too
        ({"base": 0.6, "en": 0.7, "es": 0.61, "it": 0.5, "ko": 0.8, "zh": 0.7}, 0.01, NOT_ALL),
        ({"base": 0.6, "en": 0.8, "es": 0.61, "it": 0.59, "ko": 0.61, "zh": 0.7}, 0.01, FAILS),
        (
            {"base": 0.6, "en": 0.61, "es": 0.7, "it": 0.5, "ko": 0.8, "zh": 0.7},
            0,
            UNDECIDED,
        ),  # an interval without width
        ({"base": 0.6, "en": 0.7, "es": 0.71, "it": 0.71, "ko": 0.71, "zh": 0.71}, 0.1, UNDECIDED),
    ],
)
def test_closeness_to_base(of_training, noise, expected, over):
    assert (
        found("closeness_to_base", evidence(shares=shares(of_training, noise)), language="en", over=over)[0]
        == expected
    )


def test_closeness_to_base_is_the_least_gap_of_distances():
    made_up = evidence(shares=shares({"base": 0.6, "en": 0.61, "es": 0.57, "it": 0.7, "ko": 0.8, "zh": 0.7}))
    assert found("closeness_to_base", made_up, language="en", over="mean")[1] == pytest.approx(
        0.02, abs=1e-6
    )  # es: 0.03 - 0.01


@pytest.mark.parametrize("over", ["mean", "each"])
@pytest.mark.parametrize(
    ("of_training", "noise", "expected"),
    [
        ({"ko": 0.8}, 0.01, HOLDS),
        ({"ko": 0.7, "zh": 0.8}, 0.01, NOT_ALL),
        ({"ko": 0.5}, 0.01, FAILS),  # below the base: no collapse
        ({"ko": 0.61}, 0.1, UNDECIDED),
    ],
)
def test_most_collapsed(of_training, noise, expected, over):
    assert (
        found("most_collapsed", evidence(shares=shares(of_training, noise)), language="ko", over=over)[0]
        == expected
    )


def test_bases_that_disagree_are_against_each_and_not_the_mean():
    models = {base: {name: states(share, 0.01) if name == "ko" else states(0.6) for name in ["base", *LANGUAGES]}
              for base, share in (("one", 0.9), ("two", 0.55))}  # fmt: skip
    made_up = evidence(setting=setting(["one", "two"]), shares=Shares(models, INTERVAL))
    assert found("most_collapsed", made_up, language="ko", over="mean")[0] == HOLDS
    assert found("most_collapsed", made_up, language="ko", over="each")[0] == NOT_ALL


@pytest.mark.parametrize(
    ("first", "second", "noise", "expected"),
    [(0.8, 0.65, 0.01, HOLDS), (0.65, 0.8, 0.01, FAILS), (0.7, 0.7, 0.1, UNDECIDED)],
)
def test_collapse_between_bases(first, second, noise, expected):
    models = {base: {name: states(0.6) if name == "base" else states(share, sign * noise) for name in ["base", *LANGUAGES]}
              for base, share, sign in (("one", first, 1), ("two", second, -1))}  # fmt: skip
    made_up = evidence(setting=setting(["one", "two"]), shares=Shares(models, INTERVAL))
    assert found("collapse_between_bases", made_up, bases=["one", "two"])[0] == expected


def test_a_claim_about_other_bases_says_so():
    with pytest.raises(UntestableError, match="the claim is about llama and qwen; this run's bases are base"):
        QUANTITIES["collapse_between_bases"](evidence(), bases=["llama", "qwen"])


@pytest.mark.parametrize("panel", ["all", "matched"])
@pytest.mark.parametrize(
    ("shift", "n", "alike", "apart"),
    [(0.05, 4000, HOLDS, FAILS), (3, 4000, FAILS, HOLDS), (0.05, 12, UNDECIDED, UNDECIDED)],
)
def test_norm_distance(shift, n, alike, apart, panel):
    made_up = evidence(norms=norms(dict.fromkeys(TARGETS, shift), n))
    options = {"panel": panel, "pretraining": "multilingual"}
    assert found("norm_distance", made_up, ALIKE, **options)[0] == alike
    assert found("norm_distance", made_up, APART, **options)[0] == apart


def test_one_language_apart_is_against_all_alike_and_against_all_apart():
    made_up = evidence(norms=norms({"ko": 3}, 4000))
    assert found("norm_distance", made_up, ALIKE, panel="all", pretraining="multilingual")[0] == NOT_ALL
    assert found("norm_distance", made_up, APART, panel="all", pretraining="multilingual")[0] == NOT_ALL


def test_norms_that_are_constant_by_construction_decide_nothing():
    made_up = evidence(constant={BASE: True})
    estimate = QUANTITIES["norm_distance"](made_up, panel="all", pretraining="multilingual")
    assert not estimate.decides
    assert estimate.note == "Says nothing: norms constant over the vocabulary (base)."
    assert found("norm_distance", made_up, ALIKE, panel="all", pretraining="multilingual")[0] == UNDECIDED


def test_a_base_of_constant_norms_is_left_out_where_there_is_another():
    two = evidence(
        setting=setting([BASE, "flat"]), norms=pd.concat([norms({}, 4000), norms({"ko": 3}, 4000, base="flat")]),
        constant={BASE: False, "flat": True},
    )  # fmt: skip
    assert found("norm_distance", two, ALIKE, panel="all", pretraining="multilingual")[0] == HOLDS
    assert "Left out" in QUANTITIES["norm_distance"](two, panel="all", pretraining="multilingual").note


def test_a_claim_about_a_kind_of_base_that_is_not_there_says_so():
    with pytest.raises(UntestableError, match="bases with english pretraining; there is none among base"):
        QUANTITIES["norm_distance"](evidence(), panel="all", pretraining="english")


def test_a_language_without_matched_tokens_has_no_statistic():
    made_up = evidence(norms=norms({}).query("not (panel == 'matched' and eval_language == 'ko')"))
    verdict_found, value = found("norm_distance", made_up, ALIKE, panel="matched", pretraining="multilingual")
    assert verdict_found == UNDECIDED and np.isnan(value)


def test_ks_is_scipy_s_with_bounds_that_cover():
    generator = np.random.default_rng(5)
    one, other = generator.normal(size=50), generator.normal(1, 1, size=80)
    contrasts = ks_contrasts([(one, other)])
    assert contrasts.points[0] == ks_2samp(one, other).statistic
    (low,), (high,) = contrasts.ends(0.95)
    assert low < 0.383 < high  # 2 Phi(1/2) - 1
    assert high - contrasts.points[0] == pytest.approx(
        0.2093 + 0.1655, abs=1e-4
    )  # sqrt(log(4 / 0.05) / (2 n)), of each n


@pytest.mark.parametrize("over", ["mean", "each"])
@pytest.mark.parametrize(
    ("english", "target", "expected"),
    [
        (0.6, 0.3, HOLDS),
        (0.5, 0.5, UNDECIDED),
        (0.2, 0.6, FAILS),
        (0.5, -0.5, UNDECIDED),
    ],  # a tie without spread is none
)
def test_win_rate_lead(english, target, expected, over):
    made_up = evidence(win_rates=wins({"base": 0.1, "english": english, "target": target}))
    assert found("win_rate_lead", made_up, TIE, against="target", over=over)[0] == expected


def test_an_instruction_s_win_is_its_mean_over_runs():
    table = judgements({"english": 0.5, "base": 0.5}, runs=2)
    uneven = table.assign(
        win=table["win"].where(table["policy"] == "base", (table["run"] == 0).astype(float))
    )
    of_runs = WinRates(uneven, INTERVAL)
    assert of_runs.draws("english", "es") == pytest.approx(
        50
    )  # each instruction once right and once wrong: no spread
    note = QUANTITIES["win_rate_lead"](evidence(win_rates=of_runs), against="base", over="mean").note
    assert note == "Languages: es it ko zh. Answers per instruction: 2."


def test_trainings_of_policies_that_differ_widen_the_interval_of_a_lead():
    table = judgements({"english": 0.5, "target": 0.4, "base": 0.5}, runs=2)
    table["run"] += 1
    other = (table["policy"] == "english") & (table["run"] == 2)
    table.loc[other & table["id"].between("i30", "i53"), "win"] = 1.0  # the second training gets 90%, not 50

    def lead(trainings, against):
        rates = WinRates(table, INTERVAL, trainings)
        return QUANTITIES["win_rate_lead"](evidence(win_rates=rates), against=against, over="mean")

    for against in ("target", "base"):
        one, two = lead(1, against), lead(2, against)
        assert two.contrasts.points == pytest.approx(one.contrasts.points)
        (low,), (high,) = one.contrasts.ends(0.95)
        (lower,), (higher,) = two.contrasts.ends(0.95)
        assert lower < low - 5 < high + 5 < higher
        assert (two.trainings, two.test) == (
            2,
            "paired bootstrap over instructions and variance between trainings",
        )


def test_an_instruction_without_all_judgements_is_left_out_and_counted():
    table = judgements({"english": 0.5, "base": 0.5}, runs=1)
    table.loc[3, "win"] = np.nan
    estimate = QUANTITIES["win_rate_lead"](
        evidence(win_rates=WinRates(table, INTERVAL)), against="base", over="mean"
    )
    assert estimate.n == 59
    assert "Left out: 1 instructions" in estimate.note


def test_win_rates_of_other_languages_say_so():
    english = wins({"english": 0.5, "base": 0.5}, languages=["en"])
    with pytest.raises(
        UntestableError, match="the claim is about target languages; this run judged answers in en"
    ):
        QUANTITIES["win_rate_lead"](evidence(win_rates=english), against="base", over="mean")


def test_judgements_without_a_common_instruction_are_refused():
    with pytest.raises(PolyrewardError, match="none of 60 instructions"):
        WinRates(judgements({"english": 0.5}).assign(win=np.nan), INTERVAL)


@pytest.mark.parametrize(
    ("of_scorers", "mean", "each"),
    [
        ({"rm": 0.9, "judge": 0.8}, HOLDS, HOLDS),
        ({"rm": 0.9, "judge": 0.3}, HOLDS, NOT_ALL),
        ({"rm": 0.3, "judge": 0.1}, FAILS, FAILS),
        ({"rm": 0.5, "judge": 0.55}, UNDECIDED, UNDECIDED),
    ],
)
def test_above_chance(of_scorers, mean, each):
    rights = {(scorer, language): share for scorer, share in of_scorers.items() for language in TARGETS}
    made_up = evidence(
        setting=setting(off_the_shelf=dict.fromkeys(of_scorers, "unknown")),
        accuracies=accuracies(rights, tuple(of_scorers)),
    )
    assert found("above_chance", made_up, over="mean")[0] == mean
    assert found("above_chance", made_up, over="each")[0] == each


def test_off_the_shelf_models_on_other_bases_are_left_out_and_named():
    rights = {("rm", language): 0.9 for language in TARGETS}
    kinds = {"rm": "multilingual", "smol": "english"}
    made_up = evidence(setting=setting(off_the_shelf=kinds), accuracies=accuracies(rights, ("rm", "smol")))
    assert found("above_chance", made_up, over="each")[0] == HOLDS  # smol is at a third
    note = QUANTITIES["above_chance"](made_up, over="each").note
    assert note == "Tested: rm. Left out, as their bases are not multilingual: smol."
    with pytest.raises(UntestableError, match="on a multilingual base was scored, but smol"):
        QUANTITIES["above_chance"](evidence(setting=setting(off_the_shelf={"smol": "english"})), over="mean")


def of_seeds(english):
    """Accuracies of trainings of the English reward model with these shares, and of as many of each other
    one, all alike."""
    suffixes = ["", *(f"_seed{n}" for n in range(2, len(english) + 1))]
    rights = {
        (f"{BASE}_en{end}", to): share for end, share in zip(suffixes, english, strict=True) for to in TARGETS
    }
    names = [f"{BASE}_{language}{end}" for language in LANGUAGES for end in suffixes]
    return accuracies(rights, names, seeds=range(1, len(english) + 1))


def test_several_trainings_are_averaged_and_their_variance_added():
    one, three = of_seeds([0.7]), of_seeds([0.9, 0.7, 0.5])
    assert one.training_draws(BASE, "en", "es", "avg").shape == (401, 1)
    cases = three.training_draws(BASE, "en", "es", "avg")
    assert cases[0, :4] == pytest.approx([70, 90, 70, 50]) and np.array_equal(cases[:, 4], cases[:, 0])
    estimate = QUANTITIES["english_lead"](evidence(accuracies=three), section="avg", over="mean")
    assert estimate.test == "paired bootstrap over templates and variance between trainings"
    error, of_trainings = (float(errors[0]) for errors in estimate.contrasts.drawn.errors())
    # Trainings 20 points apart: 400 / 3, minus the templates' part
    assert of_trainings == pytest.approx(20 / np.sqrt(3), rel=0.05)
    of_templates = QUANTITIES["english_lead"](
        evidence(accuracies=of_seeds([0.7] * 3)), section="avg", over="mean"
    ).contrasts
    assert of_templates.drawn.errors()[1][0] == 0
    assert error == pytest.approx(np.hypot(of_trainings, estimate.contrasts.drawn.values[1:].std()))
    low, high = (float(end[0]) for end in estimate.contrasts.ends(0.95))
    freedom = (
        2 * error**4 / (400 / 3) ** 2
    )  # Satterthwaite's: nearly all of the variance is of three trainings
    assert (high - low) / 2 == pytest.approx(error * student.ppf(0.975, freedom), rel=0.05)


def test_an_english_training_moves_all_contrasts_that_it_is_in():
    three = of_seeds([0.9, 0.7, 0.5])
    each = QUANTITIES["english_lead"](evidence(accuracies=three), section="avg", over="each").contrasts
    of_trainings = each.drawn.errors()[1]
    assert of_trainings == pytest.approx([of_trainings[0]] * len(TARGETS)) and of_trainings[0] > 10
    mean = QUANTITIES["english_lead"](evidence(accuracies=three), section="avg", over="mean").contrasts
    assert mean.drawn.errors()[1][0] == pytest.approx(
        of_trainings[0]
    )  # the same model in all languages: no mean lessens it


def test_languages_share_the_draws_of_templates():
    made_up = transfer(0.5, 0.5)
    assert np.array_equal(made_up.draws(f"{BASE}_en", "es", "avg"), made_up.draws(f"{BASE}_en", "zh", "avg"))


def test_languages_of_other_pairs_are_refused():
    tables = {("rm", language): scores(dict.fromkeys(SECTIONS, 0.5)) for language in ("en", "ko")}
    tables["rm", "ko"].loc[3, "template"] = "another"
    with pytest.raises(PolyrewardError, match="rm ko and rm en differ in 1 pairs, as `chat-3`"):
        Accuracies(together(tables), {}, BENCHMARK, INTERVAL)


def test_bases_that_read_other_passages_are_refused():
    models = {"one": {"base": states(0.6)}, "two": {"base": states(0.6, passages=7)}}
    with pytest.raises(PolyrewardError, match="unequal numbers of passages"):
        Shares(models, INTERVAL)
