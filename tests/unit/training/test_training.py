"""Reward models: how they are made and loaded, and training that is exact, resumable and leaves a plain
folder."""

import json
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file
from tiny_models import ROWS, settings, train
from transformers import AutoConfig, AutoModelForCausalLM, AutoModelForSequenceClassification, AutoTokenizer

from polyreward.core.conversations import conversation_ids
from polyreward.core.errors import PolyrewardError
from polyreward.models.reward_model import PAD_TOKEN, new_reward_model
from polyreward.settings.base import Lora
from polyreward.training import reward_model as training
from polyreward.training.checkpoints import last_whole_checkpoint

STEPS = {"epochs": 2}  # six steps on ROWS, a checkpoint after each
UNSEALED = shutil.ignore_patterns("SHA256SUMS")  # a copy that is changed on purpose


def weights(folder) -> dict[str, torch.Tensor]:
    return load_file(folder / "model.safetensors")


def assert_identical(one, other):
    one, other = weights(one), weights(other)
    assert one.keys() == other.keys()
    assert [name for name in one if not torch.equal(one[name], other[name])] == []


def leftovers(folder, *expected) -> set[str]:
    return {path.name for path in folder.iterdir()} - set(expected)


# --- new reward models


def test_the_head_is_drawn_with_standard_deviation_one_over_root_of_d_model_plus_one(base, tmp_path):
    config = AutoConfig.from_pretrained(base)
    config.hidden_size, config.num_hidden_layers = 4096, 1
    if getattr(config, "layer_types", None):
        config.layer_types = config.layer_types[:1]
    AutoModelForCausalLM.from_config(config).save_pretrained(tmp_path)
    AutoTokenizer.from_pretrained(base).save_pretrained(tmp_path)
    head = new_reward_model(tmp_path, seed=1)[0].score
    assert head.bias is None and head.weight.shape == (1, 4096)
    assert head.weight.std().item() == pytest.approx(4097**-0.5, rel=0.05)  # its standard error is 1%
    assert abs(head.weight.mean().item()) < 5 * 4097**-0.5 / 4096**0.5


def test_a_new_reward_model_depends_on_its_seed_and_not_on_what_ran_before(base):
    models = []
    for global_seed, seed in ((3, 1), (4, 1), (4, 2)):
        torch.manual_seed(global_seed)
        models.append(new_reward_model(base, seed)[0].state_dict())
    first, again, other = models
    assert [name for name in first if not torch.equal(first[name], again[name])] == []
    assert not torch.equal(first["score.weight"], other["score.weight"])


def test_the_rest_of_a_new_reward_model_is_the_base(base):
    of_base = AutoModelForCausalLM.from_pretrained(base).model.state_dict()
    of_model = new_reward_model(base, seed=1)[0].model.state_dict()
    assert of_base.keys() == of_model.keys()
    for name, tensor in of_base.items():
        assert torch.equal(of_model[name][: len(tensor)], tensor), name


def with_pad_token(base, folder, pad_token):
    """Save a base with another pad token; return its tokenizer, and a new reward model of it with its own."""
    shutil.copytree(base, folder, dirs_exist_ok=True, ignore=UNSEALED)
    tokenizer = AutoTokenizer.from_pretrained(base)
    tokenizer.pad_token = pad_token
    tokenizer.save_pretrained(folder)
    return tokenizer, *new_reward_model(folder, seed=1)


@pytest.mark.parametrize("pad_token", [None, "</s>"])
def test_a_base_without_a_pad_token_of_its_own_gets_one_and_a_larger_embedding(base, tmp_path, pad_token):
    tokenizer, model, with_pad = with_pad_token(base, tmp_path, pad_token)
    assert with_pad.pad_token == PAD_TOKEN
    assert with_pad.pad_token_id == len(tokenizer) == model.config.pad_token_id
    assert with_pad.pad_token_id != with_pad.eos_token_id
    assert model.get_input_embeddings().num_embeddings == len(tokenizer) + 1
    assert with_pad.padding_side == "right"


def test_a_base_with_its_own_pad_token_keeps_it_and_its_embedding(base, tmp_path):
    tokenizer, model, same = with_pad_token(base, tmp_path, "<s>")
    assert same.pad_token == "<s>"
    assert model.config.pad_token_id == tokenizer.pad_token_id
    assert model.get_input_embeddings().num_embeddings == model.config.vocab_size == len(tokenizer)


# --- what training writes


def test_the_folder_is_a_plain_hugging_face_model(base, reward_folder):
    model, loading = AutoModelForSequenceClassification.from_pretrained(
        reward_folder, output_loading_info=True
    )
    tokenizer = AutoTokenizer.from_pretrained(reward_folder)
    assert not any(loading.values())  # no missing, unexpected or mismatched weights
    assert model.config.num_labels == 1
    assert model.config.use_cache
    assert model.config.pad_token_id == tokenizer.pad_token_id != tokenizer.eos_token_id
    assert tokenizer.chat_template == AutoTokenizer.from_pretrained(base).chat_template
    ids = conversation_ids(tokenizer, "Hello", "Hi!", 99)[0]
    assert torch.isfinite(model(torch.tensor([ids])).logits).all()


