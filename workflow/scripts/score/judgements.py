"""Judge the answers of every policy against the reference answers, in both orders."""

from collections.abc import Sequence

import numpy as np
import pandas as pd

from polyreward.alignment.win_rates import JUDGEMENT_COLUMNS
from polyreward.core.files import read_jsonl
from polyreward.core.logs import announce
from polyreward.core.tables import write_table
from polyreward.ops.jobs import run
from polyreward.scoring.families import load_reward_model
from polyreward.scoring.interface import Conversations, RewardModel
from polyreward.scoring.pair_question import PairJudge


def judgements(
    answers: Sequence[dict], references: Sequence[dict], judge: RewardModel, language: str
) -> pd.DataFrame:
    """Judge responses (policy, run, id, response) against reference answers (id, prompt, reference).

    win: 1 where the judge scores the response above the reference, 0.5 where alike, else 0; of a judge that
    weighs probabilities it is the response's. margin: the response's score minus the reference's. Lengths in
    characters. An empty response loses without being judged."""
    weighs = isinstance(judge, PairJudge) and judge.weighs
    by_id = {row["id"]: row for row in references}
    asked = [row for row in answers if row["response"].strip()]
    conversations = [
        Conversations(by_id[row["id"]]["prompt"], (row["response"], by_id[row["id"]]["reference"]))
        for row in asked
    ]
    scored = iter(judge.score(conversations, f"judge, {language}").values if conversations else [])
    records = []
    for row in answers:
        response, reference = row["response"].strip(), by_id[row["id"]]["reference"]
        of_response, of_reference = map(float, next(scored)) if response else (0.0, np.inf)
        margin = of_response - of_reference
        records.append(
            {
                "language": language,
                "policy": row["policy"],
                "run": row["run"],
                "id": row["id"],
                "win": of_response if weighs else (np.sign(margin) + 1) / 2,
                "margin": margin,
                "length_response": len(response),
                "length_reference": len(reference),
            }
        )
    table = pd.DataFrame(records, columns=JUDGEMENT_COLUMNS)
    if (table["win"] == 0.5).all():
        announce(
            f"judge, {language}: every comparison is a tie. A judge that names the same place for every pair"
            " gives that."
        )
    return table


def main(snakemake):
    params, language = snakemake.params, snakemake.wildcards.language
    judge = load_reward_model(params.entry, params.scoring, params.cache)
    answers, references = read_jsonl(snakemake.input.answers), read_jsonl(snakemake.input.instructions)
    table = judgements(answers, references, judge, language)
    write_table(table, snakemake.output[0], JUDGEMENT_COLUMNS)


if __name__ == "__main__":
    run(main, globals().get("snakemake"))
