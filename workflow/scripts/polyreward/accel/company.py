"""Models in which a text's states depend on the texts that are run with it, or were run before it.

Rotary frequencies that follow the longest text of a batch (transformers' dynamic and longrope) do so beyond
the length that a model was made for. Dynamic ones are also kept for the next batch."""

from collections.abc import Callable, Iterator
from functools import partial

import torch

from polyreward import accel


@torch.inference_mode()
def single_beyond(model: torch.nn.Module, max_length: int) -> int | None:
    """Return beyond how many tokens a text must be run by itself; None where company never matters.

    Only texts beyond a limit that the configuration names are tried. Where they change the states of a short
    text, each later forward pass of the model begins with the frequencies that it was loaded with."""
    limit = min(_limits(model.config.get_text_config().to_dict()), default=max_length)
    decoder = getattr(model, "get_decoder", lambda: None)() or getattr(model, "base_model", model)
    if max_length <= limit:
        return None
    vocabulary = model.config.get_text_config().vocab_size
    ids = torch.arange(max_length, device=model.device)[None] * 5 % min(vocabulary, 997)
    short, tried, loaded = ids[:, : min(9, limit)], [], _frequencies(decoder)
    try:
        for one in (short, ids, short):
            states = decoder(input_ids=one, attention_mask=torch.ones_like(one), use_cache=False)
            tried.append(states.last_hidden_state[0, : short.shape[1]])
        if all(accel.alike(one, tried[0], decoder.dtype) for one in tried):
            return None
    except accel.CANNOT:
        pass
    for module, restore in loaded:
        module.register_forward_pre_hook(restore)
    return limit


def _limits(config: dict) -> Iterator[int]:
    """Yield the lengths that a configuration was made for, also within its rotary parameters."""
    for name, value in config.items():
        if name in ("max_position_embeddings", "original_max_position_embeddings") and value:
            yield int(value)
        elif isinstance(value, dict):
            yield from _limits(value)


def _frequencies(decoder: torch.nn.Module) -> list[tuple[torch.nn.Module, Callable]]:
    """Return each module with rotary frequencies, and a function that restores those that it has now."""
    found = []
    for module in decoder.modules():
        buffers = {name: value.clone() for name, value in module._buffers.items() if value is not None}
        if any("inv_freq" in name for name in buffers):
            numbers = {name: value for name, value in vars(module).items() if isinstance(value, int | float)}
            found.append((module, partial(_restore, buffers, numbers)))
    return found


def _restore(
    buffers: dict[str, torch.Tensor], numbers: dict[str, float], module: torch.nn.Module, *_
) -> None:
    for name, value in buffers.items():
        module._buffers[name] = value.to(module._buffers[name].device, copy=True)
    vars(module).update(numbers)
