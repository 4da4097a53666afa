"""A judge on a server that its job starts."""

import dataclasses
from collections.abc import Sequence

import numpy as np

from polyreward.core.conversations import Messages
from polyreward.core.errors import PolyrewardError
from polyreward.models.generation import Writing, ends_of, generation_config
from polyreward.models.serving import Server
from polyreward.scoring.generative import NEW_TOKENS, Judge
from polyreward.scoring.load import load_tokenizer
from polyreward.scoring.local_judge import cut_requests, kept_ids
from polyreward.scoring.pair_question import PairJudge, judge_of


@dataclasses.dataclass(frozen=True)
class ServedBackend:
    """A causal LM on a server as a backend, which lives as long as this does. It asks as LocalBackend does.

    max_length: tokens of a request, which is truncated on the left. exact: whether it computes in fp32.
    concurrency: requests at a time; None for the server's own setting."""

    server: Server
    tokenizer: object
    writing: Writing
    max_length: int
    exact: bool
    concurrency: int | None = None

    def cut(self, requests: Sequence[Messages]) -> list[bool]:
        """Return which requests are longer than max_length."""
        return cut_requests(self.tokenizer, requests, self.max_length)

    def replies(self, requests: Sequence[Messages], job: str) -> list[str]:
        """Return greedy replies; errors as in Server.texts."""
        prompts = kept_ids(self.tokenizer, requests, self.max_length)
        return self.server.texts(prompts, self.writing, job, concurrency=self.concurrency)

    def label_logprobs(self, requests: Sequence[Messages], labels: Sequence[str], job: str) -> np.ndarray:
        """Raise PolyrewardError: servers report only the likeliest tokens."""
        raise PolyrewardError(f"{job}: a judge by its labels is not served; leave `serve` out of its entry")


def load_judge(entry: dict, scoring: dict, cache) -> Judge | PairJudge:
    """Start a server for the folder of an entry that has `serve`; arguments as in load_reward_model."""
    folder, dtype = entry["source"], scoring["dtype"]
    tokenizer = load_tokenizer(folder)
    ends = ends_of(generation_config(folder), tokenizer)
    writing = Writing(entry.get("max_new_tokens", NEW_TOKENS), ends)
    server = Server(entry["serve"], folder, dtype, entry.get("gpus", 1))
    backend = ServedBackend(server, tokenizer, writing, scoring["max_length"], dtype == "float32")
    return judge_of(entry, backend)
