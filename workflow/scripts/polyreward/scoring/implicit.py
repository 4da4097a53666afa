"""Implicit reward models: what a causal LM's own probabilities say of an answer."""

import dataclasses
from collections.abc import Sequence

from polyreward.core.errors import PolyrewardError
from polyreward.scoring.interface import Conversations, Scores
from polyreward.scoring.load import load_causal_lm
from polyreward.scoring.loglik import CausalLM, answer_logliks
from polyreward.scoring.tokens import tokenized


@dataclasses.dataclass(frozen=True)
class LogLikelihood:
    """The mean log-likelihood (nats per token) of the answer's tokens, given the prompt."""

    lm: CausalLM

    @property
    def exact(self) -> bool:
        """Whether it computes in fp32."""
        return self.lm.exact

    def unbatched(self) -> "LogLikelihood":
        """Return the same model that runs each text by itself."""
        return LogLikelihood(self.lm.unbatched())

    def score(self, conversations: Sequence[Conversations], label: str) -> Scores:
        """Score every answer by its mean log-likelihood."""
        texts = tokenized(self.lm.tokenizer, conversations, self.lm.max_length)
        return texts.scores({a.place: a.total / a.tokens for a in answer_logliks(self.lm, texts, label)})


@dataclasses.dataclass(frozen=True)
class MutualInformation(LogLikelihood):
    """Pointwise mutual information: what the prompt adds to the mean log-likelihood (nats per token) of the
    answer's tokens."""

    def unbatched(self) -> "MutualInformation":
        """Return the same model that runs each text by itself."""
        return MutualInformation(self.lm.unbatched())

    def score(self, conversations: Sequence[Conversations], label: str) -> Scores:
        """Score every answer by its log-likelihood after the prompt, minus the one after an empty prompt."""
        prompted = super().score(conversations, label)
        empty = [Conversations("", answers) for _, answers in conversations]
        unprompted = super().score(empty, f"{label}, without prompts")
        gained = [after - before for after, before in zip(prompted.values, unprompted.values, strict=True)]
        return Scores(gained, prompted.truncated)


@dataclasses.dataclass(frozen=True)
class LogRatio:
    """beta (log policy(answer | prompt) - log reference(answer | prompt)), a DPO model's own reward. Source:
    arXiv 2305.18290."""

    policy: CausalLM
    reference: CausalLM
    beta: float

    @property
    def exact(self) -> bool:
        """Whether both compute in fp32."""
        return self.policy.exact and self.reference.exact

    def unbatched(self) -> "LogRatio":
        """Return the same models that run each text by itself."""
        return LogRatio(self.policy.unbatched(), self.reference.unbatched(), self.beta)

    def score(self, conversations: Sequence[Conversations], label: str) -> Scores:
        """Score every answer by its log-ratio; both models read it under the policy's chat template."""
        texts = tokenized(self.policy.tokenizer, conversations, self.policy.max_length)
        reference = dataclasses.replace(self.reference, tokenizer=self.policy.tokenizer)
        of_policy, of_reference = (
            {a.place: a.total for a in answer_logliks(lm, texts, f"{label}, {name}")}
            for name, lm in (("policy", self.policy), ("reference", reference))
        )
        return texts.scores(
            {place: self.beta * (of_policy[place] - of_reference[place]) for place in of_policy}
        )


def check_same_tokens(policy: CausalLM, reference: CausalLM, name: str) -> None:
    """Raise PolyrewardError unless policy and reference read a text as the same tokens."""
    text = "Reward 1 \u00e9\u00df \ud55c\uad6d\uc5b4 \u4e2d\u6587 models?"
    if policy.tokenizer.encode(text) != reference.tokenizer.encode(text):
        raise PolyrewardError(
            f"{name}: the reference reads text as other tokens than the policy; name the one it was trained"
            " from"
        )


def implicit(entry: dict, scoring: dict, cache) -> LogLikelihood | LogRatio:
    """Load an entry of kind `implicit`; arguments as in load_reward_model."""
    policy = load_causal_lm(
        entry["source"], **scoring, revision=entry.get("revision"), gpus=entry.get("gpus", 1)
    )
    if entry.get("pmi"):
        return MutualInformation(policy)
    if "reference" not in entry:
        return LogLikelihood(policy)
    named = entry["reference"]
    reference = load_causal_lm(
        named["source"], **scoring, revision=named.get("revision"), gpus=named.get("gpus", 1)
    )
    check_same_tokens(policy, reference, entry["source"])
    return LogRatio(policy, reference, entry.get("beta", 0.1))
