"""A kind of model without sdpa is run by eager attention, and says so; what somebody asks for by name stays
an error."""

import pytest
from tiny_models import ROWS
from transformers import Gemma3PreTrainedModel

from polyreward.core.errors import PolyrewardError
from polyreward.scoring.load import load_causal_lm, load_classifier
from polyreward.scoring.pairs import score_rows


@pytest.fixture
def without_sdpa(monkeypatch):
    """Gemma 3 as if it were a kind of model of which transformers has no sdpa."""
    monkeypatch.setattr(Gemma3PreTrainedModel, "_supports_sdpa", False)


def test_a_reward_model_that_refuses_sdpa_is_scored_by_eager_and_scores_the_same(
    trained, monkeypatch, capsys
):
    reward_folder = trained["tiny-gemma"]
    asked = load_classifier(reward_folder, "float32", 128, 200)
    expected = score_rows(asked, ROWS, "")
    assert asked.model.config._attn_implementation != "eager"
    monkeypatch.setattr(Gemma3PreTrainedModel, "_supports_sdpa", False)
    found = load_classifier(reward_folder, "float32", 128, 200)
    assert found.model.config._attn_implementation == "eager"
    assert (
        "has no attention by sdpa; eager, which every model has, takes its place" in capsys.readouterr().err
    )
    columns = ["score_chosen", "score_rejected"]
    assert (score_rows(found, ROWS, "")[columns] - expected[columns]).abs().to_numpy().max() < 1e-5


def test_so_is_a_causal_model(tiny_gemma, without_sdpa):
    assert load_causal_lm(tiny_gemma, "float32", 128, 200).model.config._attn_implementation == "eager"


def test_another_attention_that_is_not_there_is_an_error(trained, without_sdpa):
    with pytest.raises(PolyrewardError, match="not a model folder or hub id that loads here"):
        load_classifier(trained["tiny-gemma"], "float32", 128, 200, "no_such_attention")
