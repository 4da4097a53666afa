"""Each kind of job, small: random weights of the real sizes, and the scale's own settings."""

import io
import re
import time
from collections.abc import Callable
from functools import cached_property
from pathlib import Path
from statistics import median

import numpy as np
import torch
from transformers import AutoTokenizer

from polyreward.alignment.sampling import loaded_policy
from polyreward.carb.downstream.grpo import train_policy
from polyreward.core.conversations import as_turns
from polyreward.core.errors import PolyrewardError
from polyreward.models.cuda import cuda_only
from polyreward.ops import stand_ins
from polyreward.ops.stand_ins import SEED, Texts
from polyreward.ops.trials import (
    LABELS,
    LIKELIHOOD,
    REWARDING,
    TEXT,
    Trial,
    uses_liger,
)
from polyreward.ops.work import CONVERSATION, ITEM, QUESTION
from polyreward.scoring.baselines import frozen_features
from polyreward.scoring.criteria_layout import question
from polyreward.scoring.generative import NEW_TOKENS, Judge
from polyreward.scoring.interface import conversations_of
from polyreward.scoring.load import load_causal_lm, load_classifier
from polyreward.scoring.local_judge import LocalBackend
from polyreward.scoring.loglik import answer_logliks
from polyreward.scoring.tokens import tokenized
from polyreward.settings.base import GrpoTraining
from polyreward.settings.transfer import Sampling
from polyreward.sheet.entries import Models
from polyreward.think_as_locals.grpo import train_grpo
from polyreward.training import common
from polyreward.training.launch import train
from polyreward.training.policies import train_dpo, train_sft
from polyreward.training.reward_model import train_reward_model

STEPS = 3  # updates of a training, of which the first is not timed
BATCHES = 2  # of scoring, at typical length
WRITTEN = 32  # tokens that are written to time a step
ATTEMPTS = 5  # to time it next to other programs
STEP = re.compile(r": step \d+/\d+,")  # as training.common.Announce says it
Found = dict[str, float]


class Clock(io.StringIO):
    """Takes a training's messages, and notes when it says that a step has ended."""

    def __init__(self):
        super().__init__()
        self.ends: list[float] = []

    def write(self, text: str) -> int:
        """Take a text."""
        self.ends += [time.perf_counter()] * len(STEP.findall(text))
        return super().write(text)


