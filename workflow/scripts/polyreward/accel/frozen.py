"""Frozen lower layers run once per sequence, since low-rank adapters on the top layers never change them.

Their states depend on the sequence only: attention is causal, and padding is on the right. So every epoch,
and every reward model of the base, takes them from memory."""

from collections.abc import Iterable, Sequence
from contextlib import suppress
from pathlib import Path

import torch
from safetensors import safe_open
from safetensors.torch import save_file
from torch import nn

from polyreward import accel
from polyreward.accel.trees import Tree, last_states
from polyreward.core.errors import PolyrewardError
from polyreward.core.seals import METADATA, intact, sealed_file


class _Reached(Exception):  # noqa: N818 - a signal, not an error
    """The last frozen layer has run."""


class FrozenLayers:
    """Memory of the hidden states after a decoder's first `count` layers, used at every later forward
    pass.

    model: one whose decoder keeps its blocks in `.layers`. states: what is known already, and where more
    is kept. Memory: tokens x d_model x 4 bytes."""

    def __init__(
        self, model: nn.Module, count: int, states: dict[tuple[int, ...], torch.Tensor] | None = None
    ):
        self.decoder, self.count = model.get_decoder(), count
        self.states: dict[tuple[int, ...], torch.Tensor] = {} if states is None else states
        self.batch: list[torch.Tensor] | None = None

    @torch.no_grad()
    def fill(
        self,
        groups: Sequence[Sequence[Sequence[int]]],
        pad_token_id: int | None,
        token_budget: int,
        share: bool,
    ) -> None:
        """Run the frozen layers over unknown groups of token sequences; arguments as in trees.last_states."""
        unknown = [group for group in groups if not all(tuple(ids) in self.states for ids in group)]
        if not self.count or not unknown:
            return
        self.batch = None  # what was recalled last is of other rows
        found = last_states(self.decoder, unknown, pad_token_id, token_budget, share, run=self._run)
        for group, member, states in found:
            self.states[tuple(unknown[group][member])] = states

    def _run(self, inputs: dict) -> torch.Tensor:
        found = []

        def stop(module, args, output):
            found.append(output[0] if isinstance(output, tuple) else output)
            raise _Reached

        last = self.decoder.layers[self.count - 1]
        with suppress(_Reached), last.register_forward_hook(stop):
            self.decoder(**inputs, use_cache=False)
        return found[0]

    def save(self, path: str | Path) -> None:
        """Write the memory as safetensors: layers, and those of the decoder; ids, states and lengths."""
        states = [state.float() for state in self.states.values()]
        tensors = {
            "layers": torch.tensor(self.count),
            "of": torch.tensor(len(self.decoder.layers)),
            "ids": torch.tensor([token for key in self.states for token in key], dtype=torch.int32),
            "lengths": torch.tensor([len(key) for key in self.states], dtype=torch.int32),
            "states": torch.cat(states) if states else torch.zeros(0),
        }
        with sealed_file(path) as temporary:
            save_file(tensors, temporary, METADATA)

    def install(self) -> None:
        """From now on let the decoder's frozen layers answer from memory, where all of a batch is in it."""
        self.decoder.register_forward_pre_hook(self._remember_batch, with_kwargs=True)
        for number in range(self.count):
            layer = self.decoder.layers[number]
            layer.forward = self._answering(layer.forward, first=number == 0)

    def recall(self, trees: Sequence[Tree]) -> None:
        """Get the states of the next forward pass's rows from memory, if all are known."""
        known = all(key in self.states for tree in trees for key in tree.sequences)
        self.batch = (
            [tree.join([self.states[key] for key in tree.sequences]) for tree in trees] if known else None
        )

    def _remember_batch(self, module, args, kwargs):
        ids, mask = kwargs.get("input_ids", args[0] if args else None), kwargs.get("attention_mask")
        if isinstance(mask, dict) or (mask is not None and mask.ndim == 4):
            return  # rows of trees, which `recall` knows of
        if ids is None or mask is None:
            self.batch = None
            return
        self.recall(
            [Tree.from_sequences(row[keep.bool()].tolist()) for row, keep in zip(ids, mask, strict=True)]
        )

    def _answering(self, forward, first: bool):
        def answer(hidden_states, *args, **kwargs):
            if self.batch is None:
                return forward(hidden_states, *args, **kwargs)
            if not first:
                return hidden_states
            states = nn.utils.rnn.pad_sequence(self.batch, batch_first=True)
            return states.to(hidden_states.device, hidden_states.dtype)

        return answer


def frozen_count(model: nn.Module, top_layers: int) -> int:
    """Return how many of a model's layers are frozen where adapters change its `top_layers`; 0 for all."""
    return max(0, model.config.num_hidden_layers - top_layers) if top_layers and accel.on() else 0


def keep_frozen_states(model: nn.Module, paths: Iterable[str | Path]) -> FrozenLayers | None:
    """Let a model's frozen layers, the base's own, answer from files of FrozenLayers; None where there are
    none.

    Raises PolyrewardError where a file changed since it was made, or is of a model with other layers."""
    frozen = None
    for path in paths if accel.on() else []:
        with safe_open(intact(path), "pt") as file:
            frozen = frozen or FrozenLayers(model, int(file.get_tensor("layers")))
            if (layers := int(file.get_tensor("of"))) != len(frozen.decoder.layers):
                raise PolyrewardError(
                    f"{path}: these are states of a model of {layers} layers, and this one has"
                    f" {len(frozen.decoder.layers)}; delete the file, and run again"
                )
            lengths = file.get_tensor("lengths").tolist()
            ids, states = file.get_tensor("ids").split(lengths), file.get_tensor("states").split(lengths)
        frozen.states.update((tuple(key.tolist()), state) for key, state in zip(ids, states, strict=True))
    if frozen is None or not frozen.count:
        return None
    frozen.install()
    return frozen
