"""Comparisons of scorers, twins, and slices by length."""

import numpy as np
import pandas as pd
import pytest
from comparisons import (
    BENCHMARK,
    INDEPENDENT,
    INTERVAL,
    ROWS,
    comparison,
    families,
    independent,
    scores,
    together,
    twins,
)
from hypothesis import given, settings
from hypothesis import strategies as st
from made_up_sheet import sheet
from scipy.stats import t as student_t
from support import script

from polyreward.analysis.accuracy import correctness
from polyreward.analysis.bootstrap import Interval
from polyreward.analysis.comparison import Benchmark, Comparison, transfer_rows
from polyreward.core.errors import PolyrewardError


def of_pairs(rows, weights, trainings=(), **rights):
    """Return the contrast of scorers that are right (1) or wrong (0) on independent pairs."""
    tables = {name: scores(right, rows) for name, right in rights.items()}
    return comparison(rows, benchmark=INDEPENDENT, **tables).contrast(weights, trainings)


def test_a_contrast_gives_sections_average_and_sizes_in_percent():
    row = comparison(m=scores([1, 0, 1, 1, 0])).contrast({"m": 1.0})
    # u 1/2 with weight 2, w 1 with weight 6: (1 + 6) / 8
    assert (row["chat"], row["safety"], row["avg"]) == pytest.approx((87.5, 50, (87.5 + 50) / 2))
    assert (row["n_pairs"], row["n_templates"]) == (5, 4)
    # A section of one template has no interval; that of three templates does, drawn within the section
    assert np.isnan([row[f"{name}_{end}"] for name in ("safety", "avg") for end in ("low", "high")]).all()
    assert row["chat_low"] < row["chat"] < row["chat_high"]


def test_each_section_and_the_average_have_an_interval_about_them():
    row = of_pairs(independent(40), {"m": 1.0}, m=[n % 4 > 0 for n in range(40)])
    assert row["avg_low"] < row["avg"] < row["avg_high"]
    # 75 with a standard error of sqrt(0.75 * 0.25 / 39) and Student's t of 39 degrees of freedom
    assert row["avg_high"] - row["avg_low"] == pytest.approx(200 * 2.0227 * np.sqrt(0.1875 / 39), rel=0.12)
    assert (row["chat_low"], row["chat_high"]) == (row["avg_low"], row["avg_high"])


def test_what_trainings_differ_by_on_single_templates_is_counted_once():
    """Three equally good trainings, each wrong on other templates: their mean varies only by templates."""
    rows, weights = independent(300), dict.fromkeys(("m0", "m1", "m2"), 1 / 3)
    elsewhere = {f"m{seed}": [n % 3 != seed for n in range(300)] for seed in range(3)}
    one = of_pairs(rows, weights, **elsewhere)
    assert of_pairs(rows, weights, [[*weights]], **elsewhere) == pytest.approx(one)
    right = elsewhere["m0"]
    better = [value or n < 60 for n, value in enumerate(right)]
    row = of_pairs(rows, weights, [[*weights]], m0=right, m1=right, m2=better)
    assert 0 < row["avg_se_trainings"] < row["avg_se"]


def test_the_variance_between_trainings_widens_an_interval():
    rows, weights = independent(40), dict.fromkeys(("m0", "m1", "m2"), 1 / 3)
    right = [n % 4 > 0 for n in range(40)]
    rights = {"m0": [not value for value in right], "m1": right, "m2": right}
    one, drawn = (of_pairs(rows, weights, trainings, **rights) for trainings in ((), [[*weights]]))
    assert drawn["avg"] == pytest.approx(one["avg"])
    assert drawn["avg_high"] - drawn["avg_low"] > 2 * (one["avg_high"] - one["avg_low"])


@pytest.mark.parametrize(("ties", "safety"), [("wrong", 50), ("half", 75)])
def test_each_scorer_counts_ties_its_own_way(ties, safety):
    row = comparison(ties=ties, m=scores([1, 1, 1, 1, None])).contrast({"m": 1})
    assert row["safety"] == pytest.approx(safety)


def test_infinite_scores_are_compared_and_other_ways_to_count_ties_refused():
    table = pd.DataFrame({"score_chosen": [np.inf, -np.inf], "score_rejected": 0.0})
    assert correctness(table, "wrong").tolist() == [1.0, 0.0]
    with pytest.raises(KeyError):
        correctness(table, "right")


