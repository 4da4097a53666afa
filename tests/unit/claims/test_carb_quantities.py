"""Every quantity of the CARB paper's claims, on made-up data that should hold, fail and be undecided."""

import numpy as np
import pandas as pd
import pytest
from made_up import ABOVE, INTERVAL, found, quantity
from made_up_carb import (
    DOMAINS,
    KINDS,
    TOPICS,
    carb_evidence,
    carb_scores,
    judges,
    points,
    sensitivity,
    topic_scores,
)  # fmt: skip
from scipy import stats
from support import script

from polyreward.analysis.verdicts import FAILS, HOLDS, NOT_ALL, UNDECIDED, Rule, extreme, verdict
from polyreward.carb.perturbation.sensitivity import indices_by_wording, sensitivity_index
from polyreward.claims.carb_evidence import Sensitivity
from polyreward.claims.estimate import UntestableError

steiger = script("analyse/carb_regressions").steiger

BELOW, SMALL = Rule("below", 0, 0), Rule("below", 0.5, 0)


@pytest.mark.parametrize("of", ["mean", "best"])
@pytest.mark.parametrize(
    ("generative", "classifier", "expected"), [(0.9, 0.4, HOLDS), (0.4, 0.9, FAILS), (0.5, -0.5, UNDECIDED)]
)
def test_lead_of_generative(generative, classifier, expected, of):
    rights = {name: generative if kind == "generative" else classifier for name, kind in KINDS.items()}
    assert found("lead_of_generative", carb_evidence(scores=topic_scores(rights)), of=of)[0] == expected


def test_one_good_judge_is_the_best_and_not_the_mean_and_an_implicit_model_is_of_neither_kind():
    rights = {"judge-1": 0.9, "judge-2": 0.1, "classifier-1": 0.6, "classifier-2": 0.7, "dpo": 0.0}
    made_up = carb_evidence(scores=topic_scores(rights, {**KINDS, "dpo": "implicit"}))
    assert found("lead_of_generative", made_up, of="best") == (HOLDS, pytest.approx(20))
    assert found("lead_of_generative", made_up, of="mean") == (FAILS, pytest.approx(-15))
    note = quantity("lead_of_generative", made_up, of="mean").note
    assert note == "Generative: judge-1, judge-2; classifiers: 2."


def of_domains(**rights):
    share = {**dict.fromkeys(DOMAINS, 0.5), **rights}
    return carb_evidence(scores=topic_scores(dict.fromkeys(KINDS, share)))


@pytest.mark.parametrize(
    ("rights", "easiest", "hardest"),
    [
        ({"safety": 1.0}, HOLDS, FAILS),
        ({"safety": 0.0}, FAILS, HOLDS),
        ({}, UNDECIDED, UNDECIDED),
        # Two are easiest, without any spread between them
        ({"safety": 1.0, "values": 1.0}, UNDECIDED, NOT_ALL),
    ],
)
def test_lead_of_domain(rights, easiest, hardest):
    assert found("lead_of_domain", of_domains(**rights), ABOVE, domain="safety")[0] == easiest
    assert found("lead_of_domain", of_domains(**rights), BELOW, domain="safety")[0] == hardest


def test_lead_of_domain_is_the_least_and_the_greatest():
    made_up = of_domains(safety=0.8, values=0.1)
    assert found("lead_of_domain", made_up, ABOVE, domain="safety")[1] == pytest.approx(30)
    assert found("lead_of_domain", made_up, BELOW, domain="values")[1] == pytest.approx(-40)


NOISE = np.random.default_rng(3).normal(size=100)
LINE = np.linspace(0, 10, 100)
CARB = {"benchmark": "carb", "rating": "chrf", "either_sign": False}


