"""A model on a server that a job starts for itself (vLLM's, say), asked to continue token ids;
`devices.serve`."""

import contextlib
import json
import re
import shutil
import socket
import subprocess
import sys
import threading
import time
import weakref
from collections import deque
from collections.abc import Iterator, Sequence
from pathlib import Path

import openai

from polyreward.core.errors import PolyrewardError
from polyreward.core.logs import announce
from polyreward.core.seals import intact
from polyreward.models.asking import RequestFailure, all_asked, beginning, response_text
from polyreward.models.generation import Writing
from polyreward.models.precision import dtype_of
from polyreward.settings.model import Serve

SUPERVISOR = Path(__file__).with_name("supervised.py")
GRACE_S = 30.0  # from asking a server to end until it is killed
LAST_LINES = 20  # of a server's output in an error
PAUSE_S = 0.2  # between two checks of whether it is up
STILL_S = 60.0  # between two announcements that it is not up
WANTED = "take a server that speaks OpenAI's completions, at /v1/completions"


class Server:
    """A model on a server of this process's own, which speaks OpenAI's completions on a free port of the
    loopback address.

    It is started here. It ends by `close`, at the end of a `with` block, when nothing refers to it any more,
    or with this process. All that it started ends with it. Raises PolyrewardError where the program is not
    installed, where it ends before it answers, and where startup_s pass without an answer."""

    def __init__(self, settings: Serve, folder: str | Path, dtype: str, gpus: int = 1):
        self.settings, self.folder = settings, folder
        port = _free_port()
        values = {"model": str(intact(folder)), "port": str(port), "dtype": dtype, "gpus": str(gpus)}
        # Only these: a command may hold other braces.
        command = [
            re.sub(r"\{(model|port|dtype|gpus)\}", lambda name: values[name[1]], argument)
            for argument in settings.command
        ]
        self.program = command[0]
        if shutil.which(self.program) is None:
            raise PolyrewardError(
                f"devices.serve.command: the program `{self.program}` is not on the PATH of the job. Install"
                " it in the environment of this stage, write its whole path, or set devices.serve to null"
            )
        self._process = subprocess.Popen(
            [sys.executable, "-I", str(SUPERVISOR), str(GRACE_S), *command],
            text=True,
            errors="replace",
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        self._last: deque[str] = deque(maxlen=LAST_LINES)
        self._reader = threading.Thread(target=_copy, args=(self._process.stdout, self._last), daemon=True)
        self._reader.start()
        self.close = weakref.finalize(self, _end, self._process, self._reader)
        try:
            self._client = openai.OpenAI(
                base_url=f"http://127.0.0.1:{port}/v1",
                api_key="none",
                timeout=settings.timeout_s,
                max_retries=settings.retries,
                # A proxy would not find this machine's loopback.
                http_client=openai.DefaultHttpxClient(trust_env=False),
            )
            self._model = self._answering()
        except BaseException:
            self.close()
            raise

    def __enter__(self) -> "Server":
        """Return itself."""
        return self

    def __exit__(self, *error) -> None:
        """End it."""
        self.close()

    def texts(self, *asked, **options) -> list[str]:
        """Return only the texts of `completions`."""
        return [text for text, _ in self.completions(*asked, **options)]

    def completions(
        self,
        prompts: Sequence[Sequence[int]],
        writing: Writing,
        job: str,
        seeds: Sequence[int] | None = None,
        concurrency: int | None = None,
    ) -> list[tuple[str, bool]]:
        """Return (text, whether it ended by itself, not cut at max_new_tokens) for each prompt.

        The text is what the model adds, without special tokens and without the text that stopped it.
        prompts: token ids. job: its name in messages. seeds: one of each; 0 without. concurrency: another
        than the settings'. Raises PolyrewardError at the first request that fails, as no part of a job's
        texts is kept, and ends the server."""
        extra = {
            "repetition_penalty": writing.repetition_penalty,
            "stop_token_ids": sorted(writing.ends),
            "skip_special_tokens": True,
            **({} if writing.top_k is None else {"top_k": writing.top_k}),
        }
        fixed = {
            "model": self._model,
            "max_tokens": writing.max_new_tokens,
            "temperature": writing.temperature,
            "top_p": 1.0,
            "stop": list(writing.stop),
            "extra_body": extra,
        }

        def ask(number: int) -> tuple[str, bool]:
            seed = seeds[number] % 2**31 if seeds else 0
            return self._completion({**fixed, "prompt": list(prompts[number]), "seed": seed})

        found, _ = all_asked(
            ask, range(len(prompts)), concurrency or self.settings.concurrency, job, self.close
        )
        return [found[number] for number in range(len(prompts))]

    def _completion(self, body: dict) -> tuple[str, bool]:
        try:
            said = response_text(
                lambda: self._client.completions.with_raw_response.create(**body), self.settings.timeout_s
            )
        except RequestFailure as failure:
            if failure.status is None:
                self._check()
            raise self._failed(str(failure), _remedy(failure.status, body)) from None
        except openai.APIConnectionError as error:
            self._check()
            raise self._failed(f"no connection ({error.__cause__})", "run the job again") from None
        except openai.APIStatusError as error:
            raise self._failed(f"{error.status_code}: {beginning(error.response.text)}", WANTED) from None
        try:
            choice = json.loads(said)["choices"][0]
            text, cut = choice["text"], choice.get("finish_reason") == "length"
        except (LookupError, TypeError, ValueError, AttributeError):
            text, cut = None, False
        if not isinstance(text, str):
            raise self._failed(f"nonsense, not a completion but {beginning(said)!r}", WANTED)
        return text, not cut

    def _answering(self) -> str:
        """Wait until the server answers; return its name of the model."""
        announce(f"{self.folder}: starting `{self.program}` to serve it")
        start = announced = time.monotonic()
        asked = self._client.with_options(timeout=5, max_retries=0)
        while True:
            if self._process.poll() is not None:
                raise self._ended("before it answered")
            try:
                name = asked.models.list().data[0].id
                announce(f"{self.folder}: served after {time.monotonic() - start:.0f} s")
                return name
            except (openai.APIError, LookupError, TypeError, AttributeError):
                pass  # it loads the model
            now = time.monotonic()
            if now - start > self.settings.startup_s:
                raise PolyrewardError(
                    f"the server of {self.folder} (`{self.program}`, devices.serve.command) does not answer"
                    f" at /v1/models after {self.settings.startup_s} s; raise devices.serve.startup_s if it"
                    f" was still loading, else fix the command. {self._printed()}"
                )
            if now - announced > STILL_S:
                announced = now
                announce(
                    f"{self.folder}: still loading, {now - start:.0f} s:"
                    f" {self._last[-1].rstrip() if self._last else ''}"
                )
            time.sleep(PAUSE_S)

    def _check(self) -> None:
        """Raise PolyrewardError where the server has ended, or is about to."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(1)
            raise self._ended("in the middle of the job")

    def _failed(self, what: str, remedy: str) -> PolyrewardError:
        return PolyrewardError(
            f"the server of {self.folder} (`{self.program}`, devices.serve.command): a request failed after"
            f" up to {self.settings.retries} retries: {what}; {remedy}"
        )

    def _ended(self, when: str) -> PolyrewardError:
        self._reader.join(5)  # what it printed last may not have been read yet
        return PolyrewardError(
            f"the server of {self.folder} (`{self.program}`, devices.serve.command) ended {when}, with exit"
            f" code {self._process.returncode}; fix what it says, or set devices.serve to null."
            f" {self._printed()}"
        )

    def _printed(self) -> str:
        return f"It printed last:\n{''.join(self._last)}" if self._last else "It printed nothing."


def _remedy(status: int | None, body: dict) -> str:
    if status in (400, 422):
        return (
            f"where {len(body['prompt'])} tokens and {body['max_tokens']} new ones are too many for it, lower"
            " max_length or max_new_tokens of what is written, or give the server more room (vLLM:"
            " --max-model-len)"
        )
    return (
        "see what it printed in the job's log; raise devices.serve.timeout_s or lower concurrency if it has"
        " too much to do"
    )


def _free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return found.getsockname()[1]


def _copy(stream, last: deque) -> None:
    """Copy what a server prints to the job's log, and keep the last of it."""
    for line in stream:
        sys.stderr.write(line)
        last.append(line)


def _end(process: subprocess.Popen, reader: threading.Thread) -> None:
    """End a server by closing its supervisor's standard input."""
    process.stdin.close()
    process.wait()
    reader.join(5)


@contextlib.contextmanager
def server_of(folder: str | Path, dtype: str, serve: Serve | None) -> "Iterator[Server | None]":
    """Yield a server of a model for as long as it is needed, None where `serve` is None and transformers is
    to run the model.

    dtype: as in precision.dtype_of."""
    if serve is None:
        yield None
        return
    with Server(serve, folder, dtype_of(dtype)) as server:
        yield server