@pytest.mark.parametrize("column", ["score_chosen", "score_rejected"])
def test_the_file_and_the_first_row_of_scores_that_are_no_numbers_are_named(column):
    bad = scores([1, 0, 1, 1, 0]).assign(**{column: [0, 0, np.nan, 0, np.nan]})
    expected = r"work/5_scores/bench/m/en.parquet: 2 rows have a score that is not a number \(first: id 3\)"
    with pytest.raises(PolyrewardError, match=expected):
        comparison(m=bad)
    with pytest.raises(PolyrewardError, match=r"^scores: 2 rows"):  # of a table that no file holds
        correctness(bad.drop(columns="benchmark", errors="ignore"), "wrong")


def test_scores_are_joined_by_id_and_not_by_position():
    table = scores([1, 0, 1, 1, 0])
    both = comparison(a=table, m=table.sample(frac=1, random_state=3))
    assert both.correct[:, 1].tolist() == [1, 0, 1, 1, 0]
    assert table.sample(frac=1, random_state=3)["id"].tolist() != table["id"].tolist()


def changed(table, row, **values):
    table = table.copy()
    table.loc[row, list(values)] = list(values.values())
    return table


ONE, BOTH = (together({name: scores([1] * 5) for name in names}) for names in ("a", "ab"))


@pytest.mark.parametrize(
    ("table", "said"),
    [
        (BOTH.drop(9), "b and a differ in 1 pairs, as `5`. Give every language"),
        (BOTH.drop(5), "b and a differ in 1 pairs, as `1`"),
        (changed(BOTH, 7, template="another"), "b and a differ in 1 pairs, as `3`"),
        (changed(BOTH, 7, subset="v"), "b and a differ in 1 pairs, as `3`"),
        (ONE.assign(benchmark="other"), "bench: scores of other in en; compare one"),
        (pd.concat([ONE, ONE.assign(language="es")]), "bench: scores of bench in en, bench in es"),
        (pd.concat([ONE, ONE[:1]]), "a has two scores of `1`"),
    ],
)
def test_scores_that_cannot_be_compared_are_refused(table, said):
    with pytest.raises(PolyrewardError, match=said):
        Comparison(table, BENCHMARK, INTERVAL)


@pytest.mark.parametrize(("kept", "missing"), [(ROWS[:2], "v, w"), (ROWS[:3], "v"), (ROWS[3:], "u, w")])
def test_a_section_or_a_weighted_subset_without_rows_is_named(kept, missing):
    with pytest.raises(PolyrewardError, match=f"bench: no row of {missing}; add rows"):
        comparison(kept, m=scores([1] * len(kept), kept))


def test_a_section_is_the_mean_of_the_subsets_that_were_drawn():
    rows = [{"id": str(n), "subset": "u" if n < 6 else "v"} for n in range(8)]
    benchmark = Benchmark("bench", {"chat": ["u", "none"], "safety": ["v"]}, {})
    row = comparison(rows, benchmark=benchmark, m=scores([1, 1, 1, 0, 0, 0, 1, 1], rows)).contrast({"m": 1})
    assert (row["chat"], row["safety"], row["avg"]) == (50, 100, 75)


@pytest.mark.parametrize("a_slice", [False, True])
def test_a_subset_in_no_section_is_named(a_slice):
    rows = [*ROWS, {"id": "6", "subset": "x"}]
    with pytest.raises(PolyrewardError, match="bench: x is in no section; add it to one"):
        comparison(rows, a_slice=a_slice, m=scores([1] * 6, rows))


def test_a_contrast_is_the_difference_of_the_contrasts():
    both = comparison(a=scores([1, 1, 1, 0, 0]), b=scores([0, 1, 0, 1, 0]))
    averages = [both.contrast(weights)["avg"] for weights in ({"a": 1}, {"b": 1}, {"a": 1, "b": -1})]
    assert averages == pytest.approx([50, 31.25, 18.75])  # a: (100 + 0) / 2; b: (1/8 + 1/2) / 2
    with pytest.raises(KeyError, match="no scorer {'c'}"):
        both.contrast({"a": 1, "c": -1})


