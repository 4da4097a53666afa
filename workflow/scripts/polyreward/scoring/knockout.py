"""A knock-out of pairs: what a judge makes of many answers when it is shown only two at a time."""

import dataclasses
from collections.abc import Sequence

import numpy as np

from polyreward.core.conversations import as_text
from polyreward.core.seeds import job_seed
from polyreward.scoring.interface import Composite, Conversations, RewardModel, Scores


@dataclasses.dataclass(frozen=True)
class Knockout(Composite):
    """A reward model whose answers play a knock-out; each match is one call of `judge` with two answers.

    An answer's score is its matches won, a bye among them. A draw gives both half a point, and one of them
    goes on at random, by `seed`, the prompt and its answers. So answers that the judge cannot distinguish
    tie at the top."""

    judge: RewardModel
    seed: int

    def score(self, conversations: Sequence[Conversations], label: str) -> Scores:
        """Score every answer by its matches won; all matches of a round are judged together."""
        brackets = [_Bracket(conversation, self.seed) for conversation in conversations]
        number = 0
        while open_brackets := [bracket for bracket in brackets if len(bracket.players) > 1]:
            number += 1
            matches = [match for bracket in open_brackets for match in bracket.matches()]
            played = self.judge.score(matches, f"{label}, round {number}")
            results = zip(played.values, played.truncated, strict=True)
            for bracket in open_brackets:
                bracket.advance([next(results) for _ in bracket.pairs()])
        return Scores([bracket.points for bracket in brackets], [bracket.truncated for bracket in brackets])


def first_round(conversation: Conversations, seed: int) -> list[tuple[int, int]]:
    """Return the answers that meet in a prompt's first round, by their numbers, match after match."""
    return _Bracket(conversation, seed).pairs()


class _Bracket:
    def __init__(self, conversation: Conversations, seed: int):
        self.prompt, self.answers = conversation
        self.draws = np.random.default_rng(job_seed(seed, "knockout", as_text(self.prompt), *self.answers))
        self.players = self.draws.permutation(len(self.answers)).tolist()
        self.points = np.zeros(len(self.players))
        self.truncated = np.zeros(len(self.players), dtype=bool)

    def pairs(self) -> list[tuple[int, int]]:
        return list(zip(self.players[::2], self.players[1::2], strict=False))

    def matches(self) -> list[Conversations]:
        return [
            Conversations(self.prompt, (self.answers[one], self.answers[other]))
            for one, other in self.pairs()
        ]

    def advance(self, results: Sequence[tuple[np.ndarray, np.ndarray]]) -> None:
        """Enter the round's results, (scores, truncated) of each match; an odd player out has a bye."""
        with_bye = self.players[len(self.players) - len(self.players) % 2 :]
        winners = []
        for pair, (scores, cut) in zip(self.pairs(), results, strict=True):
            # The difference keeps a NaN, which ends up in the points, where it is refused.
            won = 0.5 + 0.5 * np.sign([scores[0] - scores[1], scores[1] - scores[0]])
            self.points[list(pair)] += won
            self.truncated[list(pair)] |= cut
            winners.append(pair[self.draws.integers(2) if won[0] == won[1] else int(won.argmax())])
        self.points[with_bye] += 1
        self.players = winners + with_bye
