"""Attention of a row that holds several texts, text by text: what a token does not see is not multiplied.

Under one mask over the whole row every token meets every other, and most of a row's products are masked away
again."""

from collections.abc import Callable, Sequence

import torch
from torch.nn.functional import scaled_dot_product_attention
from transformers import AttentionInterface, AttentionMaskInterface
from transformers.integrations.sdpa_attention import repeat_kv, sdpa_attention_forward
from transformers.masking_utils import sdpa_mask

NAME = "polyreward_trees"  # among transformers' attention implementations

Span = tuple[int, int]  # a branch's tokens in its row: the first, and one after the last


def tree_attention(
    module,
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    attention_mask: torch.Tensor | None,
    scaling: float | None = None,
    spans: Sequence[Sequence[Span]] | None = None,
    **options,
) -> tuple[torch.Tensor, None]:
    """Return the attention of a batch of rows (rows, tokens, heads, width); an implementation as transformers
    wants one.

    query, key, value: (rows, heads, tokens, width). attention_mask: true where a token sees another (rows, 1,
    tokens, tokens). spans: of each row's branches in their order; what stands before the first is shared.
    Without spans it is plain sdpa. Padding, which is in no branch, gets zeros."""
    if spans is None:
        return sdpa_attention_forward(module, query, key, value, attention_mask, scaling=scaling, **options)
    groups = getattr(module, "num_key_value_groups", 1)
    key, value = repeat_kv(key, groups), repeat_kv(value, groups)
    found = torch.zeros_like(query).transpose(1, 2).contiguous()
    for row, branches in enumerate(spans):
        shared = branches[0][0]
        for start, stop in [(0, 0), *branches]:
            # The shared tokens see themselves; a branch's see them and themselves.
            own = slice(start, stop) if stop else slice(0, shared)
            if own.start == own.stop:
                continue
            seen, mask = (
                [part[row, :, :shared] for part in (key, value)],
                attention_mask[row, :, own, :shared],
            )
            if stop:
                seen = [
                    torch.cat([part, whole[row, :, own]], 1)
                    for part, whole in zip(seen, (key, value), strict=True)
                ]
                mask = torch.cat([mask, attention_mask[row, :, own, own]], 2)
            states = scaled_dot_product_attention(
                query[row, None, :, own], *(part[None] for part in seen), attn_mask=mask[None], scale=scaling
            )
            found[row, own] = states[0].transpose(0, 1)
    return found, None


AttentionInterface.register(NAME, tree_attention)
AttentionMaskInterface.register(NAME, sdpa_mask)


def attends_by_branch(config) -> bool:
    """Return whether a model of this configuration takes `spans`."""
    return getattr(config, "_attn_implementation", None) == NAME


def attend_by_branch(model, works: Callable[[], bool]) -> bool:
    """Let a model that attends by torch's sdpa on a CPU do so branch by branch; returns whether it does.

    works: asked of the model that does; where it says no, the model attends as before. On a GPU the many
    small products would cost more than they save."""
    if model.device.type != "cpu" or model.config._attn_implementation != "sdpa":
        return False
    model.set_attn_implementation(NAME)
    if attends_by_branch(model.config) and works():
        return True
    model.set_attn_implementation("sdpa")
    return False
