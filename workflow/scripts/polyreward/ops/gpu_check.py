"""Minutes with a device before a job of days is trusted to it: training, scoring, attention and generation,
beside the CPU."""

import dataclasses
import io
import json
import random
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import redirect_stdout
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pandas as pd
import torch
from transformers.utils import logging as transformers_logging

from polyreward.core.conversations import conversation_ids
from polyreward.core.errors import PolyrewardError, raise_all
from polyreward.core.files import write_text
from polyreward.models.devices import device_problems
from polyreward.scoring.interface import Conversations
from polyreward.scoring.label_logprobs import left_padded_with_positions
from polyreward.scoring.load import load_classifier
from polyreward.settings.transfer import RewardModelTraining
from polyreward.sources.base_models import fetch_base_model
from polyreward.training.policies import load_policy
from polyreward.training.reward_model import train_reward_model

EXACT = 1e-3  # by which a reward in fp32 may differ from the CPU's; two kernels on a CPU differ by 1e-5
BF16_SHARE = 0.2  # of the rewards' standard deviation, by which bfloat16 may move one
BATCH = 8  # pairs of a training step
SEED = 1


@dataclasses.dataclass(frozen=True)
class Size:
    """How much is computed: config of a Llama; pairs and steps to train; words of a text; tokens of a batch
    and of a reply."""

    config: dict
    pairs: int
    steps: int
    words: int
    token_budget: int
    new_tokens: int


def _llama(width: int, layers: int, heads: int, vocabulary: int) -> dict:
    return {
        "vocab_size": vocabulary,
        "hidden_size": width,
        "intermediate_size": 11 * width // 4,
        "num_hidden_layers": layers,
        "num_attention_heads": heads,
        "num_key_value_heads": heads,
        "max_position_embeddings": 4096,
    }


SIZES = {
    "cuda": Size(
        _llama(1024, 12, 16, 4096), pairs=256, steps=24, words=150, token_budget=16384, new_tokens=128
    ),
    "cpu": Size(_llama(64, 2, 4, 512), pairs=32, steps=8, words=8, token_budget=1024, new_tokens=8),
}


@dataclasses.dataclass(frozen=True)
class Check:
    """What one check found. passed: None where there was nothing to check. measured: in words."""

    name: str
    passed: bool | None
    measured: str


