"""Score the same pairs by the same reward models with polyreward and with rewardbench 0.1.4.

rewardbench runs its own command line in a virtual environment of its own, which is made when it is missing.
Fails where a preference turns, or where rewardbench loads a model of polyreward's type without trust.
"""

import argparse
import itertools
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

from polyreward.core.conversations import as_messages, as_turns
from polyreward.core.errors import PolyrewardError
from polyreward.core.files import read_jsonl, write_jsonl, write_text
from polyreward.core.naming import stage
from polyreward.models.answer_reward import TYPE, for_version_4, plain_config
from polyreward.ops.hardware import hardware
from polyreward.scoring.interface import conversations_of
from polyreward.scoring.load import load_classifier
from polyreward.scoring.tokens import tokenized
from polyreward.sheet.entries import read_models

HERE, ROOT = Path(__file__).parent, Path(__file__).parents[1]
CONFIG = read_models([], ROOT).settings.model_dump()
LANGUAGES = [CONFIG["source_language"], *CONFIG["target_languages"]]
TORCH = "torch==2.13.0"  # polyreward's own, and first: which of its builds is right depends on the machine
MAX_LENGTH = 512  # tokens, for both tools; rewardbench's own. With --force_truncation both cut on the left.
LARGEST = 1e-4  # difference of two rewards in float32 that computing in another order explains
# {what a reward is read from: the data sets that are scored so}
READS = {"answer": ("short", "languages", "mixed"), "last token": ("mixed",)}
CAPTION = """Pairs: short (English), languages (all, of different lengths), mixed (the same, of which a third
has several turns, and a third so many that texts are cut at {limit} tokens). Reward: of {model},
read from the answer's tokens by the code in its folder, or from the last token by transformers' own class.
float32, {threads} threads, fresh processes that take turns, {repeats} rounds: median (least-greatest).
seq/s: scoring after imports and loading. Scoring, command (all of it): rewardbench's time by polyreward's,
of the clock and of the processor. rewardbench: batches of 8 in the file's order. Computed tokens: with
padding, per token. {machine}, load {load:.1f}, commit {commit}."""


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
    output = {
        "text": True,
        "stdout": subprocess.PIPE,
        "stderr": subprocess.STDOUT,
        "stdin": subprocess.DEVNULL,
    }
    done = subprocess.run(command, cwd=cwd, env={**os.environ, **environment}, **output)
    if done.returncode:
        raise PolyrewardError(f"`{' '.join(command)}` failed:\n{done.stdout[-3000:]}")


def copy_model(model: Path, folder: Path, reads: str) -> None:
    """Copy a reward model so that transformers 4.51 reads it too; weights and vocabulary are links.

    reads: the key of READS. The copy for "last token" has transformers' own type."""
    folder.mkdir()
    config = json.loads((model / "config.json").read_text(encoding="utf-8"))
    if config["model_type"] != TYPE or config["base_model_type"] != "llama":
        raise PolyrewardError(
            f"{model}: is no reward model over answers on a Llama, which transformers 4.51 can run; name one"
            " with --model"
        )
    linked = ["model.safetensors", "tokenizer.json"]
    if reads == "answer":
        linked.append("answer_reward.py")
    else:
        config = plain_config(config).to_dict() | for_version_4(config)
        del config["answer_header"]
    write_text(json.dumps(config), folder / "config.json")
    tokenizer = json.loads((model / "tokenizer_config.json").read_text(encoding="utf-8"))
    tokenizer["tokenizer_class"] = "PreTrainedTokenizerFast"
    tokenizer["model_input_names"] = ["input_ids", "attention_mask"]
    tokenizer["chat_template"] = (model / "chat_template.jinja").read_text(encoding="utf-8")
    write_text(json.dumps(tokenizer), folder / "tokenizer_config.json")
    for name in linked:
        (folder / name).symlink_to((model / name).resolve())


