"""How sure a model is of a verdict, with criteria before it and without."""

import os
from collections import defaultdict
from collections.abc import Sequence

import numpy as np
import torch

from polyreward.accel.shared_prompts import Begun, rest_of_rows
from polyreward.core.conversations import conversation_ids
from polyreward.core.processes import max_over_processes
from polyreward.models.batches import left_padded, positions, token_budget_batches
from polyreward.scoring.criteria_layout import LABELS, written

NO_LIMIT = 10**9


def verdict_ids(tokenizer, request: str, criteria: Sequence[str]) -> tuple[list[int], list[list[int]]]:
    """Return (token ids of a question and its reply up to its label, the tokens of each label).

    criteria: of the reply; none for a verdict at once."""
    replies = [
        conversation_ids(tokenizer, request, written(criteria, label), NO_LIMIT)[0] for label in LABELS
    ]
    start = len(os.path.commonprefix(replies))
    after = len(os.path.commonprefix([ids[start:][::-1] for ids in replies]))  # what ends a reply
    return replies[0][:start], [ids[start : len(ids) - after] for ids in replies]


@torch.no_grad()
def label_logprobs(
    model,
    tokenizer,
    asked: Sequence[tuple[str, Sequence[str]]],
    max_length: int,
    token_budget: int,
    share: bool = False,
) -> np.ndarray:
    """Return log-probabilities (nats) of the labels (asked, labels) where a reply has its verdict.

    asked: (question, criteria) of each reply. A label's is the sum over its tokens, over the whole
    vocabulary; nothing before or after it counts. max_length: tokens, truncated on the left. share: run a
    question once for all replies to it in a batch. Runs the model as it is, adapters included."""
    wanted = defaultdict(list)  # the text before a label's last token: one text for all labels of one token
    of_question = defaultdict(set)
    for number, (request, criteria) in enumerate(asked):
        before, labels = verdict_ids(tokenizer, request, criteria)
        for column, tokens in enumerate(labels):
            sequence = tuple([*before, *tokens[:-1]][-max_length:])
            wanted[sequence].append((number, column, tokens))
            of_question[request].add(sequence)
    found = np.empty((len(asked), len(LABELS)))
    kept = max(len(tokens) for of_sequence in wanted.values() for *_, tokens in of_sequence)
    begins = dict.fromkeys(wanted, 0)  # tokens that are run with those of other replies to the same question
    if share:
        for together in of_question.values():
            alike = len(os.path.commonprefix(list(together)))
            begins.update({sequence: min(alike, len(sequence) - kept) for sequence in together})
    sequences = list(wanted)
    batches = list(token_budget_batches(list(map(len, sequences)), token_budget))
    # Where each process holds a part of the model, all have to run it equally often; to run a batch again
    # changes nothing.
    for batch in batches + batches[-1:] * (max_over_processes(len(batches)) - len(batches)):
        rows = [sequences[i] for i in batch]
        inputs = _inputs(model, rows, [begins[row] for row in rows], tokenizer.pad_token_id)
        logprobs = torch.log_softmax(
            model(**inputs, logits_to_keep=kept, use_cache=False).logits.float(), dim=-1
        ).cpu()
        for row, of_sequence in zip(rows, logprobs, strict=True):
            for number, column, tokens in wanted[row]:
                found[number, column] = (
                    of_sequence[-len(tokens) :].gather(1, torch.tensor(tokens)[:, None]).sum().item()
                )
    return found


@torch.no_grad()
def label_logprobs_after(
    model,
    tokenizer,
    asked: Sequence[tuple[str, Sequence[str]]],
    questions: Sequence[Sequence[int]],
    begun: Begun,
) -> np.ndarray | None:
    """Return what `label_logprobs` does of questions that a model has just replied to, without running them
    again.

    questions: their tokens, the rows of `begun`. None where that cannot be: a text that does not go on from
    its question, a label of several tokens, a cache that cannot be cut back."""
    texts = [verdict_ids(tokenizer, request, criteria) for request, criteria in asked]
    if any(before[: len(ids)] != list(ids) for (before, _), ids in zip(texts, questions, strict=True)):
        return None
    if any(len(tokens) > 1 for _, labels in texts for tokens in labels):
        return None
    rests = [before[len(ids) - 1 :] for (before, _), ids in zip(texts, questions, strict=True)]
    try:
        inputs = begun.go_on(rests, tokenizer.pad_token_id)
    except (AttributeError, RuntimeError, ValueError):  # as caches say that they keep too little
        return None
    logprobs = torch.log_softmax(model(**inputs, logits_to_keep=1).logits[:, -1].float(), dim=-1)
    tokens = torch.tensor([[ids[0] for ids in labels] for _, labels in texts], device=logprobs.device)
    return logprobs.gather(1, tokens).double().cpu().numpy()


def _inputs(model, rows: Sequence[Sequence[int]], begins: Sequence[int], pad_token_id: int | None) -> dict:
    """Return a model's inputs for rows, whose first `begins` tokens it has run by then where each has
    some."""
    if not all(begins):
        return left_padded_with_positions(rows, pad_token_id, model.device)
    begun = left_padded(
        [row[:begin] for row, begin in zip(rows, begins, strict=True)], pad_token_id, model.device
    )
    rest = left_padded(
        [row[begin:] for row, begin in zip(rows, begins, strict=True)], pad_token_id, model.device
    )
    whole = {name: torch.cat([begun[name], rest[name]], dim=1) for name in begun}
    return rest_of_rows(model, **whole, shared=begun["input_ids"].shape[1])


def left_padded_with_positions(
    sequences: Sequence[Sequence[int]], pad_token_id: int | None, device: str | torch.device
) -> dict[str, torch.Tensor]:
    """Return what `left_padded` does, with positions that count from each sequence's own first token."""
    inputs = left_padded(sequences, pad_token_id, device)
    return {**inputs, "position_ids": positions(inputs["attention_mask"])}
