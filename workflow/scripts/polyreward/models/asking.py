"""Requests to servers that speak OpenAI's API: several at a time, and each failure in words."""

import logging
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from typing import TypeVar

import httpx2
import openai

from polyreward.core.logs import progress

Found = TypeVar("Found")
# Its line per request would drown the log, and says nothing that an error does not.
logging.getLogger("httpx2").setLevel(logging.WARNING)


class RequestFailure(Exception):  # noqa: N818 - one request's; those of all requests make one error
    """A request that came to nothing, in words. answered: whether the server gave a response. status: its,
    where that is an error."""

    def __init__(self, words: str, answered: bool = True, status: int | None = None):
        super().__init__(words)
        self.answered, self.status = answered, status


def beginning(text: str) -> str:
    """Return what an error repeats of what a server said."""
    return text[:300]


def response_text(
    ask: Callable[[], object], timeout_s: float, repeated: Callable[[str], str] = beginning
) -> str:
    """Return the text of the response, one of openai's raw ones, that `ask` returns.

    repeated: what an error repeats of what a server said. Raises RequestFailure; openai's own errors where
    no other request would do better: no connection, a refused key, an unknown model."""
    try:
        return ask().text
    except openai.APITimeoutError:
        raise RequestFailure(f"timed out, no reply within {timeout_s} s", answered=False) from None
    except openai.APIConnectionError as error:
        if isinstance(error.__cause__, httpx2.ConnectError):
            raise
        raise RequestFailure(f"the connection broke ({error.__cause__})", answered=False) from None
    except (openai.AuthenticationError, openai.NotFoundError):
        raise
    except openai.APIStatusError as error:
        words = f"{error.status_code}: {repeated(error.response.text)}"
        raise RequestFailure(words, status=error.status_code) from None


def all_asked(
    ask: Callable[[int], Found],
    numbers: Sequence[int],
    concurrency: int,
    job: str,
    give_up: Callable[[], None] = lambda: None,
) -> tuple[dict[int, Found], list[RequestFailure]]:
    """Return ({number: what `ask` returned for it}, the failures), with `concurrency` under way at a time.

    Any error but RequestFailure is raised: what waits is not asked for, and `give_up` is called first."""
    found, failures = {}, []
    with ThreadPoolExecutor(concurrency) as pool, progress(job, len(numbers)) as report:
        futures = {pool.submit(ask, number): number for number in numbers}
        try:
            for future in as_completed(futures):
                try:
                    found[futures[future]] = future.result()
                except RequestFailure as failure:
                    failures.append(failure)
                report(1)
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            give_up()
            raise
    return found, failures
