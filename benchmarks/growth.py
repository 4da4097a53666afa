"""Score 100, 1,000 and 10,000 pairs, to see that speed and peak memory stay as they are."""

import json
import random
import tempfile
from functools import partial
from pathlib import Path

import common
import torch

from polyreward.core.files import write_text
from polyreward.core.memory import release_freed_memory
from polyreward.scoring.load import load_classifier

CAPTION = """The first {layers} layers of {model} in {dtype}, {threads} threads. Pairs are drawn with replacement from
{languages}, and every prompt is made unlike all others, so that nothing is computed once for two. Each run is a fresh
process; sizes take turns, {repeats} rounds: median (least-greatest). Speed: sequences per second, as a ratio to {first}
pairs. Peak memory: the greatest resident set while scoring, as a ratio to {first} pairs, and in MiB above the loaded
model's."""


def cut_model(model: Path, layers: int, folder: Path) -> None:
    """Make a copy of a reward model that has its first layers only; all but its config.json are links."""
    folder.mkdir()
    for path in model.iterdir():
        (folder / path.name).symlink_to(path.resolve())
    config = json.loads((model / "config.json").read_text(encoding="utf-8"))
    config |= {"num_hidden_layers": layers}
    if "layer_types" in config:
        config["layer_types"] = config["layer_types"][:layers]
    (folder / "config.json").unlink()
    write_text(json.dumps(config), folder / "config.json")


def distinct_pairs(rows: list[dict], count: int) -> list[dict]:
    """Draw pairs with replacement and number their prompts."""
    drawn = random.Random(common.CONFIG["seed"]).choices(rows, k=count)
    return [{**row, "prompt": f"{number}. {row['prompt']}"} for number, row in enumerate(drawn)]


def scoring_run(folder: Path, rows: list[dict], count: int, threads: int, dtype: str) -> dict:
    """Score `count` pairs; returns sequences per second, and peak memory while scoring: all, and above the
    loaded model (MiB)."""
    torch.set_num_threads(threads)
    model = load_classifier(folder, **{**common.CONFIG["scoring"], "dtype": dtype})
    conversations = common.conversations_of(distinct_pairs(rows, count))
    model.score(conversations[:50], "warm-up")
    release_freed_memory()
    loaded = common.forget_peak()
    elapsed = common.seconds(lambda: model.score(conversations, f"{count} pairs"))
    return {"speed": 2 * count / elapsed, "peak": common.peak_mib(), "above": common.peak_mib() - loaded}


def main() -> None:
    """Measure all sizes and print one table."""
    parser = common.options_parser(__doc__)
    parser.add_argument("--model", default=common.MODEL, help="trained reward model of the results")
    parser.add_argument(
        "--layers", type=int, default=2, help="layers that it is cut to, so that this takes minutes"
    )
    parser.add_argument("--languages", nargs="+", default=common.LANGUAGES[:1], help="of the pairs")
    parser.add_argument("--dtype", default=common.CONFIG["precision"], help="what the model computes in")
    parser.add_argument("--sizes", type=int, nargs="+", default=[100, 1000, 10000], help="pairs")
    options = parser.parse_args()
    model = common.reward_model_folder(options.results, options.model)
    rows = common.evaluation_pairs(options.results, options.languages, 200)
    with tempfile.TemporaryDirectory() as temporary:
        cut_model(model, options.layers, Path(temporary) / "rm")
        asked = {n: (Path(temporary) / "rm", rows, n, options.threads, options.dtype) for n in options.sizes}
        calls = {f"{n} pairs": partial(common.in_new_process, scoring_run, *asked[n]) for n in options.sizes}
        found = common.interleaved(calls, options.repeats)
    first = [found[f"{options.sizes[0]} pairs"][n] for n in range(options.repeats)]
    table = [
        {
            "pairs": name.split()[0],
            "speed": common.ratios([run["speed"] for run in runs], [run["speed"] for run in first]),
            "peak memory": common.ratios([run["peak"] for run in runs], [run["peak"] for run in first]),
            "above the model (MiB)": common.spread([run["above"] for run in runs], 0),
        }
        for name, runs in found.items()
    ]
    facts = {**vars(options), "languages": " ".join(options.languages), "first": options.sizes[0]}
    common.print_table(CAPTION.format(**facts), table)


if __name__ == "__main__":
    common.run(main)
