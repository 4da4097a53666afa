"""Pairs in training: all answers to a request as one row, so that each is computed once, and forth and
back.

TRL gives a model both conversations of each pair, padded. Here the model's own forward pass makes rows
(see trees.py) out of the different ones, and gives back the same rewards, to rounding."""

from collections.abc import Sequence

import torch
from torch import nn
from transformers.modeling_outputs import SequenceClassifierOutputWithPast

from polyreward.accel.frozen import FrozenLayers
from polyreward.accel.trees import Tree, tree_inputs
from polyreward.models.answer_reward import reward_of
from polyreward.models.batches import token_budget_batches


class PairRows:
    """Runs a reward model on the rows of pairs: TRL's batch is chosen conversations, then rejected ones.

    model: one whose decoder can share prompts (trees.can_share). token_budget: tokens that are run at
    once. frozen: a memory of the decoder's lower layers."""

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
        # The different conversations of pairs that have one in common.
        groups: list[list[tuple[int, ...]]] = []
        for pair in zip(sequences[:half], sequences[half:], strict=True):
            found = next((group for group in groups if set(group) & set(pair)), None)
            if found is None:
                groups.append(list(pair))
            else:
                found += [ids for ids in pair if ids not in found]
        rows = [Tree.from_sequences(*group) for group in groups]
        rewards: dict[tuple[int, ...], torch.Tensor] = {}
        for batch in token_budget_batches([len(row) for row in rows], self.token_budget):
            self._run([rows[n] for n in batch], rewards)
        return SequenceClassifierOutputWithPast(logits=torch.stack([rewards[ids] for ids in sequences]))

    def _run(self, rows: Sequence[Tree], rewards: dict[tuple[int, ...], torch.Tensor]) -> None:
        if self.frozen:
            self.frozen.recall(rows)
        inputs = tree_inputs(rows, self.decoder.config, self.model.config.pad_token_id, self.decoder.device)
        for row, states in zip(rows, self.decoder(**inputs, use_cache=False).last_hidden_state, strict=True):
            for ids, own in zip(row.sequences, row.split(states), strict=True):
                rewards[ids] = reward_of(self.model, ids, own)
