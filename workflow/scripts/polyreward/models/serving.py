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
from collections.abc import Sequence
from pathlib import Path

import openai

from polyreward.core.errors import PolyrewardError
from polyreward.core.logs import announce
from polyreward.core.seals import intact
from polyreward.models.asking import RequestFailure, all_asked, beginning, response_text
from polyreward.models.generation import Writing
from polyreward.settings.base import Serve

SUPERVISOR = Path(__file__).with_name("supervised.py")
GRACE_S = 30.0  # from asking a server to end until it is killed
LAST_LINES = 20  # of a server's output in an error
PAUSE_S = 0.2  # between two checks of whether it is up


class Server(contextlib.AbstractContextManager):
    """A model on a server that this process starts, which speaks OpenAI's completions on the loopback
    address.

    It ends, with all that it started, by `close`, at the end of a `with` block, when nothing refers to it
    any more, or with this process. Raises PolyrewardError where the program is not installed, ends before
    it answers, or does not answer in startup_s."""

    def __init__(self, settings: Serve, folder: str | Path, dtype: str, gpus: int = 1):
        self.settings = settings
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        values = {"model": str(intact(folder)), "port": str(port), "dtype": dtype, "gpus": str(gpus)}
        # Only these: a command may hold other braces.
        command = [
            re.sub(r"\{(model|port|dtype|gpus)\}", lambda name: values[name[1]], argument)
            for argument in settings.command
        ]
        if shutil.which(command[0]) is None:
            raise PolyrewardError(
                f"devices.serve.command: the program `{command[0]}` is not on the PATH of the job. Install"
                " it in the environment of this stage, write its whole path, or set devices.serve to null"
            )
        self._name = f"the server of {folder} (`{command[0]}`, devices.serve.command)"
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

        The text is without special tokens and what stopped it. prompts: token ids. seeds: one of each; 0
        without. concurrency: another than the settings'. Raises PolyrewardError, and ends the server, at the
        first request that fails."""
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

        at_a_time = concurrency or self.settings.concurrency
        found, _ = all_asked(ask, range(len(prompts)), at_a_time, job, self.close)
        return [found[number] for number in range(len(prompts))]

    def _completion(self, body: dict) -> tuple[str, bool]:
        said = ""
        try:
            said = response_text(
                lambda: self._client.completions.with_raw_response.create(**body), self.settings.timeout_s
            )
            choice = json.loads(said)["choices"][0]
            return choice["text"] + "", choice.get("finish_reason") != "length"
        except RequestFailure as failure:
            what, answered = str(failure), failure.answered
        except openai.APIConnectionError as error:
            what, answered = f"no connection ({error.__cause__})", False
        except openai.APIStatusError as error:
            what, answered = f"{error.status_code}: {beginning(error.response.text)}", True
        except (LookupError, TypeError, ValueError, AttributeError):
            what, answered = f"nonsense, not a completion but {beginning(said)!r}", True
        if not answered:  # where it has ended, or is about to, that is the cause
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._process.wait(1)
                raise self._ended("in the middle of the job")
        raise PolyrewardError(
            f"{self._name}: a request failed after up to {self.settings.retries} retries: {what}. See what it"
            f" printed in the job's log. It has to speak OpenAI's completions, at /v1/completions. Where"
            f" {len(body['prompt'])} tokens and {body['max_tokens']} new ones are too many for it, lower"
            " max_length or max_new_tokens of what is written, or give the server more room (vLLM:"
            " --max-model-len). If it has too much to do, raise devices.serve.timeout_s or lower concurrency"
        )

    def _answering(self) -> str:
        announce(f"{self._name} starts")
        start = time.monotonic()
        asked = self._client.with_options(timeout=5, max_retries=0)
        while time.monotonic() - start <= self.settings.startup_s:
            if self._process.poll() is not None:
                raise self._ended("before it answered")
            try:
                name = asked.models.list().data[0].id
                announce(f"{self._name} answers after {time.monotonic() - start:.0f} s")
                return name
            except (openai.APIError, LookupError, TypeError, AttributeError):
                time.sleep(PAUSE_S)  # it loads the model
        raise PolyrewardError(
            f"{self._name} does not answer at /v1/models after {self.settings.startup_s} s; raise"
            " devices.serve.startup_s if it was still loading, else fix the command."
            f" It printed last:\n{''.join(self._last)}"
        )

    def _ended(self, when: str) -> PolyrewardError:
        self._reader.join(5)  # what it printed last may not have been read yet
        return PolyrewardError(
            f"{self._name} ended {when}, with exit code {self._process.returncode}; fix what it says, or set"
            f" devices.serve to null. It printed last:\n{''.join(self._last)}"
        )


def _copy(stream, last: deque) -> None:
    for line in stream:
        sys.stderr.write(line)
        last.append(line)


def _end(process: subprocess.Popen, reader: threading.Thread) -> None:
    """End a server by closing its supervisor's standard input."""
    process.stdin.close()
    process.wait()
    reader.join(5)


def server_of(
    folder: str | Path, dtype: str, serve: Serve | None
) -> contextlib.AbstractContextManager[Server | None]:
    """Return a server of a model for a `with` block; None there if transformers is to run the model."""
    return contextlib.nullcontext() if serve is None else Server(serve, folder, dtype)
