"""Conversations as token ids, each distinct one once, those of one prompt together."""

import dataclasses
import json
from collections.abc import Sequence

import numpy as np

from polyreward.core.conversations import conversation_ids
from polyreward.scoring.interface import Conversations, Scores


@dataclasses.dataclass(frozen=True)
class Tokenized:
    """groups: distinct sequences of each prompt. places: for each answer of each conversation its (group,
    member).

    prompts: of each group. cut: the (group, member) that were truncated; truncated: the same for each
    answer."""

    groups: list[list[tuple[int, ...]]]
    prompts: list
    places: list[list[tuple[int, int]]]
    cut: set[tuple[int, int]]
    truncated: list[np.ndarray]

    def scores(self, values: dict[tuple[int, int], float]) -> Scores:
        """Put values by (group, member) back in the order of the conversations."""
        return Scores(
            [np.array([values[place] for place in places]) for places in self.places], self.truncated
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


def tokenized(tokenizer, conversations: Sequence[Conversations], max_length: int) -> Tokenized:
    """Tokenise conversations, truncated on the left to max_length tokens."""
    numbers: dict[str, int] = {}
    members: list[dict[tuple[int, ...], int]] = []
    prompts, places, cut = [], [], set()
    for prompt, answers in conversations:
        group = numbers.setdefault(json.dumps(prompt), len(numbers))
        if group == len(members):
            members.append({})
            prompts.append(prompt)
        places.append([])
        for answer in answers:
            ids, was_cut = conversation_ids(tokenizer, prompt, answer, max_length)
            place = group, members[group].setdefault(tuple(ids), len(members[group]))
            places[-1].append(place)
            if was_cut:
                cut.add(place)
    truncated = [np.array([place in cut for place in of_prompt]) for of_prompt in places]
    return Tokenized([list(group) for group in members], prompts, places, cut, truncated)
