"""Bases cut to their lowest layers."""

import pytest
import torch
from support import script
from transformers import AutoModelForCausalLM

from polyreward.core.errors import PolyrewardError
from polyreward.models.reward_model import new_reward_model


def test_a_cut_base_is_a_plain_folder_with_the_states_of_the_whole_one(base, tmp_path):
    save_truncated = script("train/truncated_base").save_truncated
    whole = AutoModelForCausalLM.from_pretrained(base)
    layers = whole.config.num_hidden_layers - 1
    save_truncated(base, layers, tmp_path / "cut")
    cut = AutoModelForCausalLM.from_pretrained(tmp_path / "cut")
    assert cut.config.num_hidden_layers == len(cut.get_decoder().layers) == layers
    ids = torch.tensor([[5, 6, 7, 8]])
    norm = whole.get_decoder().norm
    with torch.no_grad():
        inside = whole(ids, output_hidden_states=True).hidden_states[layers]
        found = cut.get_decoder()(ids).last_hidden_state
        torch.testing.assert_close(found, norm(inside), atol=1e-5, rtol=1e-4)
    reward_model, tokenizer = new_reward_model(tmp_path / "cut", seed=1)
    assert len(reward_model.get_decoder().layers) == layers and tokenizer.chat_template
    with pytest.raises(PolyrewardError, match=f"has {layers + 1} layers, not 99; give fewer"):
        save_truncated(base, 99, tmp_path / "other")
    assert not (tmp_path / "other").exists()
