"""Multiply only tokens that enter the loss by the output embedding, in parts that stay in the CPU's cache.

TRL does the first on GPUs only. Its parts leave the cache: per token of 262,144 words that takes three
times as long."""

import functools
from types import FunctionType, MethodType

import torch
from trl.kernels import ChunkedLogProbFunction

from polyreward import accel
from polyreward.accel.onednn import product

TOKENS, WORDS = 512, 4096  # of a part


def split_the_vocabulary(model) -> None:
    """Let a model to which TRL has added its fused head do so; the loss is the same, to rounding.

    Only this model changes: its forward pass is TRL's code with two names that mean something else there."""
    if not accel.on():
        return
    fused = model.forward.__func__
    names = {"__name__": __name__, "_use_triton": lambda device: True, "_ChunkedLogProbFunction": ByParts}
    given = fused.__name__, fused.__defaults__, fused.__closure__
    split = FunctionType(fused.__code__, {**fused.__globals__, **names}, *given)
    split.__kwdefaults__ = fused.__kwdefaults__
    # `generate` reads the signature.
    model.forward = MethodType(functools.update_wrapper(split, fused, assigned=()), model)


class ByParts:
    """TRL's function of log-probabilities, except the outputs that `Logprobs` computes faster."""

    @staticmethod
    def apply(states, weight, bias, targets, temperature, chunk_size, softcap, logit_scale, outputs) -> tuple:
        """Return log_probs, entropy, log_sum_sq_probs, mean_logits and is_top1 as TRL does; None for outputs
        that are not asked for."""
        plain = bias is None and softcap is None and not weight.requires_grad
        known = {"log_probs", "entropy", "is_top1"} >= set(outputs)
        exact = states.dtype == weight.dtype == torch.float32 and not torch.is_autocast_enabled("cpu")
        if not (plain and known and exact and states.device.type == "cpu"):
            return ChunkedLogProbFunction.apply(
                states, weight, bias, targets, temperature, chunk_size, softcap, logit_scale, outputs
            )
        logprobs, *others = Logprobs.apply(states, weight, targets, logit_scale / temperature)
        entropy, is_top1 = (
            value if name in outputs else None
            for name, value in zip(("entropy", "is_top1"), others, strict=True)
        )
        return logprobs, entropy, None, None, is_top1


class Logprobs(torch.autograd.Function):
    """Log-probabilities (nats) of tokens after states; the embedding is not trained; fp32 on a CPU."""

    @staticmethod
    def forward(
        ctx, states, weight, targets, scale: float
    ) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        """Return (log-probability, entropy, whether it is the likeliest one) of each token.

        states: (n, d_model). weight: (vocabulary, d_model). targets: (n). scale: of the logits."""
        ctx.set_materialize_grads(False)
        blocks = zip(states.split(TOKENS), targets.split(TOKENS), strict=True)
        found = [_statistics(block, weight, wanted, scale) for block, wanted in blocks]
        logprobs, entropy, is_top1, total = (torch.cat(parts) for parts in zip(*found, strict=True))
        ctx.save_for_backward(states, weight, targets, total)
        ctx.scale = scale
        ctx.mark_non_differentiable(is_top1)
        return logprobs, entropy, is_top1

    @staticmethod
    def backward(ctx, gradient, of_entropy, _) -> tuple[torch.Tensor | None, None, None, None]:
        """Return the gradient of the states."""
        if of_entropy is not None:
            raise NotImplementedError("entropies are there to be read; they have no gradient")
        states, weight, targets, total = ctx.saved_tensors
        if gradient is None:
            return None, None, None, None
        flows = []
        for block, wanted, log_total, own in zip(
            *(tensor.split(TOKENS) for tensor in (states, targets, total, gradient)), strict=True
        ):
            flow = torch.zeros_like(block)
            for first, words in _parts(weight):
                wrong = (
                    product(block, words).mul_(ctx.scale).sub_(log_total[:, None]).exp_().mul_(-own[:, None])
                )
                rows, places = _here(wanted, first, words)
                wrong[rows, places] += own[rows]
                flow += product(wrong, words.t())
            flows.append(flow.mul_(ctx.scale))
        return torch.cat(flows), None, None, None


def _statistics(states, weight, targets, scale: float) -> tuple[torch.Tensor, ...]:
    """Return (log-probability, entropy, whether it is the likeliest, log of the sum of exponentials)."""
    highest = torch.full((len(states),), -torch.inf)
    total, weighted, own = (torch.zeros(len(states)) for _ in range(3))  # the first two over exp(highest)
    for first, words in _parts(weight):
        logits = product(states, words).mul_(scale)
        rows, places = _here(targets, first, words)
        own[rows] = logits[rows, places]
        before, highest = highest, torch.maximum(highest, logits.amax(dim=1))
        shrunk, shares = (before - highest).exp_(), (logits - highest[:, None]).exp_()
        total = total * shrunk + shares.sum(dim=1)
        weighted = weighted * shrunk + shares.mul_(logits).sum(dim=1)
    log_total = highest + total.log()
    return own - log_total, log_total - weighted / total, own == highest, log_total


def _parts(weight: torch.Tensor) -> list[tuple[int, torch.Tensor]]:
    return list(zip(range(0, len(weight), WORDS), weight.split(WORDS), strict=True))


def _here(targets: torch.Tensor, first: int, words: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Return the rows whose token is in a part, and its place there."""
    places = targets - first
    rows = ((places >= 0) & (places < len(words))).nonzero()[:, 0]
    return rows, places[rows]
