"""Reward models: a base with one scalar head and a pad token of its own."""

import logging
from pathlib import Path

import torch
from transformers import AutoModelForSequenceClassification, AutoTokenizer
from transformers.utils import logging as transformers_logging

from polyreward.core.seals import intact

PAD_TOKEN = "<|polyreward_pad|>"
logger = logging.getLogger(__name__)


def new_reward_model(base_folder: str | Path, seed: int):
    """Make an untrained reward model of a base: (model, tokenizer), both in fp32.

    The head has no bias and is initialised N(0, 1/sqrt(d_model + 1)), that standard deviation. A base whose
    pad token is missing or equals its end token gets one of its own, and its embedding a row. Source: arXiv
    2410.18027, appendix B. Raises PolyrewardError where the base's folder changed since it was made."""
    tokenizer = AutoTokenizer.from_pretrained(intact(base_folder))
    verbosity = transformers_logging.get_verbosity()
    transformers_logging.set_verbosity_error()  # the missing head and the unused LM head are what we want
    model = AutoModelForSequenceClassification.from_pretrained(base_folder, num_labels=1, dtype=torch.float32)
    transformers_logging.set_verbosity(verbosity)
    if tokenizer.pad_token_id is None or tokenizer.pad_token_id == tokenizer.eos_token_id:
        tokenizer.add_special_tokens({"pad_token": PAD_TOKEN})
        known = model.config.vocab_size
        model.resize_token_embeddings(max(len(tokenizer), known), mean_resizing=False)
        with torch.no_grad():
            model.get_input_embeddings().weight[known:] = (
                0.0  # padding is masked; what matters is that no run differs
            )
        logger.info("added the pad token %s with id %d", PAD_TOKEN, tokenizer.pad_token_id)
    tokenizer.padding_side = "right"
    model.config.pad_token_id = tokenizer.pad_token_id
    d_model = model.score.in_features
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        model.score.weight.normal_(0.0, (d_model + 1) ** -0.5, generator=generator)
    return model, tokenizer
