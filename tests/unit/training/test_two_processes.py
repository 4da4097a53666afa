"""Trainings in two processes, launched as they are on several devices: the same models, and what a killed one
leaves."""

import os
from functools import cache

import pytest
from safetensors.torch import load_file
from several_processes import (
    ROOT,
    aborted,
    done_then_aborted,
    in_turn,
    launch_config,
    train_on_written_replies,
    train_until_one_is_killed,
)
from tiny_models import ROWS, grpo_settings, policy_settings, settings
from trained_folders import record_of

from polyreward.carb.downstream.grpo import train_policy
from polyreward.core.errors import PolyrewardError
from polyreward.settings.think_as_locals import Grpo, RewardWeights
from polyreward.settings.transfer import Dpo
from polyreward.think_as_locals.grpo import train_grpo
from polyreward.training.common import Job
from polyreward.training.launch import train
from polyreward.training.policies import train_dpo, train_sft
from polyreward.training.reward_model import train_reward_model

pytestmark = pytest.mark.slow
ROUNDING = 1e-5  # two processes add in another order
# By SGD weights move with their gradients. Adam moves one whose gradient is nearly nothing by what rounding
# made of it: where it trains all weights, its rate is one at which that is below ROUNDING.
ADAM_RATE = 2e-4
BY_TWO = {"learning_rate": 1e-3, "epochs": 2.0, "batch_size": 2, "save_every": 2}  # six steps of two pairs
FULL, LORA = settings(**BY_TWO, lora=None), settings(**BY_TWO)
SFT = {"epochs": 2.0, "batch_size": 2}
DPO = {"kind": Dpo, **SFT, "learning_rate": 0.1, "optimizer": "sgd"}
GRPO = {
    "kind": Grpo, "iterations": 2, "warmup_ratio": 0.1, "lr_scheduler": "cosine", "batch_size": 8, "max_new_tokens": 32,
    "save_every": 2, "pairs": 4,
}  # fmt: skip
PAIRS = [{key: row[key] for key in ("id", "prompt", "chosen", "rejected")} for row in ROWS]
EIGHT = [*ROWS, *({**row, "prompt": row["prompt"] + " Please."} for row in ROWS[:2])]
QUESTIONS = [
    {"request": f"Which is right? {text}" + " More." * n, "right": "A"}
    for n in range(4)
    for text in ("Tea", "Rice")
]
BY_REWARDS = {
    "rewards": RewardWeights(correctness=1, appropriateness=1, layout=1),
    "criteria": True,
    "quote": 0,
}
HALF = {"batch_size": 1}
# {training: function, data, settings in one process, what they are in two with the same batch}; with checkpointed gradients as
# scale paper has it.
TRAININGS = {
    "reward model": (train_reward_model, ROWS, FULL, HALF),
    "reward model, LoRA": (train_reward_model, ROWS, LORA, HALF),
    "summed gradients": (train_reward_model, EIGHT, settings(**{**BY_TWO, "batch_size": 4}, lora=None), {**HALF, "gradient_accumulation": 2}),
    "sft": (train_sft, ROWS, policy_settings(**SFT, learning_rate=ADAM_RATE, lora=None), HALF),
    "sft, LoRA": (train_sft, ROWS, policy_settings(**SFT, learning_rate=0.1), HALF),
    "dpo": (train_dpo, PAIRS, policy_settings(**DPO, lora=None), HALF),
    "dpo, LoRA": (train_dpo, PAIRS, policy_settings(**DPO), HALF),
    "dpo, checkpointed": (train_dpo, PAIRS, policy_settings(**DPO, lora=None, gradient_checkpointing=True), HALF),
    "grpo, LoRA": (train_on_written_replies, QUESTIONS, grpo_settings(**GRPO), {"batch_size": 4}),
    "grpo, checkpointed": (
        train_on_written_replies, QUESTIONS,
        grpo_settings(**{**GRPO, "learning_rate": ADAM_RATE}, lora=None, gradient_checkpointing=True), {"batch_size": 4},
    ),
}  # fmt: skip
PLAIN = [name for name in TRAININGS if "checkpointed" not in name]
SPREAD = ["reward model", "reward model, LoRA", "dpo, checkpointed", "grpo, checkpointed"]


def call(name, base, folder, several):
    """Return a training as in_turn takes it."""
    function, data, setting, changes = TRAININGS[name]
    setting = setting.model_copy(update=changes if several else {})
    job = Job(1, folder / "checkpoints", folder / name, name)
    return function, (base, data, setting), {"job": job, **(BY_REWARDS if "grpo" in name else {})}


@pytest.fixture(scope="module")
def launched(bases, trained, tmp_path_factory):
    """Return a function from a configuration and trainings to the folder of what two processes trained."""

    @cache
    def launched(config, *names):
        folder, base = tmp_path_factory.mktemp(config), bases["tiny-llama"]
        calls = [call(name, base, folder, True) for name in names]
        if config == "cpu":
            drawn = grpo_settings(**{**GRPO, "batch_size": 4})
            job = Job(1, folder / "checkpoints", folder / "drawn", "drawn")
            calls.append((train_grpo, (base, QUESTIONS, drawn), {"job": job, **BY_REWARDS}))
            rewarded = grpo_settings(
                steps=2, warmup_ratio=0.1, batch_size=2, max_new_tokens=6, beta=0.0, save_every=1
            )
            how = {
                "job": Job(1, folder / "checkpoints", folder / "rewarded", "rewarded"), "cache": folder / "cache",
                "entry": {"kind": "classifier", "source": str(trained["tiny-gemma"])},
                "scoring": {"dtype": "float32", "max_length": 256, "token_budget": 4096, "attention": "sdpa"},
            }  # fmt: skip
            calls.append((train_policy, (base, [f"Tea or rice? {n}" for n in range(4)], rewarded), how))
        train(in_turn, launch_config(config), Job(1, "", "", config), calls=calls, spread=config != "cpu")
        assert not (folder / "checkpoints").exists()
        return folder

    with pytest.MonkeyPatch.context() as patched:  # launched processes import modules next to this file
        patched.setenv("PYTHONPATH", str(ROOT / "tests/unit"), prepend=os.pathsep)
        yield launched


