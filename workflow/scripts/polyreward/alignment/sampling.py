"""Sample a policy's responses with a seed."""

import gc
import json
import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import torch
from transformers import AutoTokenizer

from polyreward.core.conversations import Messages, as_turns, rendered
from polyreward.core.errors import PolyrewardError
from polyreward.core.logs import announce, progress
from polyreward.core.seeds import job_seed
from polyreward.models.devices import device
from polyreward.models.generation import Writing, ends_of, generation_config, written
from polyreward.models.serving import Server, server_of
from polyreward.settings.base import Serve
from polyreward.settings.transfer import Sampling
from polyreward.training.policies import load_policy


def distinct_prompts(rows: Sequence[dict], count: int, where: str, alike: float = 0) -> list[dict]:
    """Return the first `count` rows (id, prompt) with distinct prompts.

    alike: the share of `count` that may be missing, rounded up, since two prompts may have the same
    translation. Raises PolyrewardError where more are missing."""
    distinct = {}
    for row in rows:
        distinct.setdefault(json.dumps(row["prompt"]), {"id": row["id"], "prompt": row["prompt"]})
    kept = list(distinct.values())
    if len(kept) < count - math.ceil(alike * count):
        remedy = "look for translations that are alike" if alike else "raise pool.dev_share"
        raise PolyrewardError(
            f"{where}: {len(kept)} distinct prompts, not {count}; lower alignment.prompts or {remedy}"
        )
    if len(kept) < count:
        announce(f"{where}: {len(kept)} prompts, not {count}, as translations of the others are alike")
    return kept[:count]


@contextmanager
def loaded_policy(
    folder: str | Path, settings: Sampling, precision: str, serve: Serve | None
) -> "Iterator[Policy]":
    """Yield a policy to sample from, served by `serve` where it is given."""
    with server_of(folder, precision, serve) as server:
        yield Policy(folder, settings, precision, server)


class Policy:
    """A policy to sample from; server: one with the model, else it is loaded here."""

    def __init__(
        self,
        folder: str | Path,
        settings: Sampling,
        precision: str = "float32",
        server: Server | None = None,
    ):
        self.settings, self.server = settings, server
        if server is not None:
            self.tokenizer = AutoTokenizer.from_pretrained(folder)
            self.ends = ends_of(generation_config(folder), self.tokenizer)
            return
        model, self.tokenizer = load_policy(folder, precision)
        self.model = model.to(device()).eval()

    def responses(
        self, prompts: Sequence[str | Messages], count: int, seed: int, label: str
    ) -> list[list[str]]:
        """Return `count` responses to each prompt, reproducible from seed, prompts and settings."""
        ids = [rendered(self.tokenizer, as_turns(prompt), add_generation_prompt=True) for prompt in prompts]
        # Longest first, all responses to a prompt next to each other.
        order = sorted(range(len(ids)), key=lambda place: -len(ids[place]))
        places = [place for place in order for _ in range(count)]
        write = self._generated if self.server is None else self._served
        said = write([ids[place] for place in places], seed, label)
        found: list[list[str]] = [[] for _ in prompts]
        for place, text in zip(places, said, strict=True):
            found[place].append(text.strip())
        return found

    def _generated(self, prompts: list[list[int]], seed: int, label: str) -> list[str]:
        torch.manual_seed(seed % 2**31)
        settings, texts = self.settings, []
        with progress(label, len(prompts)) as report:
            for start in range(0, len(prompts), settings.batch_size):
                batch = prompts[start : start + settings.batch_size]
                new = written(
                    self.model,
                    batch,
                    self.tokenizer.pad_token_id,
                    settings.max_new_tokens,
                    do_sample=True,
                    temperature=settings.temperature,
                    top_k=settings.top_k,
                    top_p=1.0,
                    repetition_penalty=1.0,
                )
                texts += self.tokenizer.batch_decode(new, skip_special_tokens=True)
                report(len(batch))
        return texts

    def _served(self, prompts: list[list[int]], seed: int, label: str) -> list[str]:
        settings = self.settings
        writing = Writing(
            settings.max_new_tokens,
            self.ends,
            temperature=settings.temperature,
            top_k=settings.top_k,
        )
        # A seed for each response: what a server draws must not depend on which requests meet there.
        seeds = [job_seed(seed, number) for number in range(len(prompts))]
        return self.server.texts(prompts, writing, label, seeds)


def answers_of_runs(
    policies: dict[str, Sequence[str | Path]],
    instructions: Sequence[dict],
    settings: Sampling,
    precision: str,
    runs: int,
    seed: int,
    language: str,
    serve: Serve | None = None,
) -> list[dict]:
    """Return every policy's response to every instruction in each run: policy, run, id, response.

    All policies have the same seed in a run. policies: the folders of each one's trainings, which take turns
    in the runs."""
    found, prompts = [], [row["prompt"] for row in instructions]
    turns = [(name, place, folders) for name, folders in policies.items() for place in range(len(folders))]
    for name, place, folders in turns:
        with loaded_policy(folders[place], settings, precision, serve) as policy:
            for run in range(1 + place, runs + 1, len(folders)):
                label = f"{name} policy, {language}, run {run}/{runs}"
                said = policy.responses(prompts, 1, job_seed(seed, run), label)
                found += [
                    {"policy": name, "run": run, "id": row["id"], "response": text}
                    for row, (text,) in zip(instructions, said, strict=True)
                ]
        del policy
        gc.collect()  # the job asks for the memory of one policy
    return found
