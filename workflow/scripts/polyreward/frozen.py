"""Frozen lower layers run once per sequence: what low-rank adapters on the top layers never change need not be computed again.

The hidden states after the frozen layers depend on the sequence alone (attention is causal, padding is on the right), so
every epoch, and every reward model of the base, takes them from memory."""

import dataclasses
import os
from collections.abc import Iterable, Sequence
from pathlib import Path

import torch
from safetensors import safe_open
from safetensors.torch import save_file
from torch import nn

from polyreward.batches import padded, token_budget_batches
from polyreward.conversations import conversation_ids
from polyreward.files import whole_file
from polyreward.logs import announce
from polyreward.reward_model import new_reward_model


class _Reached(Exception):  # noqa: N818 - a signal, not an error
    """The last frozen layer has run; the layers above it are not needed."""


@dataclasses.dataclass(frozen=True)
class Tree:
    """Two sequences in one row: what they share, then what each goes on with. Token ids throughout."""

    shared: tuple[int, ...]
    first: tuple[int, ...]
    second: tuple[int, ...]

    @classmethod
    def of(cls, first: Sequence[int], second: Sequence[int]) -> "Tree":
        """Make the tree of two sequences; the second branch of two equal ones is empty."""
        length = len(os.path.commonprefix([tuple(first), tuple(second)]))
        return cls(tuple(first[:length]), tuple(first[length:]), tuple(second[length:]))

    @property
    def ids(self) -> tuple[int, ...]:
        """The row's token ids."""
        return self.shared + self.first + self.second

    @property
    def positions(self) -> list[int]:
        """Each token's position in its own sequence."""
        start = len(self.shared)
        return [*range(start + len(self.first)), *range(start, start + len(self.second))]

    def __len__(self) -> int:
        """Tokens in the row."""
        return len(self.ids)

    def mask(self, length: int) -> torch.Tensor:
        """Return (length, length), true where a token (row) sees another: causal, blind to the other branch.

        Padding sees itself, since a row that sees nothing has no softmax."""
        causal = torch.ones(length, length, dtype=torch.bool).tril()
        branch = len(self.shared) + len(self.first)
        causal[branch : len(self), len(self.shared) : branch] = False
        causal[len(self) :] = torch.eye(length, dtype=torch.bool)[len(self) :]
        return causal

    def split(self, states: torch.Tensor) -> dict[tuple[int, ...], torch.Tensor]:
        """Return the states (tokens, d_model) of each of the two sequences, by its token ids."""
        start, branch = len(self.shared), len(self.shared) + len(self.first)
        return {
            self.shared + self.first: states[:branch].clone(),
            self.shared + self.second: torch.cat([states[:start], states[branch : len(self)]]),
        }


