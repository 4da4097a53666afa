"""A pair's two conversations in one row teach what they teach one by one."""

import pytest
import torch
from safetensors.torch import load_file
from tiny_models import ROWS, train

from polyreward.accel.pair_rows import PairRows
from polyreward.models.batches import padded
from polyreward.models.reward_model import new_reward_model

SEQUENCES = [
    (5, 6, 7, 8, 9, 10, 11),
    (21, 22, 23),
    (5, 6, 12),
    (21, 22),
]  # chosen, chosen, rejected, rejected


# Weights move with their gradients. Adam would move one whose gradient is nearly nothing by what rounding
# made of it.
SGD = {"optimizer": "sgd", "learning_rate": 0.1}


def assert_same_weights(base, one, other):
    base, one, other = (load_file(folder / "model.safetensors") for folder in (base, one, other))
    assert one.keys() == other.keys()
    for name in one:
        torch.testing.assert_close(one[name], other[name], atol=1e-6, rtol=0)
    shared = [name for name in one if name in base and one[name].shape == base[name].shape]
    assert max((one[name] - base[name]).abs().max().item() for name in shared) > 1e-3


@pytest.mark.parametrize("token_budget", [1, 40, 999])
def test_training_gives_the_same_weights(base, tmp_path, token_budget):
    separate = train(base, tmp_path / "a", batch_size=3, **SGD)
    assert_same_weights(
        base, separate, train(base, tmp_path / "b", batch_size=3, token_budget=token_budget, **SGD)
    )


@pytest.mark.parametrize("changes", [{"lora": None}, {"epochs": 2}, {"pooling": "answer"}], ids=str)
def test_so_it_does_with_other_settings(base, tmp_path, changes):
    separate = train(base, tmp_path / "a", **SGD, **changes)
    assert_same_weights(base, separate, train(base, tmp_path / "b", token_budget=99, **SGD, **changes))


@pytest.mark.parametrize("pooling", ["last", "answer"])
def test_so_it_does_from_frozen_states(base, tmp_path, pooling):
    remembered = train(
        base, tmp_path / "b", cache_frozen_layers=True, token_budget=40, pooling=pooling, **SGD
    )
    assert_same_weights(base, train(base, tmp_path / "a", pooling=pooling, **SGD), remembered)


@pytest.fixture
def counted(base):
    """A reward model that runs rows of pairs, and the list of how many tokens each of its layers has run
    through its MLP."""
    model, tokenizer = new_reward_model(base, 1)
    inputs = padded(SEQUENCES, tokenizer.pad_token_id)
    expected = model(**inputs).logits
    seen = [[] for _ in model.get_decoder().layers]
    for layer, found in zip(model.get_decoder().layers, seen, strict=True):
        layer.mlp.act_fn.register_forward_hook(
            lambda module, args, output, found=found: found.append(output[..., 0].numel())
        )
    return model, inputs, expected, seen


def test_rewards_are_those_of_single_conversations_in_their_order(counted):
    model, inputs, expected, _ = counted
    PairRows(model, 999, None).install()
    torch.testing.assert_close(model(**inputs).logits, expected, atol=1e-6, rtol=0)


def test_what_is_shared_is_run_once(counted):
    model, inputs, _, seen = counted
    PairRows(model, 1, None).install()
    model(**inputs)
    assert seen == [[8, 3]] * len(
        seen
    )  # rows of 2 + 5 + 1 and 2 + 1 tokens; (21, 22) ends where it is shared


def test_a_request_and_its_right_answer_are_run_once_for_all_its_pairs(base):
    """Two pairs of one request, with the same right answer, and one pair of another."""
    model, tokenizer = new_reward_model(base, 1)
    request, right, wrong, worse = (5, 6), (7, 8, 9), (12,), (13, 14)
    chosen = [request + right, request + right, (21, 22, 23)]
    rejected = [request + wrong, request + worse, (21, 22)]
    inputs = padded([*chosen, *rejected], tokenizer.pad_token_id)
    expected = model(**inputs).logits
    tokens = []
    model.get_decoder().layers[0].mlp.act_fn.register_forward_hook(
        lambda module, args, output: tokens.append(output[..., 0].numel())
    )
    PairRows(model, 1, None).install()
    torch.testing.assert_close(model(**inputs).logits, expected, atol=1e-6, rtol=0)
    assert tokens == [2 + 3 + 1 + 2, 2 + 1]


REQUESTS = [
    {**row, "request": f"r{number // 2}", "prompt": ROWS[number // 2]["prompt"]}
    for number, row in enumerate(ROWS)
]


@pytest.mark.parametrize("cache", [False, True])
def test_training_on_requests_of_several_pairs_gives_the_same_weights(base, tmp_path, cache):
    settings = {"rows": REQUESTS, "batch_size": 2, **SGD}
    separate = train(base, tmp_path / "a", **settings)
    shared = train(base, tmp_path / "b", cache_frozen_layers=cache, token_budget=60, **settings)
    assert_same_weights(base, separate, shared)
