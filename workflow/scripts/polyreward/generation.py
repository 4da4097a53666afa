"""How a model writes, as its folder has it, and a server for it where the configuration wants one."""

import dataclasses
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from transformers import AutoConfig, GenerationConfig

from polyreward.precision import dtype_of

if TYPE_CHECKING:
    from polyreward.serving import Server


@dataclasses.dataclass(frozen=True)
class Writing:
    """How a text is written. ends: tokens that end it, beside those at which the server ends by itself. stop: texts that do.

    temperature: 0 for greedy. top_k: tokens drawn from; None for all. repetition_penalty: as transformers has it."""

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


@contextmanager
def server_of(folder: str | Path, dtype: str, serve: dict | None) -> "Iterator[Server | None]":
    """Yield a server of a model for as long as it is needed, None where `serve` is None and transformers is to run the model.

    serve: `devices.serve` of config.yaml. dtype: as precision.dtype_of has it."""
    if serve is None:
        yield None
        return
    from polyreward.serving import ServeSettings, Server  # its client takes a while to import

    with Server(ServeSettings(**serve), folder, dtype_of(dtype)) as server:
        yield server
