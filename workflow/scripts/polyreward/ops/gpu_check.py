"""Try training, scoring and generation on a GPU, next to the CPU, before jobs of days run on it."""

import io
import json
import random
import tempfile
import time
from collections.abc import Callable
from contextlib import redirect_stdout
from dataclasses import dataclass
from functools import partial
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pandas as pd
import torch
from transformers.utils import logging as transformers_logging

from polyreward.core.conversations import conversation_ids
from polyreward.core.errors import PolyrewardError, raise_all
from polyreward.core.files import write_text
from polyreward.core.tables import as_markdown
from polyreward.models.batches import left_padded
from polyreward.models.devices import device_problems
from polyreward.ops.memory import Shape, gib, training_bytes
from polyreward.scoring.baselines import frozen_features
from polyreward.scoring.generative import Judge
from polyreward.scoring.interface import conversations_of
from polyreward.scoring.load import load_causal_lm, load_classifier
from polyreward.scoring.local_judge import LocalBackend
from polyreward.settings.base import GrpoTraining, Lora, PolicyTraining, Section
from polyreward.settings.transfer import Dpo, RewardModelTraining
from polyreward.sources.base_models import fetch_base_model
from polyreward.training.common import Job
from polyreward.training.grpo import train_by_grpo
from polyreward.training.policies import load_policy, train_dpo, train_sft
from polyreward.training.reward_model import train_reward_model

EXACT = 1e-3  # largest difference of an fp32 reward from the CPU's; two kernels on a CPU differ by 1e-5
BF16_SHARE = 0.2  # largest shift of a reward by bfloat16, in the rewards' standard deviations
BATCH = 8  # pairs of a training step
ROWS, STEPS = 4, 4  # of a policy's training
MEMORY_SHARE = 1.25  # most memory of a training, as a share of the plan's estimate
SEED = 1


@dataclass(frozen=True)
class Size:
    """A Llama, pairs and steps to train it, words of a text, tokens of a batch and of a reply."""

    shape: Shape
    pairs: int
    steps: int
    words: int
    token_budget: int
    new_tokens: int
    longest: int  # tokens of the longest row that policies are trained on


SIZES = {
    "cuda": Size(Shape(12, 1024, 2816, 16, 16, 64, 4096), 256, 24, 150, 16384, 128, longest=2048),
    "cpu": Size(Shape(2, 64, 176, 4, 4, 16, 512), 32, 8, 8, 1024, 8, longest=128),
}


