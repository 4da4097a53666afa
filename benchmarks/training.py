"""Train on the same pairs as configured and with one setting changed at a time: tokens per second, and peak
memory."""

import random
import tempfile
from functools import partial
from pathlib import Path

import common
import torch
from transformers import AutoTokenizer
from trl import RewardTrainer

from polyreward.accel.frozen import FrozenLayers
from polyreward.core.conversations import conversation_ids
from polyreward.core.files import read_jsonl
from polyreward.core.naming import Paths
from polyreward.models.precision import dtype_of
from polyreward.settings.transfer import RewardModelTraining
from polyreward.training import reward_model as training

SETTINGS = common.CONFIG["reward_model"]
ALL_LAYERS = {"lora": {**(SETTINGS["lora"] or {}), "top_layers": 10**6}, "cache_frozen_layers": False}
VARIANTS = {
    "as configured": {},
    "frozen layers run in every epoch": {"cache_frozen_layers": False},
    "bfloat16": {"precision": "bfloat16"},
    "each conversation by itself": {"token_budget": None},
    "each by itself, gradient checkpointing": {"token_budget": None, "gradient_checkpointing": True},
    "adapters on all layers": ALL_LAYERS,
    "adapters on all layers, each by itself, gradient checkpointing": {
        **ALL_LAYERS,
        "token_budget": None,
        "gradient_checkpointing": True,
    },
}
CAPTION = """RewardTrainer on {base}: the same {pairs} pairs of {language} ({tokens} tokens) for {epochs} epochs, {threads}
threads; each run is a fresh process; variants take turns, {repeats} rounds: median (least-greatest). Speed: tokens per
second of training, as a ratio to the configured one ({lora}, {dtype}, frozen layers from memory, no checkpointing); with
filling: the same where the time that filled the memory counts too, once. Peak memory: the greatest resident set while
training. Each by itself: the prompt that the two conversations of a pair share is run twice, and padded as TRL does. Frozen
layers are only kept where the adapters leave some."""


class TimedTrainer(RewardTrainer):
    """TRL's trainer, which notes how long it trained and the most memory it took then."""

    seconds = peak = 0.0

    def train(self, *arguments, **options):
        """Train, with a clock and a look at memory at both ends."""
        common.forget_peak()
        TimedTrainer.seconds = common.seconds(lambda: super(TimedTrainer, self).train(*arguments, **options))
        TimedTrainer.peak = common.peak_mib()


def training_run(base: Path, rows: list[dict], changes: dict, threads: int) -> dict:
    """Train once; returns seconds of training and of filling the memory of frozen layers, and peak memory
    (MiB)."""
    torch.set_num_threads(threads)
    section = {**SETTINGS, **changes}
    precision = section.pop("precision", common.CONFIG["precision"])
    settings = RewardModelTraining.model_validate(section)
    training.RewardTrainer = TimedTrainer
    filling = []
    fill = FrozenLayers.fill
    FrozenLayers.fill = lambda *arguments: filling.append(common.seconds(lambda: fill(*arguments)))
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        training.train_reward_model(
            base, rows, settings, 1, folder / "checkpoints", folder / "rm", "training", precision
        )
    return {
        "training": TimedTrainer.seconds,
        "with filling": sum(filling) + TimedTrainer.seconds,
        "peak": TimedTrainer.peak,
    }


def token_count(base: Path, rows: list[dict]) -> int:
    """Return the tokens of one pass over some pairs."""
    tokenizer = AutoTokenizer.from_pretrained(base)
    texts = [(row["prompt"], row[role]) for row in rows for role in ("chosen", "rejected")]
    return sum(len(conversation_ids(tokenizer, *text, SETTINGS["max_length"])[0]) for text in texts)


def main() -> None:
    """Train every variant and print one table."""
    parser = common.options_parser(__doc__)
    parser.add_argument("--base", default=common.CONFIG["bases"][-1], help="pretrained model of the results")
    parser.add_argument("--language", default=common.CONFIG["source_language"], help="of the pairs")
    parser.add_argument("--pairs", type=int, default=32, help="training pairs, a fixed sample")
    options = parser.parse_args()
    paths, made_by = Paths(options.results), "make results/table1.csv"
    base = common.existing(paths.base_model(options.base), made_by)
    rows = read_jsonl(common.existing(paths.translated("train", options.language), made_by))
    rows = random.Random(common.CONFIG["seed"]).sample(rows, min(options.pairs, len(rows)))
    calls = {
        name: partial(common.in_new_process, training_run, base, rows, changes, options.threads)
        for name, changes in VARIANTS.items()
    }
    found = common.interleaved(calls, options.repeats)
    configured, tokens = found["as configured"], token_count(base, rows) * SETTINGS["epochs"]

    def speed(runs: list[dict], kind: str) -> str:
        return common.ratios([run[kind] for run in configured], [run[kind] for run in runs])

    table = [
        {
            "variant": name,
            "tokens/s": common.spread([tokens / run["training"] for run in runs], 0),
            "speed": speed(runs, "training"),
            "with filling": speed(runs, "with filling"),
            "peak memory": common.ratios([run["peak"] for run in runs], [run["peak"] for run in configured]),
        }
        for name, runs in found.items()
    ]
    lora, dtype = SETTINGS["lora"], dtype_of(SETTINGS["precision"])
    facts = {
        "lora": f"adapters on the top {lora['top_layers']} layers" if lora else "full fine-tuning",
        "dtype": dtype,
    }
    facts |= {
        **vars(options),
        "pairs": len(rows),
        "tokens": tokens // SETTINGS["epochs"],
        "epochs": SETTINGS["epochs"],
    }
    common.print_table(CAPTION.format(**facts), table)


if __name__ == "__main__":
    common.run(main)
