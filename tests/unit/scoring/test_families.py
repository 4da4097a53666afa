"""From an entry of the configuration to a reward model."""

from importlib import import_module
from typing import get_args

import pytest
from tiny_models import ROWS

from polyreward.core.kinds import REWARD_KINDS
from polyreward.scoring.classifier import Classifier
from polyreward.scoring.families import load_reward_model, loader_of
from polyreward.scoring.generative import Judge
from polyreward.scoring.implicit import LogLikelihood, LogRatio, MutualInformation
from polyreward.scoring.pairs import score_rows
from polyreward.settings.reward_models import RewardModel


def loaded(entry, tmp_path):
    scoring = {"dtype": "float32", "max_length": 128, "token_budget": 200}
    return load_reward_model(entry, scoring, tmp_path)


@pytest.mark.parametrize(
    ("entry", "kind"),
    [
        ({"kind": "implicit"}, LogLikelihood),
        ({"kind": "implicit", "dtype": "bfloat16"}, LogLikelihood),
        ({"kind": "implicit", "pmi": True}, MutualInformation),
        ({"kind": "implicit", "reference": {}}, LogRatio),
        ({"kind": "generative"}, Judge),
        ({"kind": "generative", "verdict": "labels", "dtype": "bfloat16"}, Judge),
    ],
)
def test_a_causal_lm_scores_in_each_of_its_families(base, tmp_path, entry, kind):
    entry = {key: {"source": str(base)} if key == "reference" else value for key, value in entry.items()}
    reward_model = loaded({**entry, "source": str(base)}, tmp_path)
    assert type(reward_model) is kind and reward_model.exact == ("dtype" not in entry)
    assert len(score_rows(reward_model, ROWS, "")) == len(ROWS)


def test_each_kind_has_keys_in_the_settings_and_a_loader():
    classes = get_args(get_args(RewardModel)[0])
    of_settings = {get_args(get_args(one)[0].model_fields["kind"].annotation)[0] for one in classes}
    assert of_settings == set(REWARD_KINDS)
    for kind in REWARD_KINDS:
        module, _, name = loader_of({"kind": kind}).partition(":")
        assert callable(getattr(import_module(module), name))


def test_a_classifier_takes_its_own_dtype_and_length(reward_folder, tmp_path):
    entry = {"kind": "classifier", "source": str(reward_folder), "dtype": "bfloat16", "max_length": 9}
    reward_model = loaded(entry, tmp_path)
    assert isinstance(reward_model, Classifier) and not reward_model.exact
    assert score_rows(reward_model, ROWS, "")["truncated_share"].eq(1).all()


def test_a_judge_on_a_server_has_its_settings_and_its_cache(tmp_path):
    server = {"url": "http://localhost:1/v1", "model": "m", "concurrency": 3}
    backend = loaded({"kind": "generative", "server": server}, tmp_path / "replies").backend
    assert (backend.cache, backend.concurrency, backend.model) == (tmp_path / "replies", 3, "m")
