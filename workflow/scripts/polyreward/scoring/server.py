"""Judges on a server that speaks OpenAI's chat completions, and a memory of what they replied."""

import dataclasses
import hashlib
import json
import math
import os
import re
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

import numpy as np
import openai

from polyreward.core.conversations import Messages
from polyreward.core.errors import PolyrewardError
from polyreward.core.files import write_text
from polyreward.core.logs import announce
from polyreward.models.asking import RequestFailure, all_asked, beginning, response_text
from polyreward.models.bounded import MOST_BYTES, BoundedClient, Budget, Spent
from polyreward.scoring.generative import VERDICT, Judge, asked_as, judge
from polyreward.scoring.pair_question import PairJudge, asked_in_pairs

TOP = 20  # tokens whose log-probability is asked for; servers allow no more
MARGIN = 1.0  # nats by which a label that is not among them is taken to be below the last of them
FLOOR = -100.0  # nats; servers write numbers such as -9999 for what they did not compute
ROUNDING = 0.01  # nats or probability by which numbers of a server may be more than 1 is as a probability
VERSION = re.compile(
    r"[-:@](latest|\d{4}-\d\d-\d\d|\d{8}|\d{4}|0\d\d)"
)  # what a server adds to the name that it is asked for
URL = re.compile(r"https?://[^\s/?#@]+(/[^\s?#@]*)?")  # without a user, a password, a ?query and a #fragment
SERVER = {
    "concurrency": 8,
    "timeout_s": 120,
    "retries": 5,
    "api_key_variable": "JUDGE_API_KEY",
    "seed": 42,
    "answers_as": None,
    "max_requests": 100_000,
    "unusable_share": 0.0,
}


class UnusableReply(RequestFailure):
    """A reply that says nothing of the question: kept back by a content filter, cut short, or empty."""


