"""Trainings in two processes, launched as they are on several devices: the same models, and what a killed one
leaves."""

import json
import os

import pytest
import several_processes
import torch
from safetensors.torch import load_file
from tiny_models import ADAPTERS, ROWS, grpo_settings, policy_settings, settings
from trl import GRPOTrainer

from polyreward.carb.downstream.grpo import train_policy
from polyreward.core.errors import PolyrewardError
from polyreward.settings.think_as_locals import Grpo, RewardWeights
from polyreward.settings.transfer import Dpo
from polyreward.sources.base_models import fetch_base_model
from polyreward.think_as_locals.grpo import train_grpo
from polyreward.training.launch import train
from polyreward.training.policies import train_dpo, train_sft
from polyreward.training.reward_model import train_reward_model

pytestmark = pytest.mark.slow
ROUNDING = 1e-5  # two processes add in another order
LAUNCH = several_processes.launch_config("cpu")
FULL = {"lora": None, "learning_rate": 1e-3, "epochs": 2.0}
LORA = {"learning_rate": 1e-3, "epochs": 2.0}
BY_TWO = {"batch_size": 1, "save_every": 2}  # six steps; the second process is killed in the fourth
# By SGD weights move with their gradients. Adam moves one whose gradient is nearly nothing by what rounding
# made of it: where it trains all weights, its rate is one at which that is below ROUNDING.
ADAM_RATE = 2e-4
SFT = policy_settings(epochs=2.0, learning_rate=0.1, lora=None)
DPO = policy_settings(Dpo, epochs=2.0, learning_rate=0.1, lora=None, optimizer="sgd")
PAIRS = [{key: row[key] for key in ("id", "prompt", "chosen", "rejected")} for row in ROWS]


@pytest.fixture(autouse=True)
def found_by_name(monkeypatch):
    """Let launched processes import the modules next to this file."""
    monkeypatch.setenv("PYTHONPATH", str(several_processes.ROOT / "tests/unit"), prepend=os.pathsep)


def reward_model(base, folder, launch, function=train_reward_model, rows=ROWS, **changes):
    """Train on the rows in one process or several; returns the model's folder."""
    arguments = {"base_folder": base, "rows": rows, "seed": 1, "checkpoints": folder / "checkpoints"}
    train(function, launch, "rm", settings=settings(**changes), **arguments, out_folder=folder / "model")
    return folder / "model"


def largest_difference(one, other, some=False) -> float:
    """Return by how much a weight of two models differs at most. some: they may have only some in common."""
    one, other = (load_file(folder / "model.safetensors") for folder in (one, other))
    assert some or one.keys() == other.keys()
    shared = [name for name in one if not some or (name in other and one[name].shape == other[name].shape)]
    return max((one[name] - other[name]).abs().max().item() for name in shared)


def assert_same_training(one, other, start) -> None:
    """Assert that two trainings differ by rounding, which is less than what they changed of their start."""
    difference, change = largest_difference(one, other), largest_difference(one, start, some=True)
    print(f"weights differ by up to {difference:.2g}; training moved them by up to {change:.2g}")
    assert difference < ROUNDING < 1e-4 < change


def launch_config(name):
    """Return a configuration for two processes that each hold a part of a model."""
    if name == "zero3":
        pytest.importorskip("deepspeed", reason="DeepSpeed is an extra")
    return several_processes.launch_config(name)


@pytest.mark.parametrize("changes", [FULL, LORA], ids=["full", "lora"])
def test_two_processes_train_what_one_does_with_the_same_batch(bases, tmp_path, changes):
    base = bases["tiny-llama"]
    one = reward_model(base, tmp_path / "one", None, batch_size=2, **changes)
    two = reward_model(base, tmp_path / "two", LAUNCH, batch_size=1, **changes)
    assert_same_training(one, two, base)
    steps = [json.loads((folder / "training.json").read_text())["steps"] for folder in (one, two)]
    losses, again = ([step["loss"] for step in of if "loss" in step] for of in steps)
    assert losses == pytest.approx(again, abs=1e-5)


def test_gradients_summed_over_steps_weigh_the_same_in_two_processes(bases, tmp_path):
    base = bases["tiny-llama"]
    rows = [*ROWS, *({**row, "prompt": row["prompt"] + " Please."} for row in ROWS[:2])]
    one = reward_model(base, tmp_path / "one", None, rows=rows, batch_size=4, **FULL)
    two = reward_model(
        base, tmp_path / "two", LAUNCH, rows=rows, batch_size=1, gradient_accumulation=2, **FULL
    )
    assert_same_training(one, two, base)


