"""oneDNN's matrix multiplication gives what torch's own gives, forth and back, and leaves weights that are
trained to torch."""

import copy
import math

import pytest
import torch

from polyreward.accel.onednn import OPERATOR, VOCABULARY, faster_from, multiply_by_onednn

needs_onednn = pytest.mark.skipif(OPERATOR is None, reason="this torch has no oneDNN")


@pytest.fixture
def models():
    torch.manual_seed(1)
    own = torch.nn.Sequential(torch.nn.Linear(40, 64), torch.nn.Tanh(), torch.nn.Linear(64, 3, bias=False))
    return own, multiply_by_onednn(copy.deepcopy(own), outputs=math.inf if OPERATOR is None else 0)


@pytest.mark.parametrize("shape", [(7, 40), (2, 5, 40), (1, 1, 40)])
def test_it_gives_the_same_to_rounding(models, shape):
    own, other = models
    x = torch.randn(shape)
    with torch.inference_mode():
        for given in (x, x[..., ::2].repeat_interleave(2, -1)):
            assert torch.allclose(own(given), other(given), atol=1e-6)


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
    ("cpuinfo", "outputs", "portable"),
    [
        ("processor\t: 0\nvendor_id\t: GenuineIntel\nflags\t\t: fpu avx2 avx512f\n", math.inf, math.inf),
        ("processor\t: 0\nvendor_id\t: AuthenticAMD\nflags\t\t: fpu avx2 avx512f avx512_bf16\n", 0, 0),
        ("processor\t: 0\nvendor_id\t: AuthenticAMD\nflags\t\t: fpu avx2\n", VOCABULARY, 0),
        ("processor\t: 0\nCPU implementer\t: 0x41\nFeatures\t: fp asimd\n", math.inf, math.inf),
    ],
)
def test_vendor_and_instructions_decide(cpuinfo, outputs, portable):
    assert faster_from(cpuinfo, portable=False) == outputs
    assert faster_from(cpuinfo, portable=True) == portable


def test_layers_of_fewer_outputs_are_left_as_they_are():
    model = multiply_by_onednn(torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.Linear(8, 9)), outputs=9)
    assert ["forward" in vars(layer) for layer in model] == [False, True]
    # So is a model that is moved to another device.
    model = multiply_by_onednn(torch.nn.Linear(4, 8), outputs=0).to("meta")
    assert model(torch.empty(2, 4, device="meta")).device.type == "meta"


def test_gradients_of_trained_weights_are_torchs_own(models):
    own, other = models
    x = torch.randn(4, 40)
    for model in models:
        model(x).sum().backward()
    assert torch.equal(own[0].weight.grad, other[0].weight.grad)


def test_autocast_still_computes_in_bfloat16(models):
    with torch.inference_mode(), torch.autocast("cpu", dtype=torch.bfloat16):
        assert models[1](torch.randn(2, 40)).dtype == torch.bfloat16
