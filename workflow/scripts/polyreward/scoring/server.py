"""Judges on a server that speaks OpenAI's chat completions, and a memory of what they replied."""

import dataclasses
import hashlib
import json
import math
import os
import re
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import openai

from polyreward.core.conversations import Messages
from polyreward.core.errors import PolyrewardError, UnavailableError
from polyreward.core.files import write_text
from polyreward.core.logs import announce
from polyreward.models.asking import RequestFailure, all_asked, beginning, response_text
from polyreward.scoring.generative import NEW_TOKENS, Judge
from polyreward.scoring.pair_question import PairJudge, judge_of

TOP = 20  # tokens whose log-probability is asked for; servers allow no more
MARGIN = 1.0  # nats: a label that is not among them counts as so far below the last of them
# What a server adds to the name that it is asked for.
VERSION = re.compile(r"[-:@](latest|\d{4}-\d\d-\d\d|\d{8}|\d{4}|0\d\d)")
FLOOR = -100.0  # nats; servers write numbers such as -9999 for what they did not compute


class UnusableReply(RequestFailure):
    """A reply that says nothing about the question: filtered, cut short, or empty."""


@dataclasses.dataclass(frozen=True)
class ApiBackend:
    """A model on a server as a backend. Nothing of ours is batched or truncated there.

    cache: a folder with a file for each request and its reply. The other fields: as in settings."""

    url: str
    model: str
    max_new_tokens: int
    cache: Path
    concurrency: int = 8
    timeout_s: float = 120
    retries: int = 5
    api_key_variable: str = "JUDGE_API_KEY"
    seed: int = 42
    answers_as: str | None = None
    unusable_share: float = 0.0
    exact = True

    def cut(self, requests: Sequence[Messages]) -> list[bool]:
        """Return that none is truncated: a server refuses what is too long."""
        return [False] * len(requests)

    def replies(self, requests: Sequence[Messages], job: str) -> list[str]:
        """Return what is said to each request, at temperature 0; errors as in `_asked`."""
        return [reply or "" for reply in self._asked(requests, self.max_new_tokens, {}, _whole_text, job)]

    def label_logprobs(self, requests: Sequence[Messages], labels: Sequence[str], job: str) -> np.ndarray:
        """Return log-probabilities (nats) of the labels as the first token said (requests, labels).

        A row is nan where no label is among the TOP likeliest tokens."""

        def read(reply: dict) -> np.ndarray:
            _text(reply)
            try:
                return label_row(reply, labels)
            except (LookupError, TypeError):
                raise self._no_logprobs() from None

        unknown = np.full(len(labels), np.nan)
        found = self._asked(requests, 1, {"logprobs": True, "top_logprobs": TOP}, read, job)
        return np.array([unknown if row is None else row for row in found])

    def _asked(
        self, requests: Sequence[Messages], tokens: int, more: dict, read: Callable[[dict], object], job: str
    ) -> list:
        """Return what `read` makes of each reply, asked for or remembered; None for unusable ones.

        Raises PolyrewardError at once where no request can succeed, else when all are done, if some
        failed."""
        parameters = {"temperature": 0, "seed": self.seed, "max_tokens": tokens, **more}
        fixed = {"url": self.url, "model": self.model, "parameters": parameters}
        bodies = [{**fixed, "messages": list(request)} for request in requests]
        replies = [self._remembered(body) for body in bodies]
        found = {i: read(reply) for i, reply in enumerate(replies) if reply}
        missing = [i for i, reply in enumerate(replies) if not reply]
        if missing:
            announce(
                f"judge server {self.url}: {job} asks `{self.model}` {len(missing)} times, for up to {tokens}"
                f" tokens each; {len(found)} replies are remembered"
            )
            # The key is read here, and no field, so that no repr shows it.
            with openai.OpenAI(
                base_url=self.url,
                api_key=os.environ.get(self.api_key_variable) or "none",
                timeout=self.timeout_s,
                max_retries=self.retries,
                http_client=openai.DefaultHttpxClient(follow_redirects=False),
            ) as client:
                replied, failures = all_asked(
                    lambda i: self._fetched(client, bodies[i], read), missing, self.concurrency, job
                )
            self._check(failures, len(missing), len(bodies), job)
            found |= replied
        return [found.get(i) for i in range(len(bodies))]

    def _check(self, failures: Sequence[RequestFailure], missing: int, total: int, job: str) -> None:
        """Raise PolyrewardError unless all failures are unusable replies, and few enough."""
        others = [failure for failure in failures if not isinstance(failure, UnusableReply)]
        again = f"are kept in {self.cache}. Run again, which asks only for what is missing"
        if others:
            raise PolyrewardError(
                f"judge server {self.url}: {len(others)} of {missing} requests failed after up to"
                f" {self.retries} retries; the first: {others[0]}. Fix the cause; the other replies {again}"
            )
        if len(failures) > self.unusable_share * total:
            raise PolyrewardError(
                f"judge server {self.url}: {len(failures)} of {total} replies cannot be used; the first:"
                f" {failures[0]}. The others {again}, or raise `unusable_share` of the server, now"
                f" {self.unusable_share:g}: such replies then count as ones without a verdict"
            )
        if failures:
            announce(f"{job}: {len(failures)} of {total} replies cannot be used and count as no verdict")

    def _fetched(self, client: openai.OpenAI, body: dict, read: Callable[[dict], object]) -> object:
        request = {"model": body["model"], "messages": body["messages"], **body["parameters"]}
        where, key = f"judge server {self.url}", self.api_key_variable
        try:
            text = response_text(
                lambda: client.chat.completions.with_raw_response.create(**request),
                self.timeout_s,
                self._safe,
            )
            reply = json.loads(text)
            found = read(reply)
        except RequestFailure as failure:
            if failure.status in (400, 422) and "logprobs" in str(failure):
                raise self._no_logprobs() from None
            raise
        except openai.APIConnectionError as error:
            raise PolyrewardError(
                f"{where}: no connection ({error.__cause__}); start it or correct the url, then run again:"
                f" what it has replied so far is kept in {self.cache}"
            ) from None
        except openai.AuthenticationError:
            raise PolyrewardError(
                f"{where}: refuses the key (401); put a valid one in the environment variable {key}, which is"
                f" {'set' if os.environ.get(key) else 'not set'}"
            ) from None
        except openai.NotFoundError as error:
            # OpenAI's code for a model that is retired, or closed to this account; any other 404 may be a
            # wrong url, which says nothing about the model.
            gone = error.code == "model_not_found"
            raise (UnavailableError if gone else PolyrewardError)(
                f"{where}: has no model `{self.model}`, or is not at that url (404:"
                f" {self._safe(error.response.text)}); correct `model`, or `url`, which often ends with /v1"
            ) from None
        except (AttributeError, LookupError, RecursionError, TypeError, ValueError):
            raise RequestFailure(f"nonsense, not a chat completion but {self._safe(text)!r}") from None
        self._check_model(reply.get("model"))
        write_text(json.dumps({"request": body, "reply": reply}, indent=1), self._path(body))
        return found

    def _no_logprobs(self) -> PolyrewardError:
        return PolyrewardError(
            f"judge server {self.url}: gives no log-probabilities (top_logprobs); set verdict: text"
        )

    def _check_model(self, said: object) -> None:
        """Raise PolyrewardError where a reply is of another model than was asked."""
        if said in (None, self.model, self.answers_as) or VERSION.fullmatch(
            str(said).removeprefix(self.model)
        ):
            return
        raise PolyrewardError(
            f"judge server {self.url}: asked for `{self.model}`, but the reply is from"
            f" {self._safe(repr(said))}. Correct `model` of the server, or set `answers_as` to it if both"
            " are the same model. The reply is not kept"
        )

    def _safe(self, text: str) -> str:
        """Return the beginning of what a server said, without the key, which some servers repeat."""
        key = os.environ.get(self.api_key_variable)
        return beginning(text.replace(key, "***") if key else text)

    def _path(self, body: dict) -> Path:
        canonical = json.dumps(body, sort_keys=True, separators=(",", ":"))
        return Path(self.cache) / f"{hashlib.sha256(canonical.encode()).hexdigest()}.json"

    def _remembered(self, body: dict) -> dict | None:
        try:
            return json.loads(self._path(body).read_text(encoding="utf-8"))["reply"]
        except (FileNotFoundError, LookupError, TypeError, ValueError):
            return None


