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
from polyreward.core.sheet import kinds, read_sheet
from polyreward.core.tables import scorers_of, write_table
from polyreward.ops.jobs import run

CANDIDATE = ["id", "candidate"]


def rated(questions: Iterable[dict]) -> pd.DataFrame:
    """Return a row per answer: downstream, id, candidate and RATINGS."""
    return pd.DataFrame(
        {"downstream": row["downstream"], "id": row["id"], "candidate": n, **question_ratings(row, answer)}
        for row in questions
        for n, answer in enumerate(row["answers"])
    )


def pick_table(
    policy: str, questions: Sequence[dict], scores: dict[str, pd.DataFrame], kinds: dict[str, str]
) -> pd.DataFrame:
    """Return each set's mean rating of each reward model's picks, of the best and of a random candidate.

    Candidates that share the top score count alike. match_se, chrf_se: standard errors over questions."""
    answers, problems, picked = rated(questions), [], {}
    sizes = answers.groupby("id", sort=False).size()
    for name, table in scores.items():
        counts = table[np.isfinite(table["score"])].groupby("id").size().reindex(sizes.index, fill_value=0)
        odd = counts.index[counts != sizes]
        problems += (f"{name}: {id_} has {counts[id_]} scores for {sizes[id_]} answers" for id_ in odd)
        found = answers.merge(table[[*CANDIDATE, "score"]], on=CANDIDATE)
        picked[name] = found[found["score"] == found.groupby("id")["score"].transform("max")]
    raise_all(problems, "picks; score the candidates again")
    of_question = answers.groupby(["downstream", "id"], sort=False)[RATINGS]
    picked |= {"oracle": of_question.max().reset_index(), "random": answers}
    table, last = _means(picked, kinds), answers.groupby("downstream")["candidate"].max()
    how = {"selection": BEST_OF_N, "policy": policy, "n_candidates": table["downstream"].map(last) + 1}
    return table.assign(**how)[PICK_COLUMNS]


def trained_tables(
    start: str, models: Iterable[str], answers: Mapping[str, Sequence[dict]], kinds: dict[str, str]
) -> list[pd.DataFrame]:
    """Return the mean ratings of the policies that reward models trained by GRPO from a policy, in a list.

    answers: {policy: its questions with an answer each}; a model that could train none has none. Raises
    PolyrewardError where not all answer the same questions."""
    found = {name: answers[f"grpo_{name}"] for name in models if f"grpo_{name}" in answers}
    if not found:
        return []
    asked = [question["id"] for question in answers[start]]
    others = (name for name, rows in found.items() if [question["id"] for question in rows] != asked)
    fault = f"answers other questions than {BEFORE}; answer them again"
    raise_all((f"{name}: {fault}" for name in others), "policies trained by GRPO")
    table = _means({name: rated(rows) for name, rows in {BEFORE: answers[start], **found}.items()}, kinds)
    return [table.assign(selection=GRPO, policy=start, n_candidates=1)[PICK_COLUMNS]]


def _means(picked: Mapping[str, pd.DataFrame], kinds: dict[str, str]) -> pd.DataFrame:
    """Return each scorer's mean ratings of a set's questions, set after set; picked: the answers of each."""
    tables = []
    for name, rows in picked.items():
        of_sets = (
            rows.groupby(["downstream", "id"], sort=False)[RATINGS].mean().groupby("downstream", sort=False)
        )
        table = of_sets.mean().join(of_sets.sem().add_suffix("_se")).assign(n_questions=of_sets.size())
        tables.append(table.reset_index().assign(scorer=name, kind=kinds.get(name, "bound")))
    order = list(tables[0]["downstream"]).index
    return pd.concat(tables).sort_values("downstream", key=lambda sets: sets.map(order), kind="stable")


def pooled(picks: pd.DataFrame) -> pd.DataFrame:
    """Return the picks' means over policies, as those of a policy "all", for each set and selection.

    Standard errors are means too, which is an upper bound: policies answer the same questions."""
    how = {**dict.fromkeys([*RATINGS, *PICK_ERRORS], "mean"), "n_questions": "sum", "n_candidates": "first"}
    totals = picks.groupby(["downstream", "selection", "scorer", "kind"], sort=False).agg(how)
    return totals.reset_index().assign(policy="all")[PICK_COLUMNS]


def _by_policy(paths: Sequence) -> dict[str, list[dict]]:
    found = defaultdict(list)
    for row in read_jsonl(paths):
        found[row["policy"]].append(row)
    return found


def main(snakemake):
    params, inputs = snakemake.params, snakemake.input
    of_scorer = kinds(read_sheet(inputs.sheet), scorers_of(inputs.scores))
    scores, candidates = by_scorer(inputs.scores, of_scorer, "candidates"), _by_policy(inputs.candidates)
    picks = []
    for policy in params.policies:
        of_policy = {name: table[table["policy"] == policy] for name, table in scores.items()}
        picks.append(pick_table(policy, candidates[policy], of_policy, of_scorer))
    answers = _by_policy([*inputs.before, *inputs.trained])
    picks += trained_tables(params.start, params.trained, answers, of_scorer)
    write_table(pd.concat([*picks, pooled(pd.concat(picks))]), snakemake.output[0], PICK_COLUMNS)


if __name__ == "__main__":
    run(main, globals().get("snakemake"))
