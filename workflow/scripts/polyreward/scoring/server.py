"""Judges on a server that speaks OpenAI's chat completions, and a memory of what they replied."""

import dataclasses
import hashlib
import json
import os
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from urllib.parse import urlsplit

import numpy as np
import openai

from polyreward.core.conversations import Messages
from polyreward.core.errors import PolyrewardError
from polyreward.core.files import write_text
from polyreward.core.logs import announce
from polyreward.models.asking import RequestFailure, all_asked, beginning, response_text
from polyreward.scoring.generative import VERDICT, Judge, asked_as, judge

TOP = 20  # tokens whose log-probability is asked for; servers allow no more
MARGIN = 1.0  # nats by which a label that is not among them is taken to be below the last of them
FLOOR = -100.0  # nats; servers write numbers such as -9999 for what they did not compute
SERVER = {"concurrency": 8, "timeout_s": 120, "retries": 5, "api_key_variable": "JUDGE_API_KEY", "seed": 42}


@dataclasses.dataclass(frozen=True)
class ServerJudge:
    """A model on a server as a backend. Nothing of ours is batched or truncated there.

    url: where its `/chat/completions` is. max_new_tokens: of a reply as text. concurrency: requests at a time. timeout_s:
    without a sign of the server. retries: of one request, later and later, or when the server says (Retry-After).
    api_key_variable: the environment variable that holds the key; a server that wants none gets "none".
    cache: a folder with a file for each request and its reply, which are not asked for again."""

    url: str
    model: str
    max_new_tokens: int
    concurrency: int
    timeout_s: float
    retries: int
    api_key_variable: str
    seed: int
    cache: Path
    exact = True

    def alone(self) -> "ServerJudge":
        """Return itself."""
        return self

    def cut(self, requests: Sequence[Messages]) -> list[bool]:
        """Tell that none is truncated: a server refuses what is too long."""
        return [False] * len(requests)

    def replies(self, requests: Sequence[Messages], job: str) -> list[str]:
        """Return what is said to each request, at temperature 0; errors as in `_asked`."""
        return self._asked(requests, {"max_tokens": self.max_new_tokens}, _content, job)

    def label_logprobs(self, requests: Sequence[Messages], labels: Sequence[str], job: str) -> np.ndarray:
        """Return log-probabilities (nats) of the labels as the first token said (requests, labels); errors as in `_asked`.

        A row is nan where no label is among the TOP likeliest tokens. Raises PolyrewardError where the server tells none."""

        def read(reply: dict) -> np.ndarray:
            try:
                return label_row(reply, labels)
            except (LookupError, TypeError, ValueError):
                raise self._no_logprobs() from None

        parameters = {"max_tokens": 1, "logprobs": True, "top_logprobs": TOP}
        return np.array(self._asked(requests, parameters, read, job))

    def _asked(self, requests: Sequence[Messages], parameters: dict, read: Callable[[dict], object], job: str) -> list:
        """Return what `read` makes of each reply, asking only for those that are not in the cache.

        Raises PolyrewardError at once where no request can succeed (no connection, a refused key, an unknown model), else
        when all are done if some failed; whatever was replied is in the cache then."""
        fixed = {"url": self.url, "model": self.model, "parameters": {"temperature": 0, "seed": self.seed, **parameters}}
        bodies = [{**fixed, "messages": list(request)} for request in requests]
        replies = [self._remembered(body) for body in bodies]
        missing = [i for i, reply in enumerate(replies) if reply is None]
        failures = []
        if missing:
            with self._client() as client:
                found, failures = all_asked(lambda i: self._fetched(client, bodies[i], read), missing, self.concurrency, job)
            replies = [found.get(i, reply) for i, reply in enumerate(replies)]
        if failures:
            raise PolyrewardError(
                f"judge server {self.url}: {len(failures)} of {len(missing)} requests failed after up to {self.retries} "
                f"retries; the first: {failures[0]}. What else was replied is kept in {self.cache}: fix the cause and run "
                "again, which asks only for what is missing"
            )
        return [read(reply) for reply in replies]

    def _client(self) -> openai.OpenAI:
        key = os.environ.get(self.api_key_variable) or "none"  # read here, and no field, so that no repr shows it
        return openai.OpenAI(base_url=self.url, api_key=key, timeout=self.timeout_s, max_retries=self.retries)

    def _fetched(self, client: openai.OpenAI, body: dict, read: Callable[[dict], object]) -> dict:
        """Ask for a reply, check that it can be read, and put it in the cache."""
        text = self._answered(client, body)
        try:
            reply = json.loads(text)
            _content(reply)
        except (LookupError, TypeError, ValueError):
            raise RequestFailure(f"nonsense, not a chat completion but {self._safe(text)!r}") from None
        read(reply)
        entry = {"request": body, "reply": reply}
        write_text(json.dumps({**entry, "sha256": _digest(entry)}, indent=1), self._path(body))
        return reply

    def _answered(self, client: openai.OpenAI, body: dict) -> str:
        """Return the text of a successful response."""
        create = client.chat.completions.with_raw_response.create
        try:
            ask = partial(create, model=body["model"], messages=body["messages"], **body["parameters"])
            return response_text(ask, self.timeout_s, self._safe)
        except RequestFailure as failure:
            if failure.status in (400, 422) and "logprobs" in str(failure):
                raise self._no_logprobs() from None
            raise
        except openai.APIConnectionError as error:
            raise PolyrewardError(
                f"judge server {self.url}: no connection ({error.__cause__}); start it or correct the url, then run again: "
                f"what it has replied so far is kept in {self.cache}"
            ) from None
        except openai.AuthenticationError:
            raise PolyrewardError(
                f"judge server {self.url}: refuses the key (401); put a valid one in the environment variable "
                f"{self.api_key_variable}, which is {'set' if os.environ.get(self.api_key_variable) else 'not set'}"
            ) from None
        except openai.NotFoundError as error:
            raise PolyrewardError(
                f"judge server {self.url}: has no model `{self.model}`, or is not at that url (404: "
                f"{self._safe(error.response.text)}); correct `model`, or `url`, which often ends with /v1"
            ) from None

    def _no_logprobs(self) -> PolyrewardError:
        return PolyrewardError(f"judge server {self.url}: gives no log-probabilities (top_logprobs); set verdict: text")

    def _safe(self, text: str) -> str:
        """Return the beginning of what a server said, without the key, which some servers repeat."""
        key = os.environ.get(self.api_key_variable)
        return beginning(text.replace(key, "***") if key else text)

    def _path(self, body: dict) -> Path:
        return Path(self.cache) / f"{_digest(body)}.json"

    def _remembered(self, body: dict) -> dict | None:
        path = self._path(body)
        if not path.exists():
            return None
        try:
            entry = json.loads(path.read_text(encoding="utf-8"))
            told = entry.pop("sha256")
            if entry["request"] == body and told == _digest(entry):
                return entry["reply"]
        except (AttributeError, LookupError, RecursionError, TypeError, ValueError):
            pass
        announce(f"{path}: changed since the server replied, or not all of it; asking again")
        return None


