"""From an entry of the configuration to a reward model."""

import pytest
from tiny_models import ROWS

from polyreward.core.errors import PolyrewardError
from polyreward.scoring.classifier import Classifier
from polyreward.scoring.families import load_reward_model
from polyreward.scoring.generative import Judge
from polyreward.scoring.implicit import LogLikelihood, LogRatio, MutualInformation
from polyreward.scoring.interface import Conversations
from polyreward.scoring.pairs import score_rows

SCORING = {"dtype": "float32", "max_length": 128, "token_budget": 200}


def loaded(entry, tmp_path):
    return load_reward_model(entry, SCORING, tmp_path)


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
    assert type(reward_model) is kind
    assert reward_model.exact == ("dtype" not in entry)
    assert len(score_rows(reward_model, ROWS, "")) == len(ROWS)


def test_a_classifier_takes_its_own_dtype_and_length(reward_folder, tmp_path):
    reward_model = loaded(
        {"kind": "classifier", "source": str(reward_folder), "dtype": "bfloat16", "max_length": 9}, tmp_path
    )
    assert isinstance(reward_model, Classifier)
    assert not reward_model.exact
    assert reward_model.max_length == 9
    assert score_rows(reward_model, ROWS, "")["truncated_share"].eq(1).all()


def test_a_server_s_replies_are_kept_in_the_cache_folder(tmp_path):
    entry = {"kind": "generative", "server": {"url": "http://localhost:1/v1", "model": "m", "concurrency": 3}}
    reward_model = loaded(entry, tmp_path / "replies")
    assert reward_model.backend.cache == tmp_path / "replies"
    assert reward_model.backend.concurrency == 3
    with pytest.raises(PolyrewardError, match="no connection"):
        load_reward_model({**entry, "server": {**entry["server"], "retries": 0}}, SCORING, tmp_path).score(
            [Conversations("Hi", ("Hello!", "What?"))], ""
        )
