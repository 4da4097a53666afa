"""Keep the last hidden states of the parallel passages under a base and its reward models."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import torch
from safetensors.numpy import save_file
from transformers import AutoModel, AutoTokenizer

from polyreward.accel.frozen import FrozenLayers, frozen_count
from polyreward.accel.onednn import multiply_by_onednn
from polyreward.accel.trees import last_states
from polyreward.core.draws import in_every_language
from polyreward.core.files import read_jsonl
from polyreward.core.logs import progress
from polyreward.core.naming import ModelName
from polyreward.core.seals import METADATA, intact, sealed_file
from polyreward.models.devices import device
from polyreward.models.reward_model import own_config
from polyreward.ops.jobs import run


@torch.inference_mode()
def parallel_states(
    folder: str | Path,
    texts: Sequence[Sequence[str]],
    max_length: int,
    token_budget: int,
    label: str,
    top_layers: int = 0,
    known: dict | None = None,
    precision: str = "float32",
) -> np.ndarray:
    """Return the state of each text's last token (languages, passages, d_model) under a model, in fp32.

    texts: the same passages in each language, truncated on the left. top_layers: those that differ between
    a base and its reward models, 0 for all. known: what the layers below made of the texts, for models of
    one base."""
    tokenizer = AutoTokenizer.from_pretrained(intact(folder))
    model = AutoModel.from_pretrained(folder, config=own_config(folder), dtype=precision).to(device())
    model = multiply_by_onednn(model.eval())
    groups = [[tokenizer(text)["input_ids"][-max_length:] for text in of_language] for of_language in texts]
    frozen = FrozenLayers(model, frozen_count(model, top_layers), known)
    if frozen.count:
        frozen.fill(groups, tokenizer.pad_token_id, token_budget, share=False)
        frozen.install()
    found = np.zeros((len(groups), len(groups[0]), model.config.hidden_size), dtype="float32")
    with progress(label, found.shape[0] * found.shape[1]) as report:
        read = last_states(model, groups, tokenizer.pad_token_id, token_budget, share=False, report=report)
        for language, passage, states in read:
            found[language, passage] = states[-1].float().cpu().numpy()
    return found


def main(snakemake):
    params, inputs = snakemake.params, snakemake.input
    passages = in_every_language({Path(path).stem: read_jsonl(path) for path in inputs.passages})
    texts = [[row["text"] for row in passages[language]] for language in params.languages]
    folders = {"base": inputs.base}
    folders |= {ModelName.parse(Path(path).name).language: path for path in inputs.models}
    known: dict = {}  # what the layers that all these models share make of the texts
    states = {
        name: parallel_states(
            folder, texts, *params.limits, folder, params.top_layers, known, params.precision
        )
        for name, folder in folders.items()
    }
    with sealed_file(snakemake.output[0]) as temporary:
        save_file(states, temporary, METADATA)


if __name__ == "__main__":
    run(main, globals().get("snakemake"))
