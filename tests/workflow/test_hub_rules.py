"""The rules that fetch from the hub, run by Snakemake as at scale paper, against a hub on loopback."""

import json

import pytest
import yaml
from hub_server import COMMIT
from published_repositories import Repositories
from support import ROOT, checkout, script, snakemake

KINDS = script("prepare/carb_questions").KINDS


CATALOG = yaml.safe_load((ROOT / "workflow/catalog/datasets.yaml").read_text(encoding="utf-8"))


@pytest.fixture
def hub(empty_hub):
    """A hub with two of the papers' repositories, made small."""
    entry = CATALOG["x-alpacaeval"]
    splits = {part["split"]: language for language, part in entry["languages"].items()}
    card = {
        "configs": [
            {"config_name": "default", "data_files": [{"split": s, "path": f"{s}.json"} for s in splits]}
        ]
    }
    empty_hub.repositories["datasets", entry["id"]] = {
        "README.md": f"---\n{yaml.safe_dump(card)}---\n".encode(),
        **{
            f"{split}.json": json.dumps(
                [{"id": n, "dataset": "d", "instruction": f"{language} {n}"} for n in range(2)]
            ).encode()
            for split, language in splits.items()
        },
    }
    empty_hub.repositories["models", "NCSOFT/Llama-3-OffsetBias-RM-8B"] = {
        "config.json": b"{}",
        "model.safetensors": b"weights",
    }
    return empty_hub


@pytest.mark.slow
def test_data_and_models_are_fetched_at_the_recorded_commit(hub, tmp_path):
    here = checkout(tmp_path / "polyreward")
    targets = ["1_sources/hub/NCSOFT--Llama-3-OffsetBias-RM-8B@main", "3_translated/instructions/ko.jsonl"]
    folder = here / "results/paper/work"
    arguments = [
        *(f"results/paper/work/{target}" for target in targets),
        "--configfile",
        "workflow/scales/paper.yaml",
    ]
    ran = snakemake("--cores", "1", *arguments, cwd=here, offline=False)
    assert ran.returncode == 0, ran.stdout
    rows = [json.loads(line) for line in (folder / targets[1]).read_text(encoding="utf-8").splitlines()]
    assert rows == [{"id": "0", "prompt": "ko 0"}, {"id": "1", "prompt": "ko 1"}]
    assert (folder / targets[0] / "model.safetensors").read_bytes() == b"weights"
    records = sorted((folder / "1_sources/revisions").glob("*/*.yaml"))
    assert [record.parent.name for record in records] == ["dataset", "model"]
    assert {yaml.safe_load(record.read_text())["commit"] for record in records} == {COMMIT}
    assert "Nothing to be done" in snakemake("-n", "--cores", "1", *arguments, cwd=here).stdout


@pytest.mark.slow
def test_the_questions_of_scale_paper_are_those_of_three_sets_of_the_hub(empty_hub, tmp_path):
    here, made = checkout(tmp_path / "polyreward"), Repositories()
    sets = ["include-base-44", "blend", "omgeval"]
    for name in sets:
        empty_hub.repositories["datasets", CATALOG[name]["id"]] = made.get(("datasets", CATALOG[name]["id"]))
    target = "results/paper/work/2_prepared/carb/questions.jsonl"
    ran = snakemake(
        "--cores", "1", target, "--configfile", "workflow/scales/paper.yaml", cwd=here, offline=False
    )
    assert ran.returncode == 0, ran.stdout
    rows = [json.loads(line) for line in (here / target).read_text(encoding="utf-8").splitlines()]
    found = {name: {row["culture"] for row in rows if row["downstream"] == name} for name in sets}
    assert found == {name: set(CATALOG[name]["languages"]) for name in sets} and len(rows) == 4 * (8 + 5 + 5)
    kinds = {
        name: {kind for row in rows if row["downstream"] == name for kind in KINDS if kind in row}
        for name in sets
    }
    assert kinds == {"include-base-44": {"options"}, "blend": {"accepted"}, "omgeval": {"reference"}}


@pytest.mark.slow
def test_all_that_the_hub_would_refuse_stops_the_run_before_its_first_job(hub, tmp_path):
    """A judge without `missing: row` is gated, and a dataset has another column."""
    here = checkout(tmp_path / "polyreward")
    gated = "NCSOFT/Llama-3-OffsetBias-RM-8B"
    hub.gated[gated] = "hf_good"
    entry = CATALOG["x-alpacaeval"]
    files = hub.repositories["datasets", entry["id"]]
    files["korean.json"] = json.dumps([{"id": 0, "question": "ko"}]).encode()
    folder = "results/paper/work"
    targets = [
        f"{folder}/1_sources/hub/NCSOFT--Llama-3-OffsetBias-RM-8B@main",
        f"{folder}/1_sources/data/x-alpacaeval.jsonl",
    ]
    arguments = ["--cores", "1", *targets, "--configfile", "workflow/scales/paper.yaml", "--config"]
    ran = snakemake(*arguments, "missing=stop", cwd=here, offline=False)
    assert ran.returncode != 0
    assert "before the first job: 2 problems" in ran.stdout
    assert f"model {gated} at any revision: gated: its authors ask you to accept their terms." in ran.stdout
    assert "or set `missing: row`, and its rows are empty" in ran.stdout
    assert "no column instruction; it has id, question: correct `columns` of x-alpacaeval" in ran.stdout
    assert not list((here / folder).glob("**/*.*"))
    files["korean.json"] = json.dumps([{"id": 0, "instruction": "ko"}]).encode()
    ran = snakemake(*arguments, "missing=row", cwd=here, offline=False)
    assert ran.returncode == 0, ran.stdout
    assert "hub: Llama-3-OffsetBias-RM-8B: empty rows (`missing: row`), unless this changes" in ran.stdout
    assert (here / targets[0] / "missing.json").is_file()
