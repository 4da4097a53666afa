"""A reward model of the catalog that cannot be had, and one whose job fails: empty rows with their reasons,
in whole tables."""

import json
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest
import yaml
from support import TINY, checkout, snakemake

GONE, BROKEN = "Llama-3-OffsetBias-RM-8B", "Skywork-Reward-V2-Qwen3-0.6B"
FOLDER = "results/gaps"
SETTINGS = {
    "results": FOLDER, "bases": ["tiny-llama"], "target_languages": ["es"], "off_the_shelf": ["tiny-judge", GONE, BROKEN],
    "alignment": {"languages": ["es"], "reward_base": "tiny-llama"}, "gate": {"base": "tiny-llama"}, "missing": "row",
}  # fmt: skip


@pytest.fixture
def hub(empty_hub):
    """A hub that has one of the two, with a head that nobody knows."""
    config = {"model_type": "llama", "architectures": ["LlamaForNobodyKnows"], "num_labels": 1}
    empty_hub.repositories["models", f"Skywork/{BROKEN}"] = {
        "config.json": json.dumps(config).encode(), "model.safetensors": b"weights"
    }  # fmt: skip
    return empty_hub


@pytest.mark.slow
def test_one_missing_row_does_not_stop_a_table(hub, tmp_path):
    here, overlay = checkout(tmp_path / "polyreward"), tmp_path / "missing.yaml"
    arguments = [f"{FOLDER}/table2.csv", "--cores", "1", "--configfile", TINY, str(overlay)]
    overlay.write_text(yaml.safe_dump(SETTINGS))
    ran = snakemake(*arguments, cwd=here, offline=False, many_jobs=True)
    assert ran.returncode == 0, ran.stdout
    table = pd.read_csv(here / FOLDER / "table2.csv").set_index("reward_model")
    assert table["eval_language"].value_counts().to_dict() == {"en": 4, "es": 4}
    without, there = table.loc[[GONE, BROKEN]], table.drop([GONE, BROKEN])
    assert without["avg"].isna().all() and there["avg"].notna().all() and there["missing"].isna().all()
    assert (
        without.loc[GONE, "missing"].str.contains("the hub knows no such repository, or it is private").all()
    )
    assert without.loc[BROKEN, "missing"].str.contains("LlamaForNobodyKnows").all()
    for form in ("md", "tex", "html"):
        text = (here / FOLDER / f"table2.{form}").read_text(encoding="utf-8")
        assert (
            text.count("Not to be had: ") == 1
            and text.count("missing") == 4
            and GONE in text
            and "NobodyKnows" in text
        )
    # What was scored stands when the setting changes.
    overlay.write_text(yaml.safe_dump({**SETTINGS, "missing": "stop"}))
    assert "Nothing to be done" in snakemake("-n", *arguments, cwd=here, offline=False).stdout
    # `make again` forces what is listed; with `missing: stop` the run then stops, and says so.
    listed = subprocess.run(
        [Path(sys.executable).with_name("polyreward"), "unavailable", FOLDER],
        cwd=here,
        capture_output=True,
        text=True,
        check=True,
    )
    again = dict(line.split("\t") for line in listed.stdout.splitlines())
    (record,) = (path for path in again if "revisions/model/NCSOFT" in path)
    assert "the hub knows no such repository" in again[record]
    assert any(path.endswith(f"{BROKEN}/es.parquet") for path in again)
    ran = snakemake(*arguments, "--forcerun", record, cwd=here, offline=False)
    assert ran.returncode != 0 and "the hub knows no such repository" in ran.stdout
