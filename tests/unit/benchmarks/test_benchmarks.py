"""Each benchmark runs on a miniature and prints its table; intervals cover as often as they say."""

import runpy
import sys
from pathlib import Path

import pytest
from support import ROOT
from tiny_models import ROWS, train

from polyreward.core.files import write_jsonl
from polyreward.core.naming import Paths

MODEL = "tiny-llama_en"
# Stands where rewardbench's environment would: scores each conversation by itself, with plain transformers.
SCORER = """
import json, sys, torch
from transformers import AutoModelForSequenceClassification, AutoTokenizer
arguments = dict(zip(sys.argv[4::2], sys.argv[5::2]))
model = AutoModelForSequenceClassification.from_pretrained("rm").eval()
tokenizer = AutoTokenizer.from_pretrained("rm")
counted = 0
def reward(messages):
    global counted
    text = tokenizer.apply_chat_template(messages, tokenize=False)
    ids = tokenizer(text, add_special_tokens=False, truncation=True, return_tensors="pt",
                    max_length=int(sys.argv[sys.argv.index("--max_length") + 1]))["input_ids"]
    counted += ids.numel()
    with torch.no_grad():
        return model(ids).logits.item()
rows = [json.loads(line) for line in open(sys.argv[sys.argv.index("--dataset") + 1], encoding="utf-8")]
import os
os.makedirs("out", exist_ok=True)
with open("out/rm_outputs.jsonl", "w", encoding="utf-8") as stream:
    for row in rows:
        stream.write(json.dumps({f"scores_{key}": reward(row[key]) for key in ("chosen", "rejected")}) + "\\n")
json.dump({"seconds": 1.0, "computed_tokens": counted, "real_tokens": counted}, open(sys.argv[2], "w"))
"""


@pytest.fixture
def table_of(monkeypatch, capsys):
    """Run a benchmark by its file; returns its table, a dictionary for each row."""

    def run(name, *options):
        monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))
        monkeypatch.setattr(sys, "argv", [name, *map(str, options)])
        runpy.run_path(str(ROOT / f"benchmarks/{name}.py"), run_name="__main__")
        lines = [line for line in capsys.readouterr().out.splitlines() if line.startswith("|")]
        head, _, *rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
        return [dict(zip(head, row, strict=True)) for row in rows]

    return run


@pytest.fixture(scope="module")
def results(bases, tmp_path_factory):
    """A results folder with a reward model and pairs in five languages, one longer than 512 tokens."""
    folder = tmp_path_factory.mktemp("results")
    paths = Paths(str(folder))
    long = {**ROWS[0], "id": "long", "prompt": "How do I cook rice? " * 150}
    for language in ("en", "es", "it", "ko", "zh"):
        benchmark = "mini-rewardbench"
        path = paths.prepared(benchmark) if language == "en" else paths.translated(benchmark, language)
        Path(path).parent.mkdir(parents=True, exist_ok=True)
        more = [{**ROWS[0], "id": f"more-{n}"} for n in range(30 if language == "en" else 0)]
        write_jsonl([*ROWS[1:], long, *more], Path(path))
    models = Path(paths.model(MODEL)).parent
    models.mkdir(parents=True)
    train(bases["tiny-llama"], models, name=MODEL, checkpoints=folder / "checkpoints")
    return folder


def test_rewardbench_gives_the_same_rewards_though_conversations_are_long(table_of, results, tmp_path):
    (tmp_path / "bin").mkdir()
    (tmp_path / "ready").touch()
    (tmp_path / "scorer.py").write_text(SCORER)
    python = tmp_path / "bin/python"
    python.write_text(f'#!/bin/sh\nexec {sys.executable} {tmp_path}/scorer.py "$@"\n')
    python.chmod(0o755)
    (row,) = table_of(
        "against_rewardbench", "--results", results, "--model", MODEL, "--pairs", 30, "--data", "mixed",
        "--repeats", 1, "--threads", 1, "--venv", tmp_path,
    )  # fmt: skip
    assert row["pairs"] == "mixed (30)"
    assert row["preferences turned"] == "0"
    assert float(row["largest reward difference"]) < 1e-5


