"""The dress rehearsal's overlays only make scales smaller: numbers, lists, and what
needs a GPU or a network."""

import subprocess

import dress_rehearsal
import pytest
import yaml
from support import ROOT, snakemake

from polyreward.sheet.entries import read_models

ran = subprocess.run

NEEDS_A_GPU = {
    "devices.liger",
    "reward_model.optimizer",
    "alignment.dpo.optimizer",
    "think_as_locals.grpo.vllm",
}
NEEDS_A_GPU |= {"carb.grpo.vllm"}
NEEDS_A_NETWORK = {"judge_wordings"}
NEW_COUNTS = (
    "max_pairs",
    "items_per_cell",
    "topics_per_domain",
    "rows_per_subset",
    "main",
    "max_instructions",
)  # null is all
SCALES = {"anchor": ["anchor"], "gpu": ["gpu"], "paper": ["paper", "paper_vllm"]}


def load(path):
    return yaml.safe_load((ROOT / path).read_text(encoding="utf-8"))


def leaves(settings, path=()):
    for key, value in settings.items():
        if isinstance(value, dict):
            yield from leaves(value, (*path, key))
        else:
            yield (*path, key), value


@pytest.mark.parametrize("scale", SCALES)
def test_an_overlay_only_makes_its_scale_smaller(scale):
    whole = read_models(
        [f"workflow/scales/{name}.yaml" for name in SCALES[scale]], ROOT
    ).settings.model_dump()
    for path, value in leaves(load(f"tests/rehearsal/{scale}.yaml")):
        before = whole
        for key in path:
            before = before[key] if key in before or "max_pairs" not in path else None
        name = ".".join(path)
        if name in NEEDS_A_GPU | NEEDS_A_NETWORK:
            continue
        if before is None:
            assert set(path) & set(NEW_COUNTS), name
        elif isinstance(value, list):
            assert set(value) <= set(before), name
        else:
            assert isinstance(value, bool) == isinstance(before, bool) and value <= before, name


@pytest.mark.parametrize("scale", SCALES)
def test_a_scale_takes_its_overlay(scale):
    files = [f"workflow/scales/{name}.yaml" for name in SCALES[scale]]
    overlay = str(ROOT / f"tests/rehearsal/{scale}.yaml")
    ran = snakemake("--list-rules", "--quiet", "--configfile", *files, overlay)
    assert ran.returncode == 0, ran.stdout


@pytest.mark.parametrize("cards", [0, 1])
def test_on_a_card_liger_and_the_paged_optimizer_are_on_and_jobs_share_it(cards, tmp_path, monkeypatch):
    monkeypatch.setattr(dress_rehearsal, "cuda_devices", lambda: cards)
    found = {
        name: yaml.safe_load(dress_rehearsal.last_overlay(name, tmp_path).read_text()) for name in SCALES
    }
    if not cards:
        assert found["gpu"] == found["anchor"] == {} and set(found["paper"]) == {"devices"}
    else:
        assert found["gpu"] == {"devices": {"liger": True}} and found["anchor"] == {}
        paged = {"optimizer": "paged_adamw_8bit"}
        assert found["paper"]["reward_model"] == paged and found["paper"]["alignment"] == {"dpo": paged}
        assert found["paper"]["devices"]["liger"] and found["paper"]["devices"]["launch"] is None
    listed = ["sh", "-c", "echo reward_model"]
    monkeypatch.setattr(dress_rehearsal.subprocess, "run", lambda *given, **how: ran(listed, **how))
    asked = dress_rehearsal.asking_little(["snakemake"])
    assert ("reward_model:gpu=0" in asked) == bool(cards) and "reward_model:mem_mb=4000" in asked


def test_the_rehearsal_says_which_jobs_computed_where(tmp_path):
    for name, device in {
        "reward_model/a": "a card",
        "reward_model/b": "a card",
        "table1/all": "the CPU",
    }.items():
        path = tmp_path / f"gpu/logs/{name}.log"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"ran on: a machine\ncomputed on: {device}\n")
    found = dress_rehearsal.computed_on(tmp_path)
    assert found == {"a card": {"reward_model": 2}, "the CPU": {"table1": 1}}
