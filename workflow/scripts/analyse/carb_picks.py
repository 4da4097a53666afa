"""Rate the answers that each reward model picks, and those of the policies that it trained."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

import numpy as np
import pandas as pd

from polyreward.carb.downstream.correlation import BEFORE, PICK_COLUMNS, PICK_ERRORS, RATINGS
from polyreward.carb.downstream.ratings import question_ratings
from polyreward.carb.leaderboard import by_scorer
from polyreward.core.errors import raise_all
from polyreward.core.files import read_jsonl
from polyreward.core.naming import BEST_OF_N, GRPO
from polyreward.core.tables import write_table
from polyreward.ops.jobs import run


def rated(questions: Sequence[dict]) -> dict[str, np.ndarray]:
    """Return {rating: (questions, candidates)} for a policy's answers."""
    ratings = [
        [question_ratings(question, answer) for answer in question["answers"]] for question in questions
    ]
    return {
        name: np.array([[of_answer[name] for of_answer in answers] for answers in ratings])
        for name in RATINGS
    }


def grouped(rows: Iterable[dict], key: str) -> dict[str, list[dict]]:
    """Return {value of a key: its rows}, in their order."""
    found = defaultdict(list)
    for row in rows:
        found[row[key]].append(row)
    return dict(found)


def pick_table(
    policy: str, questions: Sequence[dict], scores: dict[str, pd.DataFrame], kinds: dict[str, str]
) -> pd.DataFrame:
    """Return each set's mean rating of each reward model's picks, of the best and of a random candidate.

    Candidates that share the top score count alike. match_se, chrf_se: standard errors over questions."""
    tables = []
    for downstream, asked in grouped(questions, "downstream").items():
        ratings, picked = rated(asked), {}
        for name, table in scores.items():
            weights = _pick_weights(name, table, asked)
            picked[name] = {rating: (values * weights).sum(axis=1) for rating, values in ratings.items()}
        picked["oracle"] = {rating: values.max(axis=1) for rating, values in ratings.items()}
        picked["random"] = {rating: values.mean(axis=1) for rating, values in ratings.items()}
        sizes = {"n_questions": len(asked), "n_candidates": len(asked[0]["answers"])}
        tables.append(_means(picked, kinds).assign(downstream=downstream, **sizes))
    return pd.concat(tables).assign(selection=BEST_OF_N, policy=policy)[PICK_COLUMNS]


def trained_tables(
    start: str, models: Iterable[str], answers: Mapping[str, Sequence[dict]], kinds: dict[str, str]
) -> list[pd.DataFrame]:
    """Return the table of the policies that reward models trained from a policy, or none, in a list.

    answers: {policy: its questions with an answer each}, without that of a model that could train none."""
    given = {name: answers[f"grpo_{name}"] for name in models if f"grpo_{name}" in answers}
    return [trained_table(start, {BEFORE: answers[start], **given}, kinds)] if given else []


def trained_table(policy: str, answers: Mapping[str, Sequence[dict]], kinds: dict[str, str]) -> pd.DataFrame:
    """Return for each set the mean rating of the one answer of each policy trained by GRPO.

    answers: {reward model, or BEFORE: the questions with an answer each}. Raises PolyrewardError where not
    all answer the same questions."""
    ids = {name: [question["id"] for question in questions] for name, questions in answers.items()}
    first, asked = next(iter(ids.items()))
    others = [name for name, of_policy in ids.items() if of_policy != asked]
    raise_all(
        (f"{name}: answers other questions than {first}; answer them again" for name in others),
        "policies trained by GRPO",
    )
    by_set = {name: grouped(found, "downstream") for name, found in answers.items()}
    tables = []
    for downstream, questions in by_set[first].items():
        ratings = {
            name: {rating: values[:, 0] for rating, values in rated(found[downstream]).items()}
            for name, found in by_set.items()
        }
        tables.append(_means(ratings, kinds).assign(downstream=downstream, n_questions=len(questions)))
    return pd.concat(tables).assign(selection=GRPO, policy=policy, n_candidates=1)[PICK_COLUMNS]


def _means(picked: Mapping[str, Mapping[str, np.ndarray]], kinds: dict[str, str]) -> pd.DataFrame:
    """Return a row per scorer of the means of {scorer: {rating: (questions,)}}, with standard errors."""
    records = []
    for name, of_picks in picked.items():
        means = {rating: values.mean() for rating, values in of_picks.items()}
        errors = {f"{rating}_se": standard_error(values) for rating, values in of_picks.items()}
        records.append({"scorer": name, "kind": kinds.get(name, "bound"), **means, **errors})
    return pd.DataFrame(records)


def standard_error(values: np.ndarray) -> float:
    """Return the standard error of the mean of some values; nan of a single one."""
    return float(values.std(ddof=1) / np.sqrt(len(values))) if len(values) > 1 else float("nan")


def _pick_weights(name: str, table: pd.DataFrame, questions: Sequence[dict]) -> np.ndarray:
    """Return (questions, candidates): each question's weight, shared by the candidates with the top score."""
    wide = table.pivot(index="id", columns="candidate", values="score")
    values = wide.reindex([question["id"] for question in questions]).to_numpy(float)
    problems = [
        f"{name}: {q['id']} has {np.isfinite(row).sum()} scores for {len(q['answers'])} answers"
        for q, row in zip(questions, values, strict=True)
        if np.isfinite(row).sum() != len(q["answers"])
    ]
    raise_all(problems, "picks; score the candidates again")
    at_top = values == values.max(axis=1, keepdims=True)
    return at_top / at_top.sum(axis=1, keepdims=True)


def pooled(picks: pd.DataFrame) -> pd.DataFrame:
    """Return the picks' means over policies, as those of a policy "all", for each set and selection.

    Standard errors are means too, which is an upper bound: policies answer the same questions.
    """
    how = {**dict.fromkeys([*RATINGS, *PICK_ERRORS], "mean"), "n_questions": "sum", "n_candidates": "first"}
    totals = picks.groupby(["downstream", "selection", "scorer", "kind"], sort=False).agg(how)
    return totals.reset_index().assign(policy="all")[PICK_COLUMNS]


def main(snakemake):
    params, inputs = snakemake.params, snakemake.input
    scores = by_scorer(inputs.scores, params.kinds, "candidates")
    candidates = grouped(read_jsonl(inputs.candidates), "policy")
    picks = []
    for policy in params.policies:
        of_policy = {name: table[table["policy"] == policy] for name, table in scores.items()}
        picks.append(pick_table(policy, candidates[policy], of_policy, params.kinds))
    files = [*inputs.before, *inputs.trained]
    answers = grouped(read_jsonl(files), "policy")
    picks += trained_tables(params.start, params.trained, answers, params.kinds)
    write_table(pd.concat([*picks, pooled(pd.concat(picks))]), snakemake.output[0], PICK_COLUMNS)


if __name__ == "__main__":
    run(main, globals().get("snakemake"))
