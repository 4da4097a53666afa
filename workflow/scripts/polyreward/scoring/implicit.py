"""Language models as scorers: what a causal LM's own probabilities say of an answer."""

import dataclasses
from collections.abc import Sequence

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
        """Score every answer by its log-likelihood after the prompt, less that after an empty one."""
        prompted = super().score(conversations, label)
        empty = [Conversations("", answers) for _, answers in conversations]
        unprompted = super().score(empty, f"{label}, without prompts")
        gained = [after - before for after, before in zip(prompted.values, unprompted.values, strict=True)]
        return Scores(gained, prompted.truncated)


def implicit(entry: dict, scoring: dict, cache) -> LogLikelihood:
    """Load an entry of kind `implicit`; arguments as in load_reward_model."""
    lm = load_causal_lm(entry["source"], **scoring, revision=entry.get("revision"), gpus=entry.get("gpus", 1))
    return MutualInformation(lm) if entry.get("pmi") else LogLikelihood(lm)