class Bench:
    """A trial's model in a folder, texts of the lengths that it meets, and how the scale runs it."""

    def __init__(self, trial: Trial, models: Models, base: Path, folder: Path, clock: Clock):
        self.trial, self.models, self.settings = trial, models, models.settings
        self.base, self.folder, self.clock = base, folder, clock
        self.tokenizer = AutoTokenizer.from_pretrained(base)
        self.texts = Texts(self.tokenizer)

    @cached_property
    def scoring(self) -> dict:
        """Options of loading to score, as the trial's jobs have them."""
        own = {key: self.trial.entry[key] for key in ("dtype", "max_length") if key in self.trial.entry}
        return {**self.settings.score_options, **own, "token_budget": self.trial.tokens}

    def typical(self, tokens: int) -> int:
        """Return a typical length, or the longest one that the trial's settings let in."""
        longest = self.trial.training.max_length if self.trial.training else self.scoring["max_length"]
        return min(tokens, longest)

    def asked(self, tokens: int, number: int) -> str:
        """Return a judge's question of about so many tokens."""
        empty = self.tokenizer.apply_chat_template(as_turns(question("?", "!", "!")), tokenize=True)
        pair = self.texts.pair(max(64, tokens - len(empty["input_ids"])), number)
        half = slice(0, len(pair["chosen"]) // 2)  # two answers share what one has in a conversation
        return question(pair["prompt"], pair["chosen"][half], pair["rejected"][half])

    def trained(
        self,
        function: Callable,
        names: tuple[str, str],
        row_of: Callable[[int, int], object],
        tokens: int,
        **more: object,
    ) -> Found:
        """Train for some updates by a function of the pipeline, and return its speed.

        names: of its arguments for the start and the rows. row_of: makes a row of so many tokens by its
        number. The last row is as long as the settings let in."""
        given, launch = self.trial.training, self.settings.launch
        writes = isinstance(given, GrpoTraining)
        cycle = given.iterations if writes else 1  # updates on the same replies
        changes = {"steps": STEPS * cycle} if writes else {"epochs": 1.0}
        if not torch.cuda.is_available():  # what only a card can do
            launch = None
            off = {"optimizer": "adamw_torch", "vllm": False}
            changes |= {
                name: value for name, value in off.items() if cuda_only(name, getattr(given, name, None))
            }
        settings = given.model_copy(update={**changes, "save_every": 10**6})
        update = given.batch_size * given.gradient_accumulation * (launch["num_processes"] if launch else 1)
        count = STEPS * update // (given.generations if writes else 1)
        lengths = [tokens] * (count - 1) + [given.max_length]
        rows = [row_of(length, number) for number, length in enumerate(lengths)]
        liger = uses_liger(self.trial, self.models) and torch.cuda.is_available()
        out, checkpoints = self.folder / "trained", self.folder / "checkpoints"
        job = common.Job(SEED, checkpoints, out, self.trial.kind, self.settings.precision, liger)
        given_names = dict(zip(names, (self.base, rows), strict=True))
        train(function, launch, job, settings=settings, **given_names, **more)
        ends = self.clock.ends
        gaps = np.diff(ends[cycle - 1 :])
        if not len(gaps):
            raise PolyrewardError(f"announced {len(ends)} steps, of {STEPS * cycle}, so nothing was timed")
        if writes:
            return {"update_s": float(gaps.mean())}
        sides = 1 if self.trial.kind == "SFT" else 2
        return {"tokens_per_s": sides * update * tokens / median(gaps)}


def reward_training(bench: Bench) -> Found:
    """Train a reward model on conversations."""
    tokens = bench.typical(CONVERSATION)
    return bench.trained(train_reward_model, ("start_folder", "rows"), bench.texts.pair, tokens)


def supervised(bench: Bench) -> Found:
    """Train a policy or a judge on what it should write."""
    tokens = bench.typical(QUESTION if bench.trial.where.startswith("think_as_locals") else CONVERSATION)
    return bench.trained(train_sft, ("base_folder", "rows"), bench.texts.pair, tokens)


def dpo(bench: Bench) -> Found:
    """Train a policy by DPO."""
    tokens = bench.typical(CONVERSATION)
    return bench.trained(train_dpo, ("policy_folder", "pairs"), bench.texts.pair, tokens)


def grpo_of_judge(bench: Bench) -> Found:
    """Train a judge by GRPO with all its rewards."""

    def asked(tokens: int, number: int) -> dict:
        return {"request": bench.asked(tokens - 64, number), "right": "AB"[number % 2]}

    more = bench.settings.think_as_locals.training("full")
    return bench.trained(train_grpo, ("start_folder", "questions"), asked, bench.typical(QUESTION), **more)


def grpo_of_policy(bench: Bench) -> Found:
    """Train a policy by GRPO, with a classifier of its own size as the reward model."""
    rewarding = stand_ins.make_classifier(bench.base, bench.folder / "reward_model")
    more = {
        "entry": {"kind": "classifier", "source": str(rewarding)},
        "scoring": bench.settings.score_options,
    }
    more["cache"] = str(bench.folder / "replies")

    def prompt(tokens: int, number: int) -> str:
        return bench.texts.text(tokens - 40, number)

    return bench.trained(train_policy, ("start_folder", "prompts"), prompt, bench.typical(ITEM), **more)


def scoring(bench: Bench) -> Found:
    """Score by a classifier."""
    folder = stand_ins.make_classifier(bench.base, bench.folder / "reward_model")
    scorer = load_classifier(folder, **bench.scoring)
    return _read(bench, lambda rows: scorer.score(conversations_of(rows), "gpu-check"))


def likelihoods(bench: Bench) -> Found:
    """Compute the log-likelihood of answers."""
    lm = load_causal_lm(bench.base, **bench.scoring)

    def read(rows: list[dict]) -> list:
        return list(answer_logliks(lm, tokenized(lm, conversations_of(rows)), "gpu-check"))

    return _read(bench, read)


def hidden_states(bench: Bench) -> Found:
    """Average last hidden states of answers, as the probe and Figure 1 read them."""
    lm = load_causal_lm(bench.base, **bench.scoring)

    def read(rows: list[dict]) -> None:
        states = frozen_features(lm, rows, "gpu-check")
        if not np.isfinite(states).all():
            raise PolyrewardError(
                f"{np.sum(~np.isfinite(states))} of {states.size} numbers are NaN or infinite"
            )

    return _read(bench, read)


def _read(bench: Bench, read: Callable[[list[dict]], object]) -> Found:
    """Time batches of pairs of typical length, after one of the longest."""
    tokens, longest = bench.typical(CONVERSATION), bench.scoring["max_length"]
    batch = max(1, bench.trial.tokens // (2 * tokens))
    read(bench.texts.pairs(max(1, bench.trial.tokens // (2 * longest)), longest))
    rows = bench.texts.pairs(BATCHES * batch, tokens)
    return {"tokens_per_s": 2 * len(rows) * tokens / seconds(lambda: read(rows))}


def judge_labels(bench: Bench) -> Found:
    """Ask a judge for its label, in both orders."""
    judge = Judge(LocalBackend(load_causal_lm(bench.base, **bench.scoring), 1), "labels")
    tokens, longest = bench.typical(QUESTION), bench.scoring["max_length"]
    # A question holds the prompt and both answers, of which a conversation holds one.
    judge.score(
        conversations_of(bench.texts.pairs(max(1, bench.trial.tokens // (2 * longest)), longest)), "gpu-check"
    )
    rows = bench.texts.pairs(max(1, BATCHES * bench.trial.tokens // (2 * tokens)), 2 * tokens // 3)
    return {"request_s": seconds(lambda: judge.score(conversations_of(rows), "gpu-check")) / (2 * len(rows))}


def judge_text(bench: Bench) -> Found:
    """Let a judge write replies, as many at a time as its budget of tokens holds."""
    new = bench.trial.entry.get("max_new_tokens", NEW_TOKENS)
    lm, tokens = load_causal_lm(bench.base, **bench.scoring), bench.typical(QUESTION)

    def asked(length: int) -> list:
        rows = max(1, bench.trial.tokens // (length + new))
        return [as_turns(bench.asked(length, number)) for number in range(rows)]

    def write(requests: list, written: int) -> float:
        return seconds(lambda: LocalBackend(lm, written).replies(requests, "gpu-check"))

    write(asked(bench.scoring["max_length"]), 1)
    requests, more = asked(tokens), max(1, min(WRITTEN, new - 1))
    first, step = writing_seconds(lambda written: write(requests, written), more)
    return {"request_s": (first + (new - 1) * step) / len(requests), "ms_a_step": 1e3 * step}


def sampling(bench: Bench) -> Found:
    """Sample a policy's responses; candidates are as many texts at a time as a question gets."""
    given, candidates = bench.settings.alignment.sampling, bench.settings.carb.candidates
    if bench.trial.where.startswith("carb"):
        rows, new = candidates.per_question, candidates.max_new_tokens
        given = Sampling(temperature=candidates.temperature, max_new_tokens=new, batch_size=rows)
    more = max(1, min(WRITTEN, given.max_new_tokens - 1))
    prompts = [bench.texts.text(CONVERSATION // 2, number) for number in range(given.batch_size)]
    with loaded_policy(bench.base, **bench.settings.sampling_arguments(given)) as policy:

        def write(tokens: int) -> float:
            policy.settings = given.model_copy(update={"max_new_tokens": tokens})
            return seconds(lambda: policy.responses(prompts, 1, SEED, "gpu-check"))

        write(1)
        _, step = writing_seconds(write, more)
    return {"step_ms": 1e3 * step}


TRIALS: dict[str, Callable[[Bench], Found]] = {
    "reward training": reward_training,
    "SFT": supervised,
    "DPO": dpo,
    "GRPO of a judge": grpo_of_judge,
    "GRPO of a policy": grpo_of_policy,
    REWARDING: scoring,
    LIKELIHOOD: likelihoods,
    LABELS: judge_labels,
    TEXT: judge_text,
    "sampling": sampling,
    "hidden states": hidden_states,
}


def writing_seconds(write: Callable[[int], float], more: int) -> tuple[float, float]:
    """Return the seconds of a first token, and of each of so many more.

    write: returns the seconds that so many tokens take. Another program may slow down only the first token,
    so that the longer text is faster; then both are written again.

    Raises:
        PolyrewardError: the longer text is faster every time.
    """
    for _ in range(ATTEMPTS):
        first, all_of_them = write(1), write(1 + more)
        if all_of_them > first:
            return first, (all_of_them - first) / more
    raise PolyrewardError(
        f"{1 + more} tokens were written faster than one, {ATTEMPTS} times; end other programs that use this"
        " card or processor, and try again"
    )


def seconds(call: Callable[[], object]) -> float:
    """Return how long a call takes."""
    start = time.perf_counter()
    call()
    return time.perf_counter() - start
