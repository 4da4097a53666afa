"""The dress rehearsal's overlays only make scales smaller: numbers, lists, and what
needs a GPU or a network."""

import pytest
import yaml
from support import ROOT, snakemake

from polyreward.sheet.entries import read_models

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