@pytest.mark.parametrize("benchmark", ["carb", "rewardbench"])
@pytest.mark.parametrize(
    ("rating", "n", "expected"),
    [(LINE + NOISE, 16, HOLDS), (NOISE - LINE, 16, FAILS), (NOISE, 16, UNDECIDED)],
)
def test_correlation_with_alignment(rating, n, expected, benchmark):
    every = slice(None, None, 100 // n + 1)  # n points from end to end
    given = {"carb": NOISE[::-1], "rewardbench": NOISE[::-1], benchmark: LINE}
    made_up = carb_evidence(points=points(*(values[every] for values in given.values()), rating[every]))
    options = {**CARB, "benchmark": benchmark}
    assert found("correlation_with_alignment", made_up, **options)[0] == expected


@pytest.mark.parametrize(
    ("rating", "n", "expected"),
    [(NOISE, 100, HOLDS), (LINE + NOISE, 100, NOT_ALL), (NOISE - LINE, 100, NOT_ALL), (NOISE, 13, UNDECIDED)],
)
def test_no_correlation_is_a_small_one_of_either_sign(rating, n, expected):
    made_up = carb_evidence(points=points(LINE[:n], LINE[:n], rating[:n]))
    options = {"benchmark": "rewardbench", "rating": "chrf", "either_sign": True}
    assert found("correlation_with_alignment", made_up, SMALL, **options)[0] == expected


def test_a_correlation_has_scipy_s_interval():
    made_up = carb_evidence(points=points(LINE, LINE, LINE + 3 * NOISE))
    estimate = quantity("correlation_with_alignment", made_up, **CARB)
    known = stats.pearsonr(LINE, LINE + 3 * NOISE)
    expected = pytest.approx((known.statistic, *known.confidence_interval(0.95)))
    assert extreme(estimate.contrasts, "above", 0.95) == expected
    assert (estimate.n, estimate.n_of, estimate.fewest) == (100, "bases", 8)
    assert estimate.note == "Reward models: 100. Rating: chrf. Reliability: carb 1.00, chrf 1.00."


def test_the_interval_of_a_correlation_counts_bases():
    tables = (points(LINE, LINE, LINE + 3 * NOISE, bases) for bases in (None, 10, 2))
    every, few, two = (
        quantity("correlation_with_alignment", carb_evidence(points=table), **CARB) for table in tables
    )
    assert (every.n, few.n, two.n) == (100, 10, 2)
    value, low, high = extreme(few.contrasts, "above", 0.95)
    assert value == extreme(every.contrasts, "above", 0.95)[0]
    ends = [np.tanh(np.arctanh(value) + side * 1.959964 / np.sqrt(7)) for side in (1, -1)]
    assert [high, low] == pytest.approx(ends)
    assert np.isnan(extreme(two.contrasts, "above", 0.95)[1:]).all()


def test_permuted_correlations_are_about_zero_and_wider_over_bases_than_over_models():
    x, base = np.repeat(np.arange(10.0), 5), np.repeat(np.arange(10), 5)
    # Five reward models of each base, all but alike
    table = points(x, x, x + 0.01 * NOISE[:50]).assign(base=base.astype(str))
    options = {"benchmark": "carb", "rating": "chrf", "either_sign": True}
    by_base, separate = (
        quantity("correlation_with_alignment", carb_evidence(points=of), **options).permuted
        for of in (table, table.assign(base=table["scorer"]))
    )
    widths = [np.diff(null.ends(0.95), axis=0)[0] for null in (by_base, separate)]
    assert by_base.points == pytest.approx([0, 0], abs=0.03) and len(by_base.points) == 2
    assert widths[0] == pytest.approx(2 * 1.96 / np.sqrt(9), rel=0.1)  # ten independent points
    assert widths[1] == pytest.approx(2 * 1.96 / np.sqrt(49), rel=0.1)  # fifty


@pytest.mark.parametrize(("rating", "expected", "sign"), [("match", FAILS, -1), ("chrf", HOLDS, 1)])
def test_the_claim_names_the_rating(rating, expected, sign):
    evidence = carb_evidence(points=points(LINE, LINE, LINE + NOISE).assign(match=-LINE - NOISE))
    r = np.corrcoef(LINE, LINE + NOISE)[0, 1]
    verdict_and_value = found("correlation_with_alignment", evidence, **{**CARB, "rating": rating})
    assert verdict_and_value == (expected, pytest.approx(sign * r))


def test_a_set_of_references_alone_is_rated_by_chrf():
    accepted = points(LINE, LINE, LINE)
    references = points(LINE, LINE, NOISE - 3 * LINE).assign(match=np.nan, downstream="references")
    evidence = carb_evidence(points=pd.concat([accepted, references]))
    r, options = np.corrcoef(LINE, NOISE - 2 * LINE)[0, 1], {**CARB, "rating": "match"}
    assert found("correlation_with_alignment", evidence, **options) == (FAILS, pytest.approx(r))


@pytest.mark.parametrize(
    ("carb", "rewardbench", "expected"),
    [
        (LINE, NOISE[::-1], HOLDS),
        (NOISE[::-1], LINE, FAILS),
        (LINE + NOISE[::-1], LINE - NOISE[::-1], UNDECIDED),
    ],
)
def test_lead_in_correlation_is_steiger_s_test(carb, rewardbench, expected):
    table = points(carb, rewardbench, LINE + 3 * NOISE)
    estimate = quantity("lead_in_correlation", carb_evidence(points=table), rating="chrf")
    r = table.corr(numeric_only=True)
    known = steiger(r.loc["chrf", "carb"], r.loc["chrf", "rewardbench"], r.loc["carb", "rewardbench"], 100)
    value, low, high = extreme(estimate.contrasts, "above", 0.95)
    assert value == pytest.approx(np.arctanh(known["r_first"]) - np.arctanh(known["r_second"]))
    assert value / ((high - low) / 2) * stats.norm.ppf(0.975) == pytest.approx(known["z"])
    assert verdict(estimate.contrasts, ABOVE, 0.95) == expected
    assert (known["z_p"] < 0.05) == (expected != UNDECIDED)


@pytest.mark.parametrize(
    ("moves", "expected", "index"),
    [
        ((0.2, 1.0, 0.1), HOLDS, -0.8 / 1.2),
        ((1.0, 0.2, 0.1), FAILS, 0.8 / 1.2),
        ((0.5, 0.5, 0.4), UNDECIDED, 0),
        ((0.2, 1.0), UNDECIDED, -0.8 / 1.2),  # all topics alike: an interval without width
    ],
)
def test_sensitivity(moves, expected, index):
    made_up = carb_evidence(sensitivity=sensitivity(dict.fromkeys(KINDS, moves)))
    assert found("sensitivity", made_up, BELOW, over="mean") == (expected, pytest.approx(index))


@pytest.mark.parametrize(
    ("sizes", "mean", "each"),
    [((0.2, 1, 1, 1), -2 / 3, [-2 / 3] * 3), ((0.5, 0.1, 1.9, 1), -1 / 3, [2 / 3, -1.4 / 2.4, -1 / 3])],
)
def test_the_fact_is_compared_with_each_change_of_wording(sizes, mean, each):
    assert sensitivity_index(np.array(sizes)) == pytest.approx(mean)
    assert indices_by_wording(np.array(sizes)) == pytest.approx(each)


def test_one_change_of_wording_below_the_fact_is_against_each():
    moves = (0.5, (0.2, 0.9, 1.0), 0.05)  # RC moves less than CC
    made_up = carb_evidence(sensitivity=sensitivity(dict.fromkeys(KINDS, moves)))
    assert found("sensitivity", made_up, BELOW, over="mean")[0] == HOLDS
    assert found("sensitivity", made_up, BELOW, over="each") == (NOT_ALL, pytest.approx(0.3 / 0.7))


def test_sensitivity_is_the_mean_over_reward_models_that_move():
    moves = {"a": (1.0, 0.0), "b": (0.0, 1.0), "c": (1.0, 0.0), "still": (0.0, 0.0)}
    made_up = carb_evidence(sensitivity=sensitivity(moves))
    assert found("sensitivity", made_up, over="mean")[1] == pytest.approx(1 / 3)
    estimate = quantity("sensitivity", made_up, over="mean")
    assert estimate.note == "Reward models: 3. Left out, as no rewrite changes their scores: still."
    assert (estimate.n, estimate.n_of) == (TOPICS * len(DOMAINS), "topics")


@pytest.mark.parametrize(
    ("facts", "expected"),
    [((1, 2, 3, 4, 5, 7), HOLDS), ((7, 5, 4, 3, 2, 1), FAILS), ((2, 5, 1, 4, 2, 3), UNDECIDED)],
)
def test_correlation_with_sensitivity(facts, expected):
    kinds = {f"rm-{number}": "classifier" for number in range(len(facts))}
    scores = topic_scores({name: 0.1 + 0.15 * number for number, name in enumerate(kinds)}, kinds)
    moves = sensitivity({name: (float(fact), 3.0) for name, fact in zip(kinds, facts, strict=True)})
    carb = scores.draws(None, "carb")[0][[list(scores.kinds).index(name) for name in kinds]]
    r = np.corrcoef(carb, [(fact - 3) / (fact + 3) for fact in facts])[0, 1]
    made_up = carb_evidence(scores=scores, sensitivity=moves)
    assert found("correlation_with_sensitivity", made_up) == (expected, pytest.approx(r))


@pytest.mark.parametrize("measure", ["carb", "rewardbench", "mean"])
@pytest.mark.parametrize(
    ("full", "base", "expected"), [(0.9, 0.5, HOLDS), (0.5, 0.9, FAILS), (0.5, -0.5, UNDECIDED)]
)
def test_lead_of_locals(full, base, expected, measure):
    made_up = carb_evidence(judges=judges({"full": full, "base": base}))
    assert found("lead_of_locals", made_up, over=["base"], measure=measure)[0] == expected


def test_one_ablation_that_is_better_is_against_both():
    made_up = carb_evidence(judges=judges({"full": 0.6, "no-corr": 0.1, "no-appr": 0.9}))
    assert found("lead_of_locals", made_up, over=["no-corr"], measure="mean") == (HOLDS, pytest.approx(50))
    both = found("lead_of_locals", made_up, over=["no-corr", "no-appr"], measure="mean")
    assert both == (NOT_ALL, pytest.approx(-30))


def test_judges_are_counted_by_what_they_were_asked():
    carb, mean = (
        quantity("lead_of_locals", carb_evidence(), over=["base"], measure=name) for name in ("carb", "mean")
    )
    assert (carb.n, carb.n_of) == (60, "topics")
    assert (mean.n_of, mean.test) == ("topics; 60 templates", "paired bootstrap over topics")


def of_scores(kinds):
    return carb_evidence(scores=topic_scores({}, kinds))


def of_points(*columns):
    return carb_evidence(points=points(*columns))


def of_moves(*names, moves=(1.0, 0.5)):
    kinds = dict.fromkeys(names, "classifier")
    return carb_evidence(scores=topic_scores({}, kinds), sensitivity=sensitivity(dict.fromkeys(names, moves)))


def without_rewrites():
    benchmark = carb_scores(dict.fromkeys(DOMAINS, 0.5))
    return carb_evidence(sensitivity=Sensitivity({"a": benchmark[:0]}, {"a": benchmark}, INTERVAL))


FOUR, MODELS = [LINE[:4]] * 3, [f"rm-{number}" for number in range(5)]


@pytest.mark.parametrize(
    ("name", "options", "made", "said"),
    [
        *(("lead_of_generative", {"of": "mean"}, lambda kind=kind: of_scores({"one": kind}), "of both kinds are needed")
          for kind in ("generative", "classifier")),
        ("lead_of_domain", {"domain": "humour"}, carb_evidence,
         "it is about humour; the domains are commonsense, values, safety, linguistics"),
        ("lead_in_correlation", {"rating": "chrf"}, lambda: of_points(*FOUR), "at least 5 reward models; this run has 4"),
        ("lead_in_correlation", {"rating": "chrf"}, lambda: of_points(LINE, NOISE, LINE),
         "a perfect correlation has no Fisher's z"),
        ("correlation_with_alignment", CARB, lambda: of_points(LINE, LINE, np.zeros(100)),
         "all reward models have the same chrf"),
        ("sensitivity", {"over": "mean"}, lambda: of_moves("still", moves=(0.0, 0.0)), "no rewrite changes the score of any"),
        ("sensitivity", {"over": "each"}, without_rewrites, "items of carb.item_files are not rewritten"),
        ("correlation_with_sensitivity", {}, without_rewrites, "items of carb.item_files are not rewritten"),
        # One without a point, which could not be run on the other benchmark, does not count
        ("correlation_with_sensitivity", {}, lambda: of_moves(*MODELS[:4], "no-point"),
         "5 reward models whose scores rewrites change; this run has 4"),
        ("correlation_with_sensitivity", {}, lambda: of_moves(*MODELS), "the same score or the same index"),
        ("lead_of_locals", {"over": ["warmup"], "measure": "carb"},
         lambda: carb_evidence(judges=judges({"full": 0.9, "base": 0.5})),
         "the claim is about the judges warmup; this run trained full, base"),
    ],
)  # fmt: skip
def test_what_a_run_cannot_test_says_why(name, options, made, said):
    with pytest.raises(UntestableError, match=said):
        quantity(name, made(), **options)
