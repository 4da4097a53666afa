"""Tiny random models of two architectures, and a few preference rows, for all tests that need a model."""

import os

os.environ["HF_HUB_OFFLINE"] = "1"  # before any import of transformers: these tests have no network
os.environ["TOKENIZERS_PARALLELISM"] = "false"

from pathlib import Path

import numpy as np
import pytest
import torch
import yaml

from polyreward.scoring.pairs import score_rows
from polyreward.settings.base import GrpoTraining, Lora, PolicyTraining
from polyreward.settings.transfer import RewardModelTraining
from polyreward.training.common import Job
from polyreward.training.reward_model import train_reward_model

ROOT = Path(__file__).parents[2]
TEMPLATE_SCHEMA = yaml.safe_load(
    (ROOT / "workflow/schemas/templates.schema.yaml").read_text(encoding="utf-8")
)
ARCHITECTURES = ("tiny-gemma", "tiny-llama")
torch.set_num_threads(1)

ROWS = [
    {"id": f"r{n}", "subset": subset, "category": "Chat", "prompt": prompt, "chosen": chosen, "rejected": rejected}
    for n, (subset, prompt, chosen, rejected) in enumerate([
        ("advice", "How do I cook rice for 4 people?", "Simmer 320 grams of rice for 15 minutes.", "Rice is a plant."),
        ("advice", "How can I dry wet shoes?", "Stuff them with newspaper and wait.", "Buy new ones at the shop in town."),
        ("writing", "Write a note to my neighbours.", "Thank you for watering my plants!", "Plants received water. Noted."),
        ("writing", "Invite a friend to a picnic.", "Join us for a picnic by the lake on Friday!", "No."),
        ("maths", "What is 3 plus 4?", "It is 7.", "It is 8, as everyone knows, and has always been 8 in every book."),
        ("maths", "What is half of 10?", "Half of 10 is 5.", "Half of 10 is 2."),
    ])
]  # fmt: skip


ADAPTERS = Lora(rank=2, alpha=4, top_layers=1)


def settings(**changes) -> RewardModelTraining:
    """Return settings for a run of three steps on ROWS, with changes."""
    given = {"epochs": 1.0, "learning_rate": 1e-2, "batch_size": 2, "max_length": 128, "save_every": 1,
             "cache_frozen_layers": False, "token_budget": None, "lora": ADAPTERS}  # fmt: skip
    return RewardModelTraining(**{**given, **changes})


def policy_settings(kind=PolicyTraining, **changes):
    """Return settings of a policy's training for a run of three steps on ROWS, with changes."""
    given = {"learning_rate": 1e-2, "batch_size": 2, "gradient_accumulation": 1, "max_length": 128, "save_every": 1,
             "lora": ADAPTERS}  # fmt: skip
    return kind(**{**given, **changes})


def grpo_settings(kind=GrpoTraining, **changes):
    """Return settings of GRPO, with changes."""
    given = {"steps": 4, "generations": 2, "learning_rate": 1e-2, "batch_size": 4, "max_length": 200, "max_new_tokens": 12,
             "temperature": 1.0, "scale_rewards": "group", "lora": ADAPTERS}  # fmt: skip
    return kind(**{**given, **changes})


def train(
    base: Path,
    folder: Path,
    *,
    rows=ROWS,
    seed=1,
    name="model",
    checkpoints="checkpoints",
    precision="float32",
    **changes,
) -> Path:
    """Train on the rows into folder/name and return that path."""
    out = folder / name
    job = Job(seed, folder / checkpoints, out, f"{base.name}_en", precision)
    train_reward_model(base, rows, settings(**changes), job)
    return out


def scores_of(reward_model, rows=ROWS) -> np.ndarray:
    """Return the scores of the chosen and rejected answers (rows, 2)."""
    return score_rows(reward_model, rows, "")[["score_chosen", "score_rejected"]].to_numpy()


def catalog_entry(name: str) -> dict:
    return yaml.safe_load((ROOT / "workflow/catalog/models.yaml").read_text(encoding="utf-8"))[name]


@pytest.fixture(scope="session")
def bases(tmp_path_factory) -> dict[str, Path]:
    """The folders of both tiny models."""
    from polyreward.core.conversations import as_text
    from polyreward.sources.base_models import fetch_base_model
    from polyreward.sources.templates import data_files, expanded, read_templates

    rows = expanded(read_templates(data_files(ROOT / "resources/mini/pool"), TEMPLATE_SCHEMA), "pool")
    corpus = [as_text(row[role]) for row in rows for role in ("prompt", "chosen")]
    folder = tmp_path_factory.mktemp("bases")
    for name in ARCHITECTURES:
        fetch_base_model(catalog_entry(name), 7, corpus, folder / name)
    return {name: folder / name for name in ARCHITECTURES}


@pytest.fixture(scope="session")
def tiny_gemma(bases) -> Path:
    return bases["tiny-gemma"]


@pytest.fixture(params=ARCHITECTURES)
def base(request, bases) -> Path:
    """Each tiny model's folder in turn."""
    return bases[request.param]


@pytest.fixture(scope="session")
def trained(bases, tmp_path_factory) -> dict[str, Path]:
    """A reward model of each tiny model, three steps on ROWS, low-rank adapters merged."""
    return {
        name: train(folder, tmp_path_factory.mktemp(name), name=f"{name}_en")
        for name, folder in bases.items()
    }


@pytest.fixture
def reward_folder(base, trained) -> Path:
    """The folder of the reward model trained on `base`."""
    return trained[base.name]
