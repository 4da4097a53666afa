"""Reward models: a base with one scalar head and a pad token of its own."""

import logging
from collections.abc import Sequence
from pathlib import Path
from types import MethodType

import torch
from transformers import AutoModelForSequenceClassification, AutoTokenizer
from transformers.modeling_outputs import SequenceClassifierOutput
from transformers.utils import logging as transformers_logging

from polyreward.core.conversations import answer_header, last_place
from polyreward.core.seals import intact

PAD_TOKEN = "<|polyreward_pad|>"
logger = logging.getLogger(__name__)


def new_reward_model(base_folder: str | Path, seed: int, pooling: str = "last"):
    """Make an untrained reward model of a base: (model, tokenizer), in fp32.

    The head has no bias and is initialised N(0, 1/sqrt(d_model + 1)), that standard deviation. Source:
    arXiv 2410.18027, appendix B. pooling: "last": the reward is the head on the last token's state;
    "answer": its mean over the answer's tokens. Raises PolyrewardError where the chat template has no
    header of an answer."""
    tokenizer = AutoTokenizer.from_pretrained(intact(base_folder))
    verbosity = transformers_logging.get_verbosity()
    transformers_logging.set_verbosity_error()  # the missing head and the unused LM head are what we want
    model = AutoModelForSequenceClassification.from_pretrained(base_folder, num_labels=1, dtype=torch.float32)
    transformers_logging.set_verbosity(verbosity)
    give_pad_token(model, tokenizer)
    tokenizer.padding_side = "right"
    d_model = model.score.in_features
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        model.score.weight.normal_(0.0, (d_model + 1) ** -0.5, generator=generator)
    if pooling == "answer":
        model.config.answer_header = answer_header(tokenizer)
    return pooled(model), tokenizer


def give_pad_token(model: torch.nn.Module, tokenizer) -> None:
    """Tell a base its tokenizer's pad token; one of its own, of zeros, where it has none or it is the end
    token."""
    if tokenizer.pad_token_id is None or tokenizer.pad_token_id == tokenizer.eos_token_id:
        tokenizer.add_special_tokens({"pad_token": PAD_TOKEN})
        known = model.config.vocab_size
        model.resize_token_embeddings(max(len(tokenizer), known), mean_resizing=False)
        # The new row is drawn at random, and a causal LM has its logit in every softmax.
        with torch.no_grad():
            for embedding in filter(None, (model.get_input_embeddings(), model.get_output_embeddings())):
                embedding.weight[known:] = 0.0
        logger.info("added the pad token %s with id %d", PAD_TOKEN, tokenizer.pad_token_id)
    model.config.pad_token_id = tokenizer.pad_token_id


def pooled(model: torch.nn.Module) -> torch.nn.Module:
    """Return a sequence classification model whose reward is pooled as its config says.

    With an `answer_header` (token ids) it is the head's mean over the answer's tokens."""
    if getattr(model.config, "answer_header", None):
        # Its class stays that of transformers, which the folder names.
        model.forward = MethodType(_over_answers, model)
    return model


def reward_of(model: torch.nn.Module, ids: Sequence[int], states: torch.Tensor) -> torch.Tensor:
    """Return a conversation's reward (1,) from its token ids and last hidden states (tokens, d_model)."""
    header = getattr(model.config, "answer_header", None)
    if not header:
        return model.score(states[-1])
    place = last_place(ids, header)
    start = 0 if place is None else min(place + len(header), len(ids) - 1)
    return model.score(states[start:]).mean(dim=0)


def _over_answers(model, input_ids, attention_mask=None, **_) -> SequenceClassifierOutput:
    """Return the rewards (conversations, 1)."""
    mask = torch.ones_like(input_ids) if attention_mask is None else attention_mask
    states = model.get_decoder()(input_ids=input_ids, attention_mask=mask, use_cache=False)
    rows = zip(input_ids, states.last_hidden_state, mask.bool(), strict=True)
    rewards = [reward_of(model, ids[keep].tolist(), state[keep]) for ids, state, keep in rows]
    return SequenceClassifierOutput(logits=torch.stack(rewards))