def test_pairs_of_a_template_widen_the_interval_of_a_comparison():
    rows = independent(100)
    right = [n % 2 for n in range(100)]
    grouped = [{**row, "template": str(n // 10 + 10 * (n % 2))} for n, row in enumerate(rows)]
    of_pair, of_template = (of_pairs(found, {"m": 1}, m=right) for found in (rows, grouped))
    wider = (of_template["avg_high"] - of_template["avg_low"]) / (of_pair["avg_high"] - of_pair["avg_low"])
    # 100 independent pairs, or 20 templates of five pairs each that agree: wider by sqrt(5) = 2.2
    assert 1.7 < wider < 2.8


def mcnemar(rows, first, second):
    both = comparison(rows, benchmark=INDEPENDENT, a=scores(first, rows), b=scores(second, rows))
    return both.mcnemar_p("a", "b")


def test_mcnemar_is_the_exact_binomial_test_of_the_discordant_pairs():
    first, second = [1] * 5 + [1] * 7 + [0] * 2 + [0] * 4, [1] * 5 + [0] * 7 + [1] * 2 + [0] * 4
    assert mcnemar(independent(18), first, second) == pytest.approx(92 / 512)  # 2 (1 + 9 + 36) / 2^9


def test_mcnemar_counts_templates_and_not_their_pairs():
    rows = [{**row, "template": str(n // 3)} for n, row in enumerate(independent(12))]
    first = [1, 1, 1, 1, 1, 0, 1, 0, 0, 1, 0, 1]
    second = [0, 0, 0, 0, 0, 1, 0, 0, 1, 1, 0, 1]  # worse on templates 0 and 1, as often right on 2 and 3
    assert mcnemar(rows, first, second) == pytest.approx(2 / 2**2)  # two wins of two, and not 6 of 8 pairs
    assert mcnemar(rows, first, first) == 1


def test_subsets_are_listed_with_their_section_accuracy_interval_and_sizes():
    table = comparison(m=scores([1, 0, 1, 1, 0])).by_subset("m").set_index("subset")
    known = table[["section", "accuracy_pct", "n_pairs", "n_templates"]].transpose().to_dict("list")
    assert known == {"u": ["chat", 50, 2, 2], "w": ["chat", 100, 1, 1], "v": ["safety", 50, 2, 1]}
    assert table.loc["u", ["low", "high"]].tolist() == [0, 100]  # two templates, one right and one wrong
    assert np.isnan(table.loc[["v", "w"], ["low", "high"]].astype(float)).all(axis=None)  # one template


def test_a_slice_keeps_only_the_sections_it_has():
    row = comparison(ROWS[:2], a_slice=True, m=scores([1, 0], ROWS[:2])).contrast({"m": 1})
    assert row["chat"] == row["avg"] == pytest.approx(50)
    assert "safety" not in row


def test_transfer_rows_are_target_english_and_english_minus_target():
    both = comparison(t=scores([1, 0, 0, 1, 1]), e=scores([1, 1, 1, 1, 0]))
    table = pd.DataFrame(transfer_rows(both, ["t"], ["e"], base_model="base")).set_index("rm_training")
    # target: chat (1 + 0) / 8, safety 1; english: chat 1, safety 1/2
    assert table["avg"].to_dict() == pytest.approx({"target": 56.25, "english": 75, "delta": 18.75})
    assert set(table["base_model"]) == {"base"}
    # 2 wins of english, 1 of target: 2 (1 + 3) / 8
    assert table["p_mcnemar"].tolist() == pytest.approx([np.nan, np.nan, 1.0], nan_ok=True)
    assert table[["avg_sd", "p_seeds"]].isna().all(axis=None)


def test_several_seeds_give_means_their_spread_and_a_test_across_seeds():
    right = {
        "t1": [1, 0, 0, 1, 1], "t2": [1, 0, 0, 1, 0], "t3": [0, 0, 0, 1, 1],
        "e1": [1, 1, 1, 1, 0], "e2": [1, 1, 1, 1, 1], "e3": [1, 1, 0, 1, 1],
    }  # fmt: skip
    both = comparison(**{name: scores(values) for name, values in right.items()})
    target, english, delta = transfer_rows(both, ["t1", "t2", "t3"], ["e1", "e2", "e3"])
    averages = {name: both.contrast({name: 1.0})["avg"] for name in right}
    of_target, of_english = ([averages[f"{kind}{seed}"] for seed in (1, 2, 3)] for kind in "te")
    assert target["avg"] == pytest.approx(np.mean(of_target))
    assert english["avg_sd"] == pytest.approx(np.std(of_english, ddof=1))
    assert delta["avg"] == pytest.approx(np.mean(of_english) - np.mean(of_target))
    # Welch's t by its formula, and its p-value at the freedom that Satterthwaite gives
    parts = [np.var(values, ddof=1) / 3 for values in (of_english, of_target)]
    t = delta["avg"] / sum(parts) ** 0.5
    freedom = sum(parts) ** 2 / sum(part**2 / 2 for part in parts)
    assert delta["p_seeds"] == pytest.approx(2 * student_t.sf(abs(t), freedom))
    assert np.isnan(delta["p_mcnemar"]) and np.isnan(target["p_seeds"])
    assert target["n_seeds"] == 3


def shares_of(row):
    return row["pair_accuracy_pct"], row["both_right_pct"], row["sum_right_pct"]


numbers = st.floats(allow_nan=False, allow_infinity=False, min_value=-1e9, max_value=1e9)


@settings(max_examples=40)
@given(st.lists(st.tuples(numbers, numbers), min_size=2, max_size=6))
def test_a_scorer_that_reads_answers_alone_is_at_chance_on_twins(answers):
    row = twins(answers, rejected=[(b, a) for a, b in answers])
    assert shares_of(row) == (50, 0, 50)
    reach = 196 * np.sqrt(0.5) / (len(answers) + 2)  # no variance of its own, and one more at each end
    ends = row["pair_accuracy_low"], row["pair_accuracy_high"]
    assert ends == pytest.approx((50 - reach, 50 + reach), abs=1e-2)


@pytest.mark.parametrize(
    ("margins", "ties", "expected"),
    [
        ([(1, 2), (3, 1)], "half", (100, 100, 100)),  # the prompt is read
        ([(3, -1), (1, -3), (5, -2), (-1, 4)], "half", (50, 0, 75)),  # it is behind a bias towards an answer
        ([(0, 0)], "half", (50, 0, 50)),
        ([(0, 0)], "wrong", (0, 0, 0)),
        ([(0.1 + 0.2, -0.3)], "half", (50, 0, 50)),  # margins that cancel, but for rounding, are a tie
    ],
)
def test_a_scorer_on_twins(margins, ties, expected):
    assert shares_of(twins(margins, ties)) == expected


def test_intervals_of_twins_are_over_families_of_which_one_has_none():
    rows = twins([(1, 1)]), twins([(1, 1)] * 5 + [(-1, -1)] * 5)
    one, ten = ([row[f"pair_accuracy_{end}"] for end in ("pct", "low", "high")] for row in rows)
    assert one == pytest.approx([100, np.nan, np.nan], nan_ok=True)
    # one more family at each end: sqrt(10 * 10/36 + 2 * 1/4) / 12 is 15 points, times 1.96
    assert ten == pytest.approx([50, 50 - 29.6, 50 + 29.6], abs=2)
    assert [row["n_families"] for row in rows] == [1, 10]


def test_twins_of_unlike_pairs_are_refused():
    rows = families(1)
    both = together({"rm": scores([1, 1], rows), "length": scores([1], rows[:1])}, rows)
    with pytest.raises(PolyrewardError, match="length and rm differ in 1 pairs, as `0-b`"):
        script("analyse/twin_comparison").twin_table(both, sheet(["rm", "length"]), {}, INTERVAL)


def test_length_slices_hold_the_longer_and_the_shorter_chosen_answers():
    expected = {"all": ["1", "2", "3", "4", "5"], "chosen_longer": ["1", "3"], "chosen_shorter": ["2", "4"]}
    assert script("analyse/scorer_comparison").length_slices(ROWS) == expected  # 5's answers are as long


def test_what_templates_add_sums_to_the_average():
    """Known: a section is a quarter of the average, and each pair an equal part of its section."""
    found = comparison(m=scores([1, 0, 1, 1, 0]), n=scores([1] * 5))
    assert found.of_templates().sum(axis=0) == pytest.approx(found.values[0].mean(axis=1))
    assert found.of_templates()[:, 1].sum() == pytest.approx(1)
    assert (found.of_templates()[:, 0] > 0).sum() == 3


def test_the_same_problem_in_several_programming_languages_counts_once():
    """Two languages of 100 problems, right on the same ones: as sure as 100 problems and not as 200."""
    rows = [
        {"id": f"{name}{n}", "template": f"problem-{n}", "subset": name} for name in "uw" for n in range(100)
    ]
    right = scores([n % 2 for _ in "uw" for n in range(100)], rows)
    apart = [{**row, "template": row["id"]} for row in rows]  # as if no problem were in both
    benchmark, errors = Benchmark("bench", {"reasoning": ["u", "w"]}, {}), []
    for of_benchmark in (rows, apart):
        found = comparison(of_benchmark, benchmark=benchmark, interval=Interval(4000, 0.95, 1), m=right)
        errors.append(found.contrast({"m": 1.0})["avg_se"])
    assert errors[0] == pytest.approx(100 * (0.25 / 99) ** 0.5, rel=0.05)
    assert errors[0] / errors[1] == pytest.approx(2**0.5, rel=0.06)
