"""What meets the vocabulary by parts has the log-probabilities and gradients that TRL's own function has."""

import inspect

import pytest
import torch
import trl.trainer.utils
from trl.kernels import ChunkedLogProbFunction

from polyreward.accel import vocabulary
from polyreward.accel.vocabulary import ByParts
from polyreward.training.policies import load_policy

EVERYTHING = ("log_probs", "entropy", "is_top1")
D_MODEL, WORDS = 12, 50


@pytest.fixture(autouse=True)
def small_parts(monkeypatch):
    monkeypatch.setattr(vocabulary, "TOKENS", 4)
    monkeypatch.setattr(vocabulary, "WORDS", 16)


def states_and_weight(tokens=11):
    generator = torch.Generator().manual_seed(1)
    states, weight = (torch.randn(count, D_MODEL, generator=generator) for count in (tokens, WORDS))
    targets = (states @ weight.t()).argmax(dim=1)
    targets[::2] = torch.randint(WORDS, targets[::2].shape, generator=generator)
    return states, weight, targets


def applied(function, states, weight, targets, outputs=EVERYTHING, temperature=0.7, softcap=None):
    states = states.clone().requires_grad_()
    found = function.apply(states, weight, None, targets, temperature, 16, softcap, 1.5, outputs)
    (found[0] * torch.arange(1.0, 1 + len(targets))).sum().backward()
    return found, states.grad


@pytest.mark.parametrize("tokens", [0, 1, 11])
def test_log_probabilities_entropies_and_gradients_are_trls(tokens):
    given = states_and_weight(tokens)
    (ours, gradient), (theirs, their_gradient) = (
        applied(ByParts, *given),
        applied(ChunkedLogProbFunction, *given),
    )
    for own, other in zip(ours, theirs, strict=True):
        assert own is other is None or torch.allclose(own.float(), other.float(), atol=1e-5)
    torch.testing.assert_close(gradient, their_gradient, atol=1e-5, rtol=1e-4)
    assert tokens < 11 or 0 < ours[4].sum() < 11  # likeliest ones
    found, _ = applied(ByParts, *given, outputs=("log_probs",))
    assert [one is None for one in found] == [False, True, True, True, True]


@pytest.mark.parametrize("changed", ["weight is trained", "softcap", "outputs", "bfloat16"])
def test_trls_function_does_what_ours_does_not(changed):
    states, weight, targets = states_and_weight()
    if changed == "bfloat16":
        states, weight = states.bfloat16(), weight.bfloat16()
    weight.requires_grad_(changed == "weight is trained")
    outputs = (*EVERYTHING, "mean_logits") if changed == "outputs" else EVERYTHING
    softcap = 3.0 if changed == "softcap" else None
    found, gradient = applied(ByParts, states, weight, targets, outputs, softcap=softcap)
    assert gradient.dtype == states.dtype
    assert (weight.grad is not None) == (changed == "weight is trained")
    assert (found[3] is not None) == (changed == "outputs")
    if changed == "softcap":
        logprobs = (3 * torch.tanh(1.5 * states @ weight.t() / 3) / 0.7).log_softmax(dim=1)
        assert torch.allclose(found[0], logprobs.gather(1, targets[:, None])[:, 0], atol=1e-5)


def test_an_entropy_that_is_to_be_learnt_from_is_an_error_and_not_a_silent_zero():
    states, weight, targets = states_and_weight()
    found = ByParts.apply(states.requires_grad_(), weight, None, targets, 1.0, 16, None, 1.0, EVERYTHING)
    with pytest.raises(NotImplementedError, match="entropies"):
        found[1].sum().backward()


def test_a_model_s_own_forward_pass_changes_and_no_other_s(tiny_gemma, monkeypatch):
    ids = torch.arange(40).reshape(2, 20) % 31 + 5
    labels = ids.clone()
    labels[:, :12] = -100
    labels[1, 15:] = -100
    found, seen, names, statistics = [], [], dict(vars(trl.trainer.utils)), vocabulary._statistics
    monkeypatch.setattr(
        vocabulary,
        "_statistics",
        lambda states, *given: seen.append(len(states)) or statistics(states, *given),
    )
    for split in (False, True, False):
        model, _ = load_policy(tiny_gemma)
        model.get_output_embeddings().weight.requires_grad_(False)
        trl.trainer.utils.add_fused_lm_head(model, outputs=("log_probs", "entropy", "is_top1"))
        plain = model.forward
        if split:
            vocabulary.split_the_vocabulary(model)
            assert inspect.signature(model.forward) == inspect.signature(plain)
        seen.clear()
        given = {"input_ids": ids, "attention_mask": torch.ones_like(ids), "labels": labels}
        output = model(**given, fused_lm_head=True)
        output.loss.backward()
        gradient = model.get_decoder().layers[0].mlp.up_proj.weight.grad
        found.append((output.log_probs, output.entropy, output.is_top1.float(), gradient))
        assert sum(seen) == ((labels[:, 1:] != -100).sum() if split else 0)  # tokens that meet the vocabulary
    for plain, saved, again in zip(*found, strict=True):
        assert torch.allclose(plain, saved, atol=1e-5) and torch.equal(plain, again)
    assert dict(vars(trl.trainer.utils)) == names
