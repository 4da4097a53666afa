"""Responses of a policy, sampled with a seed."""

import dataclasses
import json
from collections.abc import Sequence
from pathlib import Path

import torch

from polyreward.alignment.policies import load_policy
from polyreward.batches import padded
from polyreward.conversations import Messages, as_messages
from polyreward.errors import PolyrewardError
from polyreward.logs import progress
from polyreward.seeds import job_seed

DEVICE = "cuda" if torch.cuda.is_available() else "cpu"


@dataclasses.dataclass(frozen=True)
class SamplingSettings:
    """How responses are sampled. top_k: tokens drawn from. batch_size: responses at once. dtype: as torch names it."""

    temperature: float
    top_k: int
    max_new_tokens: int
    batch_size: int
    dtype: str


def distinct_prompts(rows: Sequence[dict], count: int, where: str) -> list[dict]:
    """Return the first `count` rows (id, prompt) whose prompts are not the same; raises PolyrewardError where there are fewer."""
    first = {json.dumps(row["prompt"]): row for row in reversed(rows)}
    kept = [{"id": row["id"], "prompt": row["prompt"]} for row in rows if first[json.dumps(row["prompt"])] is row]
    if len(kept) < count:
        raise PolyrewardError(
            f"{where}: {len(kept)} distinct prompts, not {count}; lower alignment.prompts or raise pool.dev_share"
        )
    return kept[:count]


class Policy:
    """A policy to sample from."""

    def __init__(self, folder: str | Path, settings: SamplingSettings):
        """Load a policy's folder."""
        model, self.tokenizer = load_policy(folder, getattr(torch, settings.dtype))
        self.model, self.settings = model.to(DEVICE).eval(), settings

    @torch.inference_mode()
    def responses(self, prompts: Sequence[str | Messages], count: int, seed: int, label: str) -> list[list[str]]:
        """Return `count` responses to each prompt; the same for the same seed, prompts and settings."""
        torch.manual_seed(seed % 2**31)
        settings, ids = self.settings, [self._prompt_ids(prompt) for prompt in prompts]
        # Longest first, all responses to a prompt beside one another.
        places = [place for place in sorted(range(len(ids)), key=lambda i: (-len(ids[i]), i)) for _ in range(count)]
        found: list[list[str]] = [[] for _ in prompts]
        with progress(label, len(places)) as tell:
            for start in range(0, len(places), settings.batch_size):
                batch = places[start : start + settings.batch_size]
                mirrored = padded([ids[i][::-1] for i in batch], self.tokenizer.pad_token_id, self.model.device)
                inputs = {name: tensor.flip(1) for name, tensor in mirrored.items()}  # generation needs padding on the left
                said = self.model.generate(
                    **inputs, do_sample=True, temperature=settings.temperature, top_k=settings.top_k, top_p=1.0,
                    repetition_penalty=1.0, max_new_tokens=settings.max_new_tokens,
                )  # fmt: skip
                new = said[:, inputs["input_ids"].shape[1] :]
                for i, text in zip(batch, self.tokenizer.batch_decode(new, skip_special_tokens=True), strict=True):
                    found[i].append(text.strip())
                tell(len(batch))
        return found

    def _prompt_ids(self, prompt: str | Messages) -> list[int]:
        turns = as_messages(prompt, "")[:-1]
        return self.tokenizer.apply_chat_template(turns, tokenize=True, return_dict=True, add_generation_prompt=True)["input_ids"]


def answers_of_runs(
    policies: dict[str, str | Path], instructions: Sequence[dict], settings: SamplingSettings, runs: int, seed: int, language: str
) -> list[dict]:
    """Return what every policy says to every instruction in each run: policy, run, id, response.

    A run has the same seed for all policies."""
    found = []
    for name, folder in policies.items():
        policy = Policy(folder, settings)
        for run in range(1, runs + 1):
            label = f"{name} policy, {language}, run {run}/{runs}"
            said = policy.responses([row["prompt"] for row in instructions], 1, job_seed(seed, run), label)
            found += [
                {"policy": name, "run": run, "id": row["id"], "response": text}
                for row, (text,) in zip(instructions, said, strict=True)
            ]
    return found
