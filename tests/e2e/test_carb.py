"""Everything of the CARB paper, and what is of both papers."""

import json

import pandas as pd
import pytest
from flow import LANGUAGES, REGISTRY, check_pages, outputs_of

from polyreward.analysis.verdicts import HOLDS, VERDICTS
from polyreward.carb.culture.books import BOOKS
from polyreward.core.files import read_jsonl
from polyreward.think_as_locals.learning import ALIKE


def check_carb_claims(results):
    """Check that CARB's claims agree with its tables, and come after the transfer paper's."""
    claims = pd.read_csv(results / "claims.csv").set_index("claim")
    assert list(claims["paper"].unique()) == ["transfer", "carb"] and claims["verdict"].isin(VERDICTS).all()
    estimate = claims["estimate"]
    assert (claims["null"].notna() == estimate.notna()).all()
    surface = claims.loc["surface_moves_scores_more_than_culture"]
    index = pd.read_csv(results / "carb_perturbation.csv").set_index("scorer")["index"]
    # Random models move with the number of characters, as length does: below zero, with length in the interval.
    assert surface["low"] < surface["null"] < surface["high"] < 0 and surface["verdict"] != HOLDS
    judges = (
        pd.read_csv(results / "carb_think_as_locals.csv").set_index("judge").loc["full - base-with-criteria"]
    )
    means = pd.read_csv(results / "carb_leaderboard.csv").groupby("kind")["carb"].mean()
    rewardbench = claims.loc["think_as_locals_lifts_rewardbench"]
    for ours, theirs in (
        (surface["null"], index["length"].iloc[0]),
        (estimate["generative_beats_classifiers"], means["generative"] - means["classifier"]),
        (estimate["think_as_locals_lifts_carb"], judges["carb"]),
        (rewardbench["low"], judges["rewardbench_low"]),
        (rewardbench["high"], judges["rewardbench_high"]),
    ):
        assert ours == pytest.approx(theirs, abs=1e-5)
    assert (
        abs(estimate["best_generative_beats_best_classifier"]) <= 100
    )  # of halves of the topics, in no table


def check_validity(results):
    """Check that Figure 5 and the correlations have both ways to choose answers, of the one set."""
    correlation, points = (pd.read_csv(results / f"carb_{name}.csv") for name in ("correlation", "figure5"))
    assert set(correlation["downstream"]) == set(points["downstream"]) == {"questions"}
    assert set(correlation["policy"]) == {"tiny-gemma", "tiny-llama", "all"}
    few = correlation[correlation["selection"] == "grpo"]
    assert set(few["n"]) == {2} and set(few["verdict"]) == {"not decided: 2 reward models"}
    assert few["slope"].isna().all()
    assert correlation.loc[correlation["selection"] == "best-of-n", "n"].ge(8).all()
    trained = points[points["selection"] == "grpo"].set_index("scorer")
    assert list(trained.index) == ["before GRPO", "tiny-llama_en", "tiny-judge"]
    assert set(trained["n_candidates"]) == {1} and trained["chrf"].between(0, 100).all()
    assert trained.loc["before GRPO", ["carb", "rewardbench"]].isna().all()
    assert pd.read_csv(results / "carb_figure4.csv")["n"].ge(8).all()  # only best-of-N


def check_r_corr(learning):
    """Check that random models, which name one label whatever they are asked, have learnt nothing, and no
    interval of it."""
    assert abs(learning["r_corr"]).max() < ALIKE
    assert learning[["r_corr_low", "r_corr_high"]].isna().all(axis=None)
    assert set(learning["right_pct"].dropna()) == {50}
    assert set(learning["consistent_pct"].dropna()) == set(learning["in_form_pct"].dropna()) == {0}


def check_culture(results):
    """Check that place quartets are scored in all languages of the scale, and that leak tests are at chance."""
    table = pd.read_csv(results / "carb_culture.csv", dtype={"asks": str})
    assert set(table["language"]) == set(LANGUAGES) and set(table["asks"]) == {"fact", "format", *BOOKS}
    books = table[table["asks"].isin(BOOKS)]
    assert (books["topics"] == 10).all() and books["low"].notna().all()
    assert not set(books["scorer"]) ^ set(table.loc[table["asks"] == "fact", "scorer"])
    facts = table[table["asks"] == "fact"].set_index(["scorer", "language"])
    cut = facts["note"].dropna()  # tiny's tokenizer makes Korean long, and a judge reads four answers at once
    assert list(cut.index) == [("tiny-judge", "ko")] and cut.str.contains("too long and lost").all()
    assert facts["low"].notna().all()
    assert (facts.loc["length", ["swaps", "centred"]] == [50, 25]).all(axis=None)
    # What PMI takes off is the same for all four prompts
    assert (facts.loc["pmi-tiny-gemma", "swaps"] == facts.loc["loglik-tiny-gemma", "swaps"]).all()
    assert table.loc[table["asks"] == "format", "low"].isna().all()
    lead = pd.read_csv(results / "carb_culture_differences.csv").set_index(["scorer", "minus", "language"])
    own = facts.loc[("tiny-gemma_en", "en"), "swaps"] - facts.loc[("pmi-tiny-gemma", "en"), "swaps"]
    assert lead.loc[("tiny-gemma_en", "pmi-tiny-gemma", "en"), "swaps"] == pytest.approx(own, abs=1e-5)


