"""Best-of-N and policies trained by GRPO: ratings of picks with ties and bounds, benchmarks next to them, and
policies' answers."""

import numpy as np
import pandas as pd
import pytest
from made_up_sheet import sheet
from support import ROOT, refused, script
from tiny_models import bases  # noqa: F401

from polyreward.carb.downstream.correlation import BEFORE, PICK_COLUMNS, POINT_COLUMNS
from polyreward.core.yaml_files import read_yaml
from polyreward.settings.base import Candidates

carb_picks = script("analyse/carb_picks")
with_benchmarks = script("analyse/carb_points").with_benchmarks
accepted_questions = script("prepare/carb_questions").accepted_questions
policy_answers = script("score/candidates").policy_answers

QUESTIONS = [
    {"id": "q0", "downstream": "ours", "accepted": ["Monday"], "answers": ["Monday.", "Mond", "no", "no"]},
    {"id": "q1", "downstream": "ours", "accepted": ["Winter", "The winter"], "answers": ["x", "the winter", "y", "winter!"]},
]  # fmt: skip
SHORT = {"id": "short-1", "downstream": "short", "accepted": ["arroz", "rice"], "answers": ["arroz", "pan"]}
EXAM = {"id": "exam-1", "downstream": "exam", "options": ["Roma", "Madrid", "París", "Lima"], "right": 1, "answers": ["A", "B"]}  # fmt: skip
OPEN = {"id": "open-1", "downstream": "open", "reference": "Porque sí.", "answers": ["Porque no.", "Porque sí."]}  # fmt: skip


def scored(*rows: list[float], questions=QUESTIONS) -> pd.DataFrame:
    records = [
        (question["id"], candidate, score)
        for question, row in zip(questions, rows, strict=False)
        for candidate, score in enumerate(row)
    ]
    return pd.DataFrame(records, columns=["id", "candidate", "score"])


def picks_of(scores, policy="p", questions=QUESTIONS):
    return carb_picks.pick_table(policy, questions, scores, dict.fromkeys(scores, "classifier"))


def test_picks_ties_and_bounds():
    scores = {"best": scored([9, 1, 0, 0], [0, 3, 0, 0]), "flat": scored([1, 1, 1, 1], [1, 1, 1, 1]),
              "half": scored([5, 0, 5, 0], [1, 0, 0, 0])}  # fmt: skip
    found = picks_of(scores).set_index("scorer")
    # flat is the random pick; half: 1 of 2 tied, then 0
    assert list(found["match"]) == pytest.approx([100, 37.5, 25, 100, 37.5])
    assert found.loc["flat", "chrf"] == pytest.approx(found.loc["random", "chrf"])
    assert found.loc["random", "chrf"] < found.loc["oracle", "chrf"]
    assert list(found["kind"])[-2:] == ["bound", "bound"]
    assert (found["n_questions"] == 2).all() and (found["n_candidates"] == 4).all()
    for few, said in (
        ([], "q1 has 0 scores for 4"),
        ([1, 2, 3], "q1 has 3 scores for 4"),
        (range(5), "q1 has 5 scores"),
        ([1, 2, 3, np.inf], "q1 has 3 scores for 4"),
        ([1, 2, 3, np.nan], "q1 has 3 scores for 4"),
    ):
        assert f"rm: {said}" in refused(picks_of, {"rm": scored([1, 2, 3, 4], few)})


def test_each_set_has_its_own_picks_and_bounds():
    questions = [SHORT, EXAM, OPEN]
    found = picks_of({"rm": scored([1, 0], [1, 0], [1, 0], questions=questions)}, questions=questions)
    assert list(found["downstream"]) == ["short"] * 3 + ["exam"] * 3 + ["open"] * 3
    rm, oracle = (found[found["scorer"] == name].set_index("downstream") for name in ("rm", "oracle"))
    assert rm["match"].to_dict() == {"short": 100, "exam": 0, "open": pytest.approx(np.nan, nan_ok=True)}
    assert rm.loc["open", "chrf"] < oracle.loc["open", "chrf"] == pytest.approx(100)
    sizes = found[["selection", "n_questions", "n_candidates"]].drop_duplicates()
    assert sizes.to_numpy().tolist() == [["best-of-n", 1, 2]] and found["match_se"].isna().all()
    assert len(carb_picks.pooled(pd.concat([found, found.assign(policy="q")]))) == 9


