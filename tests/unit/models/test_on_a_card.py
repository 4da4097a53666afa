"""What computes is where the card is: torch's meta device stands in for it, and every module that runs is
looked at."""

import pytest
import torch
from support import script
from tiny_models import ROWS
from torch.nn.modules.module import register_module_forward_pre_hook
from transformers import GenerationMixin

from polyreward import accel
from polyreward.alignment import sampling
from polyreward.scoring import load
from polyreward.scoring.baselines import frozen_features
from polyreward.scoring.implicit import LogLikelihood
from polyreward.scoring.interface import conversations_of
from polyreward.scoring.local_judge import generated
from polyreward.scoring.loglik import _logprobs
from polyreward.settings.transfer import Sampling
from polyreward.settings.translation import LmEngine
from polyreward.translation import lm

passage_states, similarities = script("score/passage_states"), script("prepare/carb_similarities")
CONVERSATIONS = conversations_of(ROWS[:2])
LOADED = ("bfloat16", 128, 256)


ENGINE = LmEngine(kind="lm", model="tiny", prompt="{text}", max_new_tokens=4)
SAMPLING = Sampling(temperature=1.0, max_new_tokens=4, batch_size=2)
# {what computes: a function of the folders of a base and of a reward model}
COMPUTING = {
    "hidden states": lambda base, _: passage_states.parallel_states(base, [["a"]], 128, 256, "", precision="bfloat16"),
    "embeddings": lambda base, _: similarities.Encoder(base, "bfloat16", None, 128, 256).vectors(["one text"], ""),
    "rewards": lambda _, folder: load.load_classifier(folder, *LOADED).score(CONVERSATIONS, ""),
    "loglikelihoods": lambda base, _: LogLikelihood(load.load_causal_lm(base, *LOADED)).score(CONVERSATIONS, ""),
    "probes": lambda base, _: frozen_features(load.load_causal_lm(base, *LOADED), ROWS[:2], ""),
    "judgements": lambda base, _: generated(load.load_causal_lm(base, *LOADED), [[1, 2, 3]], 4, ""),
    "policy": lambda base, _: sampling.Policy(base, SAMPLING, "bfloat16").responses(["a prompt"], 2, 1, ""),
    "translation": lambda base, _: lm.LmTranslator(base, ENGINE, "bfloat16")(["one text"], "en", "es"),
}  # fmt: skip


@pytest.fixture
def stand_in(monkeypatch):
    """Let the meta device stand in for a card, and collect where each module's weights are as it runs."""
    for module in (load, sampling, lm, passage_states, similarities):
        monkeypatch.setattr(module, "device", lambda: "meta")
    monkeypatch.setattr(accel, "on", lambda: False)
    found = set()

    def look(module, inputs):
        found.update(weight.device.type for weight in module.parameters())

    def generate(model, *args, input_ids, **options):
        found.update(tensor.device.type for tensor in (input_ids, *model.parameters()))
        raise NotImplementedError("a meta tensor has no value to choose by")

    monkeypatch.setattr(GenerationMixin, "generate", generate)
    hook = register_module_forward_pre_hook(look)
    yield found
    hook.remove()


@pytest.mark.parametrize("computes", COMPUTING)
def test_weights_are_on_the_card_when_they_are_used(bases, trained, computes, stand_in):
    with pytest.raises((NotImplementedError, RuntimeError), match="meta tensor"):  # they have no values
        COMPUTING[computes](bases["tiny-llama"], trained["tiny-llama"])
    assert stand_in == {"meta"}


def test_the_last_states_of_a_model_over_several_cards_meet_the_head_where_it_is(bases):
    lm, seen = load.load_causal_lm(bases["tiny-llama"], *LOADED), []
    elsewhere = lm.model.get_output_embeddings().to("meta")
    elsewhere.register_forward_pre_hook(lambda module, inputs: seen.append(inputs[0].device.type))
    states = torch.zeros(2, elsewhere.in_features)
    with pytest.raises(NotImplementedError, match="meta tensor"):
        list(_logprobs(lm, [elsewhere], [(states, torch.zeros(2, dtype=int), 0)]))
    assert seen == ["meta"]