def test_adapters_are_merged_into_the_top_layer_and_nothing_else_changes(base, reward_folder):
    assert not [path.name for path in reward_folder.iterdir() if "adapter" in path.name]
    before, after = new_reward_model(base, seed=1)[0].state_dict(), weights(reward_folder)
    assert before.keys() == after.keys()
    changed = {name for name in before if not torch.equal(before[name], after[name])}
    last = AutoConfig.from_pretrained(base).num_hidden_layers - 1
    top = {name for name in before if name.startswith(f"model.layers.{last}.") and "_proj" in name}
    assert len(top) == 7
    assert changed == {*top, "score.weight"}


def test_full_fine_tuning_changes_every_layer_and_lowers_the_loss_on_its_own_pairs(base, tmp_path):
    folder = train(base, tmp_path, epochs=10, lora=None)
    before, after = new_reward_model(base, seed=1)[0].state_dict(), weights(folder)
    assert before.keys() == after.keys()
    assert [name for name in before if torch.equal(before[name], after[name])] == []
    losses = [
        step["loss"] for step in json.loads((folder / "training.json").read_text())["steps"] if "loss" in step
    ]
    assert sum(losses[-3:]) < 0.5 * sum(losses[:3])


def test_the_top_layers_may_be_more_than_there_are(base, tmp_path):
    before = new_reward_model(base, seed=1)[0].state_dict()
    after = weights(train(base, tmp_path, lora=Lora(rank=2, alpha=4, top_layers=9)))
    assert not torch.equal(
        before["model.layers.0.mlp.up_proj.weight"], after["model.layers.0.mlp.up_proj.weight"]
    )


def test_training_json_counts_truncated_and_dropped_pairs(base, tmp_path):
    short = len(conversation_ids(AutoTokenizer.from_pretrained(base), "A", "b", 99)[0])
    rows = [
        # The same after truncation
        {"prompt": "Say", "chosen": "one" + " same" * short, "rejected": "two" + " same" * short},
        {"prompt": "Say", "chosen": "the same " * short + "end", "rejected": "the same " * short + "start"},
        {"prompt": "A", "chosen": "b", "rejected": "c"},
    ]
    record = json.loads((train(base, tmp_path, rows=rows, max_length=short) / "training.json").read_text())
    assert record["counts"] == {"requests": 2, "pairs": 2, "truncated": 2, "dropped": 1, "dropped_by_trl": 0}


def test_training_json_has_settings_and_steps_but_no_clocks_and_no_paths(reward_folder):
    text = (reward_folder / "training.json").read_text()
    record = json.loads(text)
    assert record["seed"] == 1
    assert record["settings"] == {**settings().model_dump(), "precision": "float32", "liger": False}
    assert [step["step"] for step in record["steps"] if "loss" in step] == [1, 2, 3]
    assert "/" not in text
    assert not [word for word in ("runtime", "per_second", "time", "date") if word in text]


# --- determinism


def test_two_runs_with_the_same_seed_are_identical_bit_for_bit(base, reward_folder, tmp_path):
    torch.manual_seed(3)  # whatever ran before
    again = train(base, tmp_path)
    assert_identical(again, reward_folder)
    assert (again / "training.json").read_bytes() == (reward_folder / "training.json").read_bytes()


def test_another_seed_gives_other_weights(base, reward_folder, tmp_path):
    one, other = weights(reward_folder), weights(train(base, tmp_path, seed=2))
    assert not torch.equal(one["score.weight"], other["score.weight"])


def test_gradient_checkpointing_changes_no_weight(base, reward_folder, tmp_path):
    one, other = weights(reward_folder), weights(train(base, tmp_path, gradient_checkpointing=True))
    for name in one:
        torch.testing.assert_close(one[name], other[name], atol=1e-5, rtol=0)


# --- resuming

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


@pytest.fixture(scope="module")
def interrupted(tiny_gemma, tmp_path_factory):
    """A folder with what a run left that was killed after its second checkpoint."""
    folder = tmp_path_factory.mktemp("killed")
    result = subprocess.run(
        [sys.executable, "-c", KILLED, tiny_gemma, folder], capture_output=True, check=False, timeout=600
    )
    assert result.returncode == -signal.SIGKILL, result.stderr.decode()
    assert leftovers(folder, "checkpoints") == set()
    return folder


@pytest.fixture(scope="module")
def uninterrupted(tiny_gemma, tmp_path_factory):
    return train(tiny_gemma, tmp_path_factory.mktemp("whole"), **STEPS)


@pytest.fixture
def killed(interrupted, tmp_path):
    shutil.copytree(interrupted, tmp_path, dirs_exist_ok=True)
    return tmp_path


def newest_state(folder) -> Path:
    (state,) = folder.glob("checkpoints/*/checkpoint-2/trainer_state.json")
    return state


