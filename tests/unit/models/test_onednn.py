"""oneDNN's matrix multiplication gives what torch's own gives, forth and back, and leaves weights that are trained to torch."""

import copy

import pytest
import torch

from polyreward.models.onednn import OPERATOR, mkl_is_slow, multiply_by_onednn

needs_onednn = pytest.mark.skipif(OPERATOR is None, reason="this torch has no oneDNN")


@pytest.fixture
def models():
    torch.manual_seed(1)
    own = torch.nn.Sequential(torch.nn.Linear(40, 64), torch.nn.Tanh(), torch.nn.Linear(64, 3, bias=False))
    return own, multiply_by_onednn(copy.deepcopy(own), wanted=OPERATOR is not None)


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


@needs_onednn
def test_frozen_layers_hand_back_the_same_gradient_to_rounding(models):
    x = torch.randn(2, 4, 40, requires_grad=True)
    for model in models:
        model.requires_grad_(False)
    found = [torch.autograd.grad(model(x).square().sum(), x)[0] for model in models]
    assert torch.allclose(*found, atol=1e-6)
    assert found[0].abs().max() > 0.01


@pytest.mark.parametrize(
    ("cpuinfo", "slow", "portable"),
    [
        ("processor\t: 0\nvendor_id\t: GenuineIntel\nflags\t\t: fpu avx2 avx512f\n", False, False),
        ("processor\t: 0\nvendor_id\t: AuthenticAMD\nflags\t\t: fpu avx2 avx512f avx512_bf16\n", True, True),
        ("processor\t: 0\nvendor_id\t: AuthenticAMD\nflags\t\t: fpu avx2\n", False, True),
        ("processor\t: 0\nCPU implementer\t: 0x41\nFeatures\t: fp asimd\n", False, False),
    ],
)
def test_vendor_and_instructions_decide(cpuinfo, slow, portable):
    assert mkl_is_slow(cpuinfo, portable=False) == slow
    assert mkl_is_slow(cpuinfo, portable=True) == portable


def test_it_is_left_as_it_is_where_mkl_is_not_slow():
    assert "forward" not in vars(multiply_by_onednn(torch.nn.Linear(4, 4), wanted=False))


def test_gradients_of_trained_weights_are_torchs_own(models):
    own, other = models
    x = torch.randn(4, 40)
    for model in models:
        model(x).sum().backward()
    assert torch.equal(own[0].weight.grad, other[0].weight.grad)


def test_autocast_still_computes_in_bfloat16(models):
    with torch.inference_mode(), torch.autocast("cpu", dtype=torch.bfloat16):
        assert models[1](torch.randn(2, 40)).dtype == torch.bfloat16
