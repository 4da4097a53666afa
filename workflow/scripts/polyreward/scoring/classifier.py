"""Classifiers: a sequence classification model whose scalar output is the reward."""

import dataclasses
from collections.abc import Callable, Iterator, Sequence

import torch

from polyreward import accel
from polyreward.accel.frozen import FrozenLayers, frozen_count
from polyreward.accel.trees import last_states
from polyreward.core.conversations import place_after
from polyreward.core.errors import UnavailableError
from polyreward.core.logs import progress
from polyreward.models.answer_reward import reward_of
from polyreward.models.batches import padded, token_budget_batches
from polyreward.scoring.heads import Reward
from polyreward.scoring.interface import Conversations, Scores
from polyreward.scoring.tokens import TextModel, Tokenized, short_ids, tokenized


@dataclasses.dataclass(frozen=True)
class Classifier(TextModel):
    """A reward model. plain_head: whether its reward is the head on the decoder's states; else it is run
    whole. frozen: a memory of its lower layers."""

    plain_head: bool
    frozen: FrozenLayers | None = None

    @torch.inference_mode()
    def score(self, conversations: Sequence[Conversations], label: str) -> Scores:
        """Score every answer by the reward of its conversation."""
        texts = tokenized(self, conversations)
        read = [[read_part(self.model, ids) for ids in group] for group in texts.groups]
        texts = dataclasses.replace(texts, groups=read)
        rewards = self._by_head if self.plain_head else self._by_model
        with progress(label, len(texts)) as report:
            return texts.scores(dict(rewards(texts, report)))

    def _by_head(self, texts: Tokenized, report: Callable[[int], None]) -> Iterator[tuple]:
        pad = pad_of(self.model)
        if self.frozen:
            self.frozen.fill(texts.groups, pad, self.token_budget, True)
        decoder = self.model.get_decoder()
        header = getattr(self.model.config, "answer_header", None)
        found = last_states(
            decoder,
            texts.groups,
            pad,
            self.token_budget,
            self.share,
            self.frozen,
            report,
            single_beyond=self.single_beyond,
        )
        for group, member, states in found:
            ids = texts.groups[group][member]
            start = None
            if header:
                removed = texts.cut.get((group, member), 0)
                start = place_after(self.tokenizer, texts.prompts[group], header, ids, removed)
            reward = reward_of(self.model, ids, states, start)
            yield (group, member), reward.float().item()

    def _by_model(self, texts: Tokenized, report: Callable[[int], None]) -> Iterator[tuple]:
        places, pad = texts.distinct, pad_of(self.model)
        sequences = [texts.groups[group][member] for group, member in places]
        # Without a pad token a model cannot see where a padded text ends.
        one_by_one = pad is None and not isinstance(self.model, Reward)
        budget = 1 if one_by_one else self.token_budget
        for batch in token_budget_batches(list(map(len, sequences)), budget, self.single_beyond):
            inputs = padded([sequences[i] for i in batch], pad, self.model.device)
            rewards = _rewards(self.model(**inputs), len(batch))
            yield from zip((places[i] for i in batch), rewards, strict=True)
            report(len(batch))


def with_memory(reward_model: Classifier, top_layers: int, states: dict) -> Classifier:
    """Return a classifier that runs the layers below its `top_layers` once per text and keeps them in
    `states`.

    top_layers: those that differ from the base's; 0 for all, and the classifier as it is."""
    count = frozen_count(reward_model.model, top_layers) if reward_model.share else 0
    if not count:
        return reward_model
    frozen = FrozenLayers(reward_model.model, count, states)
    frozen.install()
    return dataclasses.replace(reward_model, frozen=frozen)


@torch.inference_mode()
def has_plain_head(model: torch.nn.Module) -> bool:
    """Return whether a reward is the head on the decoder's states, also of texts that are padded in a batch.

    By trying: two texts together against the whole model on each of them."""
    head, decoder = getattr(model, "score", None), getattr(model, "get_decoder", lambda: None)()
    if not isinstance(head, torch.nn.Module) or decoder is None:
        return False
    texts = [short_ids(model), short_ids(model)[:5]]
    try:
        inputs = padded(texts, pad_of(model), model.device)
        states = decoder(**inputs, use_cache=False).last_hidden_state
        for text, of_text in zip(texts, states, strict=True):
            alone = padded([text], pad_of(model), model.device)
            reward = reward_of(model, text, of_text[: len(text)])
            if not torch.allclose(model(**alone).logits[0], reward, atol=1e-2, rtol=1e-2):
                return False
    except accel.CANNOT:
        return False
    return True


def pad_of(model: torch.nn.Module) -> int | None:
    """Return the token by which a model knows where a text ends; None where it has none."""
    pad = model.config.get_text_config().pad_token_id
    return pad if pad is not None and pad >= 0 else None


def read_part(model: torch.nn.Module, ids: tuple[int, ...]) -> tuple[int, ...]:
    """Return a text up to where a model's own padding would begin.

    That is not all where the pad token is one that ends a turn. Transformers' classes read the last token
    that is not the pad token; published heads, written for older versions, the one before the first."""
    pad = pad_of(model)
    if pad not in ids:
        return ids
    if isinstance(model, Reward):
        return ids[: ids.index(pad)] or ids
    if not type(model).__module__.startswith("transformers."):
        return ids  # its own code knows
    last = max((place for place, token in enumerate(ids) if token != pad), default=0)
    return ids[: last + 1]


def _rewards(found, count: int) -> list[float]:
    logits = found.get("logits")
    if logits is None or logits.numel() != count:
        held = {name: tuple(value.shape) for name, value in found.items() if hasattr(value, "shape")}
        raise UnavailableError(
            f"its output `logits` is not one value for each of {count} texts; the model gives {held}"
        )
    return logits.float().flatten().tolist()
