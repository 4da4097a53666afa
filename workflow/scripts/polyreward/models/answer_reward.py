"""A reward model that reads its answer's tokens: the code in its folder, where polyreward writes this file.

Such a folder has a type of its own. Without trust in its code no tool loads it, since transformers' own class
would read the last token only, and give other rewards. With `trust_remote_code=True` it gives the rewards
that it was trained for. This file needs torch and transformers only, from version 4.51."""

from functools import cache
from types import MethodType

import torch
import transformers
from transformers import AutoConfig, AutoModelForSequenceClassification, PretrainedConfig
from transformers.modeling_outputs import SequenceClassifierOutput

TYPE = "polyreward_answer_reward"


class AnswerRewardConfig:
    """Reads the configuration of the base's type, under a type of its own."""

    @classmethod
    def from_pretrained(cls, folder, **options):
        """Return the configuration in a folder or repository, as transformers' classes do."""
        held, options = PretrainedConfig.get_config_dict(folder, **options)
        if transformers.__version__.startswith("4."):
            held |= for_version_4(held)
        return own_type(held["base_model_type"]).from_dict(held, **options)

    @classmethod
    def register_for_auto_class(cls, auto_class=None):
        """Do nothing: the folder has this file already."""


class AnswerReward:
    """Loads the base's class for sequence classification, and lets it read the answer's tokens."""

    @classmethod
    def from_pretrained(cls, folder, *arguments, config, **options):
        """Return the model, as transformers' classes do."""
        options.pop("trust_remote_code", None)
        model = AutoModelForSequenceClassification.from_pretrained(
            folder, *arguments, config=plain_config(config.to_dict()), **options
        )
        model.config = config  # what is saved from it has this type again
        return over_answers(model)

    @classmethod
    def register_for_auto_class(cls, auto_class=None):
        """Do nothing: the folder has this file already."""


@cache
def own_type(base_type):
    """Return a class of configurations: that of a type of transformers, under the name of TYPE."""
    base = type(AutoConfig.for_model(base_type))
    return type(f"AnswerReward{base.__name__}", (base,), {"model_type": TYPE})


def plain_config(held):
    """Return a configuration, a dict of TYPE, as one of the base's type, which keeps `answer_header`."""
    base = type(AutoConfig.for_model(held["base_model_type"]))
    own = {"auto_map", "architectures", "base_model_type", "model_type"}
    return base.from_dict({name: value for name, value in held.items() if name not in own})


def for_version_4(held):
    """Return what transformers 4 reads instead of version 5's `rope_parameters`.

    Raises ValueError where that cannot say it, since version 4 would run other frequencies."""
    rope = held.get("rope_parameters")
    if not rope or "rope_theta" in held:
        return {}
    if set(rope) != {"rope_theta", "rope_type"} or rope["rope_type"] != "default":
        raise ValueError("this reward model needs transformers 5 or later, for its `rope_parameters`")
    return {"rope_theta": rope["rope_theta"]}


def over_answers(model):
    """Return a model for sequence classification whose reward is its head's mean over the answer's tokens."""
    # Its class stays that of transformers.
    model.forward = MethodType(_forward, model)
    return model


def reward_of(model, ids, states, start=None):
    """Return a conversation's reward (1,) from its token ids and last hidden states (tokens, d_model).

    start: where the answer begins. None: after the last `answer_header` (token ids) of the configuration.
    Without a header there the reward is the head on the last token."""
    header = getattr(model.config, "answer_header", None)
    if not header:
        return model.score(states[-1])
    if start is None:
        place = last_place(ids, header)
        start = 0 if place is None else place + len(header)
    return model.score(states[min(start, len(ids) - 1) :]).mean(dim=0)


def last_place(ids, sought):
    """Return where some tokens begin for the last time in others; None where they do not."""
    sought = list(sought)
    starts = range(len(ids) - len(sought), -1, -1)
    return next((start for start in starts if list(ids[start : start + len(sought)]) == sought), None)


def _forward(model, input_ids, attention_mask=None, **_):
    """Return the rewards (conversations, 1)."""
    mask = torch.ones_like(input_ids) if attention_mask is None else attention_mask
    decoder = model.get_decoder() if hasattr(model, "get_decoder") else model.base_model  # of version 4
    states = decoder(input_ids=input_ids, attention_mask=mask, use_cache=False)
    rows = zip(input_ids, states.last_hidden_state, mask.bool(), strict=True)
    rewards = [reward_of(model, ids[keep].tolist(), state[keep]) for ids, state, keep in rows]
    return SequenceClassifierOutput(logits=torch.stack(rewards))
