"""How a model writes: as its folder has it, and on a card by CUDA graphs."""

import dataclasses
import os
from collections.abc import Collection, Sequence
from pathlib import Path

import torch
from transformers import AutoConfig, GenerationConfig

from polyreward.models.batches import left_padded

# Graphs are made for each shape: rows, and tokens of the cache, are filled up to multiples of these
ROWS, TOKENS = 8, 256


@dataclasses.dataclass(frozen=True)
class Writing:
    """How a text is written. ends, stop: tokens and texts that end it. temperature: 0 for greedy.

    top_k: tokens drawn from; None for all. repetition_penalty: as transformers has it."""

    max_new_tokens: int
    ends: Collection[int]
    stop: Sequence[str] = ()
    temperature: float = 0.0
    top_k: int | None = None
    repetition_penalty: float = 1.0


def generation_config(folder: str | Path) -> GenerationConfig:
    """Return a model's own settings of generation, as transformers gives them to a model that it loads."""
    try:
        return GenerationConfig.from_pretrained(folder)
    except OSError:  # there is no such file
        return GenerationConfig.from_model_config(AutoConfig.from_pretrained(folder))


def declared_ends(config: GenerationConfig) -> set[int]:
    """Return the tokens at which transformers' generation ends."""
    declared = config.eos_token_id
    return {*(declared if isinstance(declared, list) else [declared])} - {None}


def ends_of(config: GenerationConfig, tokenizer) -> list[int]:
    """Return the tokens that end an answer: those that the model declares, and the tokenizer's own."""
    return sorted((declared_ends(config) | {tokenizer.eos_token_id}) - {None})


def graphs_here() -> bool:
    """Return whether models write by CUDA graphs: where there is a card, but for TORCH_COMPILE_DISABLE=1."""
    return torch.cuda.is_available() and os.environ.get("TORCH_COMPILE_DISABLE", "0") != "1"


def writes_by_graphs(model) -> bool:
    """Return whether a model writes by CUDA graphs: not on a CPU, and not over several cards."""
    devices = set((getattr(model, "hf_device_map", None) or {}).values())
    return graphs_here() and model.device.type == "cuda" and len(devices) < 2


def static_cache(longest: int) -> dict:
    """Return transformers' options of a cache that holds so many tokens and keeps its place and size.

    On a card transformers then compiles the step of one token (mode `reduce-overhead`, CUDA graphs), so that
    Python launches a graph and not each kernel. `longest` is rounded up: each size has a graph of its own."""
    return {"cache_implementation": "static", "max_cache_len": -(-longest // TOKENS) * TOKENS}


def written(
    model, prompts: Sequence[Sequence[int]], pad_token_id: int, max_new_tokens: int, **how: object
) -> torch.Tensor:
    """Return the tokens (rows, new) that a model writes after prompts, by transformers' `generate`.

    how: its other options. On a CPU tokens are those of `generate` with them; on a card they may differ in
    rounding."""
    rows, graphs = len(prompts), writes_by_graphs(model)
    if graphs:
        how |= static_cache(max(map(len, prompts)) + max_new_tokens)
        if "num_return_sequences" not in how:
            prompts = [*prompts, *[prompts[0]] * (-rows % ROWS)]
    # Graphs keep tensors for the next call, which inference mode would not let it change.
    with torch.inference_mode(not graphs), torch.no_grad():
        inputs = left_padded(prompts, pad_token_id, model.device)
        said = model.generate(**inputs, max_new_tokens=max_new_tokens, pad_token_id=pad_token_id, **how)
    return said[: rows * how.get("num_return_sequences", 1), inputs["input_ids"].shape[1] :]