class FrozenLayers:
    """Memory of the hidden states after a decoder's first `count` layers, filled once, used at every later forward pass.

    model: a transformers model whose decoder keeps its blocks in `.layers`. Memory: tokens x d_model x 4 bytes."""

    def __init__(self, model: nn.Module, count: int):
        self.decoder = model.get_decoder() if hasattr(model, "get_decoder") else model.model
        self.count = count
        self.states: dict[tuple[int, ...], torch.Tensor] = {}
        self.batch: list[torch.Tensor] | None = None

    @torch.no_grad()
    def fill(self, pairs: Sequence[tuple[Sequence[int], Sequence[int]]], pad_token_id: int, token_budget: int) -> None:
        """Run the frozen layers over pairs of token ids and keep what comes out.

        The prefix that a pair shares, its prompt, is run once: both share a row, under a mask that hides them from each
        other. A pair that is longer than the model's sliding window is run as two rows."""
        if not self.count:
            return
        window = getattr(self.decoder.config, "sliding_window", None)
        trees = [Tree.of(first, second) for first, second in pairs]
        if window and max(map(len, trees)) > window:
            trees = [Tree.of(ids, ids) for pair in pairs for ids in pair]
        found = []
        hook = self.decoder.layers[self.count - 1].register_forward_hook(_stop_with(found))
        for batch in token_budget_batches([len(tree) for tree in trees], token_budget):
            rows = [trees[i] for i in batch]
            try:
                self.decoder(**self._inputs(rows, pad_token_id), use_cache=False)
            except _Reached:
                for tree, states in zip(rows, found.pop(), strict=True):
                    self.states.update(tree.split(states))
        hook.remove()

    def _inputs(self, rows: Sequence["Tree"], pad_token_id: int) -> dict:
        ids = padded([row.ids for row in rows], pad_token_id, self.decoder.device)["input_ids"]
        positions = padded([row.positions for row in rows], 0, self.decoder.device)["input_ids"]
        mask = torch.stack([row.mask(ids.shape[1]) for row in rows])[:, None].to(ids.device)
        kinds = set(getattr(self.decoder.config, "layer_types", None) or [])
        # A model with several kinds of attention takes a mask for each; within the window they are the same.
        masks = dict.fromkeys(kinds, mask) if "sliding_attention" in kinds else mask
        return {"input_ids": ids, "position_ids": positions, "attention_mask": masks}

    def save(self, path: str | Path) -> None:
        """Write the memory as safetensors: ids and states of all sequences end to end, and their lengths."""
        tensors = {
            "ids": torch.tensor([token for key in self.states for token in key], dtype=torch.int32),
            "lengths": torch.tensor([len(key) for key in self.states], dtype=torch.int32),
            "states": torch.cat([state.float() for state in self.states.values()]) if self.states else torch.zeros(0),
        }
        with whole_file(path) as temporary:
            save_file(tensors, temporary, metadata={"layers": str(self.count)})

    def load(self, path: str | Path) -> None:
        """Add what `save` wrote to the memory."""
        with safe_open(path, "pt") as file:
            lengths = file.get_tensor("lengths").tolist()
            ids, states = file.get_tensor("ids").split(lengths), file.get_tensor("states").split(lengths)
        self.states.update((tuple(key.tolist()), state) for key, state in zip(ids, states, strict=True))

    def install(self) -> None:
        """From now on let the decoder's frozen layers answer from memory, where all of a batch is in it."""
        self.decoder.register_forward_pre_hook(self._remember_batch, with_kwargs=True)
        for number in range(self.count):
            layer = self.decoder.layers[number]
            layer.forward = self._answering(layer.forward, first=number == 0)

    def _remember_batch(self, module, args, kwargs):
        ids, mask = kwargs.get("input_ids", args[0] if args else None), kwargs.get("attention_mask")
        if ids is None or mask is None:
            self.batch = None
            return
        keys = [tuple(row[keep.bool()].tolist()) for row, keep in zip(ids, mask, strict=True)]
        known = all(key in self.states for key in keys)
        self.batch = [self.states[key] for key in keys] if known else None

    def _answering(self, forward, first: bool):
        def answer(hidden_states, *args, **kwargs):
            if self.batch is None:
                return forward(hidden_states, *args, **kwargs)
            if not first:
                return hidden_states
            states = nn.utils.rnn.pad_sequence(self.batch, batch_first=True)
            return states.to(hidden_states.device, hidden_states.dtype)

        return answer


def save_frozen_states(
    base_folder: str | Path, rows: Sequence[Sequence[dict]], top_layers: int, max_length: int, bf16: bool,
    token_budget: int, paths: Sequence[str | Path],
) -> None:  # fmt: skip
    """Run a base's layers below its `top_layers` over all conversations of some sets of rows and keep the hidden states.

    rows, paths: one set and one file each. bf16: autocast to bfloat16, as training will. max_length: tokens, truncated on
    the left. A base with no more than `top_layers` layers has no frozen one; its files are empty."""
    model, tokenizer = new_reward_model(base_folder, seed=0)
    model.eval()
    for of_set, path in zip(rows, paths, strict=True):
        frozen = FrozenLayers(model, max(0, model.config.num_hidden_layers - top_layers))
        pairs = [
            tuple(conversation_ids(tokenizer, row["prompt"], row[role], max_length)[0] for role in ("chosen", "rejected"))
            for row in of_set
        ]
        with torch.autocast(model.device.type, dtype=torch.bfloat16, enabled=bf16):
            frozen.fill(pairs, tokenizer.pad_token_id, token_budget)
        frozen.save(path)
        announce(f"frozen layers: {len(pairs)} pairs, {path}")


def keep_frozen_states(model: nn.Module, paths: Iterable[str | Path]) -> None:
    """Let a model's frozen layers answer from files that `save_frozen_states` wrote; nothing where there are none.

    Only for a model whose lower layers are the base's own."""
    paths = list(paths)
    if paths:
        with safe_open(paths[0], "pt") as file:
            frozen = FrozenLayers(model, int(file.metadata()["layers"]))
        for path in paths if frozen.count else []:
            frozen.load(path)
        frozen.install()


def _stop_with(found: list):
    def hook(module, args, output):
        found.append(output[0] if isinstance(output, tuple) else output)
        raise _Reached

    return hook