def test_a_killed_run_resumes_and_ends_with_the_same_weights(tiny_gemma, killed, uninterrupted, capsys):
    resumed = train(tiny_gemma, killed, **STEPS)
    assert "tiny-gemma_en: resumes from checkpoint-2" in capsys.readouterr().err
    assert_identical(resumed, uninterrupted)
    assert (resumed / "training.json").read_bytes() == (uninterrupted / "training.json").read_bytes()
    assert leftovers(killed, "model") == set()


@pytest.mark.parametrize("kept", [None, 0, 99], ids=["missing", "empty", "half"])
def test_a_checkpoint_cut_in_half_is_ignored(tiny_gemma, killed, uninterrupted, capsys, kept):
    state = newest_state(killed)
    state.unlink() if kept is None else state.write_text(state.read_text()[:kept])
    resumed = train(tiny_gemma, killed, **STEPS)
    assert "resumes from checkpoint-1" in capsys.readouterr().err
    assert_identical(resumed, uninterrupted)


@pytest.mark.parametrize(
    "change", [{"learning_rate": 2e-2}, {"seed": 2}, {"rows": ROWS[::-1]}, {"max_length": 20}]
)
def test_a_checkpoint_of_another_run_is_not_taken_up(tiny_gemma, killed, tmp_path_factory, capsys, change):
    after = train(tiny_gemma, killed, **{**STEPS, **change})
    assert "resumes" not in capsys.readouterr().err
    assert_identical(after, train(tiny_gemma, tmp_path_factory.mktemp("fresh"), **{**STEPS, **change}))


def test_a_checkpoint_of_another_base_is_not_taken_up(tiny_gemma, killed, tmp_path_factory, capsys):
    other = tmp_path_factory.mktemp("other") / tiny_gemma.name
    shutil.copytree(tiny_gemma, other, ignore=UNSEALED)
    model = AutoModelForCausalLM.from_pretrained(tiny_gemma)
    model.model.layers[0].mlp.up_proj.weight.data *= 2  # the same tokenizer and sizes, other weights
    model.save_pretrained(other)
    train(other, killed, **STEPS)
    assert "resumes" not in capsys.readouterr().err


def test_the_last_whole_checkpoint_is_the_newest_by_number(tmp_path):
    assert last_whole_checkpoint(tmp_path) is None
    for number in (2, 10, 11):
        (tmp_path / f"checkpoint-{number}").mkdir()
    for number in (2, 10):
        (tmp_path / f"checkpoint-{number}/trainer_state.json").write_text('{"global_step": 1}')
    assert last_whole_checkpoint(tmp_path).name == "checkpoint-10"


# --- failures


@pytest.mark.parametrize("given", [{"rows": []}, {"max_length": 1}], ids=str)  # of 1: both sides are the same
def test_no_pair_to_train_on_is_a_users_error_that_leaves_nothing(base, tmp_path, given):
    words = "no preference pair is left to train on; look at the training rows and max_length"
    with pytest.raises(PolyrewardError, match=words):
        train(base, tmp_path, **given)
    assert leftovers(tmp_path) == set()


def test_a_failure_while_training_leaves_no_model_but_the_checkpoints(tiny_gemma, tmp_path, monkeypatch):
    def fail(self, args, state, control, **kwargs):
        raise RuntimeError("out of memory")

    monkeypatch.setattr(training.Announce, "on_save", fail, raising=False)
    with pytest.raises(RuntimeError, match="out of memory"):
        train(tiny_gemma, tmp_path)
    assert leftovers(tmp_path, "checkpoints") == set()
    assert list(tmp_path.glob("checkpoints/*/checkpoint-1/trainer_state.json"))


@pytest.mark.parametrize("spoilt", ["loss", "gradient"])
def test_a_training_ends_at_its_first_loss_or_gradient_that_is_not_finite(
    base, tmp_path, monkeypatch, spoilt
):
    plain = training.RewardTrainer.training_step

    def step(self, model, *rest):
        loss = plain(self, model, *rest)
        if self.state.global_step == 1:  # the second step
            if spoilt == "loss":
                return loss * float("nan")
            next(p for p in model.parameters() if p.grad is not None).grad.view(-1)[0] = float("inf")
        return loss

    monkeypatch.setattr(training.RewardTrainer, "training_step", step)
    words = f"the {spoilt} of step 2 is not finite; nothing is saved. Lower learning_rate.*batch: `"
    with pytest.raises(PolyrewardError, match=words):
        train(base, tmp_path)
    assert not (tmp_path / "model").exists()


def test_a_failure_while_saving_leaves_no_half_written_model(tiny_gemma, tmp_path, monkeypatch):
    def full(text, path):
        raise OSError(28, "No space left on device", str(path))

    monkeypatch.setattr("polyreward.training.finish.write_text", full)
    with pytest.raises(PolyrewardError, match="No space left on device"):
        train(tiny_gemma, tmp_path)
    assert leftovers(tmp_path, "checkpoints") == set()
