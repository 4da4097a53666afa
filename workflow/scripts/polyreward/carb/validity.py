"""Best-of-N: how good the answers are that each reward model picks from a policy's, beside the best and a random pick."""

from collections.abc import Sequence

import numpy as np
import pandas as pd
from sacrebleu.metrics import CHRF
from scipy.stats import norm

from polyreward.carb.answers import matches
from polyreward.carb.correlation import POINT_COLUMNS, RATINGS
from polyreward.core.errors import raise_all

PICK_ERRORS = [f"{rating}_se" for rating in RATINGS]
PICK_COLUMNS = ["policy", "scorer", "kind", *RATINGS, *PICK_ERRORS, "n_questions", "n_candidates"]


def answer_ratings(answer: str, accepted: Sequence[str]) -> dict[str, float]:
    """Rate an answer from 0 to 100. match: whether it says an accepted one; chrf: against the nearest of these."""
    return {
        "match": 100.0 * matches(answer, accepted),
        "chrf": max(CHRF().sentence_score(answer, [text]).score for text in accepted),
    }


def rated(questions: Sequence[dict]) -> dict[str, np.ndarray]:
    """Return {rating: (questions, candidates)} for a policy's answers."""
    ratings = [[answer_ratings(answer, question["accepted"]) for answer in question["answers"]] for question in questions]
    return {name: np.array([[of_answer[name] for of_answer in answers] for answers in ratings]) for name in RATINGS}


def pick_table(policy: str, questions: Sequence[dict], scores: dict[str, pd.DataFrame], kinds: dict[str, str]) -> pd.DataFrame:
    """Return the mean rating of each reward model's picks, and of the bounds: the best candidate ("oracle"), and a random one.

    scores: {reward model: item_scores' rows}. match_se, chrf_se: standard errors, over questions. Candidates that share the top
    score count alike. Raises PolyrewardError where scores are not of these questions, or not a number."""
    ratings = rated(questions)
    shape = next(iter(ratings.values())).shape
    picked = {}
    for name, table in scores.items():
        weights = _pick_weights(name, table, questions)
        picked[name] = {rating: (values * weights).sum(axis=1) for rating, values in ratings.items()}
    picked["oracle"] = {rating: values.max(axis=1) for rating, values in ratings.items()}
    picked["random"] = {rating: values.mean(axis=1) for rating, values in ratings.items()}
    records = [
        {
            "scorer": name,
            "kind": kinds.get(name, "bound"),
            **{rating: values.mean() for rating, values in of_picks.items()},
            **{f"{rating}_se": standard_error(values) for rating, values in of_picks.items()},
        }
        for name, of_picks in picked.items()
    ]
    return pd.DataFrame(records).assign(policy=policy, n_questions=shape[0], n_candidates=shape[1])[PICK_COLUMNS]


def standard_error(values: np.ndarray) -> float:
    """Return the standard error of the mean of some values; nan of a single one."""
    return float(values.std(ddof=1) / np.sqrt(len(values))) if len(values) > 1 else float("nan")


def _pick_weights(name: str, table: pd.DataFrame, questions: Sequence[dict]) -> np.ndarray:
    """Return (questions, candidates): each question's weight, shared out over the candidates with the top score."""
    values = table.pivot(index="id", columns="candidate", values="score").reindex([q["id"] for q in questions]).to_numpy(float)
    problems = [f"{name}: {q['id']} has no score" for q, row in zip(questions, values, strict=True) if np.isnan(row).any()]
    raise_all(problems, "picks; score the candidates again")
    at_top = values == values.max(axis=1, keepdims=True)
    return at_top / at_top.sum(axis=1, keepdims=True)


def pooled(picks: pd.DataFrame) -> pd.DataFrame:
    """Return the picks' means over policies, as those of a policy "all".

    Standard errors are means, too, which is what they are at the most: policies answer the same questions."""
    totals = picks.groupby(["scorer", "kind"], sort=False)[[*RATINGS, *PICK_ERRORS, "n_questions", "n_candidates"]].agg(
        {**dict.fromkeys([*RATINGS, *PICK_ERRORS], "mean"), "n_questions": "sum", "n_candidates": "first"}
    )
    return totals.reset_index().assign(policy="all")[PICK_COLUMNS]


def with_benchmarks(
    picks: pd.DataFrame,
    carb: pd.DataFrame,
    rewardbench: Sequence[pd.DataFrame],
    of_model: dict[str, str],
    bases: dict[str, str],
    confidence: float,
) -> pd.DataFrame:
    """Put each scorer's score on the two benchmarks beside its picks; bounds have none. Returns POINT_COLUMNS.

    carb: the leaderboard. rewardbench: reports.language_table of each language; its score is the mean over languages.
    of_model: {scorer: the reward model that it is}, for those that pick among pairs as another does. bases: {scorer: the base it
    stands on}. confidence: of both tables' intervals, whose half a standard error is taken from, by the normal's quantile: at the
    most what it is. A scorer without scores on either benchmark is left out."""
    everywhere = pd.concat(rewardbench)
    lacking = {*carb.dropna(subset="missing")["scorer"], *everywhere.dropna(subset="missing")["reward_model"]}
    picks = picks[~picks["scorer"].isin(lacking) & ~picks["scorer"].map(of_model).isin(lacking)]
    on_average = everywhere.groupby("reward_model")[["avg", "avg_low", "avg_high"]].mean()
    scorers, of_carb = picks["scorer"], carb.set_index("scorer")
    models, reach = scorers.map(of_model).fillna(scorers), 2 * norm.ppf(0.5 + confidence / 2)
    return picks.assign(
        base=scorers.map(bases),
        carb=scorers.map(of_carb["carb"]),
        carb_se=scorers.map((of_carb["high"] - of_carb["low"]) / reach),
        rewardbench=models.map(on_average["avg"]),
        rewardbench_se=models.map((on_average["avg_high"] - on_average["avg_low"]) / reach),
    )[POINT_COLUMNS]
