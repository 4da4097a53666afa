"""What judges learn, on held-out pairs: known answers."""

import itertools
import math

import numpy as np
import pandas as pd
import pytest
from support import script

from polyreward.analysis.bootstrap import Interval
from polyreward.scoring.criteria_judge import CriteriaJudge
from polyreward.scoring.criteria_layout import Reply
from polyreward.think_as_locals.learning import COLUMNS, learning_table
from polyreward.think_as_locals.replies import HELD_OUT_COLUMNS

display = script("artifacts/carb_locals_learning").display
both_orders = script("prepare/locals_pairs").both_orders
held_out_verdicts = script("score/locals_held_out").held_out_verdicts

PAIRS = [
    {"id": f"{topic}_ar_{other}", "prompt": "p", "chosen": "right", "rejected": other, "culture": "ar", "topic": topic}
    for topic in ("tea", "law") for other in ("de", "ja")
]  # fmt: skip
QUESTIONS = both_orders(PAIRS)


def test_verdicts_on_held_out_pairs(monkeypatch):
    said = [Reply(("x",), "A"), Reply(("x",), fault="endless")] * 4
    surer = np.log([0.75, 0.25])
    judged = lambda self, requests, label: (said, dict.fromkeys(requests, surer))  # noqa: E731
    monkeypatch.setattr(CriteriaJudge, "judged", judged)
    table = held_out_verdicts("full", CriteriaJudge(None, True, 8), QUESTIONS)
    assert list(table.columns) == HELD_OUT_COLUMNS
    assert table["p_right"].tolist() == pytest.approx([0.75, 0.25] * 4)
    assert table["in_form"].tolist() == [True, False] * 4
    assert table["item"].tolist() == ["tea_ar"] * 4 + ["law_ar"] * 4


def of(p_right, in_form=True):
    """Return verdicts of two questions on each item. p_right: (questions,)."""
    names = [f"i{number // 2}" for number in range(len(p_right))]
    ids = [f"{name}_{label}" for name, label in zip(names, itertools.cycle("AB"), strict=False)]
    return pd.DataFrame({"judge": "any", "id": ids, "item": names, "in_form": in_form, "p_right": p_right})[
        HELD_OUT_COLUMNS
    ]


def table_of(tables, contrasts=(("full", "warmup"),), seeds=None):
    seeds = seeds or {name: [name] for name in tables}
    return learning_table(tables, seeds, contrasts, Interval(400, 0.95, 1)).set_index("judge", drop=False)


def half_width(row):
    return (row["r_corr_high"] - row["r_corr_low"]) / 2


ENDS = ["r_corr_low", "r_corr_high"]


def test_r_corr_in_the_mean_over_questions_and_seeds_with_known_answers():
    warmup, full, second = (np.full(40, p_right) for p_right in (0.5, 0.8, 0.9))
    tables = {"warmup": of(warmup, in_form=False), "full": of(full), "full-2": of(second)}
    table = table_of(tables, seeds={"warmup": ["warmup"], "full": ["full", "full-2"]})
    assert list(table.columns) == COLUMNS
    assert table.loc["warmup", "r_corr"] == 0 and table.loc["warmup", ENDS].isna().all()
    assert table.loc["full", "r_corr"] == table.loc["full - warmup", "r_corr"] == pytest.approx(0.7)
    low, high = table.loc["full", ENDS]
    assert low < 0.61 and high > 0.79  # seeds differ, items do not
    sizes = {"n_questions": 40, "n_items": 20, "n_seeds": 2, "in_form_pct": 100, "right_pct": 100}
    assert table.loc["full", list(sizes)].to_dict() == sizes
    assert table.loc["warmup", ["in_form_pct", "right_pct"]].tolist() == [0, 0]
    names = {"warmup": "after the warm-up", "full": "all rewards"}
    shown = display(table, names, "95%").set_index("judge")
    assert shown.loc["all rewards - after the warm-up", "R_corr [95%]"].startswith("+0.700 [")
    assert shown.loc["all rewards - after the warm-up", "replies in form, %"] == ""


def test_pairs_of_which_the_same_answer_wins_in_both_orders():
    both_right, both_wrong, first_label, undecided = (0.9, 0.6), (0.2, 0.4), (0.98, 0.02), (0.5, 0.5)
    always_first = of(np.array(4 * first_label))
    mixed = of(np.array(both_right + both_wrong + first_label + undecided))
    table = table_of({"warmup": always_first, "full": mixed})
    assert table.loc[["warmup", "full"], "consistent_pct"].tolist() == [0, 50]
    assert math.isnan(table.loc["full - warmup", "consistent_pct"])
    of_seeds = table_of({"full": mixed, "full-2": always_first}, [], {"full": ["full", "full-2"]})
    assert of_seeds.loc["full", "consistent_pct"] == 25
    shown = display(table, {"warmup": "warm-up", "full": "all rewards"}, "95%")[
        "same answer in both orders, %"
    ]
    assert shown.tolist() == ["0", "50", ""]


def test_an_interval_is_as_wide_as_items_differ_and_pairs_of_an_item_are_drawn_together():
    values = np.repeat(np.random.default_rng(1).uniform(size=100), 2)
    row = table_of({"full": of(values)}, []).loc["full"]
    error = (2 * values[::2] - 1).std(ddof=1) / math.sqrt(100)
    assert half_width(row) == pytest.approx(1.98 * error, rel=0.15)


def test_what_items_explain_of_the_seeds_is_counted_once():
    # each seed has its own good items, and no seed is better
    values = 0.5 + 0.2 * np.repeat(np.random.default_rng(3).normal(size=(100, 3)), 2, axis=0)
    values += 0.5 - values.mean(axis=0)
    names = ["full", "full-2", "full-3"]
    tables = {name: of(column) for name, column in zip(names, values.T, strict=True)}
    error = (2 * values[::2] - 1).mean(axis=1).std(ddof=1) / math.sqrt(100)
    row = table_of(tables, [], {"full": names}).loc["full"]
    assert half_width(row) == pytest.approx(1.98 * error, rel=0.15)


def test_differences_are_paired():
    values = np.random.default_rng(2).uniform(0.2, 0.7, size=40)
    gained = np.random.default_rng(3).uniform(0.05, 0.15, size=40)
    tables = {"warmup": of(values), "full": of(values + gained), "gained": of(0.5 + gained)}
    lead, gain = table_of(tables).loc[["full - warmup", "gained"], ["r_corr", *ENDS]].to_numpy()
    assert lead == pytest.approx(gain, abs=1e-9)


def test_intervals_stay_within_what_r_corr_can_be():
    values = np.where(np.arange(16) < 14, 1.0, 0.3)
    table = table_of({"warmup": of(1 - values), "full": of(values)})
    assert table.loc[["full", "full - warmup"], "r_corr_high"].tolist() == [1, 2]
    assert table.loc["warmup", "r_corr_low"] == -1
