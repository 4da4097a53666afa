"""Reward models: how they are made, and training that is exact and leaves a plain folder."""

import shutil

import pytest
import torch
from tiny_models import ROWS, settings, train
from trained_folders import changed, names_in, record_of, weights
from transformers import (
    AutoConfig,
    AutoModelForCausalLM,
    AutoModelForSequenceClassification,
    AutoTokenizer,
)
from transformers.models.gemma3 import modeling_gemma3

from polyreward.core.conversations import conversation_ids
from polyreward.core.errors import PolyrewardError
from polyreward.models.reward_model import PAD_TOKEN, new_reward_model
from polyreward.settings.base import Lora
from polyreward.training import reward_model as training
from polyreward.training.common import Job

STEPS = {"epochs": 2}  # six steps on ROWS, a checkpoint after each


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


def test_a_new_reward_model_is_its_base_with_a_head_of_its_seed_whatever_ran_before(base):
    models = []
    for global_seed, seed in ((3, 1), (4, 1), (4, 2)):
        torch.manual_seed(global_seed)
        models.append(new_reward_model(base, seed)[0])
    first, again, other = (model.state_dict() for model in models)
    assert changed(first, again) == set()
    assert not torch.equal(first["score.weight"], other["score.weight"])
    of_base, of_model = (
        AutoModelForCausalLM.from_pretrained(base).model.state_dict(),
        models[0].model.state_dict(),
    )
    assert of_base.keys() == of_model.keys()
    assert all(torch.equal(of_model[name][: len(tensor)], tensor) for name, tensor in of_base.items())


@pytest.mark.parametrize("pad_token", [None, "</s>", "<s>"])
def test_a_base_without_a_pad_token_of_its_own_gets_one_and_a_larger_embedding(base, tmp_path, pad_token):
    shutil.copytree(base, tmp_path, dirs_exist_ok=True, ignore=shutil.ignore_patterns("SHA256SUMS"))
    tokenizer = AutoTokenizer.from_pretrained(base)
    tokenizer.pad_token = pad_token
    tokenizer.save_pretrained(tmp_path)
    model, padding = new_reward_model(tmp_path, seed=1)
    own = pad_token == "<s>"
    assert padding.pad_token == ("<s>" if own else PAD_TOKEN)
    assert (
        padding.pad_token_id
        == model.config.pad_token_id
        == (tokenizer.pad_token_id if own else len(tokenizer))
    )
    assert padding.pad_token_id != padding.eos_token_id and padding.padding_side == "right"
    size = model.get_input_embeddings().num_embeddings
    assert size == model.config.vocab_size == len(tokenizer) + (not own)


# --- what training writes


def test_the_folder_is_a_plain_hugging_face_model(base, reward_folder):
    model, loading = AutoModelForSequenceClassification.from_pretrained(
        reward_folder, output_loading_info=True
    )
    tokenizer = AutoTokenizer.from_pretrained(reward_folder)
    assert not any(loading.values())  # no missing, unexpected or mismatched weights
    assert model.config.num_labels == 1 and model.config.use_cache
    assert model.config.pad_token_id == tokenizer.pad_token_id != tokenizer.eos_token_id
    assert tokenizer.chat_template == AutoTokenizer.from_pretrained(base).chat_template
    ids = conversation_ids(tokenizer, "Hello", "Hi!", 99)[0]
    assert torch.isfinite(model(torch.tensor([ids])).logits).all()


def test_adapters_are_merged_into_the_top_layer_and_nothing_else_changes(base, reward_folder):
    assert not [name for name in names_in(reward_folder) if "adapter" in name]
    before = new_reward_model(base, seed=1)[0].state_dict()
    last = AutoConfig.from_pretrained(base).num_hidden_layers - 1
    top = {name for name in before if name.startswith(f"model.layers.{last}.") and "_proj" in name}
    assert len(top) == 7
    assert changed(before, weights(reward_folder)) == {*top, "score.weight"}


def test_full_fine_tuning_changes_every_layer_and_lowers_the_loss_on_its_own_pairs(base, tmp_path, capsys):
    folder = train(base, tmp_path, epochs=10, lora=None)
    after = weights(folder)
    assert changed(new_reward_model(base, seed=1)[0].state_dict(), after) == set(after)
    losses = [step["loss"] for step in record_of(folder)["steps"] if "loss" in step]
    assert sum(losses[-3:]) < 0.5 * sum(losses[:3])
    assert len(losses) == training.ENOUGH_STEPS and "learnt nothing" not in capsys.readouterr().err


def test_a_training_that_ends_as_a_guess_says_so(tiny_gemma, tmp_path, capsys):
    folder = train(tiny_gemma, tmp_path, epochs=10, lora=None, learning_rate=1e-12)
    said = capsys.readouterr().err
    line = next(line for line in said.splitlines() if "may have learnt nothing" in line)
    assert line.startswith("warning: ") and "in the last fifth of its steps the loss is 0." in line
    losses = [step["loss"] for step in record_of(folder)["steps"] if "loss" in step]
    assert len(losses) == training.ENOUGH_STEPS


@pytest.mark.parametrize(
    ("losses", "warns"),
    [([0.693] * 40, True), ([0.9] * 40, True), ([0.9] * 32 + [0.6] * 8, False), ([0.3] * 32 + [0.7] * 8, True),
     ([0.693] * 29, False), ([], False)],
)  # fmt: skip
def test_only_the_last_fifth_of_enough_steps_shows_a_guess(losses, warns):
    history = [{"loss": loss} for loss in losses] + [{"train_loss": 0.1}]
    assert bool(training.guessing_warning(history)) == warns


