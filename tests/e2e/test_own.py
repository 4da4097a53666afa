"""What users do in a checkout of theirs: their own reward models, benchmark and seeds, and a training that is
killed."""

import os
import re
import shutil
import signal
import subprocess
import sys
import time

import pandas as pd
import pytest
from flow import LANGUAGES, SCALE
from support import snakemake

from polyreward.core.files import write_jsonl

pytestmark = pytest.mark.slow

MINE = """
reward_models:
  my-classifier: {kind: classifier, path: results/tiny/work/4_models/tiny-llama_es}
  my-dpo: {kind: implicit, model: tiny-llama, reference: {model: tiny-llama}}
  my-judge: {kind: generative, model: tiny-gemma}
own_benchmarks:
  mine: {path: mine.jsonl, language: es}
"""
RICE = {
    "id": "one",
    "subset": "rice",
    "prompt": "How do I cook rice?",
    "chosen": "Simmer it.",
    "rejected": "Rice is a plant.",
}
ITEMS = [
    RICE,
    {**RICE, "id": "two", "prompt": "And beans?", "chosen": "Soak them.", "rejected": ["Beans?", "No.", "I like beans."]},
    {"id": "three", "subset": "chat", "prompt": [{"role": "user", "content": "Hi"}], "chosen": "Hello!", "rejected": "What?"},
]  # fmt: skip


@pytest.fixture(scope="module")
def mine(copy):
    """A checkout where the user has added three reward models and a benchmark, with what they asked for."""
    folder = copy.parent / "mine"
    shutil.copytree(copy, folder)
    (folder / "mine.yaml").write_text(MINE, encoding="utf-8")
    write_jsonl(ITEMS, folder / "mine.jsonl")
    return folder


def with_mine(folder, *targets, overlay="mine.yaml"):
    targets = [f"results/tiny/{target}" for target in targets]
    return snakemake(*targets, "--configfile", *SCALE, overlay, "--cores", "2", cwd=folder, many_jobs=True)


def test_a_reward_model_and_a_benchmark_of_the_user_s_own_are_in_the_tables(mine, tiny):
    ran = with_mine(mine, "benchmark_mine.csv", "subsets.csv", "baselines.csv")
    assert ran.returncode == 0, ran.stdout
    table = pd.read_csv(mine / "results/tiny/benchmark_mine.csv").set_index(["scorer", "subset"])
    scorers = set(table.index.get_level_values("scorer"))
    assert {"my-classifier", "my-dpo", "my-judge", "tiny-gemma_ko", "length", "tfidf-answer"} <= scorers
    assert len(scorers) == 3 + 6 + 3
    assert table.xs("all items", level="subset")["n_items"].eq(3).all()
    assert table.xs("rice", level="subset")["chance_pct"].eq((50 + 25) / 2).all()
    assert table.loc[("length", "rice"), "accuracy_pct"] == 0
    # A policy that is its reference ties, and a tie is wrong.
    assert table.loc[("my-dpo", "all items"), "accuracy_pct"] == 0
    keys = ["scorer", "benchmark", "eval_language", "subset"]
    same = pd.read_csv(mine / "results/tiny/subsets.csv").set_index(keys)
    columns = ["accuracy_pct", "low", "high", "n_pairs"]
    listed, trained = same.loc["my-classifier"][columns], same.loc["tiny-llama_es"][columns]
    pd.testing.assert_frame_equal(listed.loc[trained.index], trained)
    assert len(listed) > len(trained)
    baselines = pd.read_csv(mine / "results/tiny/baselines.csv")
    assert set(baselines[baselines["scorer"] == "my-judge"]["eval_language"]) == set(LANGUAGES)


def test_a_bad_item_of_an_own_benchmark_is_named_by_its_line(mine):
    write_jsonl([*ITEMS, {**RICE, "id": "four", "rejected": []}, RICE], mine / "mine.jsonl")
    ran = with_mine(mine, "benchmark_mine.csv")
    assert ran.returncode != 0
    assert "mine.jsonl:4: `rejected` is empty; give one or drop the item" in ran.stdout
    assert "mine.jsonl:5: id `one` is also in line 1" in ran.stdout


def test_a_killed_training_resumes_from_its_checkpoint(mine):
    (mine / "long.yaml").write_text("reward_model: {epochs: 60}\n", encoding="utf-8")
    wanted = ["results/tiny/work/4_models/tiny-llama_ko", "--configfile", *SCALE, "long.yaml", "--cores", "1"]
    checkpoints = mine / "results/tiny/work/4_models/checkpoints/tiny-llama_ko"
    command = [sys.executable, "-m", "snakemake", *wanted]
    running = subprocess.Popen(
        command, cwd=mine, start_new_session=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    until = time.monotonic() + 120
    while not list(checkpoints.glob("*/checkpoint-*/trainer_state.json")):
        assert running.poll() is None and time.monotonic() < until, "the training made no checkpoint"
        time.sleep(0.02)
    os.killpg(running.pid, signal.SIGKILL)
    running.wait()
    ran = snakemake(*wanted, cwd=mine, many_jobs=True)
    assert ran.returncode == 0, ran.stdout
    assert "tiny-llama_ko: resumes from checkpoint-" in ran.stdout
    assert re.search(r"tiny-llama_ko: step (\d+)/\1, loss", ran.stdout), ran.stdout
    assert not checkpoints.exists()


def test_two_seeds_are_trained_and_their_spread_is_told(mine):
    overlay = (  # three more trainings, not six
        "reward_model_seeds: [1, 2]\nbases: [tiny-llama]\ngate: {base: tiny-llama}\n"
    )
    (mine / "seeds.yaml").write_text(overlay, encoding="utf-8")
    ran = with_mine(mine, "table1.csv", overlay="seeds.yaml")
    assert ran.returncode == 0, ran.stdout
    table = pd.read_csv(mine / "results/tiny/table1.csv")
    assert table["n_seeds"].eq(2).all()
    assert table["p_seeds"].notna().eq(table["rm_training"] == "delta").all()
    assert table["avg_sd"].notna().eq(table["rm_training"] != "delta").all()
