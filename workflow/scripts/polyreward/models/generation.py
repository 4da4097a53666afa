"""How a model writes, as its folder has it."""

import dataclasses
from collections.abc import Collection, Sequence
from pathlib import Path

from transformers import AutoConfig, GenerationConfig


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
