"""Let judges reply to some questions that they were not trained on, before and after training."""

from collections.abc import Sequence

import pandas as pd
import torch

from polyreward.core.files import read_jsonl
from polyreward.core.tables import write_table
from polyreward.ops.jobs import run
from polyreward.scoring.criteria_judge import LocalsJudge
from polyreward.scoring.criteria_layout import LABELS, read_reply
from polyreward.scoring.families import load_reward_model

COLUMNS = ["judge", "culture", "id", "prompt", "answer_a", "answer_b", "right", "verdict", "fault", "reply"]


def sampled_replies(
    judge: LocalsJudge, name: str, questions: Sequence[dict], temperature: float, seed: int
) -> pd.DataFrame:
    """Return a judge's reply to each question, with its verdict or its fault; the same for the same seed.

    questions: as pairs.both_orders returns them."""
    torch.manual_seed(seed % 2**31)
    sampling = {"do_sample": True, "temperature": temperature, "top_k": 0, "top_p": 1.0}
    texts = judge.texts([asked["request"] for asked in questions], f"samples of {name}", **sampling)
    records = []
    for asked, (text, ended) in zip(questions, texts, strict=True):
        pair, read = asked["pair"], read_reply(text, ended)
        first, second = (pair["chosen"], pair["rejected"])[:: 1 if asked["right"] == LABELS[0] else -1]
        records.append(
            {
                "judge": name,
                "culture": pair["culture"],
                "id": asked["id"],
                "prompt": pair["prompt"],
                "answer_a": first,
                "answer_b": second,
                "right": asked["right"],
                "verdict": read.verdict,
                "fault": read.fault,
                "reply": text,
            }
        )
    return pd.DataFrame(records, columns=COLUMNS)


def main(snakemake):
    params, questions = snakemake.params, read_jsonl(snakemake.input.questions)
    tables = []
    for name, entry in params.entries.items():
        judge = load_reward_model(entry, params.scoring, params.cache)
        tables.append(sampled_replies(judge, name, questions, params.temperature, params.seed))
    write_table(pd.concat(tables), snakemake.output[0], COLUMNS)


if __name__ == "__main__":
    run(main, globals().get("snakemake"))
