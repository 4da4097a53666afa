"""Effects of rewrites on scores: units, the index, consistency over languages, judges, and constant scorers."""

import numpy as np
import pandas as pd
import pytest
from carb_data import score_table
from made_up_scorers import ByText
from made_up_sheet import sheet
from support import refused, script
from tiny_models import base, bases, reward_folder, trained  # noqa: F401

from polyreward.analysis.bootstrap import Interval
from polyreward.carb.perturbation.perturbations import PERTURBATIONS
from polyreward.carb.perturbation.sensitivity import (
    NO_REWRITES,
    PERTURBATION_COLUMNS,
    relative_changes,
    sensitivity_index,
    spread,
)
from polyreward.carb.scores import item_scores, load_scorer
from polyreward.scoring.criteria_layout import Reply
from polyreward.scoring.interface import Conversations, Scores
from polyreward.think_as_locals.replies import reply_counts

agreement = script("analyse/carb_agreement")
sensitivity = script("analyse/carb_sensitivity")
perturbed_scores = script("score/carb_perturbed_scores")
draw_consistency = script("artifacts/carb_consistency").draw_consistency
display_perturbations = script("artifacts/carb_perturbation").display_perturbations

INTERVAL = Interval(samples=300, confidence=0.95, seed=1)
ONE = [[-1.5, -0.5, 0.5, 1.5]] * 3  # scores of three questions' answers; their variance is 5 / 3
UNIT = np.sqrt(5 / 3)


def scores(values) -> pd.DataFrame:
    """Return a score table; values: of each item's answers."""
    return score_table({(f"i{n}", f"t{n}", "de", "values"): of_item for n, of_item in enumerate(values)})


def moved(*changes, items=3) -> pd.DataFrame:
    """Return the scores of rewrites that change every item's score by so much, in units; bases differ."""
    return scores([[n, *(n + UNIT * np.array(changes))] for n in range(items)])


def table_of(zeros=None, benchmark=None, **tables) -> pd.DataFrame:
    kinds = {name: "baseline" if name == "length" else "classifier" for name in tables}
    benchmark = {**dict.fromkeys(tables, scores(ONE)), **(benchmark or {})}
    found = sensitivity.perturbation_table(tables, benchmark, kinds, zeros or {}, INTERVAL)
    return sensitivity.ranked([found])


@pytest.mark.parametrize(
    ("values", "unit"),
    [
        (ONE, UNIT),
        ([[0, 0, 2, 2], [1, 1, 1, 1]], np.sqrt((4 / 3 + 0) / 2)),
        (np.array(ONE) + [[100], [0], [-7]], UNIT),  # whatever a question adds
        ([[0.1, 0.1, 0.1, 0.1]] * 3, 0),
    ],
)
def test_the_unit_is_the_spread_within_questions(values, unit):
    assert spread(scores(values)) == pytest.approx(unit, abs=0)


@pytest.mark.parametrize(("zero", "unit"), [(0, 1), (3, 10)])
def test_a_reward_model_s_zero_and_unit_do_not_matter(zero, unit):
    table, benchmark = (t.assign(score=zero + unit * t["score"]) for t in (moved(-1, 0.5, 2, 0), scores(ONE)))
    found = relative_changes(table, spread(benchmark))
    np.testing.assert_allclose(found.to_numpy(), [[-1, 0.5, 2, 0]] * 3, atol=1e-12)


def test_the_index():
    known = {(2, 0, 0, 0): 1, (1, 1, 1, 1): 0, (0, 0.1, 2, 1): -1, (3, 1, 1, 1): 0.5, (0, 0, 0, 0): np.nan}
    np.testing.assert_allclose(sensitivity_index(np.array(list(known))), list(known.values()))