class Bench:
    """A device, a random model to try on it, and what was measured so far."""

    def __init__(self, size: Size, folder: Path):
        """Make the model and its texts in a folder."""
        self.size, self.folder, self.base = size, folder, folder / "base"
        self.rows = made_up_pairs(size.pairs, size.words)
        corpus = [text for row in self.rows for text in row.values()]
        entry = {
            "source": {"kind": "random", "architecture": "llama", "config": size.config},
            "chat_template": "gemma3",
        }
        fetch_base_model(entry, SEED, corpus, self.base)
        self.model = folder / "reward_model"
        self.conversations = [
            Conversations(row["prompt"], (row["chosen"], row["rejected"])) for row in self.rows
        ]
        self.throughputs: dict[str, float] = {}
        self.fp32: np.ndarray | None = None  # rewards (pairs, 2)

    def training(self) -> str:
        """Train in bfloat16 with checkpointed gradients; the loss has to fall."""
        raise_all(device_problems("bfloat16", optimizer="", liger=False), "bfloat16")
        taken = {
            steps: _seconds(lambda steps=steps: self._train(steps)) for steps in (2, 2 + self.size.steps)
        }
        losses = [
            step["loss"]
            for step in json.loads((self.model / "training.json").read_text())["steps"]
            if "loss" in step
        ]
        quarter = max(1, len(losses) // 4)
        first, last = np.mean(losses[:quarter]), np.mean(losses[-quarter:])
        _require(
            np.isfinite(losses).all() and last < first, f"the loss does not fall: {first:.3f} to {last:.3f}"
        )
        # What start and end take is in both.
        seconds = max(taken[2 + self.size.steps] - taken[2], 1e-9)
        self.throughputs["train"] = self._tokens() / len(self.rows) * BATCH * self.size.steps / seconds
        return (
            f"loss {first:.3f} to {last:.3f} in {len(losses)} steps, {self.throughputs['train']:,.0f}"
            " tokens/s"
        )

    def scoring_fp32(self) -> str:
        """Score in fp32, beside the CPU."""
        scorer = self._scorer("float32")
        self.fp32 = self._scores(scorer)
        scorer.model.to("cpu")
        difference = np.abs(self.fp32 - self._scores(scorer)).max()
        _require(
            difference <= EXACT,
            f"rewards differ from the CPU's by up to {difference:.2g}, more than {EXACT:g}",
        )
        return f"largest difference from the CPU {difference:.2g}, rewards spread by {self.fp32.std():.2g}"

    def scoring_bf16(self) -> str:
        """Score in bfloat16, beside fp32."""
        scorer = self._scorer("bfloat16")
        found = self._scores(scorer)
        seconds = _seconds(lambda: self._scores(scorer))
        self.throughputs["score"] = self._tokens() / seconds
        return f"{self._beside_fp32(found)}, {self.throughputs['score']:,.0f} tokens/s"

    def sdpa(self) -> str:
        """Score in bfloat16 with plain attention; SDPA's scores are those of the check before."""
        return (
            self._beside_fp32(self._scores(self._scorer("bfloat16", "eager")))
            + ", with plain attention in SDPA's place"
        )

    def flash_attention(self) -> str | None:
        """Score in bfloat16 with FlashAttention, where it is installed."""
        if not torch.cuda.is_available() or not find_spec("flash_attn"):
            return None
        return self._beside_fp32(self._scores(self._scorer("bfloat16", "flash_attention_2")))

    def generation(self) -> str:
        """Generate greedily in fp32 beside the CPU, then time it in bfloat16."""
        device = "cuda" if torch.cuda.is_available() else "cpu"
        firsts = {where: self._generated(where, torch.float32, 1)[0] for where in (device, "cpu")}
        same = float((firsts[device] == firsts["cpu"]).mean())
        _require(same >= 0.95, f"the first tokens of {same:.0%} of the replies are the CPU's, fewer than 95%")
        said, seconds = self._generated(device, torch.bfloat16, self.size.new_tokens)
        self.throughputs["generate"] = said.size / seconds
        return f"{same:.0%} of first tokens as on the CPU, {self.throughputs['generate']:,.0f} tokens/s"

    def _train(self, steps: int) -> None:
        settings = RewardModelTraining(
            epochs=steps * BATCH / len(self.rows),
            learning_rate=1e-3,
            warmup_ratio=0.1,
            lr_scheduler="cosine",
            weight_decay=0.0,
            batch_size=BATCH,
            gradient_accumulation=1,
            max_length=2048,
            center_rewards_coefficient=0.01,
            optimizer="adamw_torch",
            gradient_checkpointing=True,
            save_every=10**6,
            cache_frozen_layers=False,
            token_budget=None,
            lora=None,
        )
        checkpoints, label = self.folder / "checkpoints", "gpu-check"
        train_reward_model(
            self.base, self.rows, settings, SEED, checkpoints, self.model, label, precision="bfloat16"
        )

    def _scorer(self, dtype: str, attention: str = "sdpa"):
        return load_classifier(self.model, dtype, 2048, self.size.token_budget, attention)

    def _scores(self, scorer) -> np.ndarray:
        return np.stack(scorer.score(self.conversations, "gpu-check").values)

    def _tokens(self) -> int:
        _, tokenizer = load_policy(self.base)
        return sum(
            len(conversation_ids(tokenizer, prompt, text, 2048)[0])
            for prompt, both in self.conversations
            for text in both
        )

    def _beside_fp32(self, found: np.ndarray) -> str:
        _require(self.fp32 is not None, "there is nothing to compare with, as scoring in fp32 failed")
        moved, allowed = np.abs(found - self.fp32).max(), BF16_SHARE * self.fp32.std()
        turned = int((np.sign(found[:, 0] - found[:, 1]) != np.sign(self.fp32[:, 0] - self.fp32[:, 1])).sum())
        said = f"moves rewards by up to {moved:.2g} and turns {turned} of {len(found)} preferences"
        _require(
            np.isfinite(found).all() and moved <= allowed, f"{said}; {allowed:.2g} was to be expected at most"
        )
        return said

    def _generated(self, device: str, dtype: torch.dtype, new_tokens: int) -> tuple[np.ndarray, float]:
        model, tokenizer = load_policy(self.base, dtype)
        model = model.to(device).eval()
        asked = {"tokenize": True, "return_dict": True, "add_generation_prompt": True}
        turns = [[{"role": "user", "content": row["prompt"]}] for row in self.rows[:32]]
        inputs = left_padded_with_positions(
            [tokenizer.apply_chat_template(turn, **asked)["input_ids"] for turn in turns], 0, device
        )
        start = time.perf_counter()
        with torch.inference_mode():
            said = model.generate(
                **inputs, do_sample=False, min_new_tokens=new_tokens, max_new_tokens=new_tokens
            )
        new = said[:, inputs["input_ids"].shape[1] :].cpu().numpy()
        return new, time.perf_counter() - start


CHECKS: dict[str, Callable[[Bench], str | None]] = {
    "training in bfloat16": Bench.training,
    "scoring in float32": Bench.scoring_fp32,
    "scoring in bfloat16": Bench.scoring_bf16,
    "SDPA": Bench.sdpa,
    "FlashAttention 2": Bench.flash_attention,
    "generation": Bench.generation,
}


def made_up_pairs(count: int, words: int) -> list[dict[str, str]]:
    """Return pairs (prompt, chosen, rejected) of random words, always the same; chosen and rejected have no
    word in common."""
    generator = random.Random(SEED)
    syllables = ["ba", "do", "ki", "lu", "me", "no", "pa", "ri", "su", "te"]
    vocabulary = sorted(
        {"".join(generator.choices(syllables, k=generator.randint(1, 4))) for _ in range(800)}
    )
    good, bad = vocabulary[::2], vocabulary[1::2]
    kinds = {"prompt": vocabulary, "chosen": good, "rejected": bad}
    return [
        {
            kind: " ".join(generator.choices(of, k=generator.randint(words, 2 * words)))
            for kind, of in kinds.items()
        }
        for _ in range(count)
    ]


def check_device(device: str, out: str | Path) -> list[Check]:
    """Run all checks on the CUDA device, or for practice on the CPU, print them and write results and
    throughputs as JSON.

    device: "cuda" or "cpu". Raises PolyrewardError where there is no such device, or a check fails."""
    if device == "cuda" and not torch.cuda.is_available():
        raise PolyrewardError(
            f"there is no CUDA device that PyTorch {torch.__version__} could use: {_why_no_cuda()}. Run this"
            " where the long jobs will run (on a cluster, in a job that asks for a GPU). `polyreward"
            " gpu-check --device cpu` shows what it does, on the CPU and in miniature"
        )
    transformers_logging.disable_progress_bar()
    # Trainers print each step; what is announced of them goes to standard error and is kept.
    with tempfile.TemporaryDirectory(prefix="polyreward-") as folder, redirect_stdout(io.StringIO()):
        bench = Bench(SIZES[device], Path(folder))
        checks = list(_checks(bench))
    table = pd.DataFrame([(check.name, _word(check.passed), check.measured) for check in checks])
    print(table.to_markdown(index=False, headers=["check", "result", "measured"]))
    write_text(json.dumps(record(bench, device, checks), indent=1) + "\n", out)
    print(f"\n{out}: the same, and throughputs to estimate a scale's cost from")
    raise_all(
        (f"{check.name}: {check.measured}" for check in checks if check.passed is False),
        "this device is not to be trusted",
    )
    return checks


def record(bench: Bench, device: str, checks: Sequence[Check]) -> dict:
    """Return what is written: results, the GPU (None for a CPU), and tokens per second of a model of a
    billion parameters.

    A token is any that is read or written; a model of ten billion is taken to be ten times slower."""
    config = bench.size.config
    layer = 4 * config["hidden_size"] ** 2 + 3 * config["hidden_size"] * config["intermediate_size"]
    billions = config["num_hidden_layers"] * layer / 1e9
    tried = (
        f"random Llama, {config['num_hidden_layers']} layers of {config['hidden_size']}, bfloat16, torch"
        f" {torch.__version__}"
    )
    return {
        "passed": all(check.passed is not False for check in checks),
        "checks": {check.name: _word(check.passed) for check in checks},
        "gpu": _gpu() if device == "cuda" else None,
        "tokens_per_s": {
            name: {"value": float(f"{value * billions:.4g}"), "source": f"polyreward gpu-check: {tried}"}
            for name, value in bench.throughputs.items()
        },
    }


def _gpu() -> dict:
    memory = torch.cuda.get_device_properties(0).total_memory / 1024**3
    return {
        "name": torch.cuda.get_device_name(),
        "count": torch.cuda.device_count(),
        "memory_gib": round(memory, 1),
    }


def _checks(bench: Bench) -> Iterator[Check]:
    for name, check in CHECKS.items():
        try:
            measured = check(bench)
        except Exception as error:  # whatever a driver or a kernel raises: it is what this is to find out
            yield Check(name, False, (str(error) or type(error).__name__).splitlines()[0])
        else:
            yield Check(
                name, None if measured is None else True, measured or "not installed, or not for this device"
            )


def _word(passed: bool | None) -> str:
    return {True: "passed", False: "FAILED", None: "left out"}[passed]


def _require(holds: bool, problem: str) -> None:
    if not holds:
        raise PolyrewardError(problem)


def _seconds(call: Callable[[], object]) -> float:
    start = time.perf_counter()
    call()
    return time.perf_counter() - start


def _why_no_cuda() -> str:
    why = (
        f"it was built for CUDA {torch.version.cuda}, and found no driver or no card; see what `nvidia-smi`"
        " says"
    )
    if torch.version.cuda is None:
        why = (
            "it was built without CUDA; install the build for your driver (pytorch.org/get-started lists"
            " them)"
        )
    return why
