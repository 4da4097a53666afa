"""A last layer that is run in part gives what the whole one gives, where it is read."""

import pytest
import torch
from transformers import AutoModelForCausalLM, MixtralConfig, MixtralModel

from polyreward.accel.last_layer import LastLayer, parts_known
from polyreward.accel.trees import last_states

GROUPS = [[[5, 6, 7, 8], [5, 6, 9], [5, 6]], [[21, 22], [31, 32, 33]]]


def ends(decoder, share, last_layer=None):
    found = last_states(decoder, GROUPS, 0, 64, share, last_layer=last_layer)
    return {(group, member): states for group, member, states in found}


@pytest.mark.parametrize("share", [True, False])
@torch.inference_mode()
def test_the_last_state_of_each_text_is_the_same_and_others_are_not(base, share):
    decoder = AutoModelForCausalLM.from_pretrained(base).eval().get_decoder()
    whole, spared = ends(decoder, share), ends(decoder, share, LastLayer(decoder))
    assert whole.keys() == spared.keys()
    for place, states in whole.items():
        torch.testing.assert_close(spared[place][-1], states[-1], atol=1e-5, rtol=0)
    assert not torch.allclose(spared[0, 0][0], whole[0, 0][0], atol=1e-3)


@torch.inference_mode()
def test_afterwards_it_is_run_whole_again(base):
    decoder = AutoModelForCausalLM.from_pretrained(base).eval().get_decoder()
    whole, last_layer = ends(decoder, True), LastLayer(decoder)
    ends(decoder, True, last_layer)
    again = ends(decoder, True)
    assert all(torch.equal(again[place], whole[place]) for place in whole)


def test_decoders_of_other_parts_are_known_as_such(base):
    assert parts_known(AutoModelForCausalLM.from_pretrained(base).get_decoder())
    assert not parts_known(torch.nn.Sequential(torch.nn.Linear(2, 2)))
    experts = MixtralConfig(
        vocab_size=32, hidden_size=16, intermediate_size=16, num_hidden_layers=1, num_attention_heads=2, num_key_value_heads=2,
        num_local_experts=2,
    )  # fmt: skip
    assert not parts_known(MixtralModel(experts))
