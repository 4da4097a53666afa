"""Try a scale's jobs one after another: what is wrong before the first, and what each took."""

import gc
import io
import shutil
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import redirect_stderr, redirect_stdout
from functools import partial
from pathlib import Path

import numpy as np
import torch
from transformers.utils import logging as transformers_logging

from polyreward.core.conversations import as_turns
from polyreward.core.errors import PolyrewardError, lacks_memory, raise_all
from polyreward.gpu_check.bench import TRIALS, Bench, Clock, Found
from polyreward.models.devices import device_problems
from polyreward.ops import stand_ins
from polyreward.ops.cluster import package_problem, settings_of
from polyreward.ops.planning import planned_jobs
from polyreward.ops.resources import Job, gib, shape_of, too_large
from polyreward.ops.stand_ins import Texts
from polyreward.ops.trials import (
    FILE,
    REWARDING,
    TEXT,
    Speeds,
    Trial,
    settings_digest,
    trials_of,
    uses_liger,
)
from polyreward.scoring.generative import Judge
from polyreward.scoring.interface import conversations_of
from polyreward.scoring.load import load_causal_lm, load_classifier
from polyreward.scoring.local_judge import LocalBackend
from polyreward.sheet.entries import Models, read_models

EXACT = 1e-3  # largest difference of an fp32 score from the CPU's; two kernels on a CPU differ by 1e-5
SMALL = "as on the CPU"
WRITING = (TEXT, "sampling", "GRPO of a judge", "GRPO of a policy")


UNITS = {
    "tokens_per_s": "{:,.0f} tokens/s",
    "update_s": "{:.2f} s an update",
    "request_s": "{:.3f} s a request",
    "step_ms": "{:.1f} ms a step of writing",
    "ms_a_step": "{:.1f} ms a step of writing",
    "difference": "{:.2g} at most from the CPU",
}


def check_scale(configfiles: Sequence[str], root: Path, device: str, below: Path | None = None) -> Path:
    """Try each kind of job with each model of a scale, print each result when it is known; return the file.

    device: cuda, or cpu, where settings that only a card can run are off. below: where the results are, by
    default below the project's root. Raises PolyrewardError with all that is wrong before the first job, and
    with all that failed."""
    models, jobs = read_models(configfiles, root), planned_jobs(["all"], configfiles, root)
    raise_all(start_problems(models, jobs, device), "before the first job")
    transformers_logging.disable_progress_bar()
    card = torch.cuda.get_device_name() if device == "cuda" else "cpu"
    trials, results = trials_of(jobs, models), []
    print(f"{models.settings.results} on {card}: {len(trials)} jobs to try", flush=True)
    with tempfile.TemporaryDirectory(prefix="polyreward-") as folder:
        for row in _rows(trials, models, Path(folder)):
            results.append(row)
            print(f"{row['result']:8} {label(row)}: {row['measured']}", flush=True)
    path = (below or root) / models.settings.results / FILE
    Speeds(models.settings.results, settings_digest(models), card, results).write(path)
    print(f"\n{path}: `polyreward plan` takes its hours from here")
    failed = (row for row in results if row["result"] == "FAILED")
    raise_all((f"{label(row)}: {row['measured']}" for row in failed), "what failed")
    return path


def label(row: dict) -> str:
    """Return what a row of the file is of: the kind of job, the model, and the rules."""
    rules = f" ({', '.join(row['rules'])})" if row["rules"] else ""
    return f"{row['kind']}, {row['model']}{rules}"


def start_problems(models: Models, jobs: Sequence[Job], device: str) -> Iterator[str]:
    """Yield what is certain before the first job: no card, no bfloat16, packages, and models too large."""
    if device == "cpu":
        return
    used = {one.where: one.training for one in trials_of(jobs, models) if one.training}
    for key, value in settings_of(
        {**used, "devices": models.settings.devices, **(models.settings.launch or {})}
    ):
        if problem := package_problem(key, value):
            yield problem
    if not torch.cuda.is_available():
        yield _no_card()
        return
    yield from device_problems(models.settings.precision)
    cards = (torch.cuda.get_device_properties(number) for number in range(torch.cuda.device_count()))
    yield from too_large(jobs, gib(min(card.total_memory for card in cards)))


def _no_card() -> str:
    try:
        torch.cuda.init()
        said = "it finds none"
    except (AssertionError, RuntimeError) as error:  # too old a driver, none, or no build for CUDA
        said = str(error).splitlines()[0]
    return (
        f"PyTorch {torch.__version__} can use no CUDA device here ({said}). Update the driver, or install the"
        " build for it (pytorch.org/get-started), and run this where the long jobs will run. `--device cpu`"
        " tries the same on the CPU"
    )


