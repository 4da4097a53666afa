"""What the benchmarks share: their inputs, repeats that take turns, counts of what is computed, and one table
each."""

import argparse
import contextlib
import multiprocessing
import os
import random
import statistics
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import pandas as pd
import torch
import yaml

from polyreward.core.conversations import Messages
from polyreward.core.errors import PolyrewardError
from polyreward.core.files import read_jsonl
from polyreward.core.naming import Paths
from polyreward.scoring.interface import Conversations

ROOT = Path(__file__).parents[1]
CONFIG = yaml.safe_load((ROOT / "config.yaml").read_text(encoding="utf-8"))
LANGUAGES = [CONFIG["source_language"], *CONFIG["target_languages"]]
MODEL = f"smollm2-135m-instruct_{CONFIG['source_language']}"


def options_parser(description: str) -> argparse.ArgumentParser:
    """Return a parser with the options of what times runs on what scale mini has made."""
    parser = timing_parser(description)
    parser.add_argument(
        "--results", type=Path, default=ROOT / CONFIG["results"], help="results folder of scale mini"
    )
    return parser


def timing_parser(description: str) -> argparse.ArgumentParser:
    """Return a parser with the options of whatever times runs."""
    parser = argparse.ArgumentParser(
        description=description, formatter_class=argparse.ArgumentDefaultsHelpFormatter
    )
    parser.add_argument(
        "--repeats", type=int, default=3, help="rounds; in each, everything compared takes its turn"
    )
    parser.add_argument("--threads", type=int, default=os.cpu_count(), help="threads of every run")
    return parser


def target_parser(description: str) -> argparse.ArgumentParser:
    """Return a parser with the options of what looks at a finished run: its results, target and scale."""
    parser = argparse.ArgumentParser(
        description=description, formatter_class=argparse.ArgumentDefaultsHelpFormatter
    )
    parser.add_argument(
        "--results",
        type=Path,
        default=ROOT / CONFIG["results"],
        help="results folder in which the target is made",
    )
    parser.add_argument(
        "--target", default="table1.csv", help="what was made, relative to the results folder"
    )
    parser.add_argument(
        "--configfiles", nargs="*", default=[], help="of the run, such as workflow/scales/tiny.yaml"
    )
    return parser


def run(main: Callable[[], None]) -> None:
    """Call a benchmark's main function; a PolyrewardError ends it with its text."""
    try:
        main()
    except PolyrewardError as error:
        sys.exit(f"{Path(sys.argv[0]).name}: {error}")


def existing(path: str | Path, made_by: str) -> Path:
    """Return a path of a results folder. Raises PolyrewardError that tells how to make it where it is
    missing."""
    if not Path(path).exists():
        raise PolyrewardError(
            f"{path}: is missing; make it by `{made_by}`, or name another results folder by --results"
        )
    return Path(path)


def reward_model_folder(results: Path, model: str) -> Path:
    """Return the folder of a trained reward model, such as smollm2-135m-instruct_en."""
    return existing(Paths(results).model(model), "make results/table1.csv")


def evaluation_pairs(results: Path, languages: Sequence[str], count: int) -> list[dict]:
    """Draw pairs of the main benchmark, as many of each language, in one shuffled list; the same draw in
    every run.

    count: pairs in all. A pair's id begins with its language. Raises PolyrewardError where there are not so
    many."""
    generator = random.Random(CONFIG["seed"])
    rows = []
    for language in languages:
        path = existing(_rows_path(Paths(results), language), "make results/table1.csv")
        found, wanted = read_jsonl(path), count // len(languages)
        if wanted > len(found):
            raise PolyrewardError(f"{path}: has {len(found)} pairs of {wanted} asked for; lower --pairs")
        rows += [{**row, "id": f"{language}/{row['id']}"} for row in generator.sample(found, wanted)]
    generator.shuffle(rows)
    return rows


def _rows_path(paths: Paths, language: str) -> Path:
    """Return where the main benchmark is in a language; Table 1 needs it in the source language as it was
    prepared alone."""
    benchmark = CONFIG["benchmarks"]["main"]
    return Path(
        paths.prepared(benchmark)
        if language == CONFIG["source_language"]
        else paths.translated(benchmark, language)
    )


def with_context(rows: Sequence[dict]) -> list[dict]:
    """Return the rows with 0 to 8 of our passages before each prompt, few more often than many: long prompts,
    short answers."""
    generator = random.Random(CONFIG["seed"])
    items = yaml.safe_load((ROOT / "resources/mini/passages.yaml").read_text(encoding="utf-8"))
    passages = [item[CONFIG["source_language"]] for item in items]
    contexts = [generator.sample(passages, min(8, int(generator.expovariate(1 / 3)))) for _ in rows]
    return [
        {**row, "prompt": _after(context, row["prompt"])} for row, context in zip(rows, contexts, strict=True)
    ]


def _after(passages: Sequence[str], prompt: str | Messages) -> str | Messages:
    """Return a prompt with passages before it; of a chat they stand before its first message."""
    if isinstance(prompt, str):
        return "\n\n".join([*passages, prompt])
    first, *others = prompt
    return [{**first, "content": _after(passages, first["content"])}, *others]


def conversations_of(rows: Sequence[dict]) -> list[Conversations]:
    """Return what a reward model scores: each row's prompt with its chosen and its rejected answer."""
    return [Conversations(row["prompt"], (row["chosen"], row["rejected"])) for row in rows]


def interleaved(variants: dict[str, Callable], repeats: int) -> dict[str, list]:
    """Call variants in turn (A B A B ...), so that a slow minute of the machine hits all; returns {name:
    results}."""
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
    middle, least, greatest = (
        f"{value:.{digits}f}" for value in (statistics.median(values), min(values), max(values))
    )
    return f"{middle} ({least}-{greatest})"


def in_new_process(call: Callable, *arguments):
    """Return what a function of a module returns, called in a new process, so that its memory is its own.

    What it prints goes to stderr: on stdout is the table alone."""
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(1, mp_context=context, initializer=os.dup2, initargs=(2, 1)) as pool:
        return pool.submit(call, *arguments).result()


def forget_peak() -> float:
    """Start the greatest resident set of this process anew; returns the present one, in MiB.

    Raises PolyrewardError where the system is no Linux, whose /proc this takes."""
    try:
        Path("/proc/self/clear_refs").write_text("5", encoding="ascii")
    except OSError as error:
        raise PolyrewardError(
            f"peak memory is read from /proc, which only Linux has ({error}); run this benchmark there"
        ) from error
    return peak_mib()


def peak_mib() -> float:
    """Return the greatest resident set of this process since `forget_peak`, in MiB."""
    status = Path("/proc/self/status").read_text(encoding="ascii")
    return next(int(line.split()[1]) / 1024 for line in status.splitlines() if line.startswith("VmHWM"))


class Work:
    """What a decoder has computed: tokens, padding included, and floating-point operations.

    Operations: 2 x the linear layers' weights x tokens, and for attention 4 x layers x heads x head size x
    (row length)^2 for each row, since a mask hides scores but saves none."""

    def __init__(self, decoder: torch.nn.Module):
        config = decoder.config
        heads = config.num_attention_heads
        size = getattr(config, "head_dim", None) or config.hidden_size // heads
        self._per_token = 2 * sum(
            m.weight.numel() for m in decoder.modules() if isinstance(m, torch.nn.Linear)
        )
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
