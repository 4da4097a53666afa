"""Best-of-N: questions and their accepted answers, ratings, picks with ties and bounds, and policies'
answers."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import yaml
from support import script
from tiny_models import bases  # noqa: F401

from polyreward.carb.downstream.correlation import PICK_COLUMNS, POINT_COLUMNS
from polyreward.carb.downstream.ratings import NOTHING, answer_ratings
from polyreward.core.errors import PolyrewardError
from polyreward.settings.carb import Candidates

carb_picks = script("analyse/carb_picks")

with_benchmarks = script("analyse/carb_points").with_benchmarks
accepted_questions = script("prepare/carb_questions").accepted_questions
candidates = script("score/candidates")


ROOT = Path(__file__).parents[3]
DATA = yaml.safe_load((ROOT / "resources/carb/questions.yaml").read_text(encoding="utf-8"))
QUESTIONS = [
    {
        "id": "q1",
        "downstream": "ours",
        "prompt": "Q1?",
        "accepted": ["Monday"],
        "answers": ["Monday.", "Mond", "no", "no"],
    },
    {
        "id": "q2",
        "downstream": "ours",
        "prompt": "Q2?",
        "accepted": ["Winter", "The winter"],
        "answers": ["x", "the winter", "y", "winter!"],
    },
]


def scored(*rows: list[float]) -> pd.DataFrame:
    return pd.DataFrame(
        [
            {"id": f"q{n}", "candidate": candidate, "score": score}
            for n, row in enumerate(rows, 1)
            for candidate, score in enumerate(row)
        ]
    )


def test_ratings():
    assert answer_ratings("the winter", ["Winter", "The winter"])["match"] == 100
    assert answer_ratings("Montag", ["Montag", "Sunday"]) == {"match": 100.0, "chrf": pytest.approx(100)}
    assert answer_ratings(NOTHING, ["Montag"]) == {"match": 0.0, "chrf": 0.0}
    assert 0 < answer_ratings("Monta", ["Montag"])["chrf"] < 100


def test_picks_ties_and_bounds():
    scores = {"best": scored([9, 1, 0, 0], [0, 3, 0, 0]), "flat": scored([1, 1, 1, 1], [1, 1, 1, 1]),
              "half": scored([5, 0, 5, 0], [1, 0, 0, 0])}  # fmt: skip
    found = carb_picks.pick_table("p", QUESTIONS, scores, dict.fromkeys(scores, "classifier")).set_index(
        "scorer"
    )
    assert list(found["match"]) == pytest.approx(
        [100, 37.5, 25, 100, 37.5]
    )  # flat is the random pick; half: 1 of 2 tied, then 0
    assert found.loc["flat", "chrf"] == pytest.approx(found.loc["random", "chrf"])
    assert found.loc["random", "chrf"] < found.loc["oracle", "chrf"]
    assert list(found["kind"])[-2:] == ["bound", "bound"]
    assert (found["n_questions"] == 2).all() and (found["n_candidates"] == 4).all()


def test_scores_of_other_questions_are_refused():
    with pytest.raises(PolyrewardError, match="rm: q2 has 0 scores for 4 answers"):
        carb_picks.pick_table("p", QUESTIONS, {"rm": scored([1, 2, 3, 4])}, {"rm": "classifier"})


def test_pooling_and_benchmarks():
    kinds = {"rm": "generative", "rm-knockout": "generative"}
    rows = {"p": [1, 0, 0, 0], "q": [0, 1, 0, 0]}
    tables = [
        carb_picks.pick_table(name, QUESTIONS, dict.fromkeys(kinds, scored(row, row)), kinds)
        for name, row in rows.items()
    ]
    picks = pd.concat([*tables, carb_picks.pooled(pd.concat(tables))])
    assert list(picks.columns) == PICK_COLUMNS
    all_ = picks[(picks["policy"] == "all")].set_index("scorer")
    assert (
        all_.loc["rm", "match"]
        == picks[(picks["scorer"] == "rm") & (picks["policy"] != "all")]["match"].mean()
        == 50
    )
    assert all_.loc["rm", "n_questions"] == 4
    carb = pd.DataFrame(
        {"scorer": ["rm", "rm-knockout", "length"], "carb": [30.0, 31.0, 25.0], "low": 20.0, "high": 40.0}
    )
    carb = carb.assign(missing=None)
    rewardbench = [
        pd.DataFrame(
            {
                "reward_model": ["rm"],
                "avg": [avg],
                "avg_low": [avg - reach],
                "avg_high": [avg + reach],
                "missing": [None],
            }
        )
        for avg, reach in ((50.0, 3.0), (60.0, 5.0))
    ]
    points = with_benchmarks(picks, carb, rewardbench, {"rm-knockout": "rm"}, dict.fromkeys(kinds, "b"), 0.95)
    assert list(points.columns) == POINT_COLUMNS
    assert list(points.loc[points["scorer"] == "rm-knockout", "rewardbench"]) == [55, 55, 55]
    assert points.loc[points["scorer"] == "oracle", ["base", "carb", "rewardbench"]].isna().all().all()
    knockout = points[points["scorer"] == "rm-knockout"]
    assert list(knockout["carb_se"]) == pytest.approx([10 / 1.959964] * 3)
    assert list(knockout["rewardbench_se"]) == pytest.approx([4 / 1.959964] * 3) and set(
        knockout["base"]
    ) == {"b"}
    incomplete = with_benchmarks(
        picks,
        carb,
        [rewardbench[0].assign(missing="gone")],
        {"rm-knockout": "rm"},
        dict.fromkeys(kinds, "b"),
        0.95,
    )
    assert set(incomplete["scorer"]) == {"oracle", "random"}  # nor the knock-out of what has no scores


def test_a_rating_s_standard_error_is_over_questions():
    found = carb_picks.pick_table(
        "p", QUESTIONS, {"rm": scored([1, 0, 0, 0], [1, 0, 0, 0])}, {"rm": "classifier"}
    ).set_index("scorer")
    assert found.loc["rm", "match"] == 50 and found.loc["rm", "match_se"] == pytest.approx(50)  # 100 and 0
    assert carb_picks.pooled(pd.concat([found.reset_index()] * 2)).set_index("scorer").loc[
        "rm", "match_se"
    ] == pytest.approx(50)
    assert np.isnan(carb_picks.standard_error(np.array([1.0]))) and carb_picks.standard_error(
        np.array([1.0, 2, 3, 4])
    ) == pytest.approx(0.6455, abs=1e-4)


def test_a_policys_answers_depend_on_the_question_alone(bases):  # noqa: F811
    questions = accepted_questions(DATA, ["en", "ja"], "questions.yaml")[5:10]
    sampling = Candidates(per_question=3, temperature=1.0, max_new_tokens=6, chat=False)
    together = candidates.policy_answers("p", bases["tiny-llama"], questions, sampling, "float32", 1)
    separate = candidates.policy_answers(
        "p", bases["tiny-llama"], questions[::-1][:2], sampling, "float32", 1
    )
    assert [row["answers"] for row in together[::-1][:2]] == [row["answers"] for row in separate]
    assert all(len(row["answers"]) == 3 and all(row["answers"]) and row["chosen"] is None for row in together)
    assert not any("\n" in answer for row in together for answer in row["answers"])
    assert (
        candidates.policy_answers("p", bases["tiny-llama"], questions, sampling, "float32", 2)[0]["answers"]
        != together[0]["answers"]
    )
    sampling = Candidates(per_question=2, temperature=0.7, max_new_tokens=4, chat=True)
    chatting = candidates.policy_answers("p", bases["tiny-gemma"], questions[:1], sampling, "float32", 1)
    assert np.shape(chatting[0]["answers"]) == (2,)
