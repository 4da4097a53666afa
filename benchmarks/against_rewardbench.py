"""Score the same pairs by the same reward model with polyreward and with rewardbench 0.1.4.

rewardbench runs its own command line in a virtual environment of its own, which is made when it is missing.
"""

import argparse
import json
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time
import venv
from collections.abc import Callable, Sequence
from pathlib import Path

import pandas as pd
import torch

from polyreward.core.conversations import as_messages
from polyreward.core.errors import PolyrewardError
from polyreward.core.files import read_jsonl, write_jsonl, write_text
from polyreward.core.naming import stage
from polyreward.scoring.interface import conversations_of
from polyreward.scoring.load import load_classifier
from polyreward.scoring.tokens import tokenized
from polyreward.sheet.entries import read_models

HERE, ROOT = Path(__file__).parent, Path(__file__).parents[1]
CONFIG = read_models([], ROOT).settings.model_dump()
LANGUAGES = [CONFIG["source_language"], *CONFIG["target_languages"]]
TORCH = "torch==2.13.0"  # polyreward's own, and first: which of its builds is right depends on the machine
MAX_LENGTH = 8192  # tokens, for both tools. They cut at different ends, so nothing may be cut.
CAPTION = """Pairs: short (English) and mixed (all languages, of different lengths). {model} in float32,
{threads} threads, fresh processes that take turns, {repeats} rounds: median (least-greatest). seq/s and
speed ratio: scoring after imports and loading. Whole command: all of it, as a ratio. rewardbench: batches
of 8 in the file's order. Computed tokens: with padding, per token."""


def ready_environment(folder: Path) -> Path:
    """Return the Python of rewardbench's virtual environment, making it when it is missing."""
    python = folder.absolute() / "bin" / "python"
    if not (folder / "ready").exists():
        print(f"making {folder} (2 GB, a few minutes)", file=sys.stderr)
        venv.create(folder, with_pip=True)
        for wanted in ([TORCH], ["-r", HERE / "rewardbench_requirements.txt"]):
            called([python, "-m", "pip", "install", "--quiet", *wanted], Path.cwd())
        (folder / "ready").touch()
    return python


