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

COUNT_COLUMNS = ["language", "labeller", "prompts", "identical", "tied", "pairs", "same_pair_as_first"]


def labelled(
    responses: Sequence[dict], reward_model: RewardModel, label: str
) -> tuple[list[dict], dict[str, int]]:
    """Return a reward model's pairs (id, prompt, chosen, rejected, margin) of responses, and counts.

    Identical responses are one. A prompt is skipped where only one is left, or where all have the same
    reward.

    Args:
        responses: rows of id, prompt and responses.

    Source: arXiv 2410.18027, highest against lowest.
    """
    distinct = [list(dict.fromkeys(row["responses"])) for row in responses]
    several = [(row, texts) for row, texts in zip(responses, distinct, strict=True) if len(texts) > 1]
    scores = reward_model.score([Conversations(row["prompt"], tuple(texts)) for row, texts in several], label)
    pairs = []
    for (row, texts), values in zip(several, scores.values, strict=True):
        best, worst = int(np.argmax(values)), int(np.argmin(values))
        if values[best] > values[worst]:
            margin = float(values[best] - values[worst])
            pairs.append(
                {
                    "id": row["id"],
                    "prompt": row["prompt"],
                    "chosen": texts[best],
                    "rejected": texts[worst],
                    "margin": margin,
                }
            )
    counts = {
        "prompts": len(responses),
        "identical": len(responses) - len(several),
        "tied": len(several) - len(pairs),
        "pairs": len(pairs),
    }
    return pairs, counts


def counts_table(found: dict[str, tuple[list[dict], dict[str, int]]], language: str) -> pd.DataFrame:
    """Return what became of the prompts under each labeller, and how often it makes the first one's pair."""
    first = next(iter(found.values()))[0]
    return pd.DataFrame(
        [
            {"language": language, "labeller": name, **counts, "same_pair_as_first": agreement(first, pairs)}
            for name, (pairs, counts) in found.items()
        ]
    )


def agreement(first: Sequence[dict], second: Sequence[dict]) -> float:
    """Share of the prompts in both lists whose pairs are the same."""
    of_second = {pair["id"]: (pair["chosen"], pair["rejected"]) for pair in second}
    shared = [pair for pair in first if pair["id"] in of_second]
    return (
        float(np.mean([(pair["chosen"], pair["rejected"]) == of_second[pair["id"]] for pair in shared]))
        if shared
        else float("nan")
    )


def main(snakemake):
    files, params, language, found = snakemake.input, snakemake.params, snakemake.wildcards.language, {}
    responses = read_jsonl(files.responses)
    for labeller, model, output in zip(params.labellers, files.models, snakemake.output.pairs, strict=True):
        reward_model = load_classifier(model, **params.scoring)
        found[labeller] = labelled(responses, reward_model, f"{labeller} labels, {language}")
        write_jsonl(found[labeller][0], output)
        del reward_model
        gc.collect()  # the job asks for the memory of one reward model
    write_table(counts_table(found, language), snakemake.output.counts, COUNT_COLUMNS)


if __name__ == "__main__":
    run(main, globals().get("snakemake"))
