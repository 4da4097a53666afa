"""A GRPO run: what it changes, what it logs, and how it resumes."""

import numpy as np
import pandas as pd
import pytest
import torch
from locals_data import CULTURES, item
from support import script
from tiny_models import grpo_settings
from transformers import AutoModelForCausalLM, AutoTokenizer

from polyreward.core.errors import PolyrewardError
from polyreward.settings.think_as_locals import Grpo, RewardWeights
from polyreward.think_as_locals.grpo import train_grpo
from polyreward.think_as_locals.rewards import Rewards
from polyreward.training.common import Job

curves = script("artifacts/carb_locals_curves").curves
pairs = script("prepare/locals_pairs")

ALL = RewardWeights(correctness=1, appropriateness=1, layout=1)
GRPO = grpo_settings(
    Grpo, iterations=2, warmup_ratio=0.1, lr_scheduler="cosine", save_every=2, scale_rewards="group", pairs=4
)
QUESTIONS = pairs.both_orders(pairs.training_pairs([item("tea", culture) for culture in CULTURES])[:8])


class EvenTokens(Rewards):
    """Instead of the layout, which random weights never find: the share of even token ids, which can be
    learnt."""

    def layout(self, completions, completion_ids, **kwargs):
        return [float(np.mean([token % 2 == 0 for token in ids])) for ids in completion_ids]


class ByQuestion(Rewards):
    """The same for all replies to a question, and another for the question in the other order."""

    def layout(self, right, **kwargs):
        return [1.0 if label == "A" else -1.0 for label in right]


def grpo(start, folder, rewards=EvenTokens, weights_of=ALL, precision="float32", **changes):
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr("polyreward.think_as_locals.grpo.Rewards", rewards)
        job = Job(1, folder / "checkpoints", folder / "model", "grpo", precision)
        train_grpo(start, QUESTIONS, GRPO.model_copy(update=changes), job, weights_of, criteria=True, quote=0)
    return folder / "model"


def curves_of(folder):
    return curves({"full": folder / "training.json"})


@pytest.fixture(scope="module")
def grpo_folder(bases, tmp_path_factory):
    return grpo(bases["tiny-gemma"], tmp_path_factory.mktemp("grpo"))


def weights(folder) -> dict[str, torch.Tensor]:
    return AutoModelForCausalLM.from_pretrained(folder).state_dict()


def changed_weights(before, after) -> set[str]:
    old, new = weights(before), weights(after)
    return {name for name, weight in new.items() if not torch.equal(weight[: len(old[name])], old[name])}


def assert_adapted(folder, base):
    changed = changed_weights(base, folder)
    assert changed and all("layers.1." in name for name in changed)


def test_grpo_changes_only_adapted_layers_and_leaves_a_plain_folder_with_a_record_of_each_step(
    grpo_folder, bases
):
    assert_adapted(grpo_folder, bases["tiny-gemma"])
    assert AutoTokenizer.from_pretrained(grpo_folder).chat_template
    assert not (grpo_folder.parent / "checkpoints").exists()
    table = curves_of(grpo_folder)
    assert list(table["step"]) == [1, 2, 3, 4]
    assert list(table["step"][table["reward"].notna()]) == [1, 3]  # every second step has new replies
    assert (table["correctness"].dropna() == -1).all()
    assert (table["reward"].dropna() == table["layout"].dropna() - 1).all()
    assert set(table["groups"].dropna()) == {2}
    assert (table["kl"] > 0).any() and table[["entropy", "loss"]].notna().all(axis=None)
    assert "step_time" not in (grpo_folder / "training.json").read_text()


def test_replies_that_share_a_prompt_teach_what_they_teach_one_by_one(grpo_folder, bases, tmp_path, monkeypatch):  # fmt: skip
    monkeypatch.setattr("polyreward.accel.trainers.runs_from_shared_prompts", lambda model: False)
    separate = grpo(bases["tiny-gemma"], tmp_path)
    pd.testing.assert_frame_equal(curves_of(separate), curves_of(grpo_folder), atol=1e-4)
    before, after = weights(bases["tiny-gemma"]), weights(grpo_folder)
    moved = max((after[name][: len(weight)] - weight).abs().max().item() for name, weight in before.items())
    apart = max((after[name] - weight).abs().max().item() for name, weight in weights(separate).items())
    assert apart < 0.05 * moved


def test_groups_whose_rewards_are_all_equal_are_counted_and_teach_nothing(bases, tmp_path):
    folder = grpo(bases["tiny-gemma"], tmp_path, rewards=Rewards, beta=0.0)
    table = curves_of(folder).dropna(subset="reward")
    assert table["groups_equal"].tolist() == [2, 2]
    assert table["reward"].tolist() == [-2, -2]  # no right verdict, no layout
    assert table["valid_share"].tolist() == [0, 0] and table["share_endless"].tolist() == [1, 1]
    assert not changed_weights(bases["tiny-gemma"], folder)
    no_appr = ALL.model_copy(update={"appropriateness": 0.0})
    divided = {"rewards": ByQuestion, "weights_of": no_appr, "beta": 0.0, "scale_rewards": "batch"}
    table = curves_of(grpo(bases["tiny-gemma"], tmp_path / "by-batch", **divided))
    assert table["groups_equal"].dropna().tolist() == [2, 2]


def test_what_rewards_are_divided_by_decides_what_is_learnt(grpo_folder, bases, tmp_path):
    assert changed_weights(grpo_folder, grpo(bases["tiny-gemma"], tmp_path, scale_rewards="none"))


def test_grpo_in_bfloat16_leaves_what_it_does_not_train_as_it_was(bases, tmp_path):
    folder = grpo(bases["tiny-gemma"], tmp_path, precision="bfloat16", steps=2)
    assert_adapted(folder, bases["tiny-gemma"])
    assert {weight.dtype for weight in weights(folder).values()} == {torch.float32}


def test_grpo_raises_what_is_rewarded(bases, tmp_path):
    folder = grpo(bases["tiny-gemma"], tmp_path, steps=40, lora=None, generations=4, batch_size=16, beta=0.0)
    reward = curves_of(folder)["layout"].dropna().tolist()
    assert np.mean(reward[-3:]) > np.mean(reward[:3]) + 0.1


def test_a_killed_grpo_run_goes_on_and_ends_with_the_same_weights(
    grpo_folder, bases, tmp_path, monkeypatch, capsys
):
    def die(self, args, state, control, **kwargs):
        if state.global_step == 3:
            raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr("polyreward.training.grpo.Announce.on_step_end", die)
        with pytest.raises(KeyboardInterrupt):
            grpo(bases["tiny-gemma"], tmp_path)
    assert not (tmp_path / "model").exists()
    resumed = grpo(bases["tiny-gemma"], tmp_path)
    assert "resumes from checkpoint-2" in capsys.readouterr().err
    assert not changed_weights(grpo_folder, resumed)
    assert (resumed / "training.json").read_text() == (grpo_folder / "training.json").read_text()


def test_fewer_questions_than_an_update_takes_are_an_error(bases, tmp_path):
    said = "0 of 16 questions are left to train on, fewer than the 2 of one update"
    with pytest.raises(PolyrewardError, match=said):
        grpo(bases["tiny-gemma"], tmp_path, max_length=5)
    assert not list(tmp_path.iterdir())
