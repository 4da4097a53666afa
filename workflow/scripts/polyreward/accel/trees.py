"""Texts that begin alike, run through a decoder as one row: what they share is computed once.

A row holds each part that texts share once, at the positions that it has in them. A mask hides from a token
what is not before it in a text. The states are those of texts run one by one, to rounding."""

import dataclasses
import os
from collections.abc import Callable, Iterator, Mapping, Sequence

import torch

from polyreward import accel
from polyreward.models.batches import padded, token_budget_batches

Ids = tuple[int, ...]
KNOWN_ATTENTION = {"full_attention", "sliding_attention"}
LOWEST = torch.finfo(torch.float32).min
# A row is at most LONGEST times as long as its longest sequence, or SHORT tokens: attention grows with the
# square of its length.
LONGEST, SHORT = 3, 256
ALIKE = 0.25  # of a sequence that the one before it must begin with, for a row of both


@dataclasses.dataclass(frozen=True)
class Tree:
    """Token sequences in one row, in parts, so that what several begin with is there once.

    before: of each part, the one that it goes on from; -1 for the first. ends: each sequence's last part."""

    parts: tuple[Ids, ...]
    before: tuple[int, ...]
    ends: tuple[int, ...]

    @classmethod
    def from_sequences(cls, *sequences: Sequence[int]) -> "Tree":
        """Make the tree of some sequences of token ids."""
        parts, before, ends = [], [], [0] * len(sequences)

        def add(rest: Mapping[int, Ids], parent: int) -> None:
            number, shared = len(parts), os.path.commonprefix([*rest.values()])
            parts.append(shared)
            before.append(parent)
            further: dict[int, dict[int, Ids]] = {}  # by the next token
            for sequence, ids in rest.items():
                ends[sequence] = number
                if len(ids) > len(shared):
                    further.setdefault(ids[len(shared)], {})[sequence] = ids[len(shared) :]
            for those in further.values():
                add(those, number)

        add({number: tuple(ids) for number, ids in enumerate(sequences)}, -1)
        return cls(tuple(parts), tuple(before), tuple(ends))

    @property
    def ids(self) -> Ids:
        """The row's token ids."""
        return tuple(token for part in self.parts for token in part)

    @property
    def starts(self) -> list[int]:
        """Position of each part's first token in its sequences."""
        starts: list[int] = []
        for before in self.before:
            starts.append(starts[before] + len(self.parts[before]) if starts else 0)
        return starts

    @property
    def positions(self) -> list[int]:
        """Each token's position in its sequences."""
        return [
            start + n for start, part in zip(self.starts, self.parts, strict=True) for n in range(len(part))
        ]

    def path(self, sequence: int) -> list[int]:
        """Return the parts of a sequence, in order."""
        path = [self.ends[sequence]]
        while (before := self.before[path[-1]]) >= 0:
            path.append(before)
        return path[::-1]

    @property
    def sequences(self) -> list[Ids]:
        """The sequences that the tree was made of."""
        return [
            tuple(token for part in self.path(number) for token in self.parts[part])
            for number in range(len(self.ends))
        ]

    def __len__(self) -> int:
        """Tokens in the row."""
        return sum(map(len, self.parts))

    def mask(self, length: int, window: int | None = None) -> torch.Tensor:
        """Return (length, length), true where a token (row) sees another: one before it in a sequence.

        window: how many positions back a token sees, itself included. Padding sees itself, for the
        softmax."""
        of_parts = torch.eye(len(self.parts), dtype=torch.bool)
        for number, before in enumerate(self.before[1:], 1):
            of_parts[number] |= of_parts[before]
        part = torch.repeat_interleave(
            torch.arange(len(self.parts)), torch.tensor(list(map(len, self.parts)))
        )
        sees = of_parts[part][:, part].tril()
        if window:
            positions = torch.tensor(self.positions)
            sees &= positions[:, None] - positions[None] < window
        mask = torch.eye(length, dtype=torch.bool)
        mask[: len(self), : len(self)] = sees
        return mask

    def split(self, states: torch.Tensor) -> list[torch.Tensor]:
        """Return the states (tokens, d_model) of each sequence, from the row's."""
        of_parts = states[: len(self)].split(list(map(len, self.parts)))
        return [torch.cat([of_parts[part] for part in self.path(number)]) for number in range(len(self.ends))]

    def join(self, states: Sequence[torch.Tensor]) -> torch.Tensor:
        """Return the row's states from those of each sequence; undoes `split`."""
        found = {part: number for number in range(len(self.ends)) for part in self.path(number)}
        starts = self.starts
        return torch.cat(
            [
                states[found[number]][starts[number] : starts[number] + len(part)]
                for number, part in enumerate(self.parts)
            ]
        )


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


def rows_of(
    groups: Sequence[Sequence[Sequence[int]]], share: bool, token_budget: int
) -> tuple[list[Tree], list[list[tuple]]]:
    """Return rows of neighbours in groups of sequences, and each row's sequences as (group, member).

    A row goes on past its group where the next one's sequences begin as its last one does (ALIKE).
    token_budget: tokens that a row of several sequences may have at most."""
    places: list[list[tuple]] = []
    size = longest = 0
    last: tuple = ()
    for number, group in enumerate(groups):
        for member, ids in enumerate(group):
            alike = len(os.path.commonprefix([tuple(ids), last])) if share else 0
            longest, grown = max(longest, len(ids)), size + len(ids) - alike
            joins = share and places and (member > 0 or alike >= ALIKE * len(ids))
            if joins and grown <= min(max(LONGEST * longest, SHORT), token_budget):
                places[-1].append((number, member))
                size = grown
            else:
                places.append([(number, member)])
                size = longest = len(ids)
            last = tuple(ids)
    return [Tree.from_sequences(*(groups[g][n] for g, n in of_row)) for of_row in places], places


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
    rows, places = rows_of(groups, share, token_budget)
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
