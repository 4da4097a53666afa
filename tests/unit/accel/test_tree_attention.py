"""Attention branch by branch is attention under the row's mask."""

import pytest
import torch
from torch.nn.functional import scaled_dot_product_attention
from transformers import AutoModelForCausalLM, LlamaConfig, LlamaForCausalLM

from polyreward.accel.tree_attention import NAME, attend_by_branch, attends_by_branch, tree_attention
from polyreward.accel.trees import Tree, can_share, last_states, row_limit, tree_inputs

ROWS = [
    [[1, 2, 3, 4], [1, 2, 5]],
    [[1, 2, 3, 4, 5, 6], [1, 7], [1], [1, 8, 9]],
    [[1, 2], [3, 4, 5], [6]],
    [[1, 2, 3]],
]


class Grouped(torch.nn.Module):
    """What an attention layer tells of itself: two query heads to one of keys."""

    num_key_value_groups = 2


@pytest.mark.parametrize("window", [None, 2])
def test_states_are_those_under_the_mask(window):
    rows = [Tree.of(*sequences) for sequences in ROWS]
    length = max(map(len, rows)) + 2  # padding, which is in no branch
    mask = torch.stack([row.mask(length, window) for row in rows])[:, None]
    generator = torch.Generator().manual_seed(1)
    query, key, value = (torch.randn(len(rows), heads, length, 8, generator=generator) for heads in (4, 2, 2))
    found, _ = tree_attention(
        Grouped(), query, key, value, mask, scaling=0.3, spans=[row.spans for row in rows]
    )
    key, value = (part.repeat_interleave(2, dim=1) for part in (key, value))
    expected = scaled_dot_product_attention(query, key, value, attn_mask=mask, scale=0.3).transpose(1, 2)
    assert found.shape == expected.shape
    for row, of_row, wanted in zip(rows, found, expected, strict=True):
        torch.testing.assert_close(of_row[: len(row)], wanted[: len(row)], atol=1e-5, rtol=0)
        assert not of_row[len(row) :].any()


def test_a_model_attends_by_branch_and_still_shares(base):
    model = AutoModelForCausalLM.from_pretrained(base).eval()
    decoder = model.get_decoder()
    assert row_limit(decoder) == 2
    plain = [states for *_, states in last_states(decoder, ROWS, 0, 64, True)]
    assert not attend_by_branch(model, lambda: False) and model.config._attn_implementation == "sdpa"
    assert attend_by_branch(model, lambda: can_share(decoder)) and attends_by_branch(decoder.config)
    assert row_limit(decoder) == 4
    assert tree_inputs([Tree.of(*ROWS[0])], decoder.config, 0, "cpu")["spans"] == [[(2, 4), (4, 5)]]
    by_branch = [states for *_, states in last_states(decoder, ROWS, 0, 64, True)]
    assert all(torch.allclose(one, other, atol=1e-5) for one, other in zip(plain, by_branch, strict=True))
    # Without branches it is sdpa, in generation too.
    ids = torch.arange(6)[None]
    written = [model.generate(ids, max_new_tokens=4, min_new_tokens=4, do_sample=False)]
    model.set_attn_implementation("sdpa")
    written.append(model.generate(ids, max_new_tokens=4, min_new_tokens=4, do_sample=False))
    assert torch.equal(*written)


def test_other_attention_stays_as_it_is():
    config = LlamaConfig(
        vocab_size=64,
        hidden_size=16,
        intermediate_size=16,
        num_hidden_layers=1,
        num_attention_heads=2,
        num_key_value_heads=2,
    )
    eager = LlamaForCausalLM._from_config(config, attn_implementation="eager")
    assert not attend_by_branch(eager, lambda: True)
    assert eager.config._attn_implementation == "eager" != NAME
