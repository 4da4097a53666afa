"""The rules that fetch from the hub, run by Snakemake as at scale paper, against a hub on loopback."""

import json

import pytest
import yaml
from hub_layout import CATALOG, as_repository
from hub_server import COMMIT
from published_repositories import Repositories
from support import checkout, script, snakemake

from polyreward.core.files import read_jsonl

KINDS = script("prepare/carb_questions").KINDS

GATED = "NCSOFT/Llama-3-OffsetBias-RM-8B"
MODEL = "results/paper/work/1_sources/hub/NCSOFT--Llama-3-OffsetBias-RM-8B@main"
pytestmark = pytest.mark.slow


@pytest.fixture
def hub(empty_hub):
    """A hub with two of the papers' repositories, made small."""
    entry = CATALOG["x-alpacaeval"]
    splits = {part["split"]: language for language, part in entry["languages"].items()}
    files = {
        f"{split}.json": [{"id": n, "dataset": "d", "instruction": f"{language} {n}"} for n in range(2)]
        for split, language in splits.items()
    }
    configs = {"default": {split: f"{split}.json" for split in splits}}
    empty_hub.repositories["datasets", entry["id"]] = as_repository(files, configs)
    empty_hub.repositories["models", GATED] = {"config.json": b"{}", "model.safetensors": b"weights"}
    return empty_hub


def paper(here, *arguments, **options):
    """Run Snakemake at scale paper."""
    return snakemake(
        "--cores", "1", *arguments, "--configfile", "workflow/scales/paper.yaml", cwd=here, **options
    )


def test_data_and_models_are_fetched_at_the_recorded_commit(hub, tmp_path):
    here = checkout(tmp_path / "polyreward")
    work = "results/paper/work"
    targets, folder = (MODEL, f"{work}/3_translated/instructions/ko.jsonl"), here / work
    ran = paper(here, *targets, offline=False)
    assert ran.returncode == 0, ran.stdout
    assert read_jsonl(here / targets[1]) == [{"id": "0", "prompt": "ko 0"}, {"id": "1", "prompt": "ko 1"}]
    assert (here / MODEL / "model.safetensors").read_bytes() == b"weights"
    records = sorted((folder / "1_sources/revisions").glob("*/*.yaml"))
    assert [record.parent.name for record in records] == ["dataset", "model"]
    assert {yaml.safe_load(record.read_text())["commit"] for record in records} == {COMMIT}
    assert "Nothing to be done" in paper(here, "-n", *targets).stdout


def test_the_questions_of_scale_paper_are_those_of_three_sets_of_the_hub(empty_hub, tmp_path):
    here, made = checkout(tmp_path / "polyreward"), Repositories()
    sets = ["include-base-44", "blend", "omgeval"]
    for name in sets:
        empty_hub.repositories["datasets", CATALOG[name]["id"]] = made.get(("datasets", CATALOG[name]["id"]))
    target = "results/paper/work/2_prepared/carb/questions.jsonl"
    ran = paper(here, target, offline=False)
    assert ran.returncode == 0, ran.stdout
    rows = read_jsonl(here / target)
    found = {name: {row["culture"] for row in rows if row["downstream"] == name} for name in sets}
    assert found == {name: set(CATALOG[name]["languages"]) for name in sets} and len(rows) == 4 * (8 + 5 + 5)
    kinds = {
        name: {kind for row in rows if row["downstream"] == name for kind in KINDS if kind in row}
        for name in sets
    }
    assert kinds == {"include-base-44": {"options"}, "blend": {"accepted"}, "omgeval": {"reference"}}


def test_all_that_the_hub_would_refuse_stops_the_run_before_its_first_job(hub, tmp_path):
    """A judge without `missing: row` is gated, and a dataset has another column."""
    here = checkout(tmp_path / "polyreward")
    hub.gated[GATED] = "hf_good"
    files = hub.repositories["datasets", CATALOG["x-alpacaeval"]["id"]]
    files["korean.json"] = json.dumps([{"id": 0, "question": "ko"}]).encode()
    targets = [MODEL, "results/paper/work/1_sources/data/x-alpacaeval.jsonl"]
    ran = paper(here, *targets, "--config", "missing=stop", offline=False)
    assert ran.returncode != 0
    for words in (
        "before the first job: 2 problems",
        f"model {GATED} at any revision: gated: its authors ask you to accept their terms.",
        "or set `missing: row`, and its rows are empty",
        "no column instruction; it has id, question: correct `columns` of x-alpacaeval",
    ):
        assert words in ran.stdout
    assert not list((here / "results/paper/work").glob("**/*.*"))
    files["korean.json"] = json.dumps([{"id": 0, "instruction": "ko"}]).encode()
    ran = paper(here, *targets, "--config", "missing=row", offline=False)
    assert ran.returncode == 0, ran.stdout
    assert "hub: Llama-3-OffsetBias-RM-8B: empty rows (`missing: row`), unless this changes" in ran.stdout
    assert (here / MODEL / "missing.json").is_file()
