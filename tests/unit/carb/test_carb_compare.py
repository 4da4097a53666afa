"""CARB's tables next to its paper's printed numbers: which cells meet, and the scatter of them."""

import numpy as np
import pandas as pd
import pytest
from support import ROOT, script

from polyreward.artifacts.printed_tables import COLUMNS, OTHER, SAME
from polyreward.carb.perturbation.perturbations import PERTURBATIONS
from polyreward.report.artifacts import compared_table

compare = script("artifacts/carb_compare")


BASE = "gemma-3-270m"


def published(name: str) -> pd.DataFrame:
    return pd.read_csv(ROOT / f"resources/published/carb_{name}.csv")


def meeting(name: str, ours: pd.DataFrame, base: str = BASE) -> pd.DataFrame:
    return compare.compared(f"carb_{name}", ours, published(name), base)


def leaderboard() -> pd.DataFrame:
    rows = [
        ("rm", "classifier", 27.0),
        ("judge", "generative", 26.0),
        ("length", "baseline", 24.0),
        ("gone", "classifier", np.nan),
    ]
    return pd.DataFrame(rows, columns=["scorer", "kind", "carb"])


def correlations() -> pd.DataFrame:
    rows = [("questions", "best-of-n", policy, rating, benchmark, 0.2, 0.1) for policy in ("gemma", "all")
            for rating in ("match", "chrf") for benchmark in ("carb", "rewardbench")]  # fmt: skip
    return pd.DataFrame(rows, columns=["downstream", "selection", "policy", "rating", "benchmark", "r2", "p"])


def perturbations() -> pd.DataFrame:
    judges = {"locals-base": 1.0, "locals-without-criteria": 2.0, "locals-with-criteria": 3.0, "rm": np.nan}
    rows = [(name, p, 10 * size + n) for name, size in judges.items() for n, p in enumerate(PERTURBATIONS)]
    return pd.DataFrame(rows, columns=["scorer", "perturbation", "percent_size"])


def judges() -> pd.DataFrame:
    rows = [
        ("base", 60.0, 25.0, 42.5),
        ("warmup", 50.0, 26.0, 38.0),
        ("full", 61.0, 27.0, 44.0),
        ("full - base", 1.0, 2.0, 1.5),
    ]
    return pd.DataFrame(rows, columns=["judge", "rewardbench", "carb", "mean"])


def test_a_reward_model_stands_beside_those_of_its_kind():
    table = meeting("leaderboard", leaderboard())
    assert list(table.columns) == COLUMNS and len(table) == 4 + 2 and set(table["pairing"]) == {OTHER}
    cell = table.query("ours_model == 'rm' and printed_model == 'Skywork-Reward-Gemma-2-27B'").iloc[0]
    assert (cell["ours"], cell["printed"], cell["difference"]) == pytest.approx((27.0, 73.0, -46.0))
    own = meeting("leaderboard", leaderboard().replace("rm", "INF-ORM-LLAMA3.1-70B")).query(
        "row == 'classifier'"
    )
    assert own[["printed_model", "pairing"]].to_numpy().tolist() == [["INF-ORM-Llama3.1-70B", SAME]]


def test_the_page_shows_percent_with_one_digit_and_fractions_with_three(tmp_path):
    for name, ours, shown in (
        ("leaderboard", leaderboard(), "-46.0"),
        ("correlation", correlations(), "-0.449"),
    ):
        meeting(name, ours).to_csv(tmp_path / "c.csv", index=False)
        assert shown in str(compared_table(tmp_path / "c.csv"))


def test_pooled_ratings_stand_beside_each_printed_rating_of_answers():
    table = meeting("correlation", correlations())
    assert len(table) == 2 * 2 * 2 * 2  # ratings, printed ratings, benchmarks, r2 and p
    cell = table.query(
        "column == 'CARB' and row == 'r_squared' and ours_model == 'chrf' and printed_model == 'BLEnD'"
    ).iloc[0]
    assert (cell["ours"], cell["printed"]) == pytest.approx((0.2, 0.649))


def test_a_set_that_the_paper_prints_stands_beside_itself_by_its_own_rating():
    blend, omgeval = correlations().assign(downstream="blend"), correlations().query("rating == 'chrf'")
    sets = pd.concat(
        [blend, omgeval.assign(downstream="omgeval"), correlations().assign(selection="grpo")],
        ignore_index=True,
    )
    table = meeting("correlation", sets)
    assert set(table["pairing"]) == {SAME} and len(table) == 2 * 2 * 2  # sets, benchmarks, r2 and p
    assert set(zip(table["ours_model"], table["printed_model"], strict=True)) == {
        ("blend", "BLEnD"),
        ("omgeval", "OMGEval"),
    }


def test_sizes_of_percent_changes_stand_beside_the_printed_ones_by_judge():
    table = meeting("perturbation", perturbations())
    assert len(table) == 3 * 4 and (table["row"] == table["printed_model"]).all()
    cell = table.query("ours_model == 'locals-base' and column == 'CL'").iloc[0]
    assert (cell["ours"], cell["printed"]) == pytest.approx((12.0, 39.1))
    assert len(meeting("perturbation", perturbations().assign(percent_size=np.nan))) == 0


def test_a_judge_stands_beside_the_one_that_is_as_far_in_its_training():
    table = meeting("think_as_locals", judges())
    assert len(table) == 3 * 2 * 3 and set(table["row"]) == {"untrained", "trained"}
    assert not table["printed_model"].str.contains("RM-R1|Think").any()
    cell = table.query(
        "row == 'trained' and column == 'carb' and printed_model == 'Qwen2.5-14B-Instruct'"
    ).iloc[0]
    assert (cell["ours"], cell["printed"]) == pytest.approx((27.0, 82.1))
    own = meeting("think_as_locals", judges(), "qwen2.5-7b-instruct")
    assert (
        set(own["printed_model"]) == {"Qwen2.5-7B-Instruct"}
        and set(own["pairing"]) == {SAME}
        and len(own) == 6
    )


def test_nothing_in_common_is_a_table_without_rows(tmp_path):
    empty = meeting("perturbation", perturbations().assign(percent_size=np.nan))
    empty.to_csv(tmp_path / "empty.csv", index=False)
    assert compared_table(tmp_path / "empty.csv").rows == []
