"""What makes a reward model learn place quartets: whole quartets in a batch, mini's pool, or both."""

import argparse
import sys
import tempfile
from itertools import product
from pathlib import Path

import pandas as pd

from polyreward.carb.culture.comparison import score_tables
from polyreward.carb.culture.lessons import PARTS, parts_of
from polyreward.carb.culture.statistics import STATISTICS
from polyreward.core.files import read_jsonl
from polyreward.core.naming import stage
from polyreward.scoring.interface import Conversations
from polyreward.scoring.load import load_classifier
from polyreward.sheet.entries import read_models
from polyreward.training.common import Job
from polyreward.training.reward_model import train_reward_model


def lessons(pairs: list[dict], pool: list[dict], whole: bool, with_pool: bool) -> list[dict]:
    """Return what one arm is trained on. whole: a quartet is one request; else each place is one."""
    alone = [{**pair, "request": pair["id"].rpartition("_")[0]} for pair in pairs]
    return [*(pairs if whole else alone), *(pool if with_pool else [])]


def asked(folder: Path, rows: list[dict], seed: int) -> pd.DataFrame:
    """Return a row for each part of the quartets: the statistics of a reward model, in percent."""
    model = load_classifier(folder, "float32", 512, 1024)
    conversations = [Conversations(row["prompt"], tuple(row["answers"])) for row in rows]
    values = model.score(conversations, folder.name).values
    scores = pd.DataFrame(
        [
            (row["id"], number, score)
            for row, own in zip(rows, values, strict=True)
            for number, score in enumerate(own)
        ],
        columns=["id", "candidate", "score"],
    )
    tables = score_tables(scores, pd.DataFrame(rows), folder.name)
    parts = parts_of(rows, seed)
    of_quartet = [parts.get(name) for name in dict.fromkeys(row["quartet"] for row in rows)]
    found = []
    for part in PARTS:
        inside = tables[[own == part for own in of_quartet]]
        found.append(
            {
                "part": part,
                "quartets": len(inside),
                **{name: 100 * of(inside).mean() for name, of in STATISTICS.items()},
            }
        )
    return pd.DataFrame(found)


def main() -> None:
    """Print the table of all arms."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--language", default="en", help="of the lessons")
    parser.add_argument("--also", nargs="*", default=["es"], help="languages that are asked only")
    parser.add_argument("--epochs", type=float, default=10)
    parser.add_argument("--batch", type=int, default=2, help="requests in a batch")
    arguments = parser.parse_args()
    scale, languages = (
        read_models([], Path(__file__).parents[1]).settings,
        [arguments.language, *arguments.also],
    )

    def made(which: str, *parts: str) -> Path:
        path = Path(stage(scale.results, which, "/".join(parts)))
        if not path.exists():
            sys.exit(f"{path}: not there; run `make results/carb_taught.csv` first")
        return path

    base = made("models", "cut_bases", scale.bases[0])
    quartets = {one: read_jsonl(made("prepared", "quartets", f"{one}.jsonl")) for one in languages}
    pairs = read_jsonl(made("prepared", "lessons", f"{arguments.language}.jsonl"))
    pool = read_jsonl(made("translated", "train", f"{arguments.language}.jsonl"))
    found = []
    for whole, with_pool in product((True, False), (True, False)):
        name = f"whole {whole}, pool {with_pool}"
        # As many pairs in a batch, whether they are of whole quartets or not
        batch = arguments.batch if whole else 4 * arguments.batch
        settings = scale.reward_model.model_copy(update={"epochs": arguments.epochs, "batch_size": batch})
        with tempfile.TemporaryDirectory() as temporary:
            folder = Path(temporary, "model")
            train_reward_model(
                base,
                lessons(pairs, pool, whole, with_pool),
                settings,
                Job(1, Path(temporary, "c"), folder, name),
            )
            for language, rows in quartets.items():
                found.append(asked(folder, rows, scale.seed).assign(arm=name, language=language))
        print(pd.concat(found).round(1).to_string(index=False), flush=True)


if __name__ == "__main__":
    main()