@dataclasses.dataclass(frozen=True)
class ServerJudge:
    """A model on a server as a backend. Nothing of ours is batched or truncated there.

    url: where its `/chat/completions` is. max_new_tokens: of a reply as text. concurrency: requests at a
    time. timeout_s: of one request, retries included. retries: of one request, later and later, or when the
    server says (Retry-After). api_key_variable: the environment variable that holds the key; a server that
    wants none gets "none". answers_as: the model that replies name, where it is not `model` or a version of
    it. unusable_share: of the replies, which may be kept back by a content filter, cut short or empty, and
    count as replies without a verdict. cache: a folder with a file for each request and its reply, which are
    not asked for again. budget: requests that may be sent."""

    url: str
    model: str
    max_new_tokens: int
    concurrency: int
    timeout_s: float
    retries: int
    api_key_variable: str
    seed: int
    answers_as: str | None
    unusable_share: float
    cache: Path
    budget: Budget
    exact = True

    def unbatched(self) -> "ServerJudge":
        """Return itself."""
        return self

    def cut(self, requests: Sequence[Messages]) -> list[bool]:
        """Return that none is truncated: a server refuses what is too long."""
        return [False] * len(requests)

    def replies(self, requests: Sequence[Messages], job: str) -> list[str]:
        """Return what is said to each request, at temperature 0; errors as in `_asked`."""
        return [
            reply or "" for reply in self._asked(requests, {"max_tokens": self.max_new_tokens}, _text, job)
        ]

    def label_logprobs(self, requests: Sequence[Messages], labels: Sequence[str], job: str) -> np.ndarray:
        """Return log-probabilities (nats) of the labels as the first token said (requests, labels); errors as
        in `_asked`.

        A row is nan where no label is among the TOP likeliest tokens. Raises PolyrewardError where the server
        returns none."""

        def read(reply: dict) -> np.ndarray:
            try:
                return label_row(reply, labels)
            except (LookupError, TypeError):
                raise self._no_logprobs() from None

        parameters = {"max_tokens": 1, "logprobs": True, "top_logprobs": TOP}
        unknown = np.full(len(labels), np.nan)
        return np.array(
            [unknown if row is None else row for row in self._asked(requests, parameters, read, job)]
        )

    def _asked(
        self, requests: Sequence[Messages], parameters: dict, read: Callable[[dict], object], job: str
    ) -> list:
        """Return what `read` makes of each reply, asking only for those that are not in the cache; None for
        unusable ones.

        Raises PolyrewardError at once where no request can succeed (no connection, a refused key, an unknown
        model, another model, a redirect) or too many are wanted, else when all are done if some failed; what
        was replied is in the cache."""
        fixed = {
            "url": self.url,
            "model": self.model,
            "parameters": {"temperature": 0, "seed": self.seed, **parameters},
        }
        bodies = [{**fixed, "messages": list(request)} for request in requests]
        found = {
            i: reply for i, body in enumerate(bodies) if (reply := self._remembered(body, read)) is not None
        }
        missing = [i for i in range(len(bodies)) if i not in found]
        if missing:
            self._announce(len(missing), len(found), parameters["max_tokens"], job)
            with self._client() as client:
                replied, failures = all_asked(
                    lambda i: self._fetched(client, bodies[i], read), missing, self.concurrency, job
                )
            self._check(failures, len(missing), len(bodies), job)
            found |= replied
        return [read(found[i]) if i in found else None for i in range(len(bodies))]

    def _announce(self, missing: int, remembered: int, tokens: int, job: str) -> None:
        """Announce what will be asked; raises PolyrewardError where that is more than may be sent."""
        if missing > self.budget.left:
            raise PolyrewardError(
                f"judge server {self.url}: {job} wants {missing} requests, and this job may send"
                f" {self.budget.left} more of its {self.budget.most}; none of them is sent: raise"
                " `max_requests` of the server if that is what it may cost"
            )
        announce(
            f"judge server {self.url}: {job} asks `{self.model}` {missing} times, for up to {tokens} tokens"
            f" each; {remembered} replies are remembered; this job may send {self.budget.left} requests"
            " (max_requests), retries included"
        )

    def _check(self, failures: Sequence[RequestFailure], missing: int, total: int, job: str) -> None:
        """Raise PolyrewardError unless all failures are unusable replies, and few enough."""
        unusable = [failure for failure in failures if isinstance(failure, UnusableReply)]
        others = [failure for failure in failures if not isinstance(failure, UnusableReply)]
        if others:
            raise PolyrewardError(
                f"judge server {self.url}: {len(others)} of {missing} requests failed after up to"
                f" {self.retries} retries; the first: {others[0]}. What else was replied is kept in"
                f" {self.cache}: fix the cause and run again, which asks only for what is missing"
            )
        if len(unusable) > self.unusable_share * total:
            raise PolyrewardError(
                f"judge server {self.url}: {len(unusable)} of {total} replies cannot be used; the first:"
                f" {unusable[0]}. The others are kept in {self.cache}. Run again, which asks only for what is"
                f" missing, or raise `unusable_share` of the server, now {self.unusable_share:g}: such"
                " replies then count as ones without a verdict"
            )
        if unusable:
            announce(
                f"{job}: {len(unusable)} of {total} replies cannot be used and count as ones without a"
                " verdict"
            )

    def _client(self) -> BoundedClient:
        key = (
            os.environ.get(self.api_key_variable) or "none"
        )  # read here, and no field, so that no repr shows it
        return BoundedClient(self.url, key, self.timeout_s, self.retries, self.budget)

    def _fetched(self, client: BoundedClient, body: dict, read: Callable[[dict], object]) -> dict:
        """Ask for a reply, check that it can be used, and put it in the cache."""
        text = self._answered(client, body)
        try:
            reply = json.loads(text)
            self._use(reply, read)
        except (AttributeError, LookupError, RecursionError, TypeError, ValueError):
            said = (
                f"more than {MOST_BYTES} bytes"
                if len(text.encode()) >= MOST_BYTES
                else repr(self._safe(text))
            )
            raise RequestFailure(f"nonsense, not a chat completion but {said}") from None
        entry = {"request": body, "reply": reply}
        write_text(json.dumps({**entry, "sha256": _digest(entry)}, indent=1), self._path(body))
        return reply

    def _use(self, reply: dict, read: Callable[[dict], object]) -> object:
        """Return what `read` makes of a reply after checking that it is one of the model asked, and whole.

        Raises PolyrewardError for another model, RequestFailure for an error, UnusableReply, and
        AttributeError, LookupError or TypeError where it is no chat completion."""
        if reply.get("error"):
            raise RequestFailure(
                f"an error in a response of success: {self._safe(json.dumps(reply['error']))}"
            )
        _text(reply)
        said = reply.get("model")
        if said not in (None, self.model, self.answers_as) and not VERSION.fullmatch(
            str(said).removeprefix(self.model)
        ):
            raise PolyrewardError(
                f"judge server {self.url}: asked for `{self.model}`, and the reply is of"
                f" {self._safe(repr(said))}; correct `model` of the server, or give that name as `answers_as`"
                " if it is the same model. The reply is not kept"
            )
        reason = reply["choices"][0].get("finish_reason")
        if reason == "content_filter":
            raise UnusableReply("a content filter kept the reply back (finish_reason: content_filter)")
        if read is _text and reason == "length":
            raise UnusableReply("cut short at max_new_tokens (finish_reason: length), which may be raised")
        if read is _text and not _text(reply).strip():
            raise UnusableReply("an empty reply")
        return read(reply)

    def _answered(self, client: BoundedClient, body: dict) -> str:
        """Return the text of a successful response."""
        try:
            ask = partial(client.chat, model=body["model"], messages=body["messages"], **body["parameters"])
            return response_text(ask, self.timeout_s, self._safe)
        except Spent:
            raise PolyrewardError(
                f"judge server {self.url}: this job has sent the {self.budget.most} requests that it may,"
                f" retries included; what was replied is kept in {self.cache}: raise `max_requests` of the"
                " server if it may cost more, and run again"
            ) from None
        except RequestFailure as failure:
            if 300 <= (failure.status or 0) < 400:
                raise PolyrewardError(
                    f"judge server {self.url}: answers {failure}; nothing went there. Write that address as"
                    " `url` if it is right"
                ) from None
            if failure.status in (400, 422) and "logprobs" in str(failure):
                raise self._no_logprobs() from None
            raise
        except openai.APIConnectionError as error:
            raise PolyrewardError(
                f"judge server {self.url}: no connection ({error.__cause__}); start it or correct the url,"
                f" then run again: what it has replied so far is kept in {self.cache}"
            ) from None
        except openai.AuthenticationError:
            raise PolyrewardError(
                f"judge server {self.url}: refuses the key (401); put a valid one in the environment variable"
                f" {self.api_key_variable}, which is"
                f" {'set' if os.environ.get(self.api_key_variable) else 'not set'}"
            ) from None
        except openai.NotFoundError as error:
            raise PolyrewardError(
                f"judge server {self.url}: has no model `{self.model}`, or is not at that url (404: "
                f"{self._safe(error.response.text)}); correct `model`, or `url`, which often ends with /v1"
            ) from None

    def _no_logprobs(self) -> PolyrewardError:
        return PolyrewardError(
            f"judge server {self.url}: gives no log-probabilities (top_logprobs); set verdict: text"
        )

    def _safe(self, text: str) -> str:
        """Return the beginning of what a server said, without the key, which some servers repeat."""
        key = os.environ.get(self.api_key_variable)
        return beginning(text.replace(key, "***") if key else text)

    def _path(self, body: dict) -> Path:
        return Path(self.cache) / f"{_digest(body)}.json"

    def _remembered(self, body: dict, read: Callable[[dict], object]) -> dict | None:
        path = self._path(body)
        if not path.exists():
            return None
        try:
            entry = json.loads(path.read_text(encoding="utf-8"))
            checksum = entry.pop("sha256")
            if entry["request"] == body and checksum == _digest(entry):
                self._use(entry["reply"], read)
                return entry["reply"]
        except (
            AttributeError,
            LookupError,
            RecursionError,
            TypeError,
            ValueError,
            PolyrewardError,
            RequestFailure,
        ):
            pass
        announce(f"{path}: changed since the server replied, not all of it, or no reply to use; asking again")
        return None


