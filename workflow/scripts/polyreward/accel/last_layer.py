"""A decoder's last layer, run in part: where only some tokens' states are read, what the others would get is
not computed.

A reward is read at each text's last token. Attention needs the keys and values of all tokens; its output
projection and the feed-forward network, four fifths of the layer's multiplications, only those tokens that
are read."""

from collections.abc import Sequence

import torch
from torch import nn

from polyreward.accel.trees import Tree


class LastLayer:
    """Runs the costly parts of a decoder's last layer for the tokens that are asked for; for all where
    nothing is asked.

    decoder: a transformers model whose blocks, in `.layers`, have `self_attn.o_proj` and `mlp`; `parts_known`
    tells whether it is one. The states of other tokens are not what the model would give them."""

    def __init__(self, decoder: nn.Module):
        self.tokens: torch.Tensor | None = None
        layer = decoder.layers[-1]
        for part in (layer.self_attn.o_proj, layer.mlp):
            part.forward = self._sparing(part.forward)

    def ask(self, trees: Sequence[Tree], length: int, device) -> None:
        """Name the tokens of the next forward pass that are read: the last of each branch of each row of
        `length` tokens."""
        places = [row * length + end for row, tree in enumerate(trees) for end in tree.ends]
        self.tokens = torch.tensor(sorted(set(places)), device=device)

    def ask_all(self) -> None:
        """From now on run the layer whole."""
        self.tokens = None

    def _sparing(self, forward):
        def run(states: torch.Tensor, *args, **kwargs) -> torch.Tensor:
            if self.tokens is None:
                return forward(states, *args, **kwargs)
            found = forward(states.flatten(0, 1)[self.tokens][None], *args, **kwargs)[0]
            whole = found.new_zeros(states.shape[0] * states.shape[1], found.shape[-1]).index_copy(
                0, self.tokens, found
            )
            return whole.unflatten(0, states.shape[:2])

        return run


def parts_known(decoder: nn.Module) -> bool:
    """Return whether a decoder's last layer has the parts that LastLayer runs in part, and gives what it
    reads back unchanged."""
    layers = getattr(decoder, "layers", None)
    if (
        not layers
        or not hasattr(getattr(layers[-1], "self_attn", None), "o_proj")
        or not hasattr(layers[-1], "mlp")
    ):
        return False
    return not any(
        name in layers[-1].mlp._modules for name in ("router", "gate", "experts")
    )  # those of experts return more
