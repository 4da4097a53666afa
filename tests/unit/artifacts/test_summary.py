"""The counts that prose quotes, of made-up tables with known ones."""

import pandas as pd
from support import script

summary_table = script("artifacts/summary").summary_table


def tables():
    table1 = pd.DataFrame({
        "rm_training": ["target", "english", "delta"] * 2,
        "avg_low": [51, 45, -4, 55, None, 1], "avg_high": [60, 49, 3, 70, None, 9],
    })  # fmt: skip
    baselines = pd.DataFrame({
        "benchmark": ["main", "main", "main", "twins"], "slice": ["all", "all", "longer", "all"],
        "kind": ["reward model", "baseline", "reward model", "reward model"],
        "avg_low": [51, 52, 53, 54], "avg_high": [60, 60, 60, 60],
    })  # fmt: skip
    return {
        "table1": table1,
        "baselines": baselines,
        "transfer_gap": pd.DataFrame({
            "base_model": ["a", "b", "a - b"], "source_pct": [70, 60, None], "low": [1, -3, 2], "high": [4, -1, 5],
        }),
        "claims": pd.DataFrame({
            "paper": ["transfer", "carb", "transfer"], "verdict": ["holds", "not decided", "fails"],
        }),
        "carb_leaderboard": pd.DataFrame({
            "kind": ["classifier", "baseline"], "low": [26, 27], "high": [40, 40],
        }),
        "carb_perturbation": pd.DataFrame({
            "scorer": ["a", "a", "b"], "index_low": [-0.4, -0.4, 0.1], "index_high": [-0.2, -0.2, 0.4],
        }),
    }  # fmt: skip


def test_intervals_and_verdicts_are_counted():
    found = summary_table(tables(), "main").set_index("name")
    expected = {
        "table1_averages_above": (2, 3),  # the row without an interval does not count
        "table1_averages_below": (1, 3),
        "table1_differences_above": (1, 2),
        "table1_differences_below": (0, 2),
        "reward_models_above": (1, 1),  # neither other pairs nor other benchmarks
        "baselines_above": (1, 1),
        "transfer_gaps_above": (1, 2),  # the difference of two bases' gaps does not count
        "transfer_gaps_below": (1, 2),
        "carb_above": (1, 1),
        "carb_index_above": (1, 2),  # a scorer has a row for each rewrite, and counts once
        "carb_index_below": (1, 2),
        "transfer_claims_holds": (1, 2),
        "transfer_claims_fails": (1, 2),
        "transfer_claims_not_decided": (0, 2),
        "carb_claims_not_decided": (1, 1),
    }
    assert {name: tuple(found.loc[name, ["count", "of"]]) for name in expected} == expected
