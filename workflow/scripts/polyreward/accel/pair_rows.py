"""Pairs in training, each run as one row: the prompt that its two conversations share is computed once, and
forth and back.

TRL gives a model both conversations of each pair, padded to the longest of the batch; here the model's own
forward pass makes rows of pairs (see trees.py) out of them, of like length, and gives back the same rewards,
to rounding."""

from collections.abc import Sequence

import torch
from torch import nn
from transformers.modeling_outputs import SequenceClassifierOutputWithPast

from polyreward.accel.frozen import FrozenLayers
from polyreward.accel.trees import Tree, tree_inputs
from polyreward.models.batches import token_budget_batches


class PairRows:
    """Runs a reward model on the rows of pairs. Its forward pass takes TRL's batch: chosen conversations,
    then rejected ones.

    model: a sequence classification model whose decoder can share prompts (see trees.can_share).
    token_budget: tokens of the rows that are run at once, padding included. frozen: a memory of the decoder's
    lower layers, if there is one."""

    def __init__(self, model: nn.Module, token_budget: int, frozen: FrozenLayers | None):
        self.model, self.token_budget, self.frozen = model, token_budget, frozen
        self.decoder = model.get_decoder()

    def install(self) -> None:
        """From now on let the model's forward pass run rows of pairs."""
        self.model.forward = self._rewards

    def _rewards(
        self, input_ids: torch.Tensor, attention_mask: torch.Tensor, **kwargs
    ) -> SequenceClassifierOutputWithPast:
        sequences = [
            tuple(ids[keep.bool()].tolist()) for ids, keep in zip(input_ids, attention_mask, strict=True)
        ]
        half = len(sequences) // 2
        pairs = [Tree.from_sequences(*pair) for pair in zip(sequences[:half], sequences[half:], strict=True)]
        rewards: dict[int, torch.Tensor] = {}
        for batch in token_budget_batches([len(pair) for pair in pairs], self.token_budget):
            rewards.update(zip(batch, self._of_rows([pairs[n] for n in batch]), strict=True))
        logits = torch.cat([rewards[n] for n in range(half)], dim=1).flatten()[:, None]
        return SequenceClassifierOutputWithPast(logits=logits)

    def _of_rows(self, pairs: Sequence[Tree]) -> Sequence[torch.Tensor]:
        """Return the rewards of each pair: (2, 1), of chosen and rejected."""
        if self.frozen:
            self.frozen.recall(pairs)
        inputs = tree_inputs(pairs, self.decoder.config, self.model.config.pad_token_id, self.decoder.device)
        states = self.decoder(**inputs, use_cache=False).last_hidden_state
        ends = torch.tensor([pair.ends for pair in pairs], device=states.device)
        return self.model.score(states.gather(1, ends[..., None].expand(-1, -1, states.shape[-1]))).unbind()
