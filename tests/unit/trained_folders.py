"""What is in the folder of a trained model."""

import json

import torch
from safetensors.torch import load_file


def weights(folder) -> dict[str, torch.Tensor]:
    return load_file(folder / "model.safetensors")


def changed(before, after) -> set[str]:
    assert before.keys() == after.keys()
    return {name for name in before if not torch.equal(before[name], after[name])}


def record_of(folder) -> dict:
    return json.loads((folder / "training.json").read_text())


def names_in(folder) -> list[str]:
    return sorted(path.name for path in folder.iterdir())
