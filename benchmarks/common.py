"""What the benchmarks share: options, repeats that take turns, counts of what is computed, one table each."""

import argparse
import contextlib
import os
import random
import statistics
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pandas as pd
import torch

from polyreward.config.scale import read_scale
from polyreward.core.errors import PolyrewardError
from polyreward.core.files import read_jsonl
from polyreward.core.naming import Paths
from polyreward.scoring.interface import Conversations

ROOT = Path(__file__).parents[1]
CONFIG = read_scale([], ROOT).settings.model_dump()
LANGUAGES = [CONFIG["source_language"], *CONFIG["target_languages"]]
MODEL = f"smollm2-135m-instruct_{CONFIG['source_language']}"


def parser(description: str, *, results: bool = False, timed: bool = False) -> argparse.ArgumentParser:
    """Return a parser with the options that benchmarks share."""
    found = argparse.ArgumentParser(
        description=description, formatter_class=argparse.ArgumentDefaultsHelpFormatter
    )
    if results:
        found.add_argument("--results", type=Path, default=ROOT / "results", help="results of scale mini")
    if timed:
        found.add_argument("--repeats", type=int, default=3, help="rounds; all compared take turns in each")
        found.add_argument("--threads", type=int, default=os.cpu_count(), help="threads of every run")
    return found


def run(main: Callable[[], None]) -> None:
    """Call a benchmark's main function; a PolyrewardError ends it with its text."""
    try:
        main()
    except PolyrewardError as error:
        sys.exit(f"{Path(sys.argv[0]).name}: {error}")


def existing(path: str | Path) -> Path:
    """Return a path of a results folder that is there."""
    if not Path(path).exists():
        raise PolyrewardError(f"{path}: is missing. Run `make results/table1.csv`, or change --results.")
    return Path(path)


def evaluation_pairs(results: Path, languages: Sequence[str], count: int) -> list[dict]:
    """Draw pairs of the main benchmark, the same number in each language, in one shuffled list."""
    generator = random.Random(CONFIG["seed"])
    paths, benchmark, rows = Paths(results), CONFIG["benchmarks"]["main"], []
    for language in languages:
        source = language == CONFIG["source_language"]
        path = existing(paths.prepared(benchmark) if source else paths.translated(benchmark, language))
        found, wanted = read_jsonl(path), count // len(languages)
        if wanted > len(found):
            raise PolyrewardError(f"{path}: has {len(found)} pairs, not {wanted}. Lower --pairs.")
        rows += [{**row, "id": f"{language}/{row['id']}"} for row in generator.sample(found, wanted)]
    generator.shuffle(rows)
    return rows


def conversations_of(rows: Sequence[dict]) -> list[Conversations]:
    """Return what a reward model scores: each row's prompt with its chosen and its rejected answer."""
    return [Conversations(row["prompt"], (row["chosen"], row["rejected"])) for row in rows]


def interleaved(variants: dict[str, Callable], repeats: int) -> dict[str, list]:
    """Call variants in turn (A B A B ...), so that a slow minute of the machine hits all."""
    found = {name: [] for name in variants}
    for number in range(repeats):
        for name, call in variants.items():
            found[name].append(call())
            print(f"round {number + 1}/{repeats}: {name}", file=sys.stderr, flush=True)
    return found


def seconds(call: Callable) -> float:
    """Return how long a call takes, wall-clock."""
    start = time.perf_counter()
    call()
    return time.perf_counter() - start


def ratios(numerators: Sequence[float], denominators: Sequence[float], digits: int = 2) -> str:
    """Return the ratios of two series, round by round, as text: median (least-greatest)."""
    return spread([n / d for n, d in zip(numerators, denominators, strict=True)], digits)


def spread(values: Sequence[float], digits: int = 2) -> str:
    """Return values as text: median (least-greatest)."""
    shown = [f"{value:.{digits}f}" for value in (statistics.median(values), min(values), max(values))]
    return "{} ({}-{})".format(*shown)


class Work:
    """Tokens and floating-point operations that a decoder has computed, padding included.

    Operations: 2 x the linear layers' weights x tokens. For attention, 4 x layers x heads x head size x
    (row length)^2 for each row, since a mask hides scores but saves none.
    """

    def __init__(self, decoder: torch.nn.Module):
        config = decoder.config
        heads = config.num_attention_heads
        size = getattr(config, "head_dim", None) or config.hidden_size // heads
        linear = [module for module in decoder.modules() if isinstance(module, torch.nn.Linear)]
        self._per_token = 2 * sum(module.weight.numel() for module in linear)
        self._per_square = 4 * config.num_hidden_layers * heads * size
        self.tokens = self.operations = 0

    def add(self, module, args, kwargs) -> None:
        """Count one forward pass, as a pre-hook of it."""
        rows, length = kwargs["input_ids"].shape
        self.tokens += rows * length
        self.operations += self._per_token * rows * length + self._per_square * rows * length**2


@contextlib.contextmanager
def counted(decoder: torch.nn.Module) -> Iterator[Work]:
    """Count what a decoder computes in a `with` block."""
    work = Work(decoder)
    hook = decoder.register_forward_pre_hook(work.add, with_kwargs=True)
    try:
        yield work
    finally:
        hook.remove()


def print_table(caption: str, rows: Sequence[dict]) -> None:
    """Print a Markdown table with a caption below it."""
    print(pd.DataFrame(rows).to_markdown(index=False, disable_numparse=True))
    print(f"\n{caption}")
