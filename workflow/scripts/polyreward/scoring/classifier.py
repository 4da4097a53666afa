"""Classifiers: a sequence classification model whose scalar output is the reward."""

import dataclasses
from collections.abc import Sequence

import torch

from polyreward.accel.frozen import FrozenLayers, frozen_count
from polyreward.accel.trees import can_share, last_states
from polyreward.core.errors import UnavailableError
from polyreward.core.logs import progress
from polyreward.models.batches import padded, token_budget_batches
from polyreward.models.reward_model import reward_of
from polyreward.scoring.heads import Reward
from polyreward.scoring.interface import Conversations, Scores
from polyreward.scoring.tokens import Tokenized, tokenized


@dataclasses.dataclass(frozen=True)
class Classifier:
    """A reward model with a head. In fp32 a reward does not depend on its batch, to 1e-5.

    max_length: tokens, truncated on the left. token_budget: tokens per padded batch. share: run the prompt
    that answers share once; see `shares_prompt`. output: the field of the model's output that holds the
    reward. frozen: a memory of its lower layers; what it does not know yet is added."""

    model: torch.nn.Module
    tokenizer: object
    max_length: int
    token_budget: int
    share: bool
    output: str = "logits"
    frozen: FrozenLayers | None = None

    @property
    def exact(self) -> bool:
        """Whether it computes in fp32."""
        return self.model.dtype == torch.float32

    def unbatched(self) -> "Classifier":
        """Return the same model that runs each text by itself."""
        return dataclasses.replace(self, token_budget=1, share=False)

    @torch.inference_mode()
    def score(self, conversations: Sequence[Conversations], label: str) -> Scores:
        """Score every answer by the reward of its conversation."""
        texts = tokenized(self.tokenizer, conversations, self.max_length)
        read = [[read_part(self.model, ids) for ids in group] for group in texts.groups]
        texts = dataclasses.replace(texts, groups=read)
        return texts.scores(self._by_head(texts, label) if self.share else self._by_model(texts, label))

    def _by_head(self, texts: Tokenized, label: str) -> dict[tuple[int, int], float]:
        pad = pad_of(self.model)
        if self.frozen:
            self.frozen.fill(texts.groups, pad, self.token_budget, True)
        rewards = {}
        with progress(label, len(texts)) as report:
            states = last_states(
                self.model.get_decoder(),
                texts.groups,
                pad,
                self.token_budget,
                True,
                self.frozen,
                report,
            )
            for group, member, found in states:
                rewards[group, member] = (
                    reward_of(self.model, texts.groups[group][member], found).float().item()
                )
        return rewards

    def _by_model(self, texts: Tokenized, label: str) -> dict[tuple[int, int], float]:
        places = texts.distinct
        sequences = [texts.groups[group][member] for group, member in places]
        rewards, pad = {}, pad_of(self.model)
        one_by_one = pad is None and not isinstance(
            self.model, Reward
        )  # it could not see where a padded text ends
        with progress(label, len(texts)) as report:
            for batch in token_budget_batches(
                list(map(len, sequences)), 1 if one_by_one else self.token_budget
            ):
                inputs = padded([sequences[i] for i in batch], pad, self.model.device)
                found = _rewards(self.model(**inputs), self.output, len(batch))
                rewards.update(zip((places[i] for i in batch), found, strict=True))
                report(len(batch))
        return rewards


def with_memory(reward_model: Classifier, top_layers: int, states: dict) -> Classifier:
    """Return a classifier that runs the layers below its `top_layers` once per text and keeps what they give
    in `states`.

    Only for a model whose lower layers are its base's own; several of one base may have the same `states`.
    top_layers: 0 where no layer is frozen, for a classifier as it is."""
    count = frozen_count(reward_model.model, top_layers) if top_layers and reward_model.share else 0
    if not count:
        return reward_model
    frozen = FrozenLayers(reward_model.model, count, states)
    frozen.install()
    return dataclasses.replace(reward_model, frozen=frozen)


@torch.inference_mode()
def shares_prompt(model: torch.nn.Module, output: str = "logits") -> bool:
    """Return whether a classifier's reward is its head on its decoder's states, and its decoder can share
    prompts.

    Asked of the model itself, on one text; else it is run whole, each conversation by itself."""
    head = getattr(model, "score", None)
    if output != "logits" or not isinstance(head, torch.nn.Module) or not hasattr(model, "get_decoder"):
        return False
    decoder = model.get_decoder()
    if decoder is None or not can_share(decoder):
        return False
    ids = (
        torch.arange(9, device=decoder.device)[None] * 5 % min(model.config.get_text_config().vocab_size, 997)
    )
    inputs = {"input_ids": ids, "attention_mask": torch.ones_like(ids)}
    states = decoder(**inputs, use_cache=False).last_hidden_state[0]
    reward = reward_of(model, ids[0].tolist(), states)
    return torch.allclose(model(**inputs).logits[0], reward, atol=1e-2, rtol=1e-2)


def pad_of(model: torch.nn.Module) -> int | None:
    """Return the token by which a model knows where a text ends; None where it has none."""
    pad = model.config.get_text_config().pad_token_id
    return pad if pad is not None and pad >= 0 else None


def read_part(model: torch.nn.Module, ids: tuple[int, ...]) -> tuple[int, ...]:
    """Return what a model reads of a text, as when it is given only that: to where its own padding would
    begin.

    It is not the whole text where the pad token is the one that ends a conversation. Transformers' classes
    read the last token that is not the pad token. Published heads, written for older versions, read the one
    before the first pad token."""
    pad = pad_of(model)
    if pad not in ids:
        return ids
    if isinstance(model, Reward):
        return ids[: ids.index(pad)] or ids
    if not type(model).__module__.startswith("transformers."):
        return ids  # its own code knows
    last = max((place for place, token in enumerate(ids) if token != pad), default=0)
    return ids[: last + 1]


def _rewards(found, output: str, count: int) -> list[float]:
    values = found.get(output)
    if values is None or values.numel() != count:
        held = {name: tuple(value.shape) for name, value in found.items() if hasattr(value, "shape")}
        raise UnavailableError(
            f"output `{output}` is not one value for each of {count} texts; the model gives {held}"
        )
    return values.float().flatten().tolist()
