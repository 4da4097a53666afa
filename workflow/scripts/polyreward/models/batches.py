"""Sorted token-budget batches: little padding, and results in the caller's order."""

from collections.abc import Iterator, Sequence

import torch


def token_budget_batches(
    lengths: Sequence[int], budget: int, single_beyond: int | None = None
) -> Iterator[list[int]]:
    """Yield lists of indices, longest first, of at most `budget` tokens once padded (or one sequence).

    single_beyond: the length beyond which a sequence has a batch of its own; None for no such length."""
    batch: list[int] = []
    longest = 0
    for index in sorted(range(len(lengths)), key=lambda i: (-lengths[i], i)):
        alone = single_beyond is not None and longest > single_beyond
        if batch and (alone or longest * (len(batch) + 1) > budget):
            yield batch
            batch = []
        if not batch:
            longest = lengths[index]
        batch.append(index)
    if batch:
        yield batch


def padded(
    sequences: Sequence[Sequence[int]], pad_token_id: int | None, device: str = "cpu"
) -> dict[str, torch.Tensor]:
    """Right-pad token ids; returns input_ids and attention_mask, each (sequences, longest), on `device`.

    pad_token_id: None for a base that has none, since what is masked may be any token."""
    rows = [torch.tensor(ids) for ids in sequences]
    ids = torch.nn.utils.rnn.pad_sequence(rows, batch_first=True, padding_value=pad_token_id or 0)
    mask = torch.nn.utils.rnn.pad_sequence([torch.ones_like(row) for row in rows], batch_first=True)
    return {"input_ids": ids.to(device), "attention_mask": mask.to(device)}


def left_padded(
    sequences: Sequence[Sequence[int]], pad_token_id: int | None, device: str = "cpu"
) -> dict[str, torch.Tensor]:
    """Return what `padded` does, padded on the left, as generation needs it."""
    mirrored = padded([ids[::-1] for ids in sequences], pad_token_id, device)
    return {name: tensor.flip(1) for name, tensor in mirrored.items()}


def batched_logits(
    model,
    sequences: Sequence[Sequence[int]],
    pad_token_id: int | None,
    budget: int,
    single_beyond: int | None = None,
) -> Iterator[tuple[int, torch.Tensor]]:
    """Yield (index, logits) of each sequence, run by a whole model in padded batches of `budget` tokens."""
    for batch in token_budget_batches(list(map(len, sequences)), budget, single_beyond):
        inputs = padded([sequences[i] for i in batch], pad_token_id, model.device)
        yield from zip(batch, model(**inputs).logits, strict=True)


def positions(attention_mask: torch.Tensor) -> torch.Tensor:
    """Return the position of each token (rows, tokens), counted from its row's first one, not of padding."""
    return (attention_mask.cumsum(dim=1) - 1).clamp(min=0)
