"""What makes a reward model learn place quartets: whole quartets in a batch, mini's pool, or both."""

import argparse
import tempfile
from itertools import product
from pathlib import Path

import pandas as pd

from polyreward.carb.culture.comparison import score_tables
from polyreward.carb.culture.lessons import PARTS, lesson_pairs, parts_of
from polyreward.carb.culture.statistics import STATISTICS
from polyreward.core.files import read_jsonl
from polyreward.scoring.interface import Conversations
from polyreward.scoring.load import load_classifier
from polyreward.settings.transfer import RewardModelTraining
from polyreward.training.common import Job
from polyreward.training.reward_model import train_reward_model

SEED = 42


def lessons(pairs: list[dict], pool: list[dict], whole: bool, with_pool: bool) -> list[dict]:
    """Return what one arm is trained on. whole: a quartet is one request; else each place is one."""
    alone = [{**pair, "request": pair["id"].rpartition("_")[0]} for pair in pairs]
    return [*(pairs if whole else alone), *(pool if with_pool else [])]


def asked(folder: Path, rows: list[dict]) -> pd.DataFrame:
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
    tables, _ = score_tables(scores, pd.DataFrame(rows), folder.name)
    parts = parts_of(rows, SEED)
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
    parser.add_argument("base", type=Path, help="cut base, results/work/4_models/cut_bases/NAME")
    parser.add_argument("quartets", type=Path, help="results/work/2_prepared/quartets/LANGUAGE.jsonl")
    parser.add_argument("pool", type=Path, help="results/work/3_translated/train/LANGUAGE.jsonl")
    parser.add_argument("--further", type=Path, nargs="*", default=[], help="quartets that only lessons have")
    parser.add_argument("--epochs", type=float, default=5)
    parser.add_argument("--batch", type=int, default=2, help="requests in a batch")
    parser.add_argument(
        "--also", type=Path, nargs="*", default=[], help="quartets in other languages, asked only"
    )
    arguments = parser.parse_args()
    rows, pool = read_jsonl(arguments.quartets), read_jsonl(arguments.pool)
    pairs = list(lesson_pairs(rows, read_jsonl(arguments.further), SEED))
    found = []
    for whole, with_pool in product((True, False), (True, False)):
        name = f"whole {whole}, pool {with_pool}"
        # As many pairs in a batch, whether they are of whole quartets or not
        batch = arguments.batch if whole else 4 * arguments.batch
        settings = RewardModelTraining(
            epochs=arguments.epochs, learning_rate=2e-3, batch_size=batch, max_length=512, pooling="answer",
            lora={"top_layers": 5},
        )  # fmt: skip
        with tempfile.TemporaryDirectory() as temporary:
            folder = Path(temporary, "model")
            train_reward_model(
                arguments.base,
                lessons(pairs, pool, whole, with_pool),
                settings,
                Job(1, Path(temporary, "c"), folder, name),
            )
            for path in [arguments.quartets, *arguments.also]:
                found.append(asked(folder, read_jsonl(path)).assign(arm=name, language=path.stem))
        print(pd.concat(found).round(1).to_string(index=False), flush=True)


if __name__ == "__main__":
    main()
