"""A judge of this project's own folders on a server that its job starts: the backend of a generative reward
model."""

import dataclasses
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from transformers import AutoTokenizer

from polyreward.core.conversations import Messages, pin_date
from polyreward.core.errors import PolyrewardError
from polyreward.models.generation import Writing, declared_ends, generation_config
from polyreward.models.precision import dtype_of
from polyreward.models.serving import Server
from polyreward.scoring.generative import Judge, asked_as, judge
from polyreward.scoring.local_judge import cut_requests, kept_ids
from polyreward.scoring.pair_question import PairJudge, asked_in_pairs
from polyreward.settings.model import Serve


@dataclasses.dataclass(frozen=True)
class ServedBackend:
    """A causal LM on a server as a backend, which lives as long as this does. It asks the questions of
    LocalBackend.

    max_length: tokens of a request, which is truncated on the left. concurrency: requests at a time; None for
    the server's own setting. exact: whether it computes in fp32."""

    server: Server
    tokenizer: object
    writing: Writing
    max_length: int
    exact: bool
    concurrency: int | None = None

    def unbatched(self) -> "ServedBackend":
        """Return the same judge that asks one request at a time."""
        return dataclasses.replace(self, concurrency=1)

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


def served_judge(
    folder: str | Path,
    serve: Serve,
    dtype: str,
    max_length: int,
    verdict: str,
    max_new_tokens: int,
    template: str,
    gpus: int = 1,
) -> Judge:
    """Start a server for a judge's folder and return the judge.

    gpus: for its command. dtype: as precision.dtype_of has it. The others: as in ServedBackend, Judge and
    judge. Errors as in Server and judge, and where the tokenizer has no chat template."""
    tokenizer = AutoTokenizer.from_pretrained(folder)
    if tokenizer.chat_template is None:
        raise PolyrewardError(f"{folder}: its tokenizer has no chat template; save one with it")
    pin_date(tokenizer)
    ends = (declared_ends(generation_config(folder)) | {tokenizer.eos_token_id}) - {None}
    dtype = dtype_of(dtype)
    server = Server(serve, folder, dtype, gpus)
    backend = ServedBackend(server, tokenizer, Writing(max_new_tokens, ends), max_length, dtype == "float32")
    return judge(backend, verdict, template)


def load_judge(entry: dict, scoring: dict, cache) -> Judge | PairJudge:
    """Start a server for the folder of an entry that has `serve`; arguments as in load_reward_model."""
    gpus = entry.get("gpus", 1)
    served = served_judge(
        entry["source"], entry["serve"], scoring["dtype"], scoring["max_length"], **asked_as(entry), gpus=gpus
    )
    return asked_in_pairs(served, entry)
