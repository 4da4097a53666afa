"""Ask one judge about pairs of the topics that it is trained on, which it was not trained on."""

from collections.abc import Sequence

import numpy as np
import pandas as pd

from polyreward.core.files import read_jsonl
from polyreward.core.tables import write_exact
from polyreward.ops.jobs import run
from polyreward.scoring.criteria_judge import CriteriaJudge
from polyreward.scoring.criteria_layout import LABELS
from polyreward.scoring.families import load_reward_model
from polyreward.think_as_locals.replies import HELD_OUT_COLUMNS


def held_out_verdicts(name: str, judge: CriteriaJudge, questions: Sequence[dict]) -> pd.DataFrame:
    """Return a row per question, as locals_pairs.both_orders gives them: HELD_OUT_COLUMNS.

    p_right: the probability of the right label of the two, after the criteria that the judge writes greedily
    for the question; criteria are ended by force where they have to be."""
    replies, verdicts = judge.judged([asked["request"] for asked in questions], f"{name}, held-out pairs")
    records = []
    for asked, reply in zip(questions, replies, strict=True):
        item = f"{asked['pair']['topic']}_{asked['pair']['culture']}"
        p_right = float(np.exp(verdicts[asked["request"]][LABELS.index(asked["right"])]))
        records.append((name, asked["id"], item, reply.fault is None, p_right))
    return pd.DataFrame(records, columns=HELD_OUT_COLUMNS)


def main(snakemake):
    params, name = snakemake.params, snakemake.wildcards.learner
    judge = load_reward_model(params.entry, params.scoring, params.cache)
    table = held_out_verdicts(name, judge, read_jsonl(snakemake.input.questions))
    write_exact(table, snakemake.output[0], HELD_OUT_COLUMNS)


if __name__ == "__main__":
    run(main, globals().get("snakemake"))