def test_one_row_for_each_scorer_and_perturbation_the_best_first():
    moves = {"length": [-3, 0, 0, 0], "surface": [0, 1, -1, 2], "fact": [-2, 0, 0, 0], "both": [1, -1, 1, -1]}
    table = table_of(**{name: moved(*of) for name, of in moves.items()})
    assert list(table.columns) == PERTURBATION_COLUMNS
    assert list(table["scorer"].unique()) == ["fact", "both", "surface", "length"]
    fact = table.set_index(["scorer", "perturbation"]).loc["fact"]
    assert list(fact.index) == list(PERTURBATIONS)
    known = {"change": -2, "low": -2, "high": -2, "size": 2, "lower_pct": 100}
    np.testing.assert_allclose(fact.loc["CC", list(known)].astype(float), list(known.values()))
    assert list(fact["direction"]) == ["down", "not decided", "not decided", "not decided"]
    np.testing.assert_allclose(fact[["index", "index_low", "index_high"]], 1)
    found = table.drop_duplicates("scorer").set_index("scorer")["index"]
    np.testing.assert_allclose(found[["both", "surface"]], [0, -1], atol=1e-12)
    assert set(table["note"]) == {""} and set(table["n_items"]) == {3}
    other = {"a": moved(1, 1, 1, 1), "b": moved(1, 1, 1, 1, items=2)}
    assert "b: its items are not those of a" in refused(table_of, **other)


@pytest.mark.parametrize(
    ("zero", "values", "percent"),
    [
        ("own", [[2.0, 1, 2, 3, 2], [-4.0, -6, -4, -5, -4]], [-50, 0, 0, 0]),  # -1 and -2 of 3, the mean size
        ("log-odds", [[0.0, np.log(3), -np.log(3), 0, 50]] * 2, [50, -50, 0, 100]),  # half of a half more
        ("shares", [[0.0, 0.5, -0.5, 0, 1]] * 2, [50, -50, 0, 100]),
    ],
)
def test_percent_of_a_score_with_a_zero(zero, values, percent):
    found = table_of({"rm": zero}, rm=scores(values)).set_index("perturbation")
    assert list(found["percent"]) == pytest.approx(percent)
    if zero == "own":
        assert list(found["percent_size"]) == pytest.approx([50, 0, 100 / 3, 0])
    else:
        assert found.loc["CC", ["percent_low", "percent_high"]].tolist() == pytest.approx([50] * 2)


def test_which_zero_a_score_has_depends_on_the_scorer_s_kind_and_on_how_a_judge_says_its_verdict():
    kinds = {
        "gemma_en": "classifier", "rm": "classifier", "dpo-rm": "implicit", "length": "baseline",
        "by-labels": "generative", "by-text": "generative", "locals-base": "generative",
    }  # fmt: skip
    entries = {
        "by-labels": {"kind": "generative", "verdict": "labels"},
        "by-text": {"kind": "generative", "verdict": "text"},
        "locals-base": {"kind": "generative", "verdict": "no-criteria"},
    }
    assert sensitivity.zeros_of(sheet(kinds, entries=entries)) == {
        "dpo-rm": "own", "length": "own",
        "by-labels": "log-odds", "by-text": "shares", "locals-base": "log-odds",
    }  # fmt: skip


def test_the_size_of_an_own_score_stays_with_its_item_whatever_the_order():
    values = [[2.0, 1, 2, 3, 2], [-4.0, -6, -4, -5, -4], [9.0, 1, 1, 1, 1]]
    table = scores(values)
    turned = table.sort_values("id", ascending=False, kind="stable")
    pd.testing.assert_frame_equal(table_of({"rm": "own"}, rm=turned), table_of({"rm": "own"}, rm=table))


def test_a_score_without_a_zero_has_no_percent_and_changes_that_cancel_no_direction():
    table = table_of(rm=moved(-1, 0, 0, 0))
    assert table.filter(like="percent").isna().all(axis=None)
    assert display_perturbations(table, "95%")["change of a score with a zero, %"].tolist() == [""]
    row = table_of(a=scores([[0, *(sign * UNIT * np.ones(4))] for sign in (1, -1) * 10])).iloc[0]
    assert row["change"] == pytest.approx(0) and row["low"] < 0 < row["high"]
    assert (row["size"], row["direction"], row["lower_pct"]) == (pytest.approx(1), "not decided", 50)


