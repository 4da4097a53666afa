"""Implicit reward models: what a causal LM's own probabilities say of an answer."""

import dataclasses
from collections.abc import Sequence

from polyreward.core.errors import PolyrewardError
from polyreward.scoring.interface import Composite, Conversations, Scores
from polyreward.scoring.load import causal_lm_of
from polyreward.scoring.loglik import CausalLM, answer_logliks
from polyreward.scoring.tokens import tokenized


@dataclasses.dataclass(frozen=True)
class LogLikelihood(Composite):
    """The mean log-likelihood (nats per token) of the answer's tokens, given the prompt."""

    lm: CausalLM

    def score(self, conversations: Sequence[Conversations], label: str) -> Scores:
        """Score every answer by its mean log-likelihood."""
        texts = tokenized(self.lm, conversations)
        found = answer_logliks(self.lm, texts, label)
        return texts.scores({place: total / tokens for place, total, tokens in found})


@dataclasses.dataclass(frozen=True)
class MutualInformation(LogLikelihood):
    """Pointwise mutual information (PMI): what the prompt adds to the mean log-likelihood."""

    def score(self, conversations: Sequence[Conversations], label: str) -> Scores:
        """Score every answer by its log-likelihood after the prompt, minus the one after an empty prompt."""
        return self.with_loglik(conversations, label)[1]

    def with_loglik(self, conversations: Sequence[Conversations], label: str) -> tuple[Scores, Scores]:
        """Return the log-likelihoods after the prompt, and PMI, reading the prompts once for both."""
        prompted = super().score(conversations, label)
        empty = [Conversations("", answers) for _, answers in conversations]
        unprompted = super().score(empty, f"{label}, without prompts")
        gained = [after - before for after, before in zip(prompted.values, unprompted.values, strict=True)]
        return prompted, Scores(gained, prompted.truncated)


@dataclasses.dataclass(frozen=True)
class LogRatio(Composite):
    """beta (log policy(answer | prompt) - log reference(answer | prompt)): arXiv 2305.18290."""

    policy: CausalLM
    reference: CausalLM
    beta: float

    def score(self, conversations: Sequence[Conversations], label: str) -> Scores:
        """Score every answer by its log-ratio; both models read it under the policy's chat template."""
        texts = tokenized(self.policy, conversations)
        reference = dataclasses.replace(self.reference, tokenizer=self.policy.tokenizer)
        of_policy, of_reference = (
            {place: total for place, total, _ in answer_logliks(lm, texts, f"{label}, {name}")}
            for name, lm in (("policy", self.policy), ("reference", reference))
        )
        return texts.scores(
            {place: self.beta * (of_policy[place] - of_reference[place]) for place in of_policy}
        )


def load(entry: dict, scoring: dict, cache) -> LogLikelihood | LogRatio:
    """Load an entry of kind `implicit`; arguments as in load_reward_model.

    Raises PolyrewardError where policy and reference read a text as different tokens."""
    policy = causal_lm_of(entry, scoring)
    if entry.get("pmi"):
        return MutualInformation(policy)
    if "reference" not in entry:
        return LogLikelihood(policy)
    reference = causal_lm_of(entry["reference"], scoring)
    text = "Reward 1 \u00e9\u00df \ud55c\uad6d\uc5b4 \u4e2d\u6587 models?"
    if policy.tokenizer.encode(text) != reference.tokenizer.encode(text):
        raise PolyrewardError(
            f"{entry['source']}: the reference reads text as other tokens than the policy; name the one that"
            " it was trained from"
        )
    return LogRatio(policy, reference, entry.get("beta", 0.1))
