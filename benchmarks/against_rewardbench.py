"""Score the same pairs by the same reward model with polyreward and with rewardbench 0.1.4: same preferences,
how much faster.

rewardbench runs as its own command line in its own virtual environment, which is made when it is missing (see
README.md here)."""

import json
import sys
import tempfile
from functools import partial
from pathlib import Path

import common
from rewardbench_setup import called, copy_model, ready_environment, write_conversations

from polyreward.core.errors import PolyrewardError
from polyreward.core.files import read_jsonl, write_jsonl

HERE = Path(__file__).parent
DATA = ["short", "mixed", "context"]
CAPTION = """Pairs: short, English; mixed, all languages, of lengths far apart; context, English after 0 to 8 passages.
{model}, {threads} threads, fresh processes that take turns, {repeats} rounds: median (least-greatest). seq/s
and speed ratio: scoring alone, after imports and loading; polyreward's holds the rendering of the chat template,
rewardbench's does not. Whole command: all of it, as a ratio too. rewardbench: its own command line, batches of 8 in the
file's order. Computed tokens: padding included, per token of the conversations. Goals: speed ratio 3, no preference turned,
rewards within 1e-4 in float32."""


def rewardbench_run(python: Path, folder: Path, data: str, dtype: str, threads: int) -> dict:
    """Score a file with rewardbench; returns what rewardbench_score.py measured, the rewards and the
    command's seconds."""
    options = (
        f"--model rm --dataset {data}.jsonl --load_json --not_quantized --torch_dtype {dtype} --output_dir"
        " out/".split()
    )
    offline = {"WANDB_MODE": "disabled", "HF_HUB_OFFLINE": "1", "OMP_NUM_THREADS": str(threads)}
    command = [python, HERE / "rewardbench_score.py", "measured.json", threads, *options]
    elapsed = common.seconds(lambda: called(command, folder, **offline))
    rewards = [
        (row["scores_chosen"], row["scores_rejected"])
        for row in read_jsonl(folder / "out" / "rm_outputs.jsonl")
    ]
    return {**json.loads((folder / "measured.json").read_text()), "rewards": rewards, "command": elapsed}


def polyreward_run(model: Path, folder: Path, data: str, dtype: str, threads: int) -> dict:
    """Score a file with polyreward; returns the same as rewardbench_run."""
    script = [sys.executable, HERE / "polyreward_score.py"]
    command = [*script, "measured.json", threads, model.resolve(), f"{data}_rows.jsonl", dtype]
    elapsed = common.seconds(lambda: called(command, folder, OMP_NUM_THREADS=str(threads)))
    return {**json.loads((folder / "measured.json").read_text()), "command": elapsed}


def table_row(data: str, dtype: str, theirs: list[dict], ours: list[dict]) -> dict:
    """Compare the rounds of both tools. Raises PolyrewardError where they did not read the same tokens."""
    their_tokens, our_tokens = theirs[0]["real_tokens"], ours[0]["real_tokens"]
    if their_tokens != our_tokens:
        raise PolyrewardError(
            f"{data}: rewardbench read {their_tokens} tokens and polyreward {our_tokens}, so they did not"
            " score the same texts; compare the tokenizer that copy_model writes with the model's own"
        )
    pairs = list(zip(theirs[0]["rewards"], ours[0]["rewards"], strict=True))
    differences = [abs(x - y) for one, other in pairs for x, y in zip(one, other, strict=True)]
    per_token = [found[0]["computed_tokens"] / our_tokens for found in (theirs, ours)]
    return {
        "pairs": f"{data} ({len(pairs)})",
        "dtype": dtype,
        "preferences turned": sum((a > b) != (c > d) for (a, b), (c, d) in pairs),
        "largest reward difference": f"{max(differences):.1e}",
        "rewardbench seq/s": common.spread([2 * len(pairs) / one["seconds"] for one in theirs], 1),
        "polyreward seq/s": common.spread([2 * len(pairs) / one["seconds"] for one in ours], 1),
        "speed ratio": common.ratios([one["seconds"] for one in theirs], [one["seconds"] for one in ours]),
        "whole command": common.ratios([one["command"] for one in theirs], [one["command"] for one in ours]),
        "computed tokens": f"{per_token[0]:.2f} / {per_token[1]:.2f} = {per_token[0] / per_token[1]:.2f}",
    }


def main() -> None:
    """Run all comparisons and print one table."""
    parser = common.options_parser(__doc__.partition("\n")[0])
    parser.add_argument("--model", default=common.MODEL, help="trained reward model of the results; a Llama")
    parser.add_argument(
        "--pairs", type=int, default=200, help="pairs of each data set: the source language's, and all mixed"
    )
    parser.add_argument("--data", nargs="+", choices=DATA, default=DATA, help="which pairs")
    parser.add_argument("--dtypes", nargs="+", default=["float32", "bfloat16"], help="what both compute in")
    environment = common.ROOT / ".venv-rewardbench"
    parser.add_argument(
        "--venv", type=Path, default=environment, help="rewardbench's environment; made if missing"
    )
    options = parser.parse_args()
    model, table = common.reward_model_folder(options.results, options.model), []
    python = ready_environment(options.venv)
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        copy_model(model, folder / "rm")
        source = common.evaluation_pairs(options.results, common.LANGUAGES[:1], options.pairs)
        mixed = common.evaluation_pairs(options.results, common.LANGUAGES, options.pairs)
        sets = {"short": source, "mixed": mixed, "context": common.with_context(source)}
        for data, rows in ((name, sets[name]) for name in options.data):
            write_jsonl(rows, folder / f"{data}_rows.jsonl")
            write_conversations(rows, folder / f"{data}.jsonl")
            for dtype in options.dtypes:
                asked = (folder, data, dtype, options.threads)
                tools = {
                    f"rewardbench {data} {dtype}": partial(rewardbench_run, python, *asked),
                    f"polyreward {data} {dtype}": partial(polyreward_run, model, *asked),
                }
                table.append(table_row(data, dtype, *common.interleaved(tools, options.repeats).values()))
    common.print_table(
        CAPTION.format(model=options.model, threads=options.threads, repeats=options.repeats), table
    )


if __name__ == "__main__":
    common.run(main)