def test_a_scorer_that_tells_nothing_apart_is_named_and_is_no_crash():
    alike = scores([[1.0] * 5] * 3)
    flat = {"flat": scores([[1.0] * 4] * 3)}
    table = table_of(benchmark=flat, flat=alike, still=alike, fine=moved(-1, 0, 0, 0))
    first = table.drop_duplicates("scorer").set_index("scorer")
    assert list(first.index)[0] == "fine"
    notes = ["all answers to a question have the same score", "no rewrite changes a score"]
    assert first.loc[["flat", "still"], "note"].tolist() == notes
    assert first.loc[["flat", "still"], "index"].isna().all()
    assert table.loc[table["scorer"] == "flat", ["change", "low", "size", "lower_pct"]].isna().all(axis=None)
    shown = display_perturbations(table, "95%").set_index("scorer")
    assert list(shown.loc["flat", ["CC [95%]", "index [95%]", "CC lower, %", "items"]]) == ["", "", "", "3"]
    assert shown.loc["fine", "CC [95%]"] == "-1.00 [-1.00, -1.00]"


def test_an_index_that_draws_of_items_leave_open_has_no_interval():
    still = moved(0, 0, 0, 0).query("id != 'i0'")
    table = table_of(rarely=pd.concat([moved(-1, 0.5, 0, 0, items=1), still]))
    assert table["index"].notna().all() and table["index_low"].isna().all()
    (shown,) = display_perturbations(table, "95%").to_dict("records")
    assert shown["index [95%]"] == f"{table['index'].iloc[0]:+.2f} [not known]"


def test_tables_of_other_items_are_ranked_together_and_replies_in_form_noted_where_there_are_any():
    tables = [
        table_of(surface=moved(0, 1, 1, 1), length=moved(-3, 0, 0, 0)),
        table_of(judge=moved(-1, 0, 0, 0, items=2)),
    ]
    table = sensitivity.ranked(tables)
    found = table.drop_duplicates("scorer").set_index("scorer")
    assert list(found.index) == ["judge", "surface", "length"] and found["n_items"].tolist() == [2, 3, 3]
    assert list(table.columns) == PERTURBATION_COLUMNS and table.index.tolist() == list(range(12))
    written = [Reply(("x",), "A"), Reply(fault="endless"), Reply(("x",), "A")]
    replies = pd.concat([reply_counts("surface", []), reply_counts("judge", written)])
    noted = sensitivity.with_replies(table.assign(note="x"), replies).drop_duplicates("scorer")
    assert noted["note"].tolist() == ["x; 2 of 3 replies in form", "x", "x"]


def test_items_that_are_not_rewritten_leave_rows_that_say_so():
    empty = item_scores(Pairwise({}.get), [], "rm")
    table = table_of(a=empty, length=empty)
    assert list(table.columns) == PERTURBATION_COLUMNS and len(table) == 2 * len(PERTURBATIONS)
    assert table[["change", "size", "index"]].isna().all(axis=None) and set(table["n_items"]) == {0}
    assert set(display_perturbations(table, "95%")["note"]) == {f"not tested: {NO_REWRITES}"}
    pairs = pairs_of(1, a=empty)
    assert list(zip(pairs["language_1"], pairs["language_2"], strict=True)) == PAIRS
    assert pairs["consistency"].isna().all() and set(pairs["n_items"]) == {0}
    assert draw_consistency(pairs).axes[0].get_title() == "a\nnot tested, no item"


LANGUAGES = {"i0": ["de", "en", "ja"], "i1": ["ja", "de", "en"]}
ORDER = ["en", "de", "ja"]
PAIRS = [("en", "de"), ("en", "ja"), ("de", "ja")]


def pairs_of(k, **tables) -> pd.DataFrame:
    """Return the consistency of tables; all answers to a question of the benchmark are alike to `flat`."""
    benchmark = {name: scores([[1.0] * 4] * 2 if name == "flat" else ONE) for name in tables}
    return agreement.pair_table(tables, benchmark, dict.fromkeys(tables, "classifier"), LANGUAGES, ORDER, k)


