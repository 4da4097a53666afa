"""What a model makes of a text: the hidden state at its end."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import torch
from transformers import AutoModel, AutoTokenizer

from polyreward.accel.frozen import FrozenLayers, frozen_count
from polyreward.accel.onednn import multiply_by_onednn
from polyreward.accel.trees import last_states
from polyreward.core.logs import progress
from polyreward.core.seals import intact


@torch.inference_mode()
def parallel_states(
    folder: str | Path,
    texts: Sequence[Sequence[str]],
    max_length: int,
    token_budget: int,
    label: str,
    top_layers: int = 0,
    known: dict | None = None,
) -> np.ndarray:
    """Return the last hidden state of each text's last token (languages, passages, d_model) under a model, in
    fp32.

    folder: a base or a reward model. texts: the same passages in each language, tokenised without a chat
    template. top_layers: those that differ between a base and its reward models, 0 where all do. known: what
    the layers below made of the texts, which models of one base have in common; it is filled by the first."""
    tokenizer = AutoTokenizer.from_pretrained(intact(folder))
    model = multiply_by_onednn(AutoModel.from_pretrained(folder, dtype=torch.float32).eval())
    groups = [[tokenizer(text)["input_ids"][-max_length:] for text in of_language] for of_language in texts]
    frozen = FrozenLayers(model, frozen_count(model, top_layers) if top_layers else 0, known)
    if frozen.count:
        frozen.fill(groups, tokenizer.pad_token_id, token_budget, share=False)
        frozen.install()
    found = np.zeros((len(groups), len(groups[0]), model.config.hidden_size), dtype="float32")
    with progress(label, found.shape[0] * found.shape[1]) as report:
        read = last_states(model, groups, tokenizer.pad_token_id, token_budget, share=False, report=report)
        for language, passage, states in read:
            found[language, passage] = states[-1].cpu().numpy()
    return found
