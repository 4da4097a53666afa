"""oneDNN's matrix multiplication gives what torch's own gives, and stays out of training."""

import copy

import pytest
import torch

from polyreward.onednn import OPERATOR, multiply_by_onednn

needs_onednn = pytest.mark.skipif(OPERATOR is None, reason="this torch has no oneDNN")


@pytest.fixture
def models():
    torch.manual_seed(1)
    own = torch.nn.Sequential(torch.nn.Linear(40, 64), torch.nn.Tanh(), torch.nn.Linear(64, 3, bias=False))
    return own, multiply_by_onednn(copy.deepcopy(own))


@pytest.mark.parametrize("shape", [(7, 40), (2, 5, 40), (1, 1, 40)])
def test_it_gives_the_same_to_rounding(models, shape):
    own, other = models
    x = torch.randn(shape)
    with torch.inference_mode():
        assert torch.allclose(own(x), other(x), atol=1e-6)
        assert torch.allclose(own(x[..., ::2].repeat_interleave(2, -1)), other(x[..., ::2].repeat_interleave(2, -1)), atol=1e-6)


@needs_onednn
def test_it_is_the_operator_that_runs(models):
    with torch.profiler.profile() as profiled, torch.inference_mode():
        models[1](torch.randn(2, 40))
    assert sum(event.count for event in profiled.key_averages() if "_linear_pointwise" in event.key) == 2


def test_gradients_are_torchs_own(models):
    own, other = models
    x = torch.randn(4, 40)
    for model in models:
        model(x).sum().backward()
    assert torch.equal(own[0].weight.grad, other[0].weight.grad)


def test_autocast_still_computes_in_bfloat16(models):
    with torch.inference_mode(), torch.autocast("cpu", dtype=torch.bfloat16):
        assert models[1](torch.randn(2, 40)).dtype == torch.bfloat16
