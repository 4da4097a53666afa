"""The trained judge as a reward model: it writes criteria, then its verdict; answers are compared pairwise, in both orders."""

import dataclasses
import itertools
import math
from collections.abc import Sequence

import numpy as np
from scipy.special import log_softmax

from polyreward.core.logs import announce
from polyreward.scoring.criteria_layout import LABELS, Reply, question, read_reply
from polyreward.scoring.generative import asked_as
from polyreward.scoring.interface import Conversations, Scores
from polyreward.scoring.label_logprobs import label_logprobs
from polyreward.scoring.load import load_causal_lm
from polyreward.scoring.local_judge import ends_of, generated, request_ids
from polyreward.scoring.loglik import CausalLM

EVEN = np.full(len(LABELS), -math.log(len(LABELS)))


@dataclasses.dataclass(frozen=True)
class LocalsJudge:
    """A judge in the layout of Think-as-Locals. An answer's score is the mean log-probability (nats) of its label.

    The mean is over all other answers and both orders of each two, normalised over the two labels, after the criteria that the
    judge writes for that question (criteria: true; greedily, at most max_new_tokens) or at once. forced_close: a reply that is
    not in form is cut where its verdict should begin, and closed with "Verdict:"; else it counts as a verdict for both answers
    alike. said: every reply so far, read."""

    lm: CausalLM
    criteria: bool
    max_new_tokens: int
    forced_close: bool = True
    said: list[Reply] = dataclasses.field(default_factory=list, compare=False)

    @property
    def exact(self) -> bool:
        """Whether it computes in fp32."""
        return self.lm.exact

    def alone(self) -> "LocalsJudge":
        """Return the same judge that runs each question by itself."""
        return dataclasses.replace(self, lm=self.lm.alone())

    def score(self, conversations: Sequence[Conversations], label: str) -> Scores:
        """Score every answer; a question that several items share is asked once."""
        asked = [_questions(conversation) for conversation in conversations]
        distinct = list(dict.fromkeys(request for of_item in asked for _, request in of_item))
        replies = self.replies(distinct, label) if self.criteria else [Reply()] * len(distinct)
        verdicts = self.verdicts(distinct, replies, label)
        values = [_means(of_item, verdicts, len(c.answers)) for of_item, c in zip(asked, conversations, strict=True)]
        cut = {request for request in distinct if len(request_ids(self.lm.tokenizer, _turns(request))) > self.lm.max_length}
        truncated = [
            np.full(len(c.answers), any(request in cut for _, request in of_item))
            for of_item, c in zip(asked, conversations, strict=True)
        ]
        return Scores(values, truncated)

    def replies(self, requests: Sequence[str], label: str, **sampling) -> list[Reply]:
        """Return what is replied to questions, read; sampling: of transformers' generate, greedy without."""
        found = [read_reply(text, ended) for text, ended in self.texts(requests, label, **sampling)]
        self.said.extend(found)
        return found

    def texts(self, requests: Sequence[str], label: str, **sampling) -> list[tuple[str, bool]]:
        """Return (reply, whether the judge ended it) for each question; sampling as in replies."""
        sequences = [request_ids(self.lm.tokenizer, _turns(request))[-self.lm.max_length :] for request in requests]
        found = generated(self.lm, sequences, self.max_new_tokens, label, **sampling)
        texts = self.lm.tokenizer.batch_decode(found, skip_special_tokens=True)
        ends = ends_of(self.lm)
        return [(text.strip(), bool(ids) and ids[-1] in ends) for text, ids in zip(texts, found, strict=True)]

    def verdicts(self, requests: Sequence[str], replies: Sequence[Reply], label: str) -> dict[str, np.ndarray]:
        """Return each question's log-probabilities of the labels, normalised; even ones where there is no verdict."""
        faults = sum(reply.fault is not None for reply in replies)
        if faults:
            counts = "is closed by force" if self.forced_close else "counts as a tie"
            announce(f"{label}: {faults} of {len(requests)} replies are not in form; each {counts}")
        asked = zip(requests, replies, strict=True)
        read = [(request, reply.criteria) for request, reply in asked if self.forced_close or not reply.fault]
        found = label_logprobs(self.lm.model, self.lm.tokenizer, read, self.lm.max_length, self.lm.token_budget) if read else []
        known = {request: log_softmax(row) for (request, _), row in zip(read, found, strict=True)}
        return {request: known.get(request, EVEN) for request in requests}


def _turns(request: str) -> list[dict]:
    return [{"role": "user", "content": request}]


def _questions(conversation: Conversations) -> list[tuple[tuple[int, int], str]]:
    """Return ((number of answer A, of answer B), question) for all twos of an item's answers in both orders."""
    prompt, answers = conversation
    places = itertools.permutations(range(len(answers)), 2)
    return [(shown, question(prompt, *(answers[number] for number in shown))) for shown in places]


def _means(asked: Sequence[tuple[tuple[int, int], str]], verdicts: dict[str, np.ndarray], size: int) -> np.ndarray:
    # A plain sum depends on the order, and answers that are the same must tie.
    return np.array(
        [
            math.fsum(verdicts[request][shown.index(number)] for shown, request in asked if number in shown) / (2 * (size - 1))
            for number in range(size)
        ]
    )


def load_judge(entry: dict, scoring: dict, cache) -> LocalsJudge:
    """Load a judge in the layout of Think-as-Locals; arguments as families.load_reward_model has them."""
    lm = load_causal_lm(entry["source"], **scoring, revision=entry.get("revision"))
    return LocalsJudge(lm, entry["verdict"] == "criteria", asked_as(entry)["max_new_tokens"], entry.get("forced_close", True))
