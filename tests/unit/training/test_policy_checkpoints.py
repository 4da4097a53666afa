"""A policy's training that was cut off goes on from its checkpoint, to the bytes of one that was not."""

from types import SimpleNamespace

import pytest
from tiny_models import ROWS, policy_settings
from transformers import TrainerCallback

from polyreward.settings.base import PolicyTraining
from polyreward.settings.transfer import Dpo
from polyreward.training import finish
from polyreward.training.policies import train_dpo, train_sft

SFT, DPO = (policy_settings(kind, epochs=2.0, save_every=2) for kind in (PolicyTraining, Dpo))  # six steps
TRAININGS = {
    "sft": (train_sft, SFT),
    "dpo": (train_dpo, DPO),
    # Its reference is the start, not what the checkpoint holds.
    "whole-dpo": (train_dpo, DPO.model_copy(update={"lora": None})),
}


class CutOff(BaseException):
    """Ends a training as a kill does: nothing of ours catches it."""


class _CutOffAfterFour(TrainerCallback):
    def on_save(self, args, state, control, **kwargs):
        if state.global_step == 4:
            raise CutOff


def train(name, base, folder, rows=ROWS, seed=1):
    function, settings = TRAININGS[name]
    function(base, rows, settings, seed, folder / "checkpoints", folder / "model", name)
    return {path.name: path.read_bytes() for path in (folder / "model").iterdir()}


@pytest.mark.parametrize("name", TRAININGS)
def test_a_policy_whose_training_was_cut_off_has_the_bytes_of_one_that_was_not(
    bases, tmp_path, monkeypatch, capsys, name
):
    base, train_on = bases["tiny-llama"], finish.train_on

    def until_cut_off(trainer, label):
        trainer.add_callback(_CutOffAfterFour())
        train_on(trainer, label)

    monkeypatch.setattr(finish, "train_on", until_cut_off)
    with pytest.raises(CutOff):
        train(name, base, tmp_path / "cut")
    assert [path.name for path in (tmp_path / "cut").iterdir()] == ["checkpoints"]
    monkeypatch.undo()
    resumed = train(name, base, tmp_path / "cut")
    assert f"{name}: resumes from checkpoint-4" in capsys.readouterr().err
    assert resumed == train(name, base, tmp_path / "whole")
    assert [path.name for path in (tmp_path / "cut").iterdir()] == ["model"]


def test_a_policy_s_checkpoint_of_another_training_is_not_taken_up(bases, tmp_path, monkeypatch, capsys):
    leave = SimpleNamespace(rmtree=lambda *arguments, **more: None)
    monkeypatch.setattr(finish, "shutil", leave)  # all checkpoints stay
    train("sft", bases["tiny-llama"], tmp_path)
    train("sft", bases["tiny-llama"], tmp_path, seed=2)
    train("sft", bases["tiny-llama"], tmp_path, rows=ROWS[::-1])
    assert "resumes" not in capsys.readouterr().err
    train("sft", bases["tiny-llama"], tmp_path)
    assert "resumes from checkpoint-6" in capsys.readouterr().err