def label_row(reply: dict, labels: Sequence[str]) -> np.ndarray:
    """Return the log-probability (nats) of each label as a reply's first token; nan where none is known.

    Tokens that differ only in spaces count together. A label that is not among the likeliest tokens gets
    the smallest of their log-probabilities, minus MARGIN."""
    top = reply["choices"][0]["logprobs"]["content"][0]["top_logprobs"]
    # Some servers leave a tokenizer's own mark for a space in the token.
    seen = [(entry["token"].strip(" \n\t\u2581\u0120"), max(entry["logprob"], FLOOR)) for entry in top]
    if not seen:
        raise LookupError("top_logprobs")
    if not math.fsum(math.exp(min(logprob, 1.0)) for _, logprob in seen) < 1.01:  # nan is not, either
        raise RequestFailure("absurd log-probabilities, of more than 1 together")
    found = np.array(
        [np.logaddexp.reduce([logprob for token, logprob in seen if token == label]) for label in labels]
    )
    known = np.isfinite(found)
    unseen = min(logprob for _, logprob in seen) - MARGIN if known.any() else np.nan
    return np.where(known, found, unseen)


def _text(reply: dict) -> str:
    """Return what a reply says; raises UnusableReply where it was filtered."""
    choice = reply["choices"][0]
    content = choice["message"]["content"]
    if not isinstance(content, str | None):
        raise TypeError(content)
    if choice.get("finish_reason") == "content_filter":
        raise UnusableReply("a content filter kept the reply back (finish_reason: content_filter)")
    return content or ""


def _whole_text(reply: dict) -> str:
    text = _text(reply)
    if reply["choices"][0].get("finish_reason") == "length":
        raise UnusableReply("cut short at max_new_tokens (finish_reason: length), which may be raised")
    if not text.strip():
        raise UnusableReply("an empty reply")
    return text


def load_judge(entry: dict, scoring: dict, cache: str | Path) -> Judge | PairJudge:
    """Return the judge of an entry that has a `server`, without connecting; as load_reward_model."""
    server = {**entry["server"], "url": entry["server"]["url"].rstrip("/")}
    new_tokens = entry.get("max_new_tokens", NEW_TOKENS)
    return judge_of(entry, ApiBackend(**server, max_new_tokens=new_tokens, cache=Path(cache)))