def _rows(trials: Sequence[Trial], models: Models, folder: Path) -> Iterator[dict]:
    """Yield each trial's row of the file; first one for each architecture that computes as on the CPU."""
    half = models.settings.precision != "float32"
    instead = "set `precision: float32`" if half else "take another card"
    for kind in dict.fromkeys(stand_in(trial, models)[0] for trial in trials):
        found = _tried(partial(as_on_the_cpu, kind, folder / kind), Clock(), instead, instead)
        yield {"kind": SMALL, "model": kind, "rules": [], **found}
    last = None
    for number, trial in enumerate(trials):
        if trial.model != last and last is not None:  # the disk holds one model at a time
            shutil.rmtree(folder / "bases")
        last, base, clock = trial.model, folder / f"bases/{stand_in(trial, models)[2]}", Clock()
        smaller = f"lower {trial.where}"
        if trial.training:
            more = "raise its gradient_accumulation as much, or set gradient_checkpointing or lora there"
            smaller = f"lower {trial.where}.batch_size and {more}"
        other = "set `devices: {liger: false}`" if uses_liger(trial, models) else instead
        if trial.kind in WRITING:  # models/generation.py
            other = f"set TORCH_COMPILE_DISABLE=1 in the environment, or {other}"
        call = partial(_run, trial, models, base, folder / str(number), clock)
        found = _tried(call, clock, smaller, other)
        shutil.rmtree(folder / str(number), ignore_errors=True)
        yield {"kind": trial.kind, "model": trial.model, "rules": trial.rules, **found}


def _run(trial: Trial, models: Models, base: Path, folder: Path, clock: Clock) -> Found:
    if trial.entry.get("gpus", 1) > 1:
        raise NotTriedError(f"{trial.entry['gpus']} GPUs hold it, and this tries one")
    if not base.is_dir():
        stand_ins.make_base(*stand_in(trial, models), base)
    return TRIALS[trial.kind](Bench(trial, models, base, folder, clock))


class NotTriedError(Exception):
    """A job that is not tried, and why."""


def _tried(call: Callable[[], Found], clock: Clock, smaller: str, instead: str) -> dict:
    """Return what a call measured, and what it took of the card; or how it failed.

    smaller: what to do where memory is too small; instead: for any other failure."""
    on_card, found, words = torch.cuda.is_available(), {"result": "passed"}, []
    if on_card:
        torch.cuda.empty_cache()
        torch.cuda.reset_peak_memory_stats()
    try:
        with redirect_stdout(io.StringIO()), redirect_stderr(clock):  # trainers print each step
            found |= call()
        words = [UNITS[name].format(value) for name, value in found.items() if name in UNITS]
    except NotTriedError as error:
        found["result"], words = "left out", [str(error)]
    except Exception as error:  # whatever a driver or a kernel raises: finding it is the purpose
        said = (str(error) or type(error).__name__).splitlines()[0]
        found["result"] = "FAILED"
        words = [f"out of memory; {smaller}" if lacks_memory(error) else f"{said}; {instead}"]
    gc.collect()
    if on_card:
        found["peak_gib"] = round(gib(torch.cuda.max_memory_allocated()), 2)
        found["reserved_gib"] = round(gib(torch.cuda.max_memory_reserved()), 2)
        words.append(f"{found['peak_gib']:.1f} GiB at most, {found['reserved_gib']:.1f} reserved")
    return {**found, "measured": ", ".join(words)}


def stand_in(trial: Trial, models: Models) -> tuple[str, dict, int | None]:
    """Return a model's kind in transformers, its sizes, and how many of its layers the trial's jobs have."""
    known = models.catalog.models
    entry = known.get(trial.model, trial.entry)
    sizes = stand_ins.sizes_of(entry, shape_of(entry, known) or stand_ins.SMALL)
    trained_here = trial.kind in ("reward training", REWARDING) and "kind" not in trial.entry
    layers = (models.settings.reward_model.depth or {}).get(trial.model) if trained_here else None
    return stand_ins.architecture_of(trial.model, entry), sizes, layers


def as_on_the_cpu(architecture: str, folder: Path) -> Found:
    """Compare a small model's rewards, a judge's labels and written texts in fp32 with the CPU's."""
    sizes = stand_ins.by_shape(stand_ins.SMALL)
    base = stand_ins.make_base(architecture, sizes, None, folder / "base")
    options = {"dtype": "float32", "max_length": 512, "token_budget": 2048}
    scorer = load_classifier(stand_ins.make_classifier(base, folder / "reward_model"), **options)
    lm = load_causal_lm(base, **options)
    texts = Texts(lm.tokenizer)
    asked = conversations_of(texts.pairs(8, 128))
    backend = LocalBackend(lm, 4)

    def found() -> tuple[np.ndarray, list[str]]:
        scores = [one.score(asked, "gpu-check").values for one in (scorer, Judge(backend, "labels"))]
        return np.stack(scores), backend.replies([as_turns(one.prompt) for one in asked], "gpu-check")

    here, said = found()
    for model in (scorer.model, lm.model):
        model.to("cpu")
    there, said_there = found()
    difference = float(np.abs(here - there).max())
    if not difference <= EXACT:
        raise PolyrewardError(f"scores differ from the CPU's by up to {difference:.2g}, more than {EXACT:g}")
    if said != said_there:
        raise PolyrewardError("greedy replies differ from the CPU's")
    return {"difference": difference}