def test_consistency_is_known_and_drawn():
    table = scores([[0, UNIT, 3 * UNIT], [0, 0, 0]])
    found = agreement.item_consistency(table, LANGUAGES, ORDER, UNIT, 2)
    assert list(found.columns) == PAIRS
    np.testing.assert_allclose(found.loc[["i0", "i1"]], [np.exp([-2, -4, -6]), [1, 1, 1]])
    grid = draw_consistency(pairs_of(2, a=table)).axes[0].images[0].get_array().filled(np.nan)
    means = (1 + np.exp([-2, -4, -6])) / 2
    np.testing.assert_allclose(grid, [[means[0], np.nan], [means[1], means[2]]])
    raw = pairs_of(2, a=table)["consistency_raw"]
    np.testing.assert_allclose(raw, (1 + np.exp(-UNIT * np.array([2, 4, 6]))) / 2)


def test_consistency_without_a_unit_is_not_known():
    pairs = pairs_of(1, fine=scores([[0, 1, 2]] * 2), flat=scores([[1, 1, 1]] * 2))
    assert pairs.loc[pairs["scorer"] == "flat", "consistency"].isna().all()
    titles = [axis.get_title() for axis in draw_consistency(pairs).axes if axis.get_title()]
    assert titles[1] == "flat\nno spread" and titles[0].startswith("fine\nmean 0.")


class Pairwise(ByText):
    """A judge that only answers about pairs; texts with b in them are cut."""

    def score(self, conversations, label):
        assert all(len(conversation.answers) == 2 for conversation in conversations)
        cut = [np.array(["b" in conversation.answers] * 2) for conversation in conversations]
        return Scores(super().score(conversations, label).values, cut)


def against_first(judge, *answers):
    items = [Conversations(f"Q{number}?", tuple(texts)) for number, texts in enumerate(answers)]
    return perturbed_scores.AgainstFirst(judge).score(items, "test")


def test_only_judges_are_asked_about_pairs_and_see_each_answer_beside_the_first_one():
    judge = Pairwise({"a": -1.0, "b": 2.0, "c": -4.0, "x": 0.5, "y": 0.75, "n": np.nan}.get)
    found = against_first(judge, "abc", "xy")
    assert [asked.answers for asked in judge.asked[0]] == [("a", "b"), ("a", "c"), ("x", "y")]
    assert [list(values) for values in found.values] == [[0, 3, -3], [0, 0.25]]
    assert [list(cut) for cut in found.truncated] == [[True, True, False], [False, False]]
    assert perturbed_scores.comparable(judge, "generative") == perturbed_scores.AgainstFirst(judge)
    assert all(perturbed_scores.comparable(judge, kind) is judge for kind in ("classifier", "implicit"))
    item = {"id": "i1", "topic": "t1", "culture": "de", "domain": "values", "prompt": "Q?", "answers": ["a", "n"], "chosen": 0}  # fmt: skip
    assert "are NaN" in refused(item_scores, perturbed_scores.AgainstFirst(judge), [item], "rm")


def test_a_real_judge_s_score_is_the_log_odds_in_both_orders(bases, tmp_path):  # noqa: F811
    entry = {"kind": "generative", "source": bases["tiny-llama"]}
    scoring = {"dtype": "float32", "max_length": 1024, "token_budget": 4096, "attention": "sdpa"}
    judge = load_scorer(entry, scoring, tmp_path)
    found = against_first(judge, ("Yes.", "No.", "Yes.")).values[0]
    separate = judge.score([Conversations("Q0?", ("Yes.", "No."))], "test").values[0]
    assert found[0] == 0 and found[2] == 0  # the same text twice: what a place adds cancels
    assert found[1] == pytest.approx(separate[1] - separate[0], abs=1e-6)
    turned = against_first(judge, ("No.", "Yes.")).values[0]
    assert turned[1] == pytest.approx(-found[1], abs=1e-6)