@pytest.mark.parametrize("changes", [FULL, LORA], ids=["full", "lora"])
@pytest.mark.parametrize("name", ["fsdp", "zero3"])
def test_a_model_that_is_spread_over_two_processes_is_the_same(bases, tmp_path, name, changes):
    base, launch = bases["tiny-llama"], launch_config(name)
    one = reward_model(base, tmp_path / "one", None, batch_size=2, **changes)
    function = several_processes.train_spread
    two = reward_model(base, tmp_path / "two", launch, function, batch_size=1, **changes)
    assert_same_training(one, two, base)


@pytest.fixture(scope="module")
def forty_megabytes(tmp_path_factory):
    """The folder of a random model of 40 MB."""
    config = {
        "vocab_size": 512, "hidden_size": 320, "intermediate_size": 880, "num_hidden_layers": 8, "num_attention_heads": 4,
        "num_key_value_heads": 4, "max_position_embeddings": 512,
    }  # fmt: skip
    entry = {
        "source": {"kind": "random", "architecture": "llama", "config": config},
        "chat_template": "gemma3",
    }
    folder = tmp_path_factory.mktemp("forty") / "base"
    fetch_base_model(entry, 7, [row[role] for row in ROWS for role in ("prompt", "chosen")], folder)
    assert 38e6 < (folder / "model.safetensors").stat().st_size < 46e6
    return folder


def test_when_one_process_is_killed_the_run_says_so_and_the_next_goes_on(forty_megabytes, tmp_path, capfd):
    changes = {**FULL, **BY_TWO}
    whole = reward_model(forty_megabytes, tmp_path / "whole", LAUNCH, **changes)
    killed = several_processes.train_until_one_is_killed
    with pytest.raises(PolyrewardError) as caught:
        reward_model(forty_megabytes, tmp_path, LAUNCH, killed, **changes)
    said = "rm: process 1 of 2 (they count from 0) was killed (SIGKILL), and the others were stopped"
    assert said in str(caught.value)
    assert str(caught.value).endswith("started again, it goes on from checkpoint-2")
    assert not (tmp_path / "model").exists()
    capfd.readouterr()
    resumed = reward_model(forty_megabytes, tmp_path, LAUNCH, **changes)
    assert "rm: resumes from checkpoint-2" in capfd.readouterr().err
    assert largest_difference(resumed, whole) == 0
    record, expected = (json.loads((folder / "training.json").read_text()) for folder in (resumed, whole))
    assert record == expected
    assert not (tmp_path / "checkpoints").exists()


@pytest.mark.parametrize("name", ["fsdp", "zero3"])
def test_a_killed_training_of_a_spread_model_goes_on_from_its_checkpoint(bases, tmp_path, capfd, name):
    base, launch, changes = bases["tiny-llama"], launch_config(name), {**FULL, **BY_TWO}
    whole = reward_model(base, tmp_path / "whole", launch, several_processes.train_spread, **changes)
    with pytest.raises(PolyrewardError, match="it goes on from checkpoint-2"):
        reward_model(base, tmp_path, launch, several_processes.train_spread_until_one_is_killed, **changes)
    capfd.readouterr()
    resumed = reward_model(base, tmp_path, launch, several_processes.train_spread, **changes)
    assert "rm: resumes from checkpoint-2" in capfd.readouterr().err
    assert largest_difference(resumed, whole) < 1e-6


def test_a_users_error_is_told_once(bases, tmp_path, capfd):
    with pytest.raises(PolyrewardError, match="ended with exit code 1"):
        reward_model(bases["tiny-llama"], tmp_path, LAUNCH, several_processes.fail_in_words)
    said = "polyreward: rm: no preference pair is left"
    assert [line[: len(said)] for line in capfd.readouterr().err.splitlines()].count(said) == 1


@pytest.mark.parametrize("lora", [None, ADAPTERS], ids=["full", "lora"])
def test_policies_in_two_processes_are_what_one_trains(bases, tmp_path, lora):
    for name, function, setting, given in (
        ("sft", train_sft, SFT, {"base_folder": bases["tiny-llama"], "rows": ROWS}),
        ("dpo", train_dpo, DPO, {"policy_folder": tmp_path / "sft-one", "pairs": PAIRS}),
    ):
        for where, launch, batch in (("one", None, 2), ("two", LAUNCH, 1)):
            rate = ADAM_RATE if name == "sft" and lora is None else setting.learning_rate
            changed = setting.model_copy(update={"batch_size": batch, "lora": lora, "learning_rate": rate})
            folders = {"checkpoints": tmp_path / "checkpoints", "out_folder": tmp_path / f"{name}-{where}"}
            train(function, launch, name, settings=changed, **given, seed=1, **folders)
        start = given.get("base_folder") or given["policy_folder"]
        assert_same_training(tmp_path / f"{name}-one", tmp_path / f"{name}-two", start)


