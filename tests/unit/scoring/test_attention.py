"""A kind of model without sdpa is run by eager attention; what is asked for by name stays an error."""

import pytest
from tiny_models import scores_of
from transformers import Gemma3PreTrainedModel

from polyreward.core.errors import PolyrewardError
from polyreward.scoring.load import load_causal_lm, load_classifier


def test_a_model_without_sdpa_is_run_by_eager_and_scores_the_same(trained, bases, monkeypatch):
    asked = load_classifier(trained["tiny-gemma"], "float32", 128, 200)
    assert asked.model.config._attn_implementation == "sdpa"
    monkeypatch.setattr(Gemma3PreTrainedModel, "_supports_sdpa", False)
    found = load_classifier(trained["tiny-gemma"], "float32", 128, 200)
    causal = load_causal_lm(bases["tiny-gemma"], "float32", 128, 200)
    for one in (found, causal):
        assert one.model.config._attn_implementation == "eager"
    assert scores_of(found) == pytest.approx(scores_of(asked), abs=1e-5)
    with pytest.raises(PolyrewardError, match="not a model folder or hub id that loads here"):
        load_classifier(trained["tiny-gemma"], "float32", 128, 200, "no_such_attention")
