"""Rows that hold several texts give the states of the texts run one by one."""

import pytest
import torch
from transformers import AutoModelForCausalLM, LlamaConfig, LlamaForCausalLM, MambaConfig, MambaForCausalLM

from polyreward.accel.trees import Tree, can_share, last_states, rows_of

GROUPS = [
    [[5, 6, 7, 8], [5, 6, 9]],
    [[11, 12, 13, 14, 15, 16], [11, 12, 13, 17], [11, 12, 13, 18, 19], [11, 12, 13]],
    [[21, 22], [31, 32, 33]],
    [[41, 42, 43, 44], [41, 42, 43, 45, 46], [41, 42, 47], [41, 42, 43, 45, 48]],
    [[41, 42, 49, 50], [41, 42, 49, 51], [41, 42]],
]


def states(model, groups=GROUPS, token_budget=64, share=True):
    with torch.no_grad():
        found = last_states(model.get_decoder(), groups, 0, token_budget, share)
        return {(group, member): of_text for group, member, of_text in found}


def one_by_one(model, groups=GROUPS):
    with torch.no_grad():
        return {
            (number, member): model.get_decoder()(torch.tensor([ids])).last_hidden_state[0]
            for number, group in enumerate(groups)
            for member, ids in enumerate(group)
        }


def assert_same(found, expected):
    assert found.keys() == expected.keys()
    for place in expected:
        torch.testing.assert_close(found[place], expected[place], atol=1e-5, rtol=0)


def test_a_pair_is_one_row_whose_branches_do_not_see_each_other():
    tree = Tree.from_sequences([1, 2, 3, 4], [1, 2, 5])
    assert tree.ids == (1, 2, 3, 4, 5)
    assert tree.positions == [0, 1, 2, 3, 2]
    assert tree.mask(6).int().tolist() == [
        [1, 0, 0, 0, 0, 0],
        [1, 1, 0, 0, 0, 0],
        [1, 1, 1, 0, 0, 0],
        [1, 1, 1, 1, 0, 0],
        [1, 1, 0, 0, 1, 0],
        [0, 0, 0, 0, 0, 1],
    ]


def test_what_some_share_is_there_once_too():
    sequences = [(1, 2, 3, 4), (1, 2, 3, 5), (1, 2, 6), (1, 2), (7, 8), (1, 2)]
    tree = Tree.from_sequences(*sequences)
    assert tree.ids == (1, 2, 3, 4, 5, 6, 7, 8)
    assert tree.positions == [0, 1, 2, 3, 3, 2, 0, 1]
    assert tree.sequences == list(sequences)
    sees = tree.mask(8).int().tolist()
    assert (
        sees[4] == [1, 1, 1, 0, 1, 0, 0, 0]
        and sees[5] == [1, 1, 0, 0, 0, 1, 0, 0]
        and sees[7] == [0] * 6 + [1, 1]
    )
    states = torch.arange(8.0)[:, None]
    found = tree.split(states)
    assert [state[:, 0].tolist() for state in found] == [
        [0, 1, 2, 3],
        [0, 1, 2, 4],
        [0, 1, 5],
        [0, 1],
        [6, 7],
        [0, 1],
    ]
    assert torch.equal(tree.join(found), states)


def test_a_row_is_at_most_so_many_times_as_long_as_the_longest_text():
    long = [[1, *[n] * 199] for n in range(2, 12)]
    rows, places = rows_of([long], share=True, token_budget=999)
    assert places == [[(0, m) for m in range(n, min(n + 3, 10))] for n in range(0, 10, 3)]
    assert [len(row) for row in rows] == [598, 598, 598, 200]
    short = [[1, *[n] * 9] for n in range(2, 42)]
    assert [len(row) for row in rows_of([short], share=True, token_budget=999)[0]] == [253, 109]
    long_prompt = [[*range(190), *[n] * 10] for n in range(200, 216)]
    assert list(map(len, rows_of([long_prompt], share=True, token_budget=999)[1])) == [16]
    assert list(map(len, rows_of([long_prompt], share=True, token_budget=250)[1])) == [6, 6, 4]
    assert list(map(len, rows_of([long_prompt], share=True, token_budget=1)[1])) == [1] * 16
    assert rows_of([long_prompt], share=False, token_budget=999)[1] == [[(0, n)] for n in range(16)]


def test_a_row_goes_on_where_the_next_prompt_begins_alike():
    book = [[*range(30), place, *[place * 10 + n] * 4] for place in (40, 41) for n in range(2)]
    groups = [book[:2], book[2:], [[1, 2, 3, 4], [1, 2, 5, 6]], [[1, 7, 7, 7, 7], [1, 8, 8, 8, 8]]]
    rows, places = rows_of(groups, share=True, token_budget=999)
    assert places == [[(0, 0), (0, 1), (1, 0), (1, 1)], [(2, 0), (2, 1)], [(3, 0), (3, 1)]]
    assert len(rows[0]) == 30 + 2 + 4 * 4


@pytest.mark.parametrize("token_budget", [1, 20, 999])
@pytest.mark.parametrize("share", [True, False])
def test_states_are_those_of_texts_run_one_by_one(base, token_budget, share):
    model = AutoModelForCausalLM.from_pretrained(base).eval()
    assert_same(states(model, token_budget=token_budget, share=share), one_by_one(model))


def test_texts_longer_than_the_sliding_window_too(tiny_gemma):
    kinds = {"layer_types": ["sliding_attention"] * 2}
    model = AutoModelForCausalLM.from_pretrained(tiny_gemma, sliding_window=3, **kinds).eval()
    wide = AutoModelForCausalLM.from_pretrained(tiny_gemma, **kinds).eval()
    expected = one_by_one(model)
    # Else the window would not matter.
    assert not torch.allclose(expected[1, 0], one_by_one(wide)[1, 0], atol=1e-3)
    assert_same(states(model), expected)


def test_models_share_that_heed_the_mask():
    mamba = MambaForCausalLM(MambaConfig(vocab_size=64, hidden_size=16, num_hidden_layers=2, state_size=4))
    assert not can_share(mamba.eval().get_decoder())
    llama = LlamaConfig(
        vocab_size=64, hidden_size=16, intermediate_size=16, num_hidden_layers=2, num_attention_heads=2, num_key_value_heads=2
    )  # fmt: skip
    for attention in ("eager", "sdpa"):
        model = LlamaForCausalLM._from_config(llama, attn_implementation=attention)
        assert can_share(model.eval().get_decoder())


def test_a_base_of_ours_can_share_and_chunked_attention_cannot_and_progress_counts_every_text(base):
    model, counts = AutoModelForCausalLM.from_pretrained(base).eval(), []
    assert can_share(model.get_decoder())
    list(last_states(model.get_decoder(), GROUPS, 0, 8, True, report=counts.append))
    assert sum(counts) == sum(map(len, GROUPS)) and len(counts) > 1
    model.config.layer_types = ["chunked_attention", "full_attention"]
    assert not can_share(model.get_decoder())