def test_a_policy_that_is_spread_with_its_reference_is_what_one_process_trains_by_dpo(bases, tmp_path):
    """As scale paper has it: whole, with checkpointed gradients."""
    launch, base = launch_config("fsdp"), bases["tiny-llama"]
    for where, function, of, batch in (
        ("one", train_dpo, None, 2),
        ("two", several_processes.train_dpo_spread, launch, 1),
    ):
        changed = DPO.model_copy(update={"batch_size": batch, "gradient_checkpointing": True})
        folders = {"checkpoints": tmp_path / "checkpoints", "out_folder": tmp_path / where}
        train(function, of, "dpo", settings=changed, policy_folder=base, pairs=PAIRS, seed=1, **folders)
    assert_same_training(tmp_path / "one", tmp_path / "two", base)


def grpo(base, folder, launch, function=train_grpo, batch=8, lora=ADAPTERS, checkpointing=False):
    """Train by GRPO in one process or several, replies to four questions in each update; returns the judge's
    folder."""
    setting = grpo_settings(
        Grpo, iterations=2, learning_rate=1e-2 if lora else ADAM_RATE, warmup_ratio=0.1, lr_scheduler="cosine", batch_size=batch,
        max_new_tokens=32, gradient_checkpointing=checkpointing, save_every=2, lora=lora, pairs=4,
    )  # fmt: skip
    asked = [f"Which is right? {text}" + " More." * n for n in range(4) for text in ("Tea", "Rice")]
    questions = [{"request": request, "right": "A"} for request in asked]
    where = {"checkpoints": folder / "checkpoints", "out_folder": folder / "model"}
    rewards = RewardWeights(correctness=1, appropriateness=1, layout=1)
    how = {"settings": setting, "rewards": rewards, "criteria": True, "quote": 0}
    train(function, launch, "grpo", start_folder=base, questions=questions, seed=1, **how, **where)
    assert not (folder / "checkpoints").exists()
    return folder / "model"


@pytest.fixture
def on_written_replies(bases, tmp_path, monkeypatch):
    """Return a function that trains on replies that are the same in one process and in two; compare both."""
    monkeypatch.setattr(GRPOTrainer, "_generate_single_turn", GRPOTrainer._generate_single_turn)  # taken back

    def compare(launch, function, **how):
        base = bases["tiny-llama"]
        one = grpo(base, tmp_path / "one", None, several_processes.train_on_written_replies, batch=8, **how)
        assert_same_training(one, grpo(base, tmp_path / "two", launch, function, batch=4, **how), base)

    return compare


def test_grpo_on_the_same_replies_is_the_same_in_two_processes(on_written_replies):
    on_written_replies(LAUNCH, several_processes.train_on_written_replies)


def test_a_judge_that_is_spread_with_its_reference_is_what_one_process_trains_by_grpo(on_written_replies):
    function = several_processes.train_spread_on_written_replies
    on_written_replies(launch_config("fsdp"), function, lora=None, checkpointing=True)


def test_grpo_draws_its_replies_in_two_processes(bases, tmp_path):
    folder = grpo(bases["tiny-llama"], tmp_path, LAUNCH, batch=4)
    assert json.loads((folder / "training.json").read_text())["questions"] == 8
    assert all(torch.isfinite(weight).all() for weight in load_file(folder / "model.safetensors").values())


def test_a_policy_is_rewarded_by_a_reward_model_in_each_of_two_processes(bases, tmp_path):
    scores = reward_model(bases["tiny-gemma"], tmp_path / "scores", None)
    setting = grpo_settings(steps=2, warmup_ratio=0.1, batch_size=2, max_new_tokens=6, beta=0.0, save_every=1)
    scoring = {"dtype": "float32", "max_length": 256, "token_budget": 4096, "attention": "sdpa"}
    prompts = [f"Tea or rice? {n}" for n in range(4)]
    train(
        train_policy, LAUNCH, "policy", settings=setting, start_folder=bases["tiny-llama"], prompts=prompts,
        entry={"kind": "classifier", "source": str(scores)}, scoring=scoring, cache=tmp_path / "cache", seed=1,
        checkpoints=tmp_path / "checkpoints", out_folder=tmp_path / "policy",
    )  # fmt: skip
    record = json.loads((tmp_path / "policy/training.json").read_text())
    assert record["questions"] == 4 and record["groups"] == 2  # a group in each process
    assert [step["reward"] for step in record["steps"] if "reward" in step]
    assert largest_difference(tmp_path / "policy", bases["tiny-llama"], some=True)
