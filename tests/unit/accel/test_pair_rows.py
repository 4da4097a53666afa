"""A pair's two conversations in one row teach what they teach one by one."""

import pytest
import torch
from safetensors.torch import load_file
from tiny_models import ROWS, train

from polyreward.accel.pair_rows import PairRows
from polyreward.models.batches import padded
from polyreward.models.reward_model import new_reward_model

# Chosen, chosen, rejected, rejected.
SEQUENCES = [(5, 6, 7, 8, 9, 10, 11), (21, 22, 23), (5, 6, 12), (21, 22)]
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


REQUESTS = [  # of two pairs each
    {**row, "request": f"r{number // 2}", "prompt": ROWS[number // 2]["prompt"]}
    for number, row in enumerate(ROWS)
]


@pytest.mark.parametrize(("changes", "tokens", "cache"), [
    *(({"batch_size": 3}, tokens, False) for tokens in (1, 40, 999)),
    *((changes, 99, False) for changes in ({"lora": None}, {"epochs": 2}, {"pooling": "answer"})),
    *(({"pooling": pooling}, 40, True) for pooling in ("last", "answer")),
    *(({"rows": REQUESTS}, 60, cache) for cache in (False, True)),
], ids=["1 token", "40 tokens", "999 tokens", "no lora", "2 epochs", "answer", "last, cached", "answer, cached", "requests",
        "requests, cached"])  # fmt: skip
def test_training_gives_the_same_weights(base, tmp_path, changes, tokens, cache):
    separate = train(base, tmp_path / "a", **SGD, **changes)
    fast = {"token_budget": tokens, "cache_frozen_layers": cache}
    assert_same_weights(base, separate, train(base, tmp_path / "b", **SGD, **changes, **fast))


@pytest.fixture
def counted(base):
    """A function that returns a reward model, its inputs for sequences, their rewards one by one, and a list of
    how many tokens each of its layers runs through its MLP from then on."""

    def make(sequences):
        model, tokenizer = new_reward_model(base, 1)
        inputs = padded(sequences, tokenizer.pad_token_id)
        expected, seen = model(**inputs).logits, [[] for _ in model.get_decoder().layers]
        for layer, found in zip(model.get_decoder().layers, seen, strict=True):
            layer.mlp.act_fn.register_forward_hook(
                lambda module, args, output, found=found: found.append(output[..., 0].numel())
            )
        return model, inputs, expected, seen

    return make


@pytest.mark.parametrize("token_budget", [1, 999])
def test_rewards_are_those_of_single_conversations_and_what_is_shared_is_run_once(counted, token_budget):
    model, inputs, expected, seen = counted(SEQUENCES)
    PairRows(model, token_budget, None).install()
    torch.testing.assert_close(model(**inputs).logits, expected, atol=1e-6, rtol=0)
    # Rows of 2 + 5 + 1 and 2 + 1 tokens, padded where they are run at once; (21, 22) ends where it is shared
    assert seen == [[8, 3] if token_budget == 1 else [16]] * len(seen)


def test_a_request_and_its_right_answer_are_run_once_for_all_its_pairs(counted):
    # Two pairs of one request, with the same right answer, and one pair of another
    request, right, wrong, worse = (5, 6), (7, 8, 9), (12,), (13, 14)
    chosen = [request + right, request + right, (21, 22, 23)]
    model, inputs, expected, seen = counted([*chosen, request + wrong, request + worse, (21, 22)])
    PairRows(model, 1, None).install()
    torch.testing.assert_close(model(**inputs).logits, expected, atol=1e-6, rtol=0)
    assert seen[0] == [2 + 3 + 1 + 2, 2 + 1]
