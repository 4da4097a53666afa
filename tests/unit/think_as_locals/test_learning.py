"""What judges learn, on held-out pairs: known answers."""

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
INTERVAL = Interval(400, 0.95, 1)


def test_verdicts_on_held_out_pairs(monkeypatch):
    said = [
        Reply(("x",), "A") if "Answer A: right" in asked["request"] else Reply(("x",), fault="endless")
        for asked in QUESTIONS
    ]
    surer = np.log([0.75, 0.25])
    monkeypatch.setattr(
        CriteriaJudge, "judged", lambda self, requests, label: (said, dict.fromkeys(requests, surer))
    )
    table = held_out_verdicts("full", CriteriaJudge(None, True, 8), QUESTIONS)
    assert list(table.columns) == HELD_OUT_COLUMNS
    assert table["p_right"].tolist() == pytest.approx([0.75, 0.25] * 4)
    assert table["in_form"].tolist() == [True, False] * 4
    assert table["item"].tolist() == ["tea_ar"] * 4 + ["law_ar"] * 4


def of(p_right, items=20, in_form=True):
    names = [f"i{number}" for number in range(items) for _ in range(2)]
    values = np.broadcast_to(p_right, len(names))
    return pd.DataFrame(
        {"judge": "any", "id": range(len(names)), "item": names, "in_form": in_form, "p_right": values}
    )[HELD_OUT_COLUMNS]


def test_r_corr_in_the_mean_over_questions_and_seeds_with_known_answers():
    tables = {"warmup": of(0.5, in_form=False), "full": of(0.8), "full-2": of(0.9)}
    seeds = {"warmup": ["warmup"], "full": ["full", "full-2"]}
    table = learning_table(tables, seeds, [("full", "warmup")], INTERVAL).set_index("judge")
    assert list(table.reset_index().columns) == COLUMNS
    assert (
        table.loc["warmup", "r_corr"] == 0 and table.loc["warmup", ["r_corr_low", "r_corr_high"]].isna().all()
    )
    assert table.loc["full", "r_corr"] == table.loc["full - warmup", "r_corr"] == pytest.approx(0.7)
    assert (
        table.loc["full", "r_corr_low"] < 0.61 and table.loc["full", "r_corr_high"] > 0.79
    )  # seeds differ, items do not
    assert table.loc["full", ["n_questions", "n_items", "n_seeds", "in_form_pct", "right_pct"]].tolist() == [
        40,
        20,
        2,
        100,
        100,
    ]
    assert table.loc["warmup", ["in_form_pct", "right_pct"]].tolist() == [0, 0]
    shown = display(
        table.reset_index(), {"warmup": "after the warm-up", "full": "all rewards"}, "95%"
    ).set_index("judge")
    assert shown.loc["all rewards - after the warm-up", "R_corr [95%]"].startswith("+0.700 [")
    assert shown.loc["all rewards - after the warm-up", "replies in form, %"] == ""


def test_an_interval_is_as_wide_as_items_differ_and_pairs_of_an_item_are_drawn_together():
    values = np.repeat(np.random.default_rng(1).uniform(size=100), 2)
    table = learning_table({"full": of(values, 100)}, {"full": ["full"]}, [], INTERVAL).loc[0]
    error = (2 * values[::2] - 1).std(ddof=1) / math.sqrt(100)
    assert (table["r_corr_high"] - table["r_corr_low"]) / 2 == pytest.approx(1.98 * error, rel=0.15)


def test_what_items_explain_of_the_seeds_is_counted_once():
    generator = np.random.default_rng(3)
    values = 0.5 + 0.2 * np.repeat(
        generator.normal(size=(100, 3)), 2, axis=0
    )  # each seed has its own good items, and no seed is better
    values += 0.5 - values.mean(axis=0)
    names = ["full", "full-2", "full-3"]
    table = learning_table(
        {name: of(column, 100) for name, column in zip(names, values.T, strict=True)},
        {"full": names},
        [],
        INTERVAL,
    )
    error = (2 * values[::2] - 1).mean(axis=1).std(ddof=1) / math.sqrt(100)
    assert (table.loc[0, "r_corr_high"] - table.loc[0, "r_corr_low"]) / 2 == pytest.approx(
        1.98 * error, rel=0.15
    )


def test_differences_are_paired():
    values = np.random.default_rng(2).uniform(0.2, 0.7, size=40)
    gained = np.random.default_rng(3).uniform(0.05, 0.15, size=40)
    tables = {"warmup": of(values), "full": of(values + gained), "gained": of(0.5 + gained)}
    table = learning_table(
        tables, {name: [name] for name in tables}, [("full", "warmup")], INTERVAL
    ).set_index("judge")
    ends = ["r_corr", "r_corr_low", "r_corr_high"]
    assert table.loc["full - warmup", ends].tolist() == pytest.approx(
        table.loc["gained", ends].tolist(), abs=1e-9
    )


def test_intervals_stay_within_what_r_corr_can_be():
    values = np.where(np.arange(16) < 14, 1.0, 0.3)
    tables = {"warmup": of(1 - values, 8), "full": of(values, 8)}
    table = learning_table(
        tables, {name: [name] for name in tables}, [("full", "warmup")], INTERVAL
    ).set_index("judge")
    assert (
        table["r_corr_high"].loc[["full", "full - warmup"]].tolist() == [1, 2]
        and table.loc["warmup", "r_corr_low"] == -1
    )
