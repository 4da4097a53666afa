"""Reward models: a base with one scalar head and a pad token of its own."""

import json
import logging
import shutil
from pathlib import Path

import torch
from transformers import AutoModelForSequenceClassification, AutoTokenizer
from transformers.utils import logging as transformers_logging

from polyreward.core.conversations import answer_header
from polyreward.core.seals import intact
from polyreward.models import answer_reward
from polyreward.models.answer_reward import over_answers, plain_config

PAD_TOKEN = "<|polyreward_pad|>"
TRAINED = ("ForSequenceClassification", "AnswerReward")  # ends of the classes that reward models have
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


def reward_model_to_train(folder: str | Path, seed: int, pooling: str = "last"):
    """Return what a training begins with, in fp32: (model, tokenizer).

    A folder of a reward model is loaded as it is. Of a base it is a new one, as new_reward_model makes it."""
    held = json.loads(Path(folder, "config.json").read_text(encoding="utf-8"))
    if not any(name.endswith(TRAINED) for name in held.get("architectures") or []):
        return new_reward_model(folder, seed, pooling)
    tokenizer = AutoTokenizer.from_pretrained(intact(folder))
    tokenizer.padding_side = "right"
    model = AutoModelForSequenceClassification.from_pretrained(
        folder, config=own_config(folder), dtype=torch.float32
    )
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
    return over_answers(model) if getattr(model.config, "answer_header", None) else model


def give_own_type(folder: Path) -> None:
    """Give a saved reward model that reads its answer's tokens a type of its own, and the code to load it."""
    file = folder / "config.json"
    held = json.loads(file.read_text(encoding="utf-8"))
    if not held.get("answer_header"):
        return
    module = Path(answer_reward.__file__)
    classes = {"AutoConfig": "AnswerRewardConfig", "AutoModelForSequenceClassification": "AnswerReward"}
    held |= {
        "model_type": answer_reward.TYPE,
        "base_model_type": held["model_type"],
        "architectures": ["AnswerReward"],
        "auto_map": {kind: f"{module.stem}.{name}" for kind, name in classes.items()},
    }
    file.write_text(json.dumps(held, indent=2, sort_keys=True) + "\n", encoding="utf-8")
    shutil.copyfile(module, folder / module.name)


def own_config(folder: str | Path):
    """Return the config of a folder that `give_own_type` wrote, as one of transformers' types; None of
    others."""
    file = Path(folder, "config.json")
    held = json.loads(file.read_text(encoding="utf-8")) if file.is_file() else {}
    return plain_config(held) if held.get("model_type") == answer_reward.TYPE else None
