"""GRPO with a reward model's score as the reward: what is scored, what is learnt, and what is saved."""

import json

import numpy as np
import pytest
from made_up_scorers import ByText
from support import refused, script
from tiny_models import bases, train  # noqa: F401
from transformers import AutoModelForCausalLM

from polyreward.carb.downstream.grpo import ScoreReward, policy_prompts, train_policy
from polyreward.carb.downstream.ratings import NOTHING
from polyreward.core.logs import progress
from polyreward.settings.base import Candidates, GrpoTraining, Lora
from polyreward.training.common import Job

candidates = script("score/candidates")

GRPO = GrpoTraining(
    steps=2, generations=2, learning_rate=1e-2, warmup_ratio=0.1, batch_size=4, max_length=200, max_new_tokens=6,
    temperature=1.0, scale_rewards="group", beta=0.0, save_every=1, lora=Lora(rank=2, alpha=4, top_layers=1),
)  # fmt: skip
PROMPTS = [f"What do people eat in winter? {n}" for n in range(6)]
SCORING = {"dtype": "float32", "max_length": 256, "token_budget": 4096, "attention": "sdpa"}


class Announcing(ByText):
    """A scorer that shows its progress."""

    def score(self, conversations, label):
        with progress(label, len(conversations)) as advance:
            advance(len(conversations))
        return super().score(conversations, label)


def scored(model, prompts, *replies):
    asked, replied = (
        [[{"role": role, "content": text}] for text in texts]
        for role, texts in (("user", prompts), ("assistant", replies))
    )
    return ScoreReward(model, "r").score(asked, replied)


def test_replies_to_one_prompt_are_scored_together_and_an_empty_one_as_nothing(capsys):
    model = Announcing(len)
    assert scored(model, "pqpq", "aa", "bbb", " a\n", " ") == [2, 3, 1, len(NOTHING)]
    ((first, second),) = model.asked
    assert (tuple(first), tuple(second)) == (("p", ("aa", "a")), ("q", ("bbb", NOTHING)))
    assert not capsys.readouterr().err  # the training shows its own progress
    with progress("again", 1) as advance:
        advance(1)
    assert "again: 1 of 1 texts" in capsys.readouterr().err


def test_a_score_that_is_no_number_is_refused():
    assert "a reply's score is NaN or infinite" in refused(
        scored, ByText(lambda answer: np.nan), "pp", "a", "b"
    )


def test_prompts_are_drawn_once_each_whatever_their_order_and_a_smaller_draw_is_part_of_a_larger_one():
    items = [
        {"id": f"{topic}_{place}", "prompt": f"{topic} in {place}?"} for topic in "abcd" for place in "xy"
    ]
    found = policy_prompts([*items, *items], 5, 1)
    assert len(set(found)) == 5 and set(found) <= {item["prompt"] for item in items}
    assert policy_prompts(items[::-1], 3, 1) == found[:3] and policy_prompts(items, 99, 1)[:5] == found
    assert policy_prompts(items, 5, 2) != found


def trained(base, reward, folder, **changes):
    entry, grpo = {"kind": "classifier", "source": str(reward)}, GRPO.model_copy(update=changes)
    cache, checkpoints, policy = (folder / name for name in ("cache", "checkpoints", "policy"))
    train_policy(base, PROMPTS, grpo, Job(1, checkpoints, policy, "rm"), entry, SCORING, cache)
    record = json.loads((policy / "training.json").read_text())
    return policy, record, [step for step in record["steps"] if "reward" in step]


@pytest.fixture(scope="module")
def reward_model(bases, tmp_path_factory):  # noqa: F811
    return train(bases["tiny-gemma"], tmp_path_factory.mktemp("reward"))


def test_a_policy_is_trained_by_a_reward_model_of_another_base_and_is_a_plain_folder(
    bases,  # noqa: F811
    reward_model,
    tmp_path,
):
    policy, record, steps = trained(bases["tiny-llama"], reward_model, tmp_path)
    before, after = (
        AutoModelForCausalLM.from_pretrained(folder).state_dict() for folder in (bases["tiny-llama"], policy)
    )
    changed = {name for name in before if not np.array_equal(before[name], after[name][: len(before[name])])}
    assert changed and all("layers.1." in name for name in changed)
    assert record["questions"] == 6 and record["groups"] == 2 and len(steps) == 2
    assert [step["reward"] for step in steps] == [step["rewards/score/mean"] for step in steps]
    assert not (tmp_path / "checkpoints").exists()
    question = {"id": "q", "downstream": "d", "prompt": "What?", "shown": "What?\n"}
    sampling = (Candidates(per_question=3, max_new_tokens=4, chat=False), "float32")
    once, again = (
        candidates.policy_answers("p", policy, [question], *sampling, seed, greedy=True)[0]["answers"]
        for seed in (1, 2)
    )
    assert once == again and len(once) == 1  # the likeliest, whatever the seed


@pytest.mark.slow
def test_the_reward_rises_when_it_can_be_learnt(bases, tmp_path, monkeypatch):  # noqa: F811
    letters = ByText(lambda answer: answer.count("e"))
    monkeypatch.setattr("polyreward.carb.downstream.grpo.load_reward_model", lambda *given: letters)
    settings = {"steps": 40, "lora": None, "generations": 8, "batch_size": 32, "max_new_tokens": 12}
    _, _, steps = trained(bases["tiny-gemma"], "nowhere", tmp_path, **settings)
    rewards = [step["reward"] for step in steps]
    assert np.mean(rewards[-5:]) > np.mean(rewards[:5]) + 0.5


def test_fewer_prompts_than_an_update_takes_are_an_error(bases, reward_model, tmp_path):  # noqa: F811
    error = refused(trained, bases["tiny-llama"], reward_model, tmp_path, batch_size=16)
    said = ("6 of 6 questions are left", "fewer than the 8 of one update; raise carb.grpo.prompts")
    assert all(part in error for part in said)


def test_a_folder_that_says_why_it_holds_no_policy_answers_nothing(tmp_path):
    (tmp_path / "missing.json").write_text('{"missing": "gone"}')
    assert candidates.policy_answers("p", tmp_path, [{"id": "q"}], None, "float32", 1) == []
