"""What the benchmarks share: options, repeats that take turns, counts of what is computed, one table each."""

import argparse
import contextlib
import os
import random
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pandas as pd
import torch

from polyreward.artifacts.sums import write_sums
from polyreward.config.scale import read_scale
from polyreward.core.errors import PolyrewardError
from polyreward.core.files import read_jsonl
from polyreward.core.naming import Paths
from polyreward.ops.hardware import hardware
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


@contextlib.contextmanager
def counted(decoder: torch.nn.Module) -> Iterator[list[int]]:
    """Count the tokens of each forward pass of a decoder in a `with` block, padding included."""
    tokens: list[int] = []

    def add(module, args, kwargs) -> None:
        tokens.append(kwargs["input_ids"].numel())

    hook = decoder.register_forward_pre_hook(add, with_kwargs=True)
    try:
        yield tokens
    finally:
        hook.remove()


def write_data(folder: Path, name: str, table: pd.DataFrame, facts: dict) -> None:
    """Write a table for the documents, with these facts, the machine and the commit in run.csv."""
    folder.mkdir(parents=True, exist_ok=True)
    git = ["git", "-C", str(ROOT), "describe", "--always", "--dirty", "--abbrev=8"]
    commit = subprocess.run(git, text=True, capture_output=True, check=True).stdout.strip()
    table.to_csv(folder / name, index=False, float_format="%.2f")
    pd.DataFrame([{**facts, "machine": hardware(), "commit": commit}]).to_csv(folder / "run.csv", index=False)
    write_sums(folder, [name, "run.csv"], folder / "SHA256SUMS")


def print_table(caption: str, rows: Sequence[dict]) -> None:
    """Print a Markdown table with a caption below it."""
    print(pd.DataFrame(rows).to_markdown(index=False, disable_numparse=True))
    print(f"\n{caption}")
