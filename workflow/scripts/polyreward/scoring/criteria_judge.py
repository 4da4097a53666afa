"""The trained judge as a reward model: it writes criteria, then its verdict on each two answers, in both
orders."""

import dataclasses
import itertools
import math
from collections.abc import Mapping, Sequence

import numpy as np
from scipy.special import log_softmax

from polyreward.accel.shared_prompts import runs_from_shared_prompts
from polyreward.core.conversations import as_turns
from polyreward.core.logs import announce
from polyreward.models.generation import ends_of, writes_by_graphs
from polyreward.scoring.criteria_layout import Reply, question, read_reply
from polyreward.scoring.generative import NEW_TOKENS
from polyreward.scoring.interface import Composite, Conversations, Scores
from polyreward.scoring.label_logprobs import label_logprobs, label_logprobs_after
from polyreward.scoring.load import causal_lm_of
from polyreward.scoring.local_judge import cut_requests, generated, generated_by_batch, kept_ids
from polyreward.scoring.loglik import CausalLM


@dataclasses.dataclass(frozen=True)
class CriteriaJudge(Composite):
    """A judge in the layout of Think-as-Locals. An answer's score is the mean log-probability (nats) of
    its label.

    The mean is over all other answers and both orders of each two, after criteria that the judge writes
    greedily (criteria: true) or at once. A reply that is not in form is cut where its verdict should
    begin, and closed with "Verdict:". said: every reply so far, read."""

    lm: CausalLM
    criteria: bool
    max_new_tokens: int
    said: list[Reply] = dataclasses.field(default_factory=list, compare=False)

    def score(self, conversations: Sequence[Conversations], label: str) -> Scores:
        """Score every answer; a question that several items share is asked once."""
        asked = [_questions(conversation) for conversation in conversations]
        distinct = list(dict.fromkeys(request for of_item in asked for _, request in of_item))
        if self.criteria:
            verdicts = self.judged(distinct, label)[1]
        else:
            verdicts = self._verdicts(distinct, [Reply()] * len(distinct), label, {})
        too_long = cut_requests(self.lm.tokenizer, list(map(as_turns, distinct)), self.lm.max_length)
        cut = dict(zip(distinct, too_long, strict=True))
        values, truncated = [], []
        for of_item, (_, answers) in zip(asked, conversations, strict=True):
            values.append(_means(of_item, verdicts, len(answers)))
            truncated.append(np.full(len(answers), any(cut[request] for _, request in of_item)))
        return Scores(values, truncated)

    def judged(self, requests: Sequence[str], label: str) -> tuple[list[Reply], dict[str, np.ndarray]]:
        """Return replies to questions, and {question: its labels' log-probabilities after its reply}."""
        texts, found = {}, {}
        # What CUDA graphs have run of a text stays with them
        if not writes_by_graphs(self.lm.model) and runs_from_shared_prompts(self.lm.model):
            sequences = self._sequences(requests)
            for batch, new, begun in generated_by_batch(self.lm, sequences, self.max_new_tokens, label):
                texts.update(zip(batch, self._decoded(new), strict=True))
                asked = [(requests[i], read_reply(*texts[i]).criteria) for i in batch]
                questions = [sequences[i] for i in batch]
                logprobs = label_logprobs_after(self.lm.model, self.lm.tokenizer, asked, questions, begun)
                if logprobs is not None:
                    found.update(zip(asked, logprobs, strict=True))
        else:
            texts = dict(enumerate(self.texts(requests, label)))
        replies = [read_reply(*texts[i]) for i in range(len(requests))]
        self.said.extend(replies)
        return replies, self._verdicts(requests, replies, label, found)

    def texts(self, requests: Sequence[str], label: str) -> list[tuple[str, bool]]:
        """Return (greedy reply, whether the judge ended it) for each question."""
        return self._decoded(generated(self.lm, self._sequences(requests), self.max_new_tokens, label))

    def _verdicts(
        self, requests: Sequence[str], replies: Sequence[Reply], label: str, found: Mapping[tuple, np.ndarray]
    ) -> dict[str, np.ndarray]:
        """Return {question: its labels' log-probabilities, normalised}; found: what is known already."""
        faults = sum(reply.fault is not None for reply in replies)
        if faults:
            announce(f"{label}: {faults} of {len(requests)} replies are not in form; each is closed by force")
        read = [(request, reply.criteria) for request, reply in zip(requests, replies, strict=True)]
        known, lm = dict(found), self.lm
        left = [one for one in read if one not in known]
        if left:
            logprobs = label_logprobs(lm.model, lm.tokenizer, left, lm.max_length, lm.token_budget)
            known.update(zip(left, logprobs, strict=True))
        return {one[0]: log_softmax(known[one]) for one in read}

    def _sequences(self, requests: Sequence[str]) -> list[list[int]]:
        return kept_ids(self.lm.tokenizer, list(map(as_turns, requests)), self.lm.max_length)

    def _decoded(self, found: Sequence[list[int]]) -> list[tuple[str, bool]]:
        texts = self.lm.tokenizer.batch_decode(found, skip_special_tokens=True)
        ends = ends_of(self.lm.model.generation_config, self.lm.tokenizer)
        return [(text.strip(), bool(ids) and ids[-1] in ends) for text, ids in zip(texts, found, strict=True)]


def _questions(conversation: Conversations) -> list[tuple[tuple[int, int], str]]:
    """Return ((number of answer A, of B), question) for all twos of an item's answers, both orders."""
    prompt, answers = conversation
    places = itertools.permutations(range(len(answers)), 2)
    return [(shown, question(prompt, *(answers[number] for number in shown))) for shown in places]


def _means(
    asked: Sequence[tuple[tuple[int, int], str]], verdicts: dict[str, np.ndarray], size: int
) -> np.ndarray:
    # A plain sum depends on the order, and answers that are the same must tie.
    return np.array(
        [
            math.fsum(verdicts[request][shown.index(number)] for shown, request in asked if number in shown)
            / (2 * (size - 1))
            for number in range(size)
        ]
    )


def load_judge(entry: dict, scoring: dict, cache) -> CriteriaJudge:
    """Load a judge in the layout of Think-as-Locals; arguments as in load_reward_model."""
    criteria, new_tokens = entry["verdict"] == "criteria", entry.get("max_new_tokens", NEW_TOKENS)
    return CriteriaJudge(causal_lm_of(entry, scoring), criteria, new_tokens)
