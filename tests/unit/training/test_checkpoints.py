"""A training that was cut off goes on from its last checkpoint, and ends with the same bytes."""

import os
import shutil
import signal
import subprocess
import sys
import tracemalloc
from pathlib import Path

import pytest
from datasets import Dataset
from tiny_models import ROWS, policy_settings, settings, train
from trained_folders import changed, names_in, weights
from transformers import TrainerCallback

from polyreward.settings.transfer import Dpo
from polyreward.training import finish
from polyreward.training.common import Job, trainer_arguments
from polyreward.training.finish import last_whole_checkpoint
from polyreward.training.policies import train_dpo, train_sft

STEPS = {"epochs": 2}  # six steps on ROWS, a checkpoint after each

KILLED = f"""
import os, signal, sys
from pathlib import Path
sys.path.insert(0, {str(Path(__file__).parents[1])!r})
import tiny_models
from polyreward.training import reward_model as training

def kill_after_two(self, args, state, control, **kwargs):
    if state.global_step == 2:
        os.kill(os.getpid(), signal.SIGKILL)

training.Announce.on_save = kill_after_two
tiny_models.train(Path(sys.argv[1]), Path(sys.argv[2]), **{STEPS!r})
"""


def test_a_killed_run_resumes_and_ends_with_the_same_weights(tiny_gemma, tmp_path, capsys):
    ran = subprocess.run(
        [sys.executable, "-c", KILLED, tiny_gemma, tmp_path], capture_output=True, check=False, timeout=600
    )
    assert ran.returncode == -signal.SIGKILL, ran.stderr.decode()
    assert names_in(tmp_path) == ["checkpoints"]
    whole = train(tiny_gemma, tmp_path / "whole", **STEPS)
    shutil.copytree(tmp_path / "checkpoints", tmp_path / "again/checkpoints")
    other = train(tiny_gemma, tmp_path / "again", rows=ROWS[::-1], **STEPS)
    assert "resumes" not in capsys.readouterr().err
    assert changed(weights(other), weights(whole))
    resumed = train(tiny_gemma, tmp_path, **STEPS)
    assert "tiny-gemma_en: resumes from checkpoint-2" in capsys.readouterr().err
    assert changed(weights(resumed), weights(whole)) == set()
    assert (resumed / "training.json").read_bytes() == (whole / "training.json").read_bytes()
    assert not (tmp_path / "checkpoints").exists()


SFT, DPO = (
    policy_settings(epochs=2.0, save_every=2),
    policy_settings(Dpo, epochs=2.0, save_every=2),
)  # six steps
POLICIES = {
    "sft": (train_sft, SFT),
    "dpo": (train_dpo, DPO),
    # Its reference is the start, not what the checkpoint holds.
    "whole-dpo": (train_dpo, DPO.model_copy(update={"lora": None})),
}


class CutOff(BaseException):
    """Ends a training as a kill does: nothing of ours catches it."""


class CutOffAfterFour(TrainerCallback):
    def on_save(self, args, state, control, **kwargs):
        if state.global_step == 4:
            raise CutOff


@pytest.mark.parametrize("name", POLICIES)
def test_a_policy_whose_training_was_cut_off_has_the_bytes_of_one_that_was_not(
    bases, tmp_path, monkeypatch, capsys, name
):
    function, how = POLICIES[name]
    train_on = finish.train_on

    def trained(folder):
        function(bases["tiny-llama"], ROWS, how, Job(1, folder / "checkpoints", folder / "model", name))
        return {path.name: path.read_bytes() for path in (folder / "model").iterdir()}

    def until_cut_off(trainer, label):
        trainer.add_callback(CutOffAfterFour())
        train_on(trainer, label)

    monkeypatch.setattr(finish, "train_on", until_cut_off)
    with pytest.raises(CutOff):
        trained(tmp_path / "cut")
    assert names_in(tmp_path / "cut") == ["checkpoints"]
    monkeypatch.undo()
    resumed = trained(tmp_path / "cut")
    assert f"{name}: resumes from checkpoint-4" in capsys.readouterr().err
    assert resumed == trained(tmp_path / "whole")
    assert names_in(tmp_path / "cut") == ["model"]


def test_checkpoints_of_other_data_seeds_settings_and_bases_lie_elsewhere(bases, tmp_path):
    other = tmp_path / "tiny-gemma"
    shutil.copytree(bases["tiny-gemma"], other, ignore=shutil.ignore_patterns("SHA256SUMS"))
    with open(other / "model.safetensors", "ab") as stream:
        stream.write(b" ")

    def folder(base=bases["tiny-gemma"], rows=ROWS, seed=1, **changes):
        job, asked = Job(seed, tmp_path, tmp_path / "model", "rm"), settings(**changes)
        arguments = trainer_arguments(asked, job.recorded(asked), base, Dataset.from_list(rows), job)
        return arguments["output_dir"]

    changes = {"learning_rate": 2e-2}, {"max_length": 20}, {"seed": 2}, {"rows": ROWS[::-1]}, {"base": other}
    assert folder() == folder()
    assert len({folder(), *(folder(**change) for change in changes)}) == 1 + len(changes)


NAMED = """
import os, sys
from pathlib import Path
sys.path.insert(0, sys.argv[1])
from tiny_models import ROWS, settings
from datasets import Dataset
from polyreward.training.common import Job, trainer_arguments

asked, job = settings(), Job(1, "checkpoints", "model", "rm")
rows = [{**row, "ids": [[7] * 3, [8]], "margin": [0.1]} for row in ROWS * 50]
print(Path(trainer_arguments(asked, job.recorded(asked), sys.argv[2], Dataset.from_list(rows), job)["output_dir"]).name)
"""


def test_checkpoints_of_a_run_have_one_name_in_other_processes_folders_and_years(tiny_gemma, tmp_path):
    for name in "ab":
        shutil.copytree(tiny_gemma, tmp_path / name, ignore=shutil.ignore_patterns("SHA256SUMS"))
        os.utime(tmp_path / name / "model.safetensors", (0, 10**9 * (name == "b")))
    names = set()
    for seed, name in enumerate("ab"):
        environment = {**os.environ, "PYTHONHASHSEED": str(seed), "PYTHONPATH": os.pathsep.join(sys.path)}
        command = [sys.executable, "-c", NAMED, str(Path(__file__).parents[1]), tmp_path / name]
        ran = subprocess.run(
            command, env=environment, capture_output=True, text=True, check=True, timeout=600
        )
        names.add(ran.stdout.strip())
    assert len(names) == 1 and len(names.pop()) == 16


def test_a_name_of_checkpoints_takes_little_memory(tiny_gemma, tmp_path):
    """A list of all tokens would take 40 bytes for each."""
    texts = Dataset.from_dict({"ids": [list(range(1000, 1100))] * 2000})
    asked, job = settings(), Job(1, tmp_path, tmp_path / "model", "rm")
    tracemalloc.start()
    trainer_arguments(asked, job.recorded(asked), tiny_gemma, texts, job)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 2000 * 100 * 20


def test_the_last_whole_checkpoint_is_the_newest_by_number(tmp_path):
    assert last_whole_checkpoint(tmp_path) is None
    states = {2: '{"global_step": 2}', 10: '{"global_step": 10}', 11: "", 12: '{"global_st', 13: None}
    for number, text in states.items():
        (tmp_path / f"checkpoint-{number}").mkdir()
        if text is not None:
            (tmp_path / f"checkpoint-{number}/trainer_state.json").write_text(text)
    assert last_whole_checkpoint(tmp_path).name == "checkpoint-10"