def server_judge(
    url: str,
    model: str,
    verdict: str,
    max_new_tokens: int,
    template: str,
    concurrency: int,
    timeout_s: float,
    retries: int,
    api_key_variable: str,
    seed: int,
    answers_as: str | None,
    max_requests: int,
    unusable_share: float,
    cache: str | Path,
    pattern: str = VERDICT,
) -> Judge:
    """Return a judge on a server; arguments as in Judge, judge and ServerJudge. No connection is made yet.

    max_requests: of this judge, retries included. Raises PolyrewardError as judge does, and where
    the url is none or holds a secret, since urls are written to files."""
    if not URL.fullmatch(url):
        raise PolyrewardError(
            "judge server: its url begins with http:// or https:// and holds no user, password, ?query or"
            " #fragment; put a key in an environment variable and name that as api_key_variable"
        )
    backend = ServerJudge(
        url.rstrip("/"),
        model,
        max_new_tokens,
        concurrency,
        timeout_s,
        retries,
        api_key_variable,
        seed,
        answers_as,
        unusable_share,
        Path(cache),
        Budget(max_requests),
    )
    return judge(backend, verdict, template, pattern)


def label_row(reply: dict, labels: Sequence[str]) -> np.ndarray:
    """Return the log-probability (nats) of each label as a reply's first token; nan for all where none is
    known.

    Tokens that differ only in spaces count together. A label that is not among the likeliest tokens gets the
    smallest of their log-probabilities, which bounds its own from above, minus MARGIN. Raises LookupError or
    TypeError where the reply has no log-probabilities, and RequestFailure where they are none."""
    top = reply["choices"][0]["logprobs"]["content"][0]["top_logprobs"]
    # Some servers leave a tokenizer's own mark for a space in the token.
    seen = [(entry["token"].strip(" \n\t\u2581\u0120"), _logprob(entry["logprob"])) for entry in top]
    if not seen:
        raise LookupError("top_logprobs")
    if math.fsum(math.exp(logprob) for _, logprob in seen) > 1 + ROUNDING:
        raise RequestFailure("absurd log-probabilities, of more than 1 together")
    least = min(logprob for _, logprob in seen) - MARGIN
    found = np.array(
        [np.logaddexp.reduce([logprob for token, logprob in seen if token == label]) for label in labels]
    )
    known = np.isfinite(found)
    return np.where(known, found, least) if known.any() else np.full(len(labels), np.nan)


def _logprob(value: object) -> float:
    """Return a log-probability (nats) of a reply, at least FLOOR; raises RequestFailure where it is none."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not value <= ROUNDING:  # nan is not
        raise RequestFailure(f"an absurd log-probability: {beginning(repr(value))}")
    return float(max(value, FLOOR))


def _digest(content: dict) -> str:
    """Return the SHA-256 of what JSON holds, whatever the order of its keys and its spaces."""
    return hashlib.sha256(json.dumps(content, sort_keys=True, separators=(",", ":")).encode()).hexdigest()


def _text(reply: dict) -> str:
    """Return what a reply says; raises LookupError, TypeError or AttributeError where it is no chat
    completion."""
    content = reply["choices"][0]["message"]["content"]
    if not isinstance(content, str | None):
        raise TypeError(content)
    return content or ""


def load_judge(entry: dict, scoring: dict, cache: str | Path) -> Judge | PairJudge:
    """Return the judge of an entry that has a `server`; arguments as in load_reward_model."""
    return asked_in_pairs(
        server_judge(**{**SERVER, **entry["server"]}, **asked_as(entry), cache=cache), entry
    )