def test_more_pairs_than_there_are_end_with_what_to_do(table_of, results):
    with pytest.raises(SystemExit, match=r"has 6 pairs, not 8. Lower --pairs."):
        table_of("against_gemm", "--results", results, "--model", MODEL, "--pairs", 40)


def test_shares_of_the_best_multiplication_are_told_by_budget(table_of, results):
    rows = table_of(
        "against_gemm", "--results", results, "--model", MODEL, "--pairs", 5, "--dtypes", "float32",
        "--budgets", 256, 512, "--repeats", 1, "--threads", 1,
    )  # fmt: skip
    assert [row["token budget"] for row in rows] == ["256", "512"]
    for row in rows:
        shares = [int(row[kind]) for kind in ("matmul", "attention", "elementwise", "outside")]
        assert 98 <= sum(shares) <= 102


def test_log_probabilities_by_parts_are_those_of_trl(table_of):
    rows = table_of(
        "vocabulary", "--tokens", 8, "--width", 16, "--words", 300, "--repeats", 1, "--threads", 1
    )
    assert [row["what"] for row in rows] == ["log-probabilities only", "with gradients"]
    assert all(float(number) < 1e-4 for row in rows for number in row["apart"].split("; "))


def test_a_dry_run_is_timed_on_a_simulated_scale(table_of):
    (row,) = table_of("dry_run", "--scales", "simulated", "--languages", 3, "--bases", 1)
    assert int(row["jobs"]) > 50
    assert float(row["processor seconds"]) > 0


PLAN = """
rule dataset:
    output: d
    benchmark: results/benchmarks/dataset/d.tsv
    resources: tmpdir=/tmp
rule model:
    input: d, config.yaml
    output: m1, m1.log
    benchmark: results/benchmarks/model/1.tsv
    resources: tmpdir=/tmp, mem_mb=3000
rule model:
    input: d
    output: m2
    benchmark: results/benchmarks/model/2.tsv
    threads: 2
    resources: tmpdir=/tmp, mem_mb=9000
rule table:
    input: m1, m2
    output: t
    benchmark: results/benchmarks/table/t.tsv
"""


def test_a_replay_waits_for_inputs_cores_and_memory(monkeypatch, tmp_path):
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))
    import schedule

    jobs = schedule.parsed(PLAN)
    assert [job["needs"] for job in jobs] == [[], [0], [0], [1, 2]]
    for job, seconds in zip(jobs, (1.0, 5.0, 2.0, 1.0), strict=True):
        path = tmp_path.joinpath(*Path(job["benchmark"]).parts[1:])
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"s\tcpu_time\n{seconds}\t-\n")
    jobs = schedule.with_seconds(jobs, tmp_path, "processor")
    assert schedule.critical_path(jobs) == [0, 1, 3]
    assert schedule.replayed(jobs, 3) == 7
    assert schedule.replayed(jobs, 1) == schedule.replayed(jobs, 3, mem_mb=4000) == 9


def test_a_schedule_is_printed_for_what_snakemake_plans(table_of, tmp_path):
    import schedule

    for job in schedule.planned("results/table1.csv", []):
        path = tmp_path.joinpath(*Path(job["benchmark"]).parts[1:])
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("s\tcpu_time\n1.0\t1.0\n")
    rows = table_of("schedule", "--results", tmp_path, "--cores", 1, 64)
    assert int(rows[0]["seconds"]) > int(rows[1]["seconds"]) > 1


def test_coverage_is_simulated_of_every_kind_of_interval(table_of):
    rows = table_of("coverage", "--repetitions", 2, "--samples", 20)
    assert len({(row["what"], row["n"]) for row in rows}) == len(rows) == 26


# Few templates, or hardly one that differs: shares go by steps, and intervals hold more than they say
CAUTIOUS = ["benchmark, subset", "95% right", "95% right, difference", "Think-as-Locals, section, difference"]


@pytest.mark.slow
def test_intervals_cover_the_truth_as_often_as_they_say(table_of):
    for row in table_of("coverage", "--repetitions", 400, "--samples", 500):
        share = float(row["coverage"].rstrip("%")) / 100
        assert 0.92 <= share <= (1 if row["what"] in CAUTIOUS else 0.98), row