def called(command: list, cwd: Path, **environment: str) -> None:
    """Run a command. Where it fails, a PolyrewardError has the end of what it printed."""
    command = list(map(str, command))
    output = {"text": True, "stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}
    done = subprocess.run(command, cwd=cwd, env={**os.environ, **environment}, **output)
    if done.returncode:
        raise PolyrewardError(f"`{' '.join(command)}` failed:\n{done.stdout[-3000:]}")


def copy_model(model: Path, folder: Path) -> None:
    """Copy a Llama reward model so that transformers 4.51 reads it; weights and vocabulary are links.

    Without a `rope_theta` at the top of config.json, 4.51 takes 10000 and gives other rewards.
    """
    folder.mkdir()
    config = json.loads((model / "config.json").read_text(encoding="utf-8"))
    if config["model_type"] != "llama":
        kind = config["model_type"]
        raise PolyrewardError(f"{model}: transformers 4.51 has no `{kind}` classifier. Name a Llama.")
    config["rope_theta"] = config["rope_parameters"]["rope_theta"]
    write_text(json.dumps(config), folder / "config.json")
    tokenizer = json.loads((model / "tokenizer_config.json").read_text(encoding="utf-8"))
    tokenizer["tokenizer_class"] = "PreTrainedTokenizerFast"
    tokenizer["model_input_names"] = ["input_ids", "attention_mask"]
    tokenizer["chat_template"] = (model / "chat_template.jinja").read_text(encoding="utf-8")
    write_text(json.dumps(tokenizer), folder / "tokenizer_config.json")
    for name in ("model.safetensors", "tokenizer.json"):
        (folder / name).symlink_to((model / name).resolve())


def existing(path: str | Path) -> Path:
    """Return a path of a results folder that is there."""
    if not Path(path).exists():
        raise PolyrewardError(f"{path}: is missing. Run `make results/table1.csv`, or change --results.")
    return Path(path)


def evaluation_pairs(results: Path, languages: Sequence[str], count: int) -> list[dict]:
    """Draw pairs of the main benchmark, the same number in each language, in one shuffled list."""
    generator = random.Random(CONFIG["seed"])
    benchmark, rows = CONFIG["benchmarks"]["main"], []
    for language in languages:
        source = language == CONFIG["source_language"]
        path = existing(
            stage(results, "prepared", f"{benchmark}.jsonl")
            if source
            else stage(results, "translated", f"{benchmark}/{language}.jsonl")
        )
        found, wanted = read_jsonl(path), count // len(languages)
        if wanted > len(found):
            raise PolyrewardError(f"{path}: has {len(found)} pairs, not {wanted}. Lower --pairs.")
        rows += [{**row, "id": f"{language}/{row['id']}"} for row in generator.sample(found, wanted)]
    generator.shuffle(rows)
    return rows


def write_conversations(rows: Sequence[dict], path: Path) -> None:
    """Write pairs as rewardbench reads them: chosen and rejected are whole message lists."""
    roles = ("chosen", "rejected")
    write_jsonl(({role: as_messages(row["prompt"], row[role]) for role in roles} for row in rows), path)


def rewardbench_run(python: Path, folder: Path, data: str, threads: int) -> dict:
    """Score a file with rewardbench; returns seconds, tokens, rewards and the command's seconds."""
    command = [python, HERE / "rewardbench_score.py", "measured.json", threads]
    command += ["--model", "rm", "--dataset", f"{data}.jsonl", "--load_json", "--not_quantized"]
    command += ["--torch_dtype", "float32", "--output_dir", "out/", "--max_length", MAX_LENGTH]
    offline = {"WANDB_MODE": "disabled", "HF_HUB_OFFLINE": "1", "OMP_NUM_THREADS": str(threads)}
    measured = timed_command(command, folder, offline)
    outputs = read_jsonl(folder / "out" / "rm_outputs.jsonl")
    return {**measured, "rewards": [(row["scores_chosen"], row["scores_rejected"]) for row in outputs]}


def polyreward_run(model: Path, folder: Path, data: str, threads: int) -> dict:
    """Score a file with polyreward in a new process; returns the same as rewardbench_run."""
    command = [sys.executable, "-c", "import sys, against_rewardbench as b; b.score(*sys.argv[1:])"]
    command += [model.resolve(), f"{data}_rows.jsonl", threads]
    return timed_command(command, folder, {"PYTHONPATH": str(HERE), "OMP_NUM_THREADS": str(threads)})


def timed_command(command: list, folder: Path, environment: dict[str, str]) -> dict:
    """Run a command that writes measured.json; return its content and the command's seconds."""
    elapsed = seconds(lambda: called(command, folder, **environment))
    return {**json.loads((folder / "measured.json").read_text()), "command": elapsed}


def seconds(call: Callable) -> float:
    """Return how long a call takes, wall-clock."""
    start = time.perf_counter()
    call()
    return time.perf_counter() - start


def score(model: str, pairs: str, threads: str) -> None:
    """Score a file and write measured.json: seconds, tokens, and rewards in the order of the pairs."""
    torch.set_num_threads(int(threads))
    settings = {**CONFIG["scoring"], "dtype": "float32", "max_length": MAX_LENGTH}
    classifier = load_classifier(model, **settings)
    conversations, found, tokens = conversations_of(read_jsonl(pairs)), [], []

    def count(module, args, kwargs) -> None:
        tokens.append(kwargs["input_ids"].numel())  # with padding

    classifier.model.get_decoder().register_forward_pre_hook(count, with_kwargs=True)
    elapsed = seconds(lambda: found.append(classifier.score(conversations, "polyreward")))
    texts = tokenized(classifier, conversations)
    measured = {
        "seconds": elapsed,
        "computed_tokens": sum(tokens),
        "real_tokens": sum(len(texts.groups[g][m]) for places in texts.places for g, m in places),
        "rewards": [list(map(float, values)) for values in found[0].values],
    }
    write_text(json.dumps(measured), "measured.json")


def table_row(data: str, theirs: list[dict], ours: list[dict]) -> dict:
    """Compare the rounds of both tools. A PolyrewardError where they did not read the same tokens."""
    their_tokens, our_tokens = theirs[0]["real_tokens"], ours[0]["real_tokens"]
    if their_tokens != our_tokens:
        raise PolyrewardError(
            f"{data}: rewardbench read {their_tokens} tokens and polyreward {our_tokens}, so they scored"
            " different texts. Compare the tokenizer that copy_model writes with the model's own."
        )
    pairs = list(zip(theirs[0]["rewards"], ours[0]["rewards"], strict=True))
    differences = [abs(x - y) for one, other in pairs for x, y in zip(one, other, strict=True)]
    per_token = [found[0]["computed_tokens"] / our_tokens for found in (theirs, ours)]
    rates = [[2 * len(pairs) / one["seconds"] for one in found] for found in (theirs, ours)]
    return {
        "pairs": f"{data} ({len(pairs)})",
        "preferences turned": sum((a > b) != (c > d) for (a, b), (c, d) in pairs),
        "largest reward difference": f"{max(differences):.1e}",
        "rewardbench seq/s": spread(rates[0], 1),
        "polyreward seq/s": spread(rates[1], 1),
        "speed ratio": ratios("seconds", theirs, ours),
        "whole command": ratios("command", theirs, ours),
        "computed tokens": f"{per_token[0]:.2f} / {per_token[1]:.2f} = {per_token[0] / per_token[1]:.2f}",
    }


def ratios(key: str, theirs: list[dict], ours: list[dict]) -> str:
    """Return the ratios of what both took, round by round, as text: median (least-greatest)."""
    return spread([one[key] / other[key] for one, other in zip(theirs, ours, strict=True)], 2)


def spread(values: Sequence[float], digits: int) -> str:
    """Return values as text: median (least-greatest)."""
    shown = [f"{value:.{digits}f}" for value in (statistics.median(values), min(values), max(values))]
    return "{} ({}-{})".format(*shown)


def main() -> None:
    """Run all comparisons and print one table."""
    parser = argparse.ArgumentParser(
        description=__doc__.partition("\n")[0], formatter_class=argparse.ArgumentDefaultsHelpFormatter
    )
    parser.add_argument("--results", type=Path, default=ROOT / "results", help="results of scale mini")
    parser.add_argument("--repeats", type=int, default=3, help="rounds; all compared take turns in each")
    parser.add_argument("--threads", type=int, default=os.cpu_count(), help="threads of every run")
    model = f"smollm2-135m-instruct_{LANGUAGES[0]}"
    parser.add_argument("--model", default=model, help="a reward model of the results, a Llama")
    parser.add_argument("--pairs", type=int, default=40, help="pairs of each data set")
    options = parser.parse_args()
    model, table = existing(stage(options.results, "models", options.model)), []
    languages = {"short": LANGUAGES[:1], "mixed": LANGUAGES}
    sets = {
        data: evaluation_pairs(options.results, names, options.pairs) for data, names in languages.items()
    }
    python = ready_environment(ROOT / ".venv-rewardbench")
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        copy_model(model, folder / "rm")
        for data, rows in sets.items():
            write_jsonl(rows, folder / f"{data}_rows.jsonl")
            write_conversations(rows, folder / f"{data}.jsonl")
            asked, theirs, ours = (folder, data, options.threads), [], []
            for number in range(options.repeats):  # in turn, so that a slow minute hits both
                theirs.append(rewardbench_run(python, *asked))
                ours.append(polyreward_run(model, *asked))
                print(f"{data}: round {number + 1}/{options.repeats}", file=sys.stderr, flush=True)
            table.append(table_row(data, theirs, ours))
    print(pd.DataFrame(table).to_markdown(index=False, disable_numparse=True))
    print(f"\n{CAPTION.format(**vars(options))}")


if __name__ == "__main__":
    try:
        main()
    except PolyrewardError as error:
        sys.exit(f"{Path(__file__).name}: {error}")