def test_pooling_benchmarks_and_standard_errors_over_questions():
    names, rows = ("rm", "rm-knockout"), {"p": [1, 0, 0, 0], "q": [0, 1, 0, 0]}
    tables = [picks_of(dict.fromkeys(names, scored(row, row)), policy) for policy, row in rows.items()]
    picks = pd.concat([*tables, carb_picks.pooled(pd.concat(tables))])
    assert list(picks.columns) == PICK_COLUMNS
    rm = picks[picks["scorer"] == "rm"].set_index("policy")
    assert rm.loc["all", "match"] == rm.loc[["p", "q"], "match"].mean() == 50
    assert rm.loc["all", "n_questions"] == 4
    assert rm["match_se"].tolist() == pytest.approx([50] * 3)  # 100 and 0 of each policy
    carb = pd.DataFrame({"scorer": [*names, "length"], "carb": [30.0, 31.0, 25.0]})
    carb = carb.assign(low=20.0, high=40.0, missing=None)
    rewardbench = [
        pd.DataFrame({"reward_model": ["rm"], "avg": avg, "avg_low": avg - reach, "avg_high": avg + reach, "missing": None})
        for avg, reach in ((50.0, 3.0), (60.0, 5.0))
    ]  # fmt: skip
    how = sheet(dict.fromkeys(names, "generative"), bases=dict.fromkeys(names, "b")), 0.95
    points = with_benchmarks(picks, carb, rewardbench, *how)
    assert list(points.columns) == POINT_COLUMNS
    assert points.loc[points["scorer"] == "oracle", ["base", "carb", "rewardbench"]].isna().all().all()
    knockout = points[points["scorer"] == "rm-knockout"]
    assert list(knockout["rewardbench"]) == [55, 55, 55] and set(knockout["base"]) == {"b"}
    assert list(knockout["carb_se"]) == pytest.approx([10 / 1.959964] * 3)
    assert list(knockout["rewardbench_se"]) == pytest.approx([4 / 1.959964] * 3)
    incomplete = with_benchmarks(picks, carb, [rewardbench[0].assign(missing="gone")], *how)
    assert set(incomplete["scorer"]) == {"oracle", "random"}  # nor the knock-out of what has no scores


def test_points_have_the_bases_of_the_sheet_and_a_knockout_its_judge_s_score_on_the_other_benchmark():
    """rewardbench has only reward models; a judge and its knock-out differ on CARB."""
    kinds = {
        "gemma_en": "classifier",
        "judge": "generative",
        "judge-knockout": "generative",
        "api": "generative",
    }
    made_up = sheet(kinds, bases={"judge": "qwen", "judge-knockout": "qwen"})
    picks = picks_of(dict.fromkeys(kinds, scored([1, 0, 0, 0], [1, 0, 0, 0])))
    carb = pd.DataFrame({"scorer": list(kinds), "carb": [10.0, 20.0, 30.0, 40.0]})
    carb = carb.assign(low=0.0, high=50.0, missing=None)
    averages = {"reward_model": ["gemma_en", "judge", "api"], "avg": [51.0, 52.0, 53.0]}
    rewardbench = pd.DataFrame(averages).assign(avg_low=50.0, avg_high=54.0, missing=None)
    points = with_benchmarks(picks, carb, [rewardbench], made_up, 0.95).set_index("scorer")
    assert points[["base", "carb", "rewardbench"]].loc[list(kinds)].to_numpy().tolist() == [
        ["gemma", 10, 51], ["qwen", 20, 52], ["qwen", 30, 52], ["api", 40, 53],
    ]  # fmt: skip


def answered(*texts: str) -> list[dict]:
    return [{**question, "answers": [text]} for question, text in zip((SHORT, EXAM), texts, strict=False)]


def test_a_trained_policy_s_answers_are_next_to_those_of_the_policy_before():
    answers, kinds = {"p": answered("pan", "A"), "grpo_rm": answered("arroz", "A")}, {"rm": "classifier"}
    (found,) = carb_picks.trained_tables("p", ["gone", "rm"], answers, kinds)  # one could train none
    assert list(found["scorer"]) == [BEFORE, "rm"] * 2 and list(found["kind"]) == ["bound", "classifier"] * 2
    assert list(found["match"]) == [0, 100, 0, 0]
    assert set(found["selection"]) == {"grpo"} and set(found["n_candidates"]) == {1}
    turned = {**answers, "grpo_rm": answers["grpo_rm"][::-1]}
    said = f"rm: answers other questions than {BEFORE}"
    assert said in refused(carb_picks.trained_tables, "p", ["rm"], turned, kinds)
    assert carb_picks.trained_tables("p", ["gone"], answers, {}) == []
    assert carb_picks.trained_tables(None, [], {}, {}) == []


def test_a_policys_answers_depend_only_on_the_question(bases):  # noqa: F811
    data = read_yaml(ROOT / "resources/carb/questions.yaml")
    questions = accepted_questions(data, ["en", "ja"], "questions.yaml")[5:10]

    def answers(asked, seed=1):
        sampling = Candidates(per_question=3, max_new_tokens=6, chat=False)
        return policy_answers("p", bases["tiny-llama"], asked, sampling, "float32", seed)

    together, separate = answers(questions), answers(questions[::-1][:2])
    assert [row["answers"] for row in together[::-1][:2]] == [row["answers"] for row in separate]
    assert all(len(row["answers"]) == 3 and all(row["answers"]) and row["chosen"] is None for row in together)
    assert not any("\n" in answer for row in together for answer in row["answers"])
    assert answers(questions, 2)[0]["answers"] != together[0]["answers"]
    sampling = Candidates(per_question=2, max_new_tokens=4, chat=True)
    chatting = policy_answers("p", bases["tiny-gemma"], questions[:1], sampling, "float32", 1)
    assert np.shape(chatting[0]["answers"]) == (2,)