def commit() -> str:
    """Return the short name of this checkout's commit."""
    asked = ["git", "-C", ROOT, "rev-parse", "--short", "HEAD"]
    return subprocess.run(asked, check=True, capture_output=True, text=True).stdout.strip()


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


def mixed_pairs(rows: Sequence[dict]) -> list[dict]:
    """Return pairs of which a third has earlier turns, and a third so many that they are cut.

    None has a system turn: rewardbench reads any first message as the user's."""
    found = []
    for number, row in enumerate(rows):
        turns, length = [], (0, 1, 6 * MAX_LENGTH)[number % 3]  # characters of earlier turns, at least
        for earlier in itertools.chain(rows[number + 1 :], itertools.cycle(rows)):
            if sum(len(turn["content"]) for turn in turns) >= length:
                break
            turns += as_messages(earlier["prompt"], earlier["chosen"])
        found.append({**row, "prompt": [*turns, *as_turns(row["prompt"])]})
    return found


def write_conversations(rows: Sequence[dict], path: Path) -> None:
    """Write pairs as rewardbench reads them: chosen and rejected are whole message lists."""
    roles = ("chosen", "rejected")
    write_jsonl(({role: as_messages(row["prompt"], row[role]) for role in roles} for row in rows), path)


def rewardbench_run(python: Path, folder: Path, reads: str, data: str, threads: int, *more: str) -> dict:
    """Score a file with rewardbench; returns seconds, tokens, rewards and the command's seconds.

    more: options of its command line."""
    command = [python, HERE / "rewardbench_score.py", "measured.json", threads, "--model", reads]
    command += ["--dataset", f"{data}.jsonl", "--load_json", "--not_quantized", "--torch_dtype", "float32"]
    command += ["--output_dir", "out/", "--max_length", MAX_LENGTH, "--force_truncation", *more]
    offline = {"WANDB_MODE": "disabled", "HF_HUB_OFFLINE": "1", "OMP_NUM_THREADS": str(threads)}
    measured = timed_command(command, folder, {**offline, "HF_HOME": str(folder / "cache")})
    outputs = read_jsonl(folder / "out" / f"{reads}_outputs.jsonl")
    return {**measured, "rewards": [(row["scores_chosen"], row["scores_rejected"]) for row in outputs]}


def require_refusal(*asked) -> None:
    """Raise PolyrewardError where rewardbench scores by a model of polyreward's type without trust."""
    try:
        rewardbench_run(*asked)
    except PolyrewardError as error:
        if "trust_remote_code=True" in str(error):
            return
        raise
    raise PolyrewardError("rewardbench loaded a model of polyreward's own type without --trust_remote_code")


def polyreward_run(model: Path, folder: Path, data: str, threads: int) -> dict:
    """Score a file with polyreward in a new process; returns the same as rewardbench_run."""
    command = [sys.executable, "-c", "import sys, against_rewardbench as b; b.score(*sys.argv[1:])"]
    command += [model.resolve(), f"{data}_rows.jsonl", threads]
    return timed_command(command, folder, {"PYTHONPATH": str(HERE), "OMP_NUM_THREADS": str(threads)})


def timed_command(command: list, folder: Path, environment: dict[str, str]) -> dict:
    """Run a command that writes measured.json; return its content and the command's seconds."""
    before = os.times()
    elapsed = seconds(lambda: called(command, folder, **environment))
    after = os.times()
    processor = sum(after[2:4]) - sum(before[2:4])  # of children, user and system
    measured = json.loads((folder / "measured.json").read_text())
    return {**measured, "command": elapsed, "command_processor": processor}


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
    processor = time.process_time()
    elapsed = seconds(lambda: found.append(classifier.score(conversations, "polyreward")))
    processor = time.process_time() - processor
    texts = tokenized(classifier, conversations)
    measured = {
        "seconds": elapsed,
        "processor": processor,
        "computed_tokens": sum(tokens),
        "texts_cut": int(sum(cut.sum() for cut in found[0].truncated)),
        "real_tokens": sum(len(texts.groups[g][m]) for places in texts.places for g, m in places),
        "rewards": [list(map(float, values)) for values in found[0].values],
    }
    write_text(json.dumps(measured), "measured.json")


