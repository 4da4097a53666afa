"""Heads of published reward models that transformers has no class for, so that none of their code is run.

By the name under `architectures` in config.json. Tensors are named as in the published weights, and each
computes what its authors' code does for a single conversation."""

import torch
import transformers
from torch import nn
from transformers import LlamaModel, LlamaPreTrainedModel
from transformers.modeling_outputs import SequenceClassifierOutput

from polyreward.core.errors import UnavailableError
from polyreward.models.answer_reward import last_place

ANSWER_BEGINS = "<|eot_id|><|start_header_id|>assistant<|end_header_id|>\n\n"  # in Llama 3's chat template


class Reward(LlamaPreTrainedModel):
    """A Llama decoder with a head of its own, made by `add_head`; padding is on the right.

    The reward, `logits`, is what `rewards` computes of ids and states (conversations, tokens, ...) and the
    place of each last token."""

    def __init__(self, config):
        super().__init__(config)
        self.model = LlamaModel(config)
        self.add_head(config)
        self.post_init()

    def learn_tokens(self, tokenizer) -> None:
        """Look up tokens that the head goes by."""

    def forward(
        self, input_ids: torch.Tensor, attention_mask: torch.Tensor | None = None, **_
    ) -> SequenceClassifierOutput:
        """Return the rewards of token ids (conversations, tokens)."""
        mask = torch.ones_like(input_ids) if attention_mask is None else attention_mask
        states = self.model(input_ids=input_ids, attention_mask=mask, use_cache=False).last_hidden_state
        return SequenceClassifierOutput(logits=self.rewards(input_ids, states, mask.sum(dim=1) - 1))


class TwoLayers(Reward):
    """INF-ORM's: two linear layers with ReLU between, on the last token's state. Source: its model card."""

    def add_head(self, config) -> None:
        """Make `score`."""
        width = config.hidden_size
        self.score = nn.Sequential(nn.Linear(width, width), nn.ReLU(), nn.Linear(width, 1))

    def rewards(self, ids: torch.Tensor, states: torch.Tensor, ends: torch.Tensor) -> torch.Tensor:
        """Return what `score` makes of each last state."""
        return self.score(_at(states, ends))


class Gate(nn.Module):
    """ArmoRM's weights of its objectives: ReLU layers, then a softmax at a temperature, times a scale."""

    def __init__(self, config):
        super().__init__()
        self.temperature = getattr(config, "gating_temperature", 10)
        width = getattr(config, "gating_hidden_dim", 1024)
        widths = [config.hidden_size, *[width] * getattr(config, "gating_n_hidden", 3)]
        hidden = [nn.Linear(one, width) for one in widths[:-1]]
        self.layers = nn.ModuleList([*hidden, nn.Linear(widths[-1], _objectives(config))])
        self.logit_scale = nn.Parameter(torch.ones(1))

    def forward(self, states: torch.Tensor) -> torch.Tensor:
        """Return (conversations, objectives) of the states at the ends of prompts."""
        for layer in self.layers[:-1]:
            states = torch.relu(layer(states))
        return torch.softmax(self.layers[-1](states) / self.temperature, dim=-1) * self.logit_scale


class GatedObjectives(Reward):
    """ArmoRM's: objectives at the last token, weighed by the tokens before the last answer. Source: arXiv
    2406.12845.

    Where an answer's beginning was cut away, the weights are read at the first token that is left."""

    def add_head(self, config) -> None:
        """Make `regression_layer`, `reward_transform_matrix` and `gating`."""
        self.regression_layer = nn.Linear(config.hidden_size, _objectives(config), bias=False)
        self.reward_transform_matrix = nn.Parameter(torch.eye(_objectives(config)), requires_grad=False)
        self.gating = Gate(config)

    def learn_tokens(self, tokenizer) -> None:
        """Look up what an answer begins with."""
        self.answer_begins = tokenizer.encode(ANSWER_BEGINS, add_special_tokens=False)

    def rewards(self, ids: torch.Tensor, states: torch.Tensor, ends: torch.Tensor) -> torch.Tensor:
        """Return the weighed sum of the objectives."""
        objectives = self.regression_layer(_at(states, ends)) @ self.reward_transform_matrix
        begins = torch.tensor([last_place(row, self.answer_begins) or 0 for row in ids.tolist()])
        return (self.gating(_at(states, begins)) * objectives).sum(dim=-1, keepdim=True)


HEADS = {"INFORMForSequenceClassification": TwoLayers, "LlamaForRewardModelWithGating": GatedObjectives}


def head_of(config, source, remote_code: bool) -> type | None:
    """Return our class for the head that a configuration names; None where transformers or remote code has
    it.

    Raises UnavailableError where the head is unknown: its weights would be misread or left out."""
    named = (config.architectures or [None])[0]
    if remote_code or named is None or hasattr(transformers, named):
        return None
    if named not in HEADS:
        raise UnavailableError(
            f"{source}: its head `{named}` is known neither to transformers nor here ({', '.join(HEADS)})."
            " Read its code and set `remote_code: true` at a `revision` to run that, or add a class of its"
            " head to polyreward/scoring/heads.py"
        )
    return HEADS[named]


def _objectives(config) -> int:
    return getattr(config, "num_objectives", 19)


def _at(states: torch.Tensor, places: torch.Tensor) -> torch.Tensor:
    places = places.to(states.device)
    return states[torch.arange(len(states), device=states.device), places]
