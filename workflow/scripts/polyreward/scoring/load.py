"""Loading models to score with: each family's checks, and how fast a model can be run."""

from pathlib import Path

import torch
from transformers import AutoModelForCausalLM, AutoModelForSequenceClassification, AutoTokenizer
from transformers.utils import logging as transformers_logging

from polyreward.core.errors import PolyrewardError
from polyreward.core.seals import intact
from polyreward.models.last_layer import LastLayer, parts_known
from polyreward.models.onednn import multiply_by_onednn
from polyreward.models.precision import torch_dtype
from polyreward.models.tree_attention import attend_by_branch
from polyreward.scoring.classifier import Classifier, shares_prompt
from polyreward.scoring.loglik import CausalLM, causal_lm

DEVICE = "cuda" if torch.cuda.is_available() else "cpu"


def load_classifier(
    source: str | Path, dtype: str, max_length: int, token_budget: int, attention: str = "sdpa",
    revision: str | None = None, remote_code: bool = False, output: str = "logits",
) -> Classifier:  # fmt: skip
    """Load a sequence classification model and its tokenizer, ready to score.

    source: a Hugging Face folder, or a hub id with its revision. dtype: as precision.dtype_of has it. attention: transformers'
    name of an implementation. remote_code: run the model's own Python code; a hub model's only at a pinned revision. output: the
    field of its output that is the reward.
    Raises PolyrewardError where it has no head of one output, no chat template, pads with its end token, or changed since it was
    made."""
    if remote_code and not Path(source).is_dir() and not revision:
        raise PolyrewardError(f"{source}: remote_code runs what its authors wrote; pin it by `revision`, a commit of the hub")
    model, tokenizer = _loaded(AutoModelForSequenceClassification, source, dtype, attention, revision, remote_code)
    if output == "logits" and model.config.num_labels != 1:
        raise PolyrewardError(
            f"{source}: has {model.config.num_labels} outputs; a reward model has one (num_labels: 1); name the field of "
            "its output that holds the reward as `output`, if there is one"
        )
    if tokenizer.pad_token_id is None or tokenizer.pad_token_id == tokenizer.eos_token_id:
        raise PolyrewardError(f"{source}: its pad token is not its own, so padding hides the end; add a pad token and save it")
    share = shares_prompt(model, output)
    if share:
        attend_by_branch(model, lambda: shares_prompt(model, output))
    last_layer = LastLayer(model.get_decoder()) if share and parts_known(model.get_decoder()) else None
    return Classifier(model, tokenizer, max_length, token_budget, share, output, None, last_layer)


def load_causal_lm(
    source: str | Path, dtype: str, max_length: int, token_budget: int, attention: str = "sdpa", revision: str | None = None
) -> CausalLM:  # fmt: skip
    """Load a causal LM and its tokenizer; arguments and errors as in load_classifier."""
    model, tokenizer = _loaded(AutoModelForCausalLM, source, dtype, attention, revision, False)
    return causal_lm(model, tokenizer, max_length, token_budget)


def _loaded(kind, source: str | Path, dtype: str, attention: str, revision: str | None, remote_code: bool):
    verbosity = transformers_logging.get_verbosity()
    transformers_logging.set_verbosity_error()
    try:
        tokenizer = AutoTokenizer.from_pretrained(intact(source), revision=revision, trust_remote_code=remote_code)
        model, found = kind.from_pretrained(
            source, revision=revision, dtype=torch_dtype(dtype), attn_implementation=attention,
            trust_remote_code=remote_code, output_loading_info=True,
        )  # fmt: skip
    except (OSError, ValueError, ImportError) as error:
        raise PolyrewardError(f"{source}: not a model folder or hub id that loads here ({error}); correct the path") from error
    finally:
        transformers_logging.set_verbosity(verbosity)
    if found["missing_keys"]:
        raise PolyrewardError(
            f"{source}: its weights lack {', '.join(sorted(found['missing_keys'])[:3])}, so it would score at random; "
            "name a trained reward model"
        )
    if tokenizer.chat_template is None:
        raise PolyrewardError(f"{source}: its tokenizer has no chat template; save one with it")
    return multiply_by_onednn(model.to(DEVICE).eval()), tokenizer


def classifier(entry: dict, scoring: dict, cache) -> Classifier:
    """Load an entry of kind `classifier`; arguments as families.load_reward_model has them."""
    options = {key: entry[key] for key in ("revision", "remote_code", "output") if key in entry}
    return load_classifier(entry["source"], **scoring, **options)
