"""Rules that write text, at scale tiny, with a server of each job's own: a stub that speaks what vLLM
does."""

import json
import sys

import pytest
import yaml
from flow import SCALE
from support import ROOT, jobs_of, snakemake

SAMPLE = "results/tiny/work/3_translated/samples/tiny-gemma/es.jsonl"
RESPONSES = "results/tiny/work/4_models/policy_data/responses_es.jsonl"


@pytest.fixture
def arguments(tmp_path):
    """The overlay that serves with the stub, and what is made, as arguments of Snakemake."""
    options = ["{model}", "--port", "{port}", "--dtype", "{dtype}", "--notes", str(tmp_path)]
    command = [sys.executable, str(ROOT / "tests/completions_server.py"), *options]
    serve = {"command": command, "startup_s": 120, "concurrency": 4, "timeout_s": 60, "retries": 0}
    overlay = {"devices": {"serve": serve}, "alignment": {"sft": None}}
    (tmp_path / "served.yaml").write_text(yaml.safe_dump(overlay))
    return [SAMPLE, RESPONSES, "--cores", "1", "--configfile", *SCALE, str(tmp_path / "served.yaml")]


@pytest.mark.slow
def test_translations_and_responses_are_written_by_a_server_and_made_again_without(
    tiny, copied, arguments, tmp_path
):
    here = copied(tiny, tmp_path / "polyreward")
    ran = snakemake(*arguments, cwd=here, many_jobs=True)
    assert ran.returncode == 0, ran.stdout
    asked = [json.loads(line) for line in (tmp_path / "requests.jsonl").read_text().splitlines()]
    responses = [json.loads(line) for line in (here / RESPONSES).read_text().splitlines()]
    assert [len(row["responses"]) for row in responses] == [3] * 6
    assert len({text for row in responses for text in row["responses"]}) > 1
    assert {(body["temperature"], tuple(body["stop"])) for body in asked} == {(0.0, ("\n",)), (1.0, ())}
    assert len((tmp_path / "pids").read_text().splitlines()) == 2
    (tmp_path / "served.yaml").write_text(yaml.safe_dump({"alignment": {"sft": None}}))
    again = snakemake(*arguments, "-n", cwd=here)
    planned = {"engine_sample": 1, "sampled_responses": 1, "total": 2}
    assert jobs_of(again) == planned, again.stdout
    served = (here / SAMPLE).read_bytes()
    assert snakemake(*arguments, cwd=here, many_jobs=True).returncode == 0
    assert (here / SAMPLE).read_bytes() == served  # greedy, so that transformers says the same
