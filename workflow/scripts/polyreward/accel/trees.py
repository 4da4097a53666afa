"""Texts that begin alike, run through a decoder as one row: what they share is computed once.

A row holds the shared tokens and then each text's own, at the positions that they have in their text. A
mask hides the texts from each other. The states are those of texts run one by one, to rounding."""

import dataclasses
import os
from collections.abc import Callable, Iterator, Sequence

import torch

from polyreward import accel
from polyreward.models.batches import padded, token_budget_batches

Ids = tuple[int, ...]
KNOWN_ATTENTION = {"full_attention", "sliding_attention"}
LOWEST = torch.finfo(torch.float32).min
LONGEST = 2  # times the longest of its sequences that a row may be long


@dataclasses.dataclass(frozen=True)
class Tree:
    """Token sequences in one row: what they share, then what each goes on with."""

    shared: Ids
    branches: tuple[Ids, ...]

    @classmethod
    def from_sequences(cls, *sequences: Sequence[int]) -> "Tree":
        """Make the tree of some sequences of token ids; a branch may be empty."""
        length = len(os.path.commonprefix([tuple(ids) for ids in sequences]))
        return cls(tuple(sequences[0][:length]), tuple(tuple(ids[length:]) for ids in sequences))

    @property
    def ids(self) -> Ids:
        """The row's token ids."""
        return self.shared + tuple(token for branch in self.branches for token in branch)

    @property
    def positions(self) -> list[int]:
        """Each token's position in its own sequence."""
        start = len(self.shared)
        return [*range(start), *(start + n for branch in self.branches for n in range(len(branch)))]

    @property
    def sequences(self) -> list[Ids]:
        """The sequences that the tree was made of."""
        return [self.shared + branch for branch in self.branches]

    def __len__(self) -> int:
        """Tokens in the row."""
        return len(self.shared) + sum(map(len, self.branches))

    def mask(self, length: int, window: int | None = None) -> torch.Tensor:
        """Return (length, length), true where a token (row) sees another: causal, blind to other branches.

        window: how many positions back a token sees, itself included. Padding sees itself, for the
        softmax."""
        counts = torch.tensor([len(self.shared), *map(len, self.branches)])
        branch = torch.repeat_interleave(torch.arange(len(counts)), counts)
        sees = ((branch[None] == 0) | (branch[None] == branch[:, None])).tril()
        if window:
            positions = torch.tensor(self.positions)
            sees &= positions[:, None] - positions[None] < window
        mask = torch.eye(length, dtype=torch.bool)
        mask[: len(self), : len(self)] = sees
        return mask

    def split(self, states: torch.Tensor) -> list[torch.Tensor]:
        """Return the states (tokens, d_model) of each sequence, from the row's."""
        shared, *branches = states[: len(self)].split([len(self.shared), *map(len, self.branches)])
        return [torch.cat([shared, branch]) for branch in branches]

    def join(self, states: Sequence[torch.Tensor]) -> torch.Tensor:
        """Return the row's states from those of each sequence; undoes `split`."""
        start = len(self.shared)
        return torch.cat([states[0][:start], *(state[start:] for state in states)])


def split_group(group: Sequence[Sequence[int]]) -> Iterator[list[int]]:
    """Yield indices of a group's sequences that share a row, at most LONGEST times as long as the longest.

    Attention grows with the row's square: many short answers to a short prompt are several rows."""
    start = len(os.path.commonprefix([tuple(ids) for ids in group]))
    limit = LONGEST * max(map(len, group))
    row: list[int] = []
    size = start
    for index, ids in enumerate(group):
        if row and size + len(ids) - start > limit:
            yield row
            row, size = [], start
        row.append(index)
        size += len(ids) - start
    yield row


def tree_inputs(rows: Sequence[Tree], config, pad_token_id: int | None, device) -> dict:
    """Return a decoder's inputs for rows: ids, positions, and a 4D mask, or one per kind of layer."""
    ids = padded([row.ids for row in rows], pad_token_id, device)["input_ids"]
    positions = padded([row.positions for row in rows], 0, device)["input_ids"]
    window = getattr(config, "sliding_window", None)
    kinds = set(getattr(config, "layer_types", None) or [])

    def mask(window: int | None) -> torch.Tensor:
        sees = torch.stack([row.mask(ids.shape[1], window) for row in rows])[:, None].to(device)
        if not accel.is_eager(config):
            return sees
        # Eager attention adds its mask to the logits.
        return torch.zeros(sees.shape, device=device).masked_fill(~sees, LOWEST)

    if "sliding_attention" in kinds:
        masks = {kind: mask(window if kind == "sliding_attention" else None) for kind in kinds}
    else:
        masks = mask(None if kinds else window)
    return {"input_ids": ids, "position_ids": positions, "attention_mask": masks}


def rows_of(groups: Sequence[Sequence[Sequence[int]]], share: bool) -> tuple[list[Tree], list[list[tuple]]]:
    """Return the rows of groups of sequences, and each row's branches as (group, member)."""
    rows, places = [], []
    for number, group in enumerate(groups):
        for members in split_group(group) if share else [[n] for n in range(len(group))]:
            rows.append(Tree.from_sequences(*(group[n] for n in members)))
            places.append([(number, n) for n in members])
    return rows, places


def last_states(
    decoder,
    groups: Sequence[Sequence[Sequence[int]]],
    pad_token_id: int | None,
    token_budget: int,
    share: bool,
    frozen=None,
    report: Callable[[int], None] = lambda done: None,
    run: Callable[[dict], torch.Tensor] | None = None,
    single_beyond: int | None = None,
) -> Iterator[tuple[int, int, torch.Tensor]]:
    """Run groups of token sequences through a decoder; yield (group, member, last states (tokens,
    d_model)).

    groups: sequences that begin alike. share: run what they share once, not each as a row under the
    model's usual mask. frozen: a memory of lower layers. report: called with each batch's number of
    sequences. run: makes other states of inputs. single_beyond: as batches.token_budget_batches has it."""
    rows, places = rows_of(groups, share)
    for batch in token_budget_batches([len(row) for row in rows], token_budget, single_beyond):
        trees = [rows[i] for i in batch]
        if frozen:
            frozen.recall(trees)
        if share:
            inputs = tree_inputs(trees, decoder.config, pad_token_id, decoder.device)
        else:
            inputs = padded([tree.ids for tree in trees], pad_token_id, decoder.device)
        states = run(inputs) if run else decoder(**inputs, use_cache=False).last_hidden_state
        for row, tree, found in zip(batch, trees, states, strict=True):
            for (group, member), of_sequence in zip(places[row], tree.split(found), strict=True):
                yield group, member, of_sequence
        report(sum(len(places[row]) for row in batch))


@torch.inference_mode()
def can_share(decoder) -> bool:
    """Return whether a decoder gives the same states for a shared row as for each sequence by itself.

    False for models that ignore our mask or positions: state-space layers, chunked attention, encoders."""
    config = decoder.config
    if not accel.on() or set(getattr(config, "layer_types", None) or []) - KNOWN_ATTENTION:
        return False
    ids = torch.arange(12) * 7 % min(config.vocab_size, 997)
    group = [ids[:8].tolist(), ids[:5].tolist() + ids[8:].tolist(), ids[:6].tolist()]
    try:
        together, separate = (
            {member: states for _, member, states in last_states(decoder, [group], 0, budget, share)}
            for budget, share in ((99, True), (1, False))
        )
    except accel.CANNOT:
        return False
    return all(accel.alike(together[n], separate[n], decoder.dtype) for n in separate)
