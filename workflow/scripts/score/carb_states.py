"""Compute the hidden states after a base's frozen layers for all of CARB's items."""

from pathlib import Path

from polyreward.accel.frozen import FrozenLayers, frozen_count
from polyreward.accel.onednn import multiply_by_onednn
from polyreward.accel.trees import can_share
from polyreward.carb.scores import Items
from polyreward.core.conversations import conversation_ids
from polyreward.core.files import read_jsonl
from polyreward.core.logs import announce
from polyreward.models.reward_model import new_reward_model
from polyreward.ops.jobs import run


def save_item_states(
    base_folder: str | Path,
    items: Items,
    top_layers: int,
    max_length: int,
    token_budget: int,
    path: str | Path,
) -> None:
    """Run a base's layers below its `top_layers` over all conversations of the items; keep the hidden states.

    max_length: tokens, truncated on the left. The file is as frozen.FrozenLayers writes it."""
    model, tokenizer = new_reward_model(base_folder, seed=0)
    frozen = FrozenLayers(multiply_by_onednn(model.eval()), frozen_count(model, top_layers))
    groups = [
        [conversation_ids(tokenizer, item["prompt"], answer, max_length)[0] for answer in item["answers"]]
        for item in items
    ]
    frozen.fill(groups, tokenizer.pad_token_id, token_budget, can_share(model.get_decoder()))
    frozen.save(path)
    announce(f"frozen layers: {len(groups)} items, {path}")


def main(snakemake):
    items = read_jsonl(snakemake.input.item_files)
    save_item_states(snakemake.input.base, items, *snakemake.params.limits, snakemake.output[0])


if __name__ == "__main__":
    run(main, globals().get("snakemake"))
