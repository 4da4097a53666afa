"""CARB's tables next to its paper's printed numbers: which cells meet, and the scatter of them."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from support import ROOT, script

from polyreward.artifacts.printed_tables import COLUMNS, OTHER, SAME
from polyreward.carb.perturbation.perturbations import PERTURBATIONS
from polyreward.report.artifacts import compared_table

compare = script("artifacts/carb_compare")


def meeting(name: str, ours: pd.DataFrame, base: str = "gemma-3-270m") -> pd.DataFrame:
    printed = pd.read_csv(ROOT / f"workflow/papers/carb/printed/{name}.csv")
    return compare.compared(f"carb_{name}", ours, printed, base)


def cell(table: pd.DataFrame, **keys) -> list[float]:
    """Return our number and the printed one of the only row with some values."""
    found = table[(table[list(keys)] == pd.Series(keys)).all(axis=1)]
    assert len(found) == 1
    return found[["ours", "printed"]].iloc[0].tolist()


LEADERBOARD = pd.DataFrame({"scorer": ["rm", "judge", "length", "gone"], "carb": [27.0, 26.0, 24.0, np.nan],
                            "kind": ["classifier", "generative", "baseline", "classifier"]})  # fmt: skip
CORRELATIONS = pd.DataFrame(
    [("questions", "best-of-n", policy, rating, benchmark, 0.2, 0.1) for policy in ("gemma", "all")
     for rating in ("match", "chrf") for benchmark in ("carb", "rewardbench")],
    columns=["downstream", "selection", "policy", "rating", "benchmark", "r2", "p"],
)  # fmt: skip
SIZES = {"locals-base": 1.0, "locals-without-criteria": 2.0, "locals-with-criteria": 3.0, "rm": np.nan}
REWRITES = pd.DataFrame(
    [(name, p, 10 * size + n) for name, size in SIZES.items() for n, p in enumerate(PERTURBATIONS)],
    columns=["scorer", "perturbation", "percent_size"],
)
JUDGES = pd.DataFrame(
    [("base", 60.0, 25.0, 42.5), ("warmup", 50.0, 26.0, 38.0), ("full", 61.0, 27.0, 44.0), ("full - base", 1.0, 2.0, 1.5)],
    columns=["judge", "rewardbench", "carb", "mean"],
)  # fmt: skip


def test_a_reward_model_stands_beside_those_of_its_kind():
    table = meeting("leaderboard", LEADERBOARD)
    assert list(table.columns) == COLUMNS and len(table) == 4 + 2 and set(table["pairing"]) == {OTHER}
    assert cell(table, ours_model="rm", printed_model="Skywork-Reward-Gemma-2-27B") == [27.0, 73.0]
    assert table["difference"].to_numpy() == pytest.approx((table["ours"] - table["printed"]).to_numpy())
    own = meeting("leaderboard", LEADERBOARD.replace("rm", "INF-ORM-LLAMA3.1-70B"))
    own = own[own["row"] == "classifier"]
    assert own[["printed_model", "pairing"]].to_numpy().tolist() == [["INF-ORM-Llama3.1-70B", SAME]]


@pytest.mark.parametrize(
    ("name", "ours", "shown"), [("leaderboard", LEADERBOARD, "-46.0"), ("correlation", CORRELATIONS, "-0.449")]
)  # fmt: skip
def test_the_page_shows_percent_with_one_digit_and_fractions_with_three(tmp_path, name, ours, shown):
    meeting(name, ours).to_csv(tmp_path / "c.csv", index=False)
    assert shown in str(compared_table(tmp_path / "c.csv"))


def test_a_small_p_value_is_not_zero_in_the_comparison(tmp_path):
    ours, printed, written = (tmp_path / f"{name}.csv" for name in ("ours", "printed", "written"))
    CORRELATIONS.assign(p=3e-9, r2=3e-9).to_csv(ours, index=False)
    printed = ROOT / "workflow/papers/carb/printed/correlation.csv"
    snakemake = SimpleNamespace(
        input=SimpleNamespace(ours=ours, printed=printed), output=SimpleNamespace(csv=written),
        params=SimpleNamespace(base="any"), wildcards=SimpleNamespace(printed="carb_correlation"),
    )  # fmt: skip
    compare.main(snakemake)
    lines = [line for line in written.read_text().splitlines() if ",CARB,match,BLEnD," in line]
    of_r2, of_p = (line.split(",")[4:7] for line in lines)
    assert of_r2 == ["0.000000", "0.649000", "-0.649000"] and of_p == ["3.00e-09", "9.43e-05", "-0.000094"]


def test_pooled_ratings_stand_beside_each_printed_rating_of_answers():
    table = meeting("correlation", CORRELATIONS)
    assert len(table) == 2 * 2 * 2 * 2  # ratings, printed ratings, benchmarks, r2 and p
    keys = {"column": "CARB", "row": "r_squared", "ours_model": "chrf", "printed_model": "BLEnD"}
    assert cell(table, **keys) == [0.2, 0.649]


def test_a_set_that_the_paper_prints_stands_beside_itself_by_its_own_rating():
    omgeval = CORRELATIONS[CORRELATIONS["rating"] == "chrf"].assign(downstream="omgeval")
    sets = [CORRELATIONS.assign(downstream="blend"), omgeval, CORRELATIONS.assign(selection="grpo")]
    table = meeting("correlation", pd.concat(sets, ignore_index=True))
    assert set(table["pairing"]) == {SAME} and len(table) == 2 * 2 * 2  # sets, benchmarks, r2 and p
    models = set(zip(table["ours_model"], table["printed_model"], strict=True))
    assert models == {("blend", "BLEnD"), ("omgeval", "OMGEval")}


def test_sizes_of_percent_changes_meet_the_printed_ones_by_judge_and_may_have_none(tmp_path):
    table = meeting("perturbation", REWRITES)
    assert len(table) == 3 * 4 and (table["row"] == table["printed_model"]).all()
    assert cell(table, ours_model="locals-base", column="CL") == [12.0, 39.1]
    meeting("perturbation", REWRITES.assign(percent_size=np.nan)).to_csv(tmp_path / "empty.csv", index=False)
    assert compared_table(tmp_path / "empty.csv").rows == []  # nothing is in both


def test_a_judge_stands_beside_the_one_that_is_as_far_in_its_training():
    table = meeting("think_as_locals", JUDGES)
    assert len(table) == 3 * 2 * 3 and set(table["row"]) == {"untrained", "trained"}
    assert not table["printed_model"].str.contains("RM-R1|Think").any()
    assert cell(table, row="trained", column="carb", printed_model="Qwen2.5-14B-Instruct") == [27.0, 82.1]
    own = meeting("think_as_locals", JUDGES, "qwen2.5-7b-instruct")
    assert len(own) == 6 and set(own["printed_model"]) == {"Qwen2.5-7B-Instruct"}
    assert set(own["pairing"]) == {SAME}
