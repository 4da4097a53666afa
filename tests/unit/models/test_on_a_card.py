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
from polyreward.settings.transfer import LmEngine, Sampling
from polyreward.translation import lm

passage_states, similarities = script("score/passage_states"), script("prepare/carb_similarities")
CONVERSATIONS = conversations_of(ROWS[:2])
LOADED = ("bfloat16", 128, 256)


def hidden_states(base, reward_model):
    passage_states.parallel_states(base, [["one text"]], 128, 256, "", precision="bfloat16")


def embeddings(base, reward_model):
    similarities.Encoder(base, "bfloat16", None, 128, 256).vectors(["one text"], "")


def rewards(base, reward_model):
    load.load_classifier(reward_model, *LOADED).score(CONVERSATIONS, "")


def loglikelihoods(base, reward_model):
    LogLikelihood(load.load_causal_lm(base, *LOADED)).score(CONVERSATIONS, "")


def probes(base, reward_model):
    frozen_features(load.load_causal_lm(base, *LOADED), ROWS[:2], "")


def judgements(base, reward_model):
    generated(load.load_causal_lm(base, *LOADED), [[1, 2, 3]], 4, "")


def policy(base, reward_model):
    settings = Sampling(temperature=1.0, max_new_tokens=4, batch_size=2)
    sampling.Policy(base, settings, "bfloat16").responses(["a prompt"], 2, 1, "")


def translation(base, reward_model):
    engine = LmEngine(kind="lm", model="tiny", prompt="{text}", max_new_tokens=4)
    lm.LmTranslator(base, engine, "bfloat16")(["one text"], "en", "es")


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


@pytest.mark.parametrize(
    "computes",
    [hidden_states, embeddings, rewards, loglikelihoods, probes, judgements, policy, translation],
    ids=lambda computes: computes.__name__,
)
def test_weights_are_on_the_card_when_they_are_used(bases, trained, computes, stand_in):
    with pytest.raises((NotImplementedError, RuntimeError), match="meta tensor"):  # they have no values
        computes(bases["tiny-llama"], trained["tiny-llama"])
    assert stand_in == {"meta"}


def test_the_last_states_of_a_model_over_several_cards_meet_the_head_where_it_is(bases):
    model = load.load_causal_lm(bases["tiny-llama"], *LOADED)
    head, seen = model.model.get_output_embeddings(), []

    class Elsewhere(torch.nn.Linear):
        def forward(self, states):
            seen.append(states.device.type)
            return super().forward(states)

    elsewhere = Elsewhere(head.in_features, head.out_features, bias=False, device="meta")
    with pytest.raises(NotImplementedError, match="meta tensor"):
        list(
            _logprobs(model, [elsewhere], [(torch.zeros(2, head.in_features), torch.zeros(2, dtype=int), 0)])
        )
    assert seen == ["meta"]