class Bench:
    """A random model and texts in a folder to try a device with, and what was measured so far."""

    def __init__(self, size: Size, folder: Path):
        self.size, self.shape, self.folder = size, size.shape, folder
        self.base, self.model = folder / "base", folder / "reward_model"
        self.rows = made_up_pairs(size.pairs, size.words)
        self.conversations = conversations_of(self.rows)
        config = {
            "vocab_size": self.shape.vocabulary,
            "hidden_size": self.shape.width,
            "intermediate_size": self.shape.mlp,
            "num_hidden_layers": self.shape.layers,
            "num_attention_heads": self.shape.heads,
            "num_key_value_heads": self.shape.kv_heads,
            "max_position_embeddings": 4096,
        }
        source = {"kind": "random", "architecture": "llama", "config": config}
        corpus = [text for row in self.rows for text in row.values()]
        fetch_base_model({"source": source, "chat_template": "gemma3"}, SEED, corpus, self.base)
        _, tokenizer = load_policy(self.base)
        self.tokens = sum(
            len(conversation_ids(tokenizer, prompt, text, 2048)[0])
            for prompt, both in self.conversations
            for text in both
        )
        words = sum(len(text.split()) for text in corpus)
        # A prompt and an answer have up to four times as many words.
        fitting = int(size.longest * words / (4 * self.tokens))
        self.long_rows = made_up_pairs(4 * ROWS, fitting)
        self.adapters = Lora(top_layers=self.shape.layers)
        self.speeds: dict[str, float] = {}  # as hours.DATA_SHEETS has them, for this model's parameters
        self.fp32: np.ndarray | None = None  # rewards (pairs, 2)

    def training(self) -> str:
        """Train in bfloat16 with checkpointed gradients; the loss has to fall."""
        raise_all(device_problems("bfloat16"), "bfloat16")
        short, long = (_seconds(partial(self._train, 2 + more)) for more in (0, self.size.steps))
        steps = json.loads((self.model / "training.json").read_text())["steps"]
        losses = [step["loss"] for step in steps if "loss" in step]
        quarter = max(1, len(losses) // 4)
        first, last = np.mean(losses[:quarter]), np.mean(losses[-quarter:])
        if not last < first:  # or NaN
            raise PolyrewardError(f"the loss does not fall: {first:.3f} to {last:.3f}")
        # Both runs have the same start and end.
        tokens = self.tokens / len(self.rows) * BATCH * self.size.steps
        speed = self.speeds["train"] = tokens / max(long - short, 1e-9)
        return f"loss {first:.3f} to {last:.3f} in {len(losses)} steps, {speed:,.0f} tokens/s"

    def supervised(self) -> str:
        """Train a policy on the longest rows that it may get."""
        return self._policy_training("sft", train_sft, self.long_rows, PolicyTraining, ROWS, epochs=STEPS / 4)

    def dpo(self) -> str:
        """Train a policy by DPO on the longest rows, with adapters, as scale gpu does."""
        more = {"epochs": STEPS / 4, "lora": self.adapters}
        return self._policy_training("dpo", train_dpo, self.long_rows, Dpo, 2 * ROWS, **more)

    def grpo(self) -> str:
        """Train a policy by GRPO, which writes, scores and learns."""
        prompts = [
            {"prompt": [{"role": "user", "content": row["prompt"]}], "id": str(number)}
            for number, row in enumerate(self.long_rows)
        ]

        def train(base: Path, rows: list, settings: GrpoTraining, job: Job) -> None:
            train_by_grpo(base, rows, 1, lambda _: EvenLengths(), settings, job, too_few="")

        more = {"steps": STEPS, "generations": ROWS, "temperature": 1.0, "lora": self.adapters}
        more["max_new_tokens"] = self.size.new_tokens
        return self._policy_training("grpo", train, prompts, GrpoTraining, ROWS, **more)

    def _policy_training(
        self, name: str, train: Callable, rows: list, section: type[Section], at_once: int, **more
    ) -> str:
        """Train a policy in bfloat16, with Liger where it is, and compare its peak with the plan's."""
        settings = section(
            learning_rate=1e-4,
            batch_size=ROWS,
            gradient_accumulation=1,
            max_length=self.size.longest,
            gradient_checkpointing=True,
            save_every=10**6,
            **{"lora": None, **more},
        )
        on_card = torch.cuda.is_available()
        liger = on_card and find_spec("liger_kernel") is not None
        job = Job(SEED, self.folder / "checkpoints", self.folder / name, name, "bfloat16", liger)
        seconds = _seconds(lambda: train(self.base, rows, settings, job))
        words = f"{STEPS} steps in {seconds:.0f} s, with{'' if liger else 'out'} Liger"
        if not on_card:
            return words
        peak = torch.cuda.max_memory_allocated()
        estimate = sum(training_bytes(self.shape, self.shape.parameters, settings, at_once, half=True))
        if peak > MEMORY_SHARE * estimate:
            raise PolyrewardError(
                f"takes {gib(peak):.1f} GiB, and `polyreward plan` counts {gib(estimate):.1f}; report it"
            )
        return f"{words}, at most {gib(peak):.1f} GiB of an estimate of {gib(estimate):.1f}"

    def judging(self) -> str:
        """Ask a judge for its verdict by its labels, here and on the CPU."""
        lm = load_causal_lm(self.base, "float32", 2048, self.size.token_budget)
        judge = Judge(LocalBackend(lm, self.size.new_tokens), "labels")
        return f"{_like_the_cpu(judge, lm.model, self.conversations[:ROWS])[1]} nats"

    def hidden_states(self) -> str:
        """Average last hidden states in bfloat16 of answers, as the probe and Figure 1 read them."""
        lm = load_causal_lm(self.base, "bfloat16", 2048, self.size.token_budget)
        states = frozen_features(lm, self.rows[:ROWS], "gpu-check")
        if not np.isfinite(states).all():
            raise PolyrewardError(
                f"{np.sum(~np.isfinite(states))} of {states.size} hidden states are NaN or infinite in"
                " bfloat16; use `precision: float32`, or another card"
            )
        return f"{states.shape[0] * states.shape[1]} answers, all finite"

    def _train(self, steps: int) -> None:
        settings = RewardModelTraining(
            epochs=steps * BATCH / len(self.rows),
            learning_rate=1e-3,
            batch_size=BATCH,
            max_length=2048,
            gradient_checkpointing=True,
            save_every=10**6,
            cache_frozen_layers=False,
            token_budget=None,
            lora=None,
        )
        job = Job(SEED, self.folder / "checkpoints", self.model, "gpu-check", "bfloat16")
        train_reward_model(self.base, self.rows, settings, job)

    def scoring_fp32(self) -> str:
        """Score in fp32 here and on the CPU."""
        scorer = self._scorer("float32")
        self.fp32, words = _like_the_cpu(scorer, scorer.model, self.conversations)
        return f"{words}, rewards spread by {self.fp32.std():.2g}"

    def scoring_bf16(self) -> str:
        """Score in bfloat16, and compare with fp32."""
        scorer = self._scorer("bfloat16")
        moved = self.moved(_scores(scorer, self.conversations))
        seconds = _seconds(lambda: _scores(scorer, self.conversations))
        speed = self.speeds["score"] = self.tokens / seconds
        return f"{moved}, {speed:,.0f} tokens/s"

    def flash_attention(self) -> str | None:
        """Score in bfloat16 with FlashAttention, where it is installed."""
        if not torch.cuda.is_available() or not find_spec("flash_attn"):
            return None
        return self.moved(_scores(self._scorer("bfloat16", "flash_attention_2"), self.conversations))

    def _scorer(self, dtype: str, attention: str = "sdpa"):
        return load_classifier(self.model, dtype, 2048, self.size.token_budget, attention)

    def moved(self, found: np.ndarray) -> str:
        """Say how far rewards (pairs, 2) are from those in fp32; raise an error where it is too far."""
        if self.fp32 is None:
            raise PolyrewardError("there is nothing to compare with, as scoring in fp32 failed")
        moved, allowed = np.abs(found - self.fp32).max(), BF16_SHARE * self.fp32.std()
        turned = int((np.sign(found[:, 0] - found[:, 1]) != np.sign(self.fp32[:, 0] - self.fp32[:, 1])).sum())
        words = f"moves rewards by up to {moved:.2g} and turns {turned} of {len(found)} preferences"
        if not moved <= allowed:
            raise PolyrewardError(f"{words}; at most {allowed:.2g} is expected")
        return words

    def generation(self) -> str:
        """Generate greedily in fp32 here and on the CPU, then time bfloat16."""
        device = "cuda" if torch.cuda.is_available() else "cpu"
        same = float((self._reply(device, torch.float32, 1) == self._reply("cpu", torch.float32, 1)).mean())
        if same < 0.95:
            raise PolyrewardError(f"{same:.0%} of the replies begin as on the CPU, fewer than 95%")
        start = time.perf_counter()
        reply = self._reply(device, torch.bfloat16, self.size.new_tokens)
        seconds = time.perf_counter() - start
        self.speeds["layer_step_ms"] = 1e3 * seconds / self.size.new_tokens / self.shape.layers
        return f"{same:.0%} of first tokens as on the CPU, {reply.size / seconds:,.0f} tokens/s"

    def _reply(self, device: str, dtype: torch.dtype, new_tokens: int) -> np.ndarray:
        model, tokenizer = load_policy(self.base, dtype)
        turns = [[{"role": "user", "content": row["prompt"]}] for row in self.rows[:32]]
        options = {"tokenize": True, "return_dict": True, "add_generation_prompt": True}
        prompts = [tokenizer.apply_chat_template(turn, **options)["input_ids"] for turn in turns]
        inputs = left_padded(prompts, 0, device)
        with torch.inference_mode():
            tokens = (
                model.to(device)
                .eval()
                .generate(**inputs, do_sample=False, min_new_tokens=new_tokens, max_new_tokens=new_tokens)
            )
        return tokens[:, inputs["input_ids"].shape[1] :].cpu().numpy()


class EvenLengths:
    """Rewards replies of an even number of characters, which any model writes some of."""

    weights = (1.0,)
    trainer = None
    share = False

    def functions(self) -> list[Callable]:
        """Return the only reward."""

        def even(completions, **kwargs) -> list[float]:
            return [1.0 - len(completion[-1]["content"]) % 2 for completion in completions]

        return [even]


# Each returns what it measured in words, or None where there is nothing to check
CHECKS: dict[str, Callable[[Bench], str | None]] = {
    "training in bfloat16": Bench.training,
    "scoring in float32": Bench.scoring_fp32,
    "scoring in bfloat16": Bench.scoring_bf16,
    "FlashAttention 2": Bench.flash_attention,
    "generation": Bench.generation,
    "supervised training": Bench.supervised,
    "DPO": Bench.dpo,
    "GRPO": Bench.grpo,
    "a judge": Bench.judging,
    "hidden states": Bench.hidden_states,
}


def made_up_pairs(count: int, words: int) -> list[dict[str, str]]:
    """Return pairs of random words, always the same; chosen and rejected answers share no word."""
    generator = random.Random(SEED)
    syllables = ["ba", "do", "ki", "lu", "me", "no", "pa", "ri", "su", "te"]
    vocabulary = sorted(
        {"".join(generator.choices(syllables, k=generator.randint(1, 4))) for _ in range(800)}
    )
    kinds = {"prompt": vocabulary, "chosen": vocabulary[::2], "rejected": vocabulary[1::2]}
    return [
        {
            kind: " ".join(generator.choices(known, k=generator.randint(words, 2 * words)))
            for kind, known in kinds.items()
        }
        for _ in range(count)
    ]


def check_device(device: str, out: Path) -> pd.DataFrame:
    """Run all checks, print them, and return a row for each: check, result, measured.

    Args:
        device: "cuda", or "cpu" for the same in miniature.
        out: the file of throughputs to write, as hours.DATA_SHEETS has them for a model of a billion
            parameters. `peak_gib` is what each check took of the GPU.

    Raises:
        PolyrewardError: there is no such device, or a check fails.
    """
    if device == "cuda" and not torch.cuda.is_available():
        why = (
            f"it was built for CUDA {torch.version.cuda}, and found no driver or no card; see `nvidia-smi`"
            if torch.version.cuda
            else "it was built without CUDA; install the build for your driver (pytorch.org/get-started)"
        )
        raise PolyrewardError(
            f"there is no CUDA device that PyTorch {torch.__version__} could use: {why}. Run this where the"
            " long jobs will run. `polyreward gpu-check --device cpu` shows what it does, in miniature"
        )
    transformers_logging.disable_progress_bar()
    rows, peaks = [], {}
    # Trainers print each step; progress goes to standard error and stays.
    with tempfile.TemporaryDirectory(prefix="polyreward-") as folder, redirect_stdout(io.StringIO()):
        bench = Bench(SIZES[device], Path(folder))
        for name, check in CHECKS.items():
            if device == "cuda":
                torch.cuda.reset_peak_memory_stats()
            try:
                measured = check(bench)
            except Exception as error:  # whatever a driver or a kernel raises: finding it is the purpose
                rows.append((name, "FAILED", (str(error) or type(error).__name__).splitlines()[0]))
            else:
                result = "passed" if measured else "left out"
                rows.append((name, result, measured or "not installed, or not for this device"))
            if device == "cuda":
                peaks[name] = round(gib(torch.cuda.max_memory_allocated()), 2)
    checks = pd.DataFrame(rows, columns=["check", "result", "measured"])
    print(as_markdown(checks))
    # A model of ten billion parameters is taken to be ten times slower.
    billions = bench.shape.layers * bench.shape.layer / 1e9
    scales = {kind: 1 if kind == "layer_step_ms" else billions for kind in bench.speeds}
    speeds = {kind: float(f"{speed * scales[kind]:.4g}") for kind, speed in bench.speeds.items()}
    write_text(json.dumps(speeds | {"peak_gib": peaks}, indent=1) + "\n", out)
    print(f"\n{out}: throughputs and peaks of memory, which `polyreward plan --throughputs` reads")
    failed = (f"{name}: {why}" for name, result, why in rows if result == "FAILED")
    raise_all(failed, "do not trust this device")
    return checks


def _like_the_cpu(scorer, model, conversations: list) -> tuple[np.ndarray, str]:
    """Return scores, and in words how far they are from those after the model has moved to the CPU."""
    here = _scores(scorer, conversations)
    model.to("cpu")
    difference = np.abs(here - _scores(scorer, conversations)).max()
    if not difference <= EXACT:
        raise PolyrewardError(f"scores differ from the CPU's by up to {difference:.2g}, more than {EXACT:g}")
    return here, f"largest difference from the CPU {difference:.2g}"


def _scores(scorer, conversations: list) -> np.ndarray:
    return np.stack(scorer.score(conversations, "gpu-check").values)


def _seconds(call: Callable[[], object]) -> float:
    start = time.perf_counter()
    call()
    return time.perf_counter() - start
