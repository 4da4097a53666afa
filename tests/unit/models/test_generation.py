"""A model's texts end where its folder says, whatever writes them."""

import shutil

import pytest
from published_repositories import gemma3
from tiny_models import ROWS, grpo_settings, policy_settings
from transformers import AutoTokenizer

from polyreward.alignment.sampling import Policy
from polyreward.core.conversations import as_turns
from polyreward.models.generation import declared_ends, generation_config
from polyreward.scoring.load import load_causal_lm
from polyreward.scoring.local_judge import LocalBackend, generated, kept_ids
from polyreward.settings.transfer import Dpo, Sampling
from polyreward.training.common import Job
from polyreward.training.grpo import train_by_grpo
from polyreward.training.policies import load_policy, train_dpo, train_sft

ENDS = {1, 3}  # <eos>, the tokenizer's own, and <end_of_turn>
SAMPLING = Sampling(temperature=1.0, top_k=1, max_new_tokens=6, batch_size=4)
SCORING = {"dtype": "float32", "max_length": 128, "token_budget": 4000}


@pytest.fixture(scope="module")
def two_ends(tmp_path_factory):
    """A folder of a Gemma 3, which declares two ends."""
    folder = tmp_path_factory.mktemp("gemma3")
    gemma3(folder)
    assert declared_ends(generation_config(folder)) == ENDS
    return folder


def test_a_policy_stops_at_all_ends_and_its_conversations_have_one_of_them(two_ends):
    model, tokenizer = load_policy(two_ends)
    assert set(model.generation_config.eos_token_id) == ENDS
    assert tokenizer.chat_template == AutoTokenizer.from_pretrained(two_ends).chat_template


@pytest.mark.parametrize("train_policy", [train_sft, train_dpo])
def test_a_trained_policy_declares_the_ends_of_its_base(two_ends, tmp_path, train_policy):
    settings = policy_settings(Dpo if train_policy is train_dpo else type(policy_settings()))
    train_policy(two_ends, ROWS, settings, Job(1, tmp_path / "checkpoints", tmp_path / "policy", "policy"))
    assert declared_ends(generation_config(tmp_path / "policy")) == ENDS


def test_grpo_ends_replies_at_all_ends_and_declares_them(two_ends, tmp_path):
    class Rewarder:
        trainer, share, weights = None, False, (1.0,)

        def functions(self):
            return [self.length]

        def length(self, completion_ids, **kwargs):
            assert set(self.trainer.eos_token_ids) == ENDS
            return [float(len(ids)) for ids in completion_ids]

    examples = [{"prompt": as_turns(row["prompt"])} for row in ROWS]
    settings, job = grpo_settings(steps=1), Job(1, tmp_path / "checkpoints", tmp_path / "policy", "grpo")
    train_by_grpo(two_ends, examples, 1, lambda tokenizer: Rewarder(), settings, job, "")
    assert declared_ends(generation_config(tmp_path / "policy")) == ENDS


def test_a_policy_and_a_judge_of_one_folder_stop_at_the_same_declared_end(tiny_gemma, tmp_path):
    request = as_turns(ROWS[0]["prompt"])
    lm = load_causal_lm(tiny_gemma, **SCORING)
    (said,) = generated(lm, kept_ids(lm.tokenizer, [request], 128), 6, "")
    end = next(token for token in said if token != said[0])
    expected, whole = (lm.tokenizer.decode(tokens).strip() for tokens in (said[: said.index(end) + 1], said))
    assert expected != whole
    shutil.copytree(tiny_gemma, tmp_path, dirs_exist_ok=True, ignore=shutil.ignore_patterns("SHA256SUMS"))
    own = generation_config(tmp_path)
    own.eos_token_id = [1, end]
    own.save_pretrained(tmp_path)
    judge = LocalBackend(load_causal_lm(tmp_path, **SCORING), 6)
    assert [reply.strip() for reply in judge.replies([request], "")] == [expected]
    assert Policy(tmp_path, SAMPLING).responses([request], 1, 5, "") == [[expected]]
