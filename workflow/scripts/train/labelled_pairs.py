"""Label responses with the target reward model and the English one: the best against the worst."""

import gc
from collections.abc import Sequence

import numpy as np
import pandas as pd

from polyreward.core.files import read_jsonl, write_jsonl
from polyreward.core.tables import write_table
from polyreward.ops.jobs import run
from polyreward.scoring.interface import Conversations, RewardModel
from polyreward.scoring.load import load_classifier

COUNT_COLUMNS = ["language", "labeller", "prompts", "identical", "tied", "pairs"]


def labelled(
    responses: Sequence[dict], reward_model: RewardModel, label: str
) -> tuple[list[dict], dict[str, int]]:
    """Return a reward model's pairs (id, prompt, chosen, rejected, margin) of responses, and counts.

    Identical responses are one. A prompt is skipped where only one is left, or where all have the same
    reward. responses: rows of id, prompt and responses. Source: arXiv 2410.18027, highest against lowest."""
    distinct = [list(dict.fromkeys(row["responses"])) for row in responses]
    several = [(row, texts) for row, texts in zip(responses, distinct, strict=True) if len(texts) > 1]
    scores = reward_model.score([Conversations(row["prompt"], tuple(texts)) for row, texts in several], label)
    pairs = []
    for (row, texts), values in zip(several, scores.values, strict=True):
        best, worst = int(np.argmax(values)), int(np.argmin(values))
        if values[best] > values[worst]:
            pair = {"chosen": texts[best], "rejected": texts[worst]}
            margin = float(values[best] - values[worst])
            pairs.append({"id": row["id"], "prompt": row["prompt"], **pair, "margin": margin})
    counts = {
        "prompts": len(responses),
        "identical": len(responses) - len(several),
        "tied": len(several) - len(pairs),
        "pairs": len(pairs),
    }
    return pairs, counts


def main(snakemake):
    files, params, language, found = snakemake.input, snakemake.params, snakemake.wildcards.language, []
    responses = read_jsonl(files.responses)
    for labeller, model, output in zip(params.labellers, files.models, snakemake.output.pairs, strict=True):
        reward_model = load_classifier(model, **params.scoring)
        pairs, counts = labelled(responses, reward_model, f"{labeller} labels, {language}")
        write_jsonl(pairs, output)
        found.append({"language": language, "labeller": labeller, **counts})
        del reward_model
        gc.collect()  # the job asks for the memory of one reward model
    write_table(pd.DataFrame(found), snakemake.output.counts, COUNT_COLUMNS)


if __name__ == "__main__":
    run(main, globals().get("snakemake"))