def table_row(reads: str, data: str, theirs: list[dict], ours: list[dict]) -> dict:
    """Compare the rounds of both tools.

    Raises PolyrewardError where they did not read the same tokens, or rewards or preferences differ."""
    their_tokens, our_tokens = theirs[0]["real_tokens"], ours[0]["real_tokens"]
    if their_tokens != our_tokens:
        raise PolyrewardError(
            f"{data}: rewardbench read {their_tokens} tokens and polyreward {our_tokens}, so they scored"
            " different texts. Compare the tokenizer that copy_model writes with the model's own."
        )
    pairs = list(zip(theirs[0]["rewards"], ours[0]["rewards"], strict=True))
    differences = [abs(x - y) for one, other in pairs for x, y in zip(one, other, strict=True)]
    turned, largest = sum((a > b) != (c > d) for (a, b), (c, d) in pairs), max(differences)
    if turned or largest > LARGEST:
        raise PolyrewardError(
            f"{data}, reward read from the {reads}: {turned} of {len(pairs)} preferences turned, and rewards"
            f" differ by up to {largest:.1e}. Compare what each tool reads of the texts and of config.json."
        )
    per_token = [found[0]["computed_tokens"] / our_tokens for found in (theirs, ours)]
    rates = [[2 * len(pairs) / one["seconds"] for one in found] for found in (theirs, ours)]
    return {
        "reward from": reads,
        "pairs": f"{data} ({len(pairs)})",
        "texts cut": ours[0]["texts_cut"],
        "preferences turned": turned,
        "largest reward difference": f"{largest:.1e}",
        "rewardbench seq/s": spread(rates[0], 1),
        "polyreward seq/s": spread(rates[1], 1),
        "scoring": ratios("seconds", theirs, ours),
        "scoring, processor": ratios("processor", theirs, ours),
        "command": ratios("command", theirs, ours),
        "command, processor": ratios("command_processor", theirs, ours),
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
    short, languages = (
        evaluation_pairs(options.results, names, options.pairs) for names in (LANGUAGES[:1], LANGUAGES)
    )
    sets = {"short": short, "languages": languages, "mixed": mixed_pairs(languages)}
    python, load = ready_environment(ROOT / ".venv-rewardbench"), os.getloadavg()[0]
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        for data, rows in sets.items():
            write_jsonl(rows, folder / f"{data}_rows.jsonl")
            write_conversations(rows, folder / f"{data}.jsonl")
        for reads, data_sets in READS.items():
            copy_model(model, folder / reads, reads)
            own = reads == "answer"
            trust = ["--trust_remote_code"] if own else []
            if own:
                require_refusal(python, folder, reads, "short", options.threads)
            for data in data_sets:
                theirs, ours = [], []
                for number in range(options.repeats):  # in turn, so that a slow minute hits both
                    theirs.append(rewardbench_run(python, folder, reads, data, options.threads, *trust))
                    ours.append(
                        polyreward_run(model if own else folder / reads, folder, data, options.threads)
                    )
                    print(
                        f"{reads}, {data}: round {number + 1}/{options.repeats}", file=sys.stderr, flush=True
                    )
                table.append(table_row(reads, data, theirs, ours))
    print(pd.DataFrame(table).to_markdown(index=False, disable_numparse=True))
    here = {"machine": hardware(), "load": load, "limit": MAX_LENGTH, "commit": commit()}
    print(f"\n{CAPTION.format(**vars(options), **here)}")


if __name__ == "__main__":
    try:
        main()
    except PolyrewardError as error:
        sys.exit(f"{Path(__file__).name}: {error}")
