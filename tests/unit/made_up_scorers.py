"""Scorers of made-up rules, for tests."""

import dataclasses

import numpy as np

from polyreward.scoring.interface import Scores


@dataclasses.dataclass
class ByText:
    """A scorer of answers by a function of their text; asked: the conversations of each call."""

    value: object
    asked: list = dataclasses.field(default_factory=list, compare=False)
    exact = True

    def score(self, conversations, label):
        self.asked.append(conversations)
        values = [np.array([float(self.value(answer)) for answer in answers]) for _, answers in conversations]
        return Scores(values, [np.zeros(len(found), dtype=bool) for found in values])


class Backend:
    """A judge's backend that replies what `says` makes of a request's text, or the log-probabilities of its
    first labels.

    It keeps its requests and labels; too_long: what a truncated request contains."""

    exact = True

    def __init__(self, says, too_long="no such text"):
        self.says, self.too_long, self.requests, self.labels = says, too_long, [], None

    def label_logprobs(self, requests, labels, job):
        self.labels = labels
        rows = [list(said) for said in self.replies(requests, job)]
        return np.array([row + [0.0] * (len(labels) - len(row)) for row in rows])

    def replies(self, requests, job):
        self.requests += requests
        return [self.says(request[-1]["content"]) for request in requests]

    def cut(self, requests):
        return [self.too_long in request[-1]["content"] for request in requests]