def test_the_top_layers_may_be_more_than_there_are(base, tmp_path):
    after = weights(train(base, tmp_path, lora=Lora(rank=2, alpha=4, top_layers=9)))
    assert "model.layers.0.mlp.up_proj.weight" in changed(
        new_reward_model(base, seed=1)[0].state_dict(), after
    )


def test_training_json_counts_truncated_and_dropped_pairs(base, tmp_path):
    short = len(conversation_ids(AutoTokenizer.from_pretrained(base), "A", "b", 99)[0])
    rows = [
        # The same after truncation
        {"prompt": "Say", "chosen": "one" + " same" * short, "rejected": "two" + " same" * short},
        {"prompt": "Say", "chosen": "the same " * short + "end", "rejected": "the same " * short + "start"},
        {"prompt": "A", "chosen": "b", "rejected": "c"},
    ]
    record = record_of(train(base, tmp_path, rows=rows, max_length=short))
    assert record["counts"] == {"requests": 2, "pairs": 2, "truncated": 2, "dropped": 1}


def test_training_json_has_settings_and_steps_but_no_clocks_and_no_paths(reward_folder):
    record, text = record_of(reward_folder), (reward_folder / "training.json").read_text()
    assert record["seed"] == 1
    assert record["settings"] == {**settings().model_dump(), "precision": "float32", "liger": False}
    assert [step["step"] for step in record["steps"] if "loss" in step] == [1, 2, 3]
    assert not [word for word in ("/", "runtime", "per_second", "time", "date") if word in text]


# --- determinism


def test_two_runs_are_identical_bit_for_bit_by_their_seed(base, reward_folder, tmp_path):
    torch.manual_seed(3)  # whatever ran before
    again = train(base, tmp_path)
    assert changed(weights(again), weights(reward_folder)) == set()
    assert (again / "training.json").read_bytes() == (reward_folder / "training.json").read_bytes()
    assert "score.weight" in changed(weights(again), weights(train(base, tmp_path, seed=2, name="other")))


def test_what_liger_replaces_in_transformers_is_there_again_for_the_next_model(
    tiny_gemma, tmp_path, monkeypatch
):
    modeling = modeling_gemma3
    norm, rotary = modeling.Gemma3RMSNorm, modeling.apply_rotary_pos_emb
    patched = []

    class Replaced(norm):
        pass

    def stand_in(model, _):
        """Patch as liger_kernel does: the modules' classes and functions, and the model itself."""
        modeling.Gemma3RMSNorm, modeling.apply_rotary_pos_emb = (
            Replaced,
            lambda *args, **more: rotary(*args, **more),
        )
        forward = model.get_base_model().forward
        model.get_base_model().forward = lambda **given: patched.append(1) or forward(**given)

    monkeypatch.setattr("transformers.trainer.apply_liger_kernel", stand_in)
    job = Job(1, tmp_path / "checkpoints", tmp_path / "model", "liger", liger=True)
    training.train_reward_model(tiny_gemma, ROWS, settings(), job)
    assert len(patched) == 3  # steps
    assert (modeling.Gemma3RMSNorm, modeling.apply_rotary_pos_emb) == (norm, rotary)
    assert not any(isinstance(part, Replaced) for part in new_reward_model(tiny_gemma, 1)[0].modules())


def test_a_training_prints_no_warning_of_names_that_will_go(tiny_gemma, tmp_path, recwarn):
    train(tiny_gemma, tmp_path, gradient_checkpointing=True)
    assert [str(one.message) for one in recwarn if issubclass(one.category, FutureWarning)] == []


def test_gradient_checkpointing_changes_no_weight(base, reward_folder, tmp_path):
    one, other = weights(reward_folder), weights(train(base, tmp_path, gradient_checkpointing=True))
    for name in one:
        torch.testing.assert_close(one[name], other[name], atol=1e-5, rtol=0)


# --- failures


@pytest.mark.parametrize("given", [{"rows": []}, {"max_length": 1}], ids=str)  # of 1: both sides are the same
def test_no_pair_to_train_on_is_a_users_error_that_leaves_nothing(base, tmp_path, given):
    words = "no preference pair is left to train on; look at the training rows and max_length"
    with pytest.raises(PolyrewardError, match=words):
        train(base, tmp_path, **given)
    assert names_in(tmp_path) == []


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
    words = f"the {spoilt} of step 2 is not finite; nothing is saved. Lower learning_rate"
    with pytest.raises(PolyrewardError, match=words):
        train(base, tmp_path)
    assert names_in(tmp_path) == ["checkpoints"]


def test_a_failure_while_saving_leaves_no_half_written_model_but_the_checkpoints(
    tiny_gemma, tmp_path, monkeypatch
):
    def full(text, path):
        raise OSError(28, "No space left on device", str(path))

    monkeypatch.setattr("polyreward.training.finish.write_text", full)
    with pytest.raises(PolyrewardError, match="No space left on device"):
        train(tiny_gemma, tmp_path)
    assert names_in(tmp_path) == ["checkpoints"]
    assert list(tmp_path.glob("checkpoints/*/checkpoint-3/trainer_state.json"))
