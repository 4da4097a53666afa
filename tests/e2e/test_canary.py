"""A canary for the pipeline: reward models of scale mini far above chance, so that a fault shows as a fall.

The English models of a quarter of scale mini are tested on English; then one thing at a time is made wrong."""

import pandas as pd
import pytest
from filelock import FileLock
from support import ROOT, snakemake

from polyreward.core.files import read_jsonl
from polyreward.core.tables import read_scores
from polyreward.scoring.load import load_classifier
from polyreward.scoring.pairs import score_rows
from polyreward.settings.transfer import RewardModelTraining
from polyreward.training.common import Job
from polyreward.training.reward_model import train_reward_model

QUARTER = "tests/quarter_of_mini.yaml"
WORK = ROOT / "results/quarter_of_mini/work"
BASES = ["gemma-3-270m", "smollm2-135m-instruct"]
LEAST = 68  # percent, of each base's English reward model on English
SCORES = [f"5_scores/mini-rewardbench/{base}_en/en.parquet" for base in BASES]

pytestmark = pytest.mark.slow
of_each_base = pytest.mark.parametrize("base", BASES)


@pytest.fixture(scope="module")
def quarter(tmp_path_factory):
    """Make the quarter's Table 1 and its English models' scores on English, in this checkout.

    Workers of pytest take turns."""
    wanted = ["results/quarter_of_mini/table1.csv", *(str(WORK.relative_to(ROOT) / path) for path in SCORES)]
    with FileLock(tmp_path_factory.getbasetemp().parent / "canary.lock"):
        ran = snakemake("--cores", "2", *wanted, "--configfile", QUARTER, cwd=ROOT, offline=False)
    assert ran.returncode == 0, ran.stdout
    return WORK


def average(scores: pd.DataFrame) -> float:
    """Return the mean accuracy over sections (%)."""
    right = scores["score_chosen"] > scores["score_rejected"]
    return 100 * right.groupby(scores["category"]).mean().mean()


def scored(folder, rows) -> float:
    model = load_classifier(folder, dtype="float32", max_length=512, token_budget=1024)
    return average(score_rows(model, rows, folder.name))


def english(quarter) -> list[dict]:
    return read_jsonl(quarter / "3_translated/mini-rewardbench/en.jsonl")


@of_each_base
def test_the_english_models_are_far_above_chance_on_english(quarter, base):
    scores = read_scores(quarter / f"5_scores/mini-rewardbench/{base}_en/en.parquet")
    print(f"{base}: {average(scores):.1f}%")
    assert average(scores) > LEAST


@of_each_base
def test_the_answers_of_other_rows_make_it_fall(quarter, base):
    """Each request gets the answers of the next one."""
    rows = english(quarter)
    swapped = [
        {**row, "chosen": other["chosen"], "rejected": other["rejected"]}
        for row, other in zip(rows, [*rows[2:], *rows[:2]], strict=True)  # a request has two rows
    ]
    assert scored(quarter / f"4_models/{base}_en", swapped) < LEAST


@of_each_base
def test_swapped_labels_make_it_fall(quarter, base):
    rows = [{**row, "chosen": row["rejected"], "rejected": row["chosen"]} for row in english(quarter)]
    assert scored(quarter / f"4_models/{base}_en", rows) < LEAST


@of_each_base
def test_a_lost_adapter_makes_it_fall(quarter, base, tmp_path):
    """A model of which nothing was trained: its learning rate is next to none."""
    settings = RewardModelTraining(
        epochs=0.01,
        learning_rate=1e-12,
        batch_size=8,
        max_length=512,
        pooling="answer",
        lora={"top_layers": 5},
    )
    rows = read_jsonl(quarter / "3_translated/train/en.jsonl")
    job = Job(1, tmp_path / "checkpoints", tmp_path / "model", f"{base}_en")
    train_reward_model(quarter / f"4_models/cut_bases/{base}", rows, settings, job)
    assert scored(tmp_path / "model", english(quarter)) < LEAST


def test_another_language_makes_the_english_centric_model_fall(quarter):
    rows = read_jsonl(quarter / "3_translated/mini-rewardbench/ko.jsonl")
    assert scored(quarter / "4_models/smollm2-135m-instruct_en", rows) < LEAST
