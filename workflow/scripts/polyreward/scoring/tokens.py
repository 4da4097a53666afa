"""Conversations as a model's token ids: each distinct one once, those of one prompt together."""

import dataclasses
import json
from collections.abc import Sequence

import numpy as np
import torch

from polyreward.accel.company import single_beyond
from polyreward.core.conversations import as_messages, rendered
from polyreward.scoring.interface import Conversations, Scores


@dataclasses.dataclass(frozen=True)
class TextModel:
    """A model and how it is run.

    max_length: tokens of a conversation, truncated on the left. token_budget: tokens per padded batch.
    share: run the prompt that answers share once. single_beyond: tokens beyond which a text runs by itself,
    since the model would give it other states in company; None where no text is."""

    model: torch.nn.Module
    tokenizer: object
    max_length: int
    token_budget: int
    share: bool
    single_beyond: int | None = dataclasses.field(default=None, kw_only=True)

    def single_where_needed(self) -> "TextModel":
        """Return the model as it is, or so run that company changes no text's states, by trying."""
        beyond = single_beyond(self.model, self.max_length)
        return self if beyond is None else dataclasses.replace(self, share=False, single_beyond=beyond)

    @property
    def exact(self) -> bool:
        """Whether it computes in fp32."""
        return self.model.dtype == torch.float32


@dataclasses.dataclass(frozen=True)
class Tokenized:
    """groups: distinct sequences of each prompt. prompts: of each group. places: for each answer of each
    conversation its (group, member). cut: how many tokens were cut off, of the places that were truncated."""

    groups: list[list[tuple[int, ...]]]
    prompts: list
    places: list[list[tuple[int, int]]]
    cut: dict[tuple[int, int], int]

    def scores(self, values: dict[tuple[int, int], float]) -> Scores:
        """Put values by (group, member) back in the order of the conversations."""
        return Scores(
            [np.array([values[place] for place in places]) for places in self.places],
            [np.array([place in self.cut for place in places]) for places in self.places],
        )

    @property
    def distinct(self) -> list[tuple[int, int]]:
        """The (group, member) of every distinct sequence."""
        return [
            (group, member) for group, members in enumerate(self.groups) for member in range(len(members))
        ]

    def __len__(self) -> int:
        """Distinct sequences."""
        return sum(map(len, self.groups))


def tokenized(model: TextModel, conversations: Sequence[Conversations]) -> Tokenized:
    """Tokenise conversations, truncated as the model has it."""
    numbers: dict[str, int] = {}
    members: list[dict[tuple[int, ...], int]] = []
    prompts, places, cut = [], [], {}
    for prompt, answers in conversations:
        group = numbers.setdefault(json.dumps(prompt), len(numbers))
        if group == len(members):
            members.append({})
            prompts.append(prompt)
        places.append([])
        for answer in answers:
            whole = rendered(model.tokenizer, as_messages(prompt, answer))
            ids = tuple(whole[-model.max_length :])
            place = group, members[group].setdefault(ids, len(members[group]))
            places[-1].append(place)
            if len(whole) > len(ids):
                cut.setdefault(place, len(whole) - len(ids))
    return Tokenized([list(group) for group in members], prompts, places, cut)


def short_ids(model: torch.nn.Module) -> list[int]:
    """Return the token ids of a made-up text of 9 tokens."""
    return [number * 5 % min(model.config.get_text_config().vocab_size, 997) for number in range(9)]


def short_text(model: torch.nn.Module) -> dict[str, torch.Tensor]:
    """Return a model's inputs for a made-up text (1, 9), to try how the model can be run."""
    ids = torch.tensor([short_ids(model)], device=model.device)
    return {"input_ids": ids, "attention_mask": torch.ones_like(ids)}