@pytest.mark.slow
def test_the_cultural_benchmark_is_made_scored_and_drawn(tiny):
    for name, artifact in REGISTRY.items():
        assert (tiny / artifact["target"]).stat().st_size > 100, name
    check_culture(tiny)
    leaderboard = pd.read_csv(tiny / "carb_leaderboard.csv")
    assert {"tiny-gemma_en", "length", "tiny-judge"} <= set(leaderboard["scorer"])
    assert leaderboard["carb"].between(0, 100).all()
    perturbations = pd.read_csv(tiny / "carb_perturbation.csv")
    of_locals = perturbations["scorer"].str.startswith("locals-")
    others = perturbations[~of_locals]
    assert set(others["scorer"]) == set(leaderboard["scorer"]) - {
        "script", "chance", "tiny-judge-knockout", "loglik-tiny-gemma", "loglik-tiny-llama",
        "pmi-tiny-gemma", "pmi-tiny-llama",
    }  # fmt: skip
    assert others["index"].between(-1, 1).all() and set(others["n_items"]) == {40}
    judged = perturbations[of_locals].drop_duplicates("scorer").set_index("scorer")
    assert set(judged.index) == {"locals-base", "locals-without-criteria", "locals-with-criteria"}
    assert set(judged["n_items"]) == {8}  # of two cultures
    assert judged.loc["locals-base", "index"] > -1
    assert "replies in form" in judged.loc["locals-with-criteria", "note"]
    consistency = pd.read_csv(tiny / "carb_consistency.csv")
    assert consistency["consistency"].between(0, 1).all()
    assert consistency.groupby("scorer").size().eq(45).all()
    check_carb_claims(tiny)
    check_validity(tiny)
    outputs = outputs_of(tiny / "notebooks/carb.ipynb")
    assert sum("image/png" in output["data"] for output in outputs) == 6
    best = leaderboard.iloc[0]
    assert f"{best['carb']:.1f} [{best['low']:.1f}, {best['high']:.1f}]" in str(outputs)
    check_pages(tiny)
    curves = pd.read_csv(tiny / "carb_locals_curves.csv")
    runs = ("full", "no-corr", "no-appr", "no-criteria")
    assert curves.groupby("run")["step"].max().to_dict() == dict.fromkeys(runs, 4)
    learning = pd.read_csv(tiny / "carb_locals_learning.csv").set_index("judge")
    assert learning.loc[["base-with-criteria", "full"], "n_seeds"].tolist() == [1, 2]
    check_r_corr(learning)
    judges = pd.read_csv(tiny / "carb_think_as_locals.csv").set_index("judge")
    assert judges.loc["base-with-criteria", "n_replies"] > 0
    full, other = judges.loc["full"], judges.loc["tiny-judge"]
    assert 0 <= other["carb"] <= 100 and other["n_items"] == full["n_items"]
    difference = full["mean"] - other["mean"]
    assert judges.loc["full - tiny-judge", "mean"] == pytest.approx(difference, abs=1e-5)
    assert judges.loc["base", "n_replies"] == 0 < judges.loc["full", "n_replies"]


@pytest.mark.slow
def test_a_policy_that_a_judge_rewards_is_trained_and_answers_what_the_policy_before_answered(tiny):
    scores, policies = tiny / "work/5_scores/grpo", tiny / "work/4_models/policies"
    before, after = (read_jsonl(scores / name) for name in ("start.jsonl", "answers/tiny-judge.jsonl"))
    assert [row["id"] for row in before] == [row["id"] for row in after] and len(after) == 80
    assert all(len(row["answers"]) == 1 and row["answers"][0] for row in [*before, *after])
    record = json.loads((policies / "grpo_tiny-judge/training.json").read_text(encoding="utf-8"))
    rewards = [step["reward"] for step in record["steps"] if "reward" in step]
    assert len(rewards) == 2 and record["questions"] == 8 and record["groups"] == 2
    assert not list(policies.glob("checkpoints/grpo_*"))