@pytest.fixture(scope="module")
def in_one(bases, tmp_path_factory):
    """Return a function from a training to the folder of what this process trained."""

    @cache
    def in_one(name):
        folder = tmp_path_factory.mktemp("one")
        in_turn(Job(1, "", "", ""), [call(name, bases["tiny-llama"], folder, False)], False)
        return folder / name

    return in_one


def of_config(config):
    """Return the trainings of a configuration that are launched together."""
    if config == "zero3":
        pytest.importorskip("deepspeed", reason="DeepSpeed is an extra")
    return {"cpu": PLAIN, "fsdp": SPREAD, "zero3": SPREAD[:2]}[config]


def largest_difference(one, other, some=False) -> float:
    """Return by how much a weight of two models differs at most. some: they may have only some in common."""
    one, other = (load_file(folder / "model.safetensors") for folder in (one, other))
    assert some or one.keys() == other.keys()
    shared = [name for name in one if not some or (name in other and one[name].shape == other[name].shape)]
    return max((one[name] - other[name]).abs().max().item() for name in shared)


def losses(folder):
    record = record_of(folder)
    return record.get("losses") or [step["loss"] for step in record["steps"] if "loss" in step]


@pytest.mark.parametrize(
    ("config", "name"),
    [*(("cpu", name) for name in PLAIN), *(("fsdp", name) for name in SPREAD), *(("zero3", name) for name in SPREAD[:2])],
)  # fmt: skip
def test_two_processes_train_what_one_does_with_the_same_batch(bases, launched, in_one, config, name):
    one, two = in_one(name), launched(config, *of_config(config)) / name
    difference, change = largest_difference(one, two), largest_difference(one, bases["tiny-llama"], some=True)
    print(f"weights differ by up to {difference:.2g}; training moved them by up to {change:.2g}")
    assert difference < ROUNDING < 1e-4 < change
    assert losses(one) == pytest.approx(losses(two), abs=1e-5)


def test_grpo_draws_its_replies_in_two_processes(launched):
    folder = launched("cpu", *PLAIN) / "drawn"
    assert record_of(folder)["questions"] == 8
    assert all(weight.isfinite().all() for weight in load_file(folder / "model.safetensors").values())


def test_a_policy_is_rewarded_by_a_reward_model_in_each_of_two_processes(bases, launched):
    folder = launched("cpu", *PLAIN) / "rewarded"
    record = record_of(folder)
    assert record["questions"] == 4 and record["groups"] == 2  # a group in each process
    assert [step["reward"] for step in record["steps"] if "reward" in step]
    assert largest_difference(folder, bases["tiny-llama"], some=True)


@pytest.mark.parametrize("config", ["cpu", "fsdp", "zero3"])
def test_when_one_process_is_killed_the_run_says_so_and_the_next_goes_on(
    bases, launched, tmp_path, capfd, config
):
    whole = launched(config, *of_config(config)) / "reward model"
    _, (base, rows, setting), how = call("reward model", bases["tiny-llama"], tmp_path, True)
    given = {"start_folder": base, "rows": rows, "settings": setting, **how}
    launch, spread = launch_config(config), config != "cpu"
    with pytest.raises(PolyrewardError) as caught:
        train(train_until_one_is_killed, launch, spread=spread, **given)
    said = (
        "reward model: process 1 of 2 (they count from 0) was killed (SIGKILL), and the others were stopped"
    )
    assert said in str(caught.value)
    assert [path.name for path in tmp_path.iterdir()] == ["checkpoints"]
    capfd.readouterr()
    calls = [(train_reward_model, (), given)]
    train(in_turn, launch, how["job"], calls=calls, spread=spread)
    assert "reward model: resumes from checkpoint-2" in capfd.readouterr().err
    assert largest_difference(tmp_path / "reward model", whole) <= (1e-6 if spread else 0)
    assert spread or record_of(tmp_path / "reward model") == record_of(whole)
    assert not (tmp_path / "checkpoints").exists()


def test_a_users_error_is_told_once(bases, tmp_path, launched, capfd):
    job = Job(1, tmp_path / "checkpoints", tmp_path / "model", "rm")
    given = {"start_folder": bases["tiny-llama"], "rows": [], "settings": FULL}
    with pytest.raises(PolyrewardError, match="ended with exit code 1"):
        train(train_reward_model, launch_config("cpu"), job, **given)
    said = "polyreward: rm: no preference pair is left"
    assert [line[: len(said)] for line in capfd.readouterr().err.splitlines()].count(said) == 1


def test_what_aborts_after_the_work_is_done_fails_no_training(tmp_path):
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("PYTHONPATH", str(ROOT / "tests/unit"), prepend=os.pathsep)
        job = Job(1, "", tmp_path / "model", "rm")
        train(done_then_aborted, launch_config("cpu"), job)
        assert (tmp_path / "model").read_text() == "done"
        with pytest.raises(PolyrewardError, match=r"killed \(SIGABRT\) after .terminate called .*bad_alloc"):
            train(aborted, launch_config("cpu"), job)