def server_judge(
    url: str, model: str, verdict: str, max_new_tokens: int, template: str, concurrency: int, timeout_s: float, retries: int,
    api_key_variable: str, seed: int, cache: str | Path, pattern: str = VERDICT,
) -> Judge:  # fmt: skip
    """Return a judge on a server; arguments as in Judge, judge and ServerJudge. No connection is made yet.

    Raises PolyrewardError as judge does, and where the url is none or holds a secret, since urls are written to files."""
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or "@" in parts.netloc or parts.query:
        raise PolyrewardError(
            "judge server: its url begins with http:// or https:// and holds no user, password or ?query; put a key in an "
            "environment variable and name that as api_key_variable"
        )
    backend = ServerJudge(
        url.rstrip("/"), model, max_new_tokens, concurrency, timeout_s, retries, api_key_variable, seed, Path(cache)
    )
    return judge(backend, verdict, template, pattern)


def label_row(reply: dict, labels: Sequence[str]) -> np.ndarray:
    """Return the log-probability (nats) of each label as a reply's first token; nan for all where none is known.

    Tokens that differ in space alone count together. A label that is not among the likeliest tokens gets the smallest of
    their log-probabilities, which bounds its own from above, minus MARGIN. Raises LookupError, TypeError or ValueError
    where the reply tells no log-probabilities."""
    top = reply["choices"][0]["logprobs"]["content"][0]["top_logprobs"]
    # Some servers leave a tokenizer's own mark for a space in the token.
    seen = [(entry["token"].strip(" \n\t\u2581\u0120"), max(float(entry["logprob"]), FLOOR)) for entry in top]
    least = min(logprob for _, logprob in seen) - MARGIN
    found = np.array([np.logaddexp.reduce([logprob for token, logprob in seen if token == label]) for label in labels])
    known = np.isfinite(found)
    return np.where(known, found, least) if known.any() else np.full(len(labels), np.nan)


def _digest(content: dict) -> str:
    """Return the SHA-256 of what JSON holds, whatever the order of its keys and its spaces."""
    return hashlib.sha256(json.dumps(content, sort_keys=True, separators=(",", ":")).encode()).hexdigest()


def _content(reply: dict) -> str:
    content = reply["choices"][0]["message"]["content"]
    if not isinstance(content, str | None):
        raise TypeError(content)
    return content or ""


def load_judge(entry: dict, scoring: dict, cache: str | Path) -> Judge:
    """Return the judge of an entry that has a `server`; arguments as families.load_reward_model has them."""
    return server_judge(**{**SERVER, **entry["server"]}, **asked_as(entry), cache=cache)
