"""Loading models to score with: each family's checks, and how fast a model can be run."""

import contextlib
import json
from collections.abc import Iterator
from pathlib import Path
from typing import cast

import torch
from transformers import AutoConfig, AutoModelForCausalLM, AutoModelForSequenceClassification, AutoTokenizer
from transformers.utils import logging as transformers_logging

from polyreward import accel
from polyreward.accel.onednn import multiply_by_onednn
from polyreward.accel.trees import can_share
from polyreward.core.conversations import (
    TemplateRefusalError,
    pin_date,
    rendered,
    rendered_text,
)
from polyreward.core.errors import PolyrewardError, UnavailableError, is_outage, lacks_memory
from polyreward.core.logs import warn
from polyreward.core.naming import COMMIT
from polyreward.core.seals import intact
from polyreward.models.answer_reward import last_place
from polyreward.models.devices import device
from polyreward.models.reward_model import own_config, pooled
from polyreward.scoring.classifier import Classifier, has_plain_head
from polyreward.scoring.families import EAGER_TOKENS
from polyreward.scoring.heads import Reward, head_of
from polyreward.scoring.loglik import CausalLM, causal_lm
from polyreward.sources.model_folders import check_files, without_adapter

TOKENIZERS = ("tokenizer*", "vocab*", "merges*", "*.model", "*.tiktoken")  # files of tokenizers
# {how names begin of tensors that were saved from within something else: what that was}
PREFIXES = {
    "_orig_mod.": "a compiled model; save the model that was given to torch.compile",
    "module.": "a model on several GPUs; save its `module`",
    "model.module.": "a model on several GPUs; save its `module`",
    "base_model.model.": "a model with an adapter; merge it (peft's merge_and_unload) and save that",
    "pretrained_model.": "a model with a value head; save its `pretrained_model` and the head as `score`",
}
POSITIONS = ("wpe", "embed_positions", "position_embeddings")  # modules that embed positions


def load_classifier(
    source: str | Path,
    dtype: str,
    max_length: int,
    token_budget: int,
    attention: str = "sdpa",
    revision: str | None = None,
    remote_code: bool = False,
    gpus: int = 1,
) -> Classifier:
    """Load a sequence classification model and its tokenizer, ready to score.

    source: a Hugging Face folder, or a hub id with its revision. attention: transformers' name; eager is
    used where a kind of model has no sdpa. remote_code: run the model's own Python code, pinned. gpus: how
    many hold it. Raises PolyrewardError where it has no known head of one output, or no chat template."""
    if remote_code and not Path(source).is_dir() and not COMMIT.fullmatch(revision or ""):
        raise PolyrewardError(
            f"{source}: remote_code runs what its authors wrote; pin it by `revision`, a commit of the hub"
            " (40 hexadecimal digits)"
        )
    model, tokenizer = loaded(
        AutoModelForSequenceClassification, source, dtype, max_length, attention, revision, gpus, remote_code
    )
    if isinstance(model, Reward):
        model.learn_tokens(tokenizer)
    elif model.config.num_labels != 1:
        raise UnavailableError(
            f"{source}: has {model.config.num_labels} outputs; a reward model has one (num_labels: 1)"
        )
    plain = has_plain_head(model)
    share = plain and can_share(model.get_decoder())
    budget = fitting_budget(model, token_budget)
    found = Classifier(model, tokenizer, max_length, budget, share, plain)
    return cast("Classifier", found.single_where_needed())


def load_causal_lm(
    source: str | Path,
    dtype: str,
    max_length: int,
    token_budget: int,
    attention: str = "sdpa",
    revision: str | None = None,
    gpus: int = 1,
) -> CausalLM:
    """Load a causal LM and its tokenizer; arguments and errors as in load_classifier."""
    model, tokenizer = loaded(AutoModelForCausalLM, source, dtype, max_length, attention, revision, gpus)
    found = causal_lm(model, tokenizer, max_length, fitting_budget(model, token_budget))
    return cast("CausalLM", found.single_where_needed())


def causal_lm_of(entry: dict, scoring: dict) -> CausalLM:
    """Load the causal LM of an entry; arguments as in load_reward_model."""
    return load_causal_lm(entry["source"], **scoring, **_options(entry, "revision", "gpus"))


def classifier(entry: dict, scoring: dict, cache) -> Classifier:
    """Load an entry of kind `classifier`; arguments as in load_reward_model."""
    return load_classifier(entry["source"], **scoring, **_options(entry, "revision", "remote_code", "gpus"))


def _options(entry: dict, *names: str) -> dict:
    return {name: entry[name] for name in names if name in entry}


def fitting_budget(model: torch.nn.Module, token_budget: int) -> int:
    """Return the tokens of a batch: fewer with eager attention, which has a number for any two of a row."""
    return min(token_budget, EAGER_TOKENS) if accel.is_eager(model.config) else token_budget


def load_tokenizer(source: str | Path, revision: str | None = None):
    """Load a model's tokenizer only; source: checked already, if it carries checksums.

    Raises PolyrewardError where it does not load, or has no chat template."""
    with _readable(source, revision) as folder:
        return _tokenizer(folder, source)


def _tokenizer(folder: Path, source: str | Path, remote_code: bool = False):
    try:
        tokenizer = AutoTokenizer.from_pretrained(folder, trust_remote_code=remote_code)
    except Exception as error:
        if any(path for name in TOKENIZERS for path in folder.glob(name)):
            raise
        raise UnavailableError(
            f"{source}: has no tokenizer; save its tokenizer into the folder (tokenizer.save_pretrained)"
        ) from error
    if tokenizer.chat_template is None:
        raise UnavailableError(f"{source}: its tokenizer has no chat template; save one with it")
    pin_date(tokenizer)
    _check_header(tokenizer, folder, source)
    return tokenizer


def _check_header(tokenizer, folder: Path, source: str | Path) -> None:
    """Raise UnavailableError where the answer's tokens, over which a reward is the mean, cannot be found."""
    config = folder / "config.json"
    header = json.loads(config.read_text(encoding="utf-8")).get("answer_header") if config.is_file() else None
    if not header:
        return
    turns = [{"role": "user", "content": "a"}, {"role": "assistant", "content": "b"}]
    with contextlib.suppress(TemplateRefusalError):
        at_end = rendered_text(tokenizer, turns).rstrip().endswith(tokenizer.decode(header).strip())
        if at_end or last_place(rendered(tokenizer, turns), header) is None:
            does = "ends with such a header after the answer" if at_end else "writes no such header"
            raise UnavailableError(
                f"{source}: its reward is the mean over the tokens after the `answer_header` of its"
                f" config.json, and its chat template {does}; put the template back that it was trained with"
            )


def loaded(
    kind,
    source: str | Path,
    dtype: str,
    max_length: int,
    attention: str,
    revision: str | None,
    gpus: int,
    remote_code: bool = False,
):
    """Return a model and its tokenizer, checked. kind: transformers' Auto class; others as load_classifier's.

    Raises PolyrewardError where weights of the head are missing, or there is no chat template."""
    spread = gpus > 1 and torch.cuda.device_count() > 1
    intact(source)
    with _readable(source, revision) as folder:
        own = own_config(folder)
        config = own or AutoConfig.from_pretrained(folder, trust_remote_code=remote_code)
        if kind is AutoModelForSequenceClassification:
            kind = head_of(config, source, remote_code) or kind
        tokenizer = _tokenizer(folder, source, remote_code)
        accel.forget_attention(config)
        try:
            model, found = kind.from_pretrained(
                folder,
                config=config,
                dtype=dtype,
                device_map="auto" if spread else None,
                output_loading_info=True,
                use_safetensors=True,
                ignore_mismatched_sizes=True,  # they are named below
                # transformers' own choice is sdpa where a kind of model has it, else eager
                attn_implementation=None if attention == "sdpa" else attention,
                **({} if issubclass(kind, Reward) else {"trust_remote_code": remote_code}),
            )
        except Exception as error:
            quantized = getattr(config, "quantization_config", None)
            if not quantized or lacks_memory(error) or is_outage(error):
                raise
            method = dict(quantized).get("quant_method", "a method of its own")
            raise UnavailableError(
                f"{source}: its weights are quantized by {method}, and do not load here ({_said(error)});"
                f" install what {method} needs, which may be a GPU, or name a folder with its weights as they"
                " were"
            ) from error
    fault = _weights_fault(found)
    if fault:
        raise UnavailableError(f"{source}: {fault}")
    if found["unexpected_keys"]:
        names = sorted(found["unexpected_keys"])
        warn(
            f"{source}: left out are tensors that its kind of model has no place for: {', '.join(names[:3])}"
            f" ({len(names)} in all); if they matter, correct `architectures` in its config.json"
        )
    _check_fit(model, tokenizer, source, max_length)
    return multiply_by_onednn(pooled(model if spread else model.to(device())).eval()), tokenizer


def _weights_fault(found: dict) -> str | None:
    """Say what is wrong with weights and what to do, by transformers' report of loading them; else None."""
    shapes = {
        name: (list(saved), list(made)) for name, saved, made in sorted(found.get("mismatched_keys") or [])
    }
    empty = [name for name, (saved, _) in shapes.items() if 0 in saved]
    if empty:
        return (
            f"{len(empty)} of its weights are empty, such as {empty[0]}, as a save within ZeRO-3 leaves them;"
            " make whole ones with zero_to_fp32.py"
        )
    if shapes:
        name, (saved, made) = next(iter(shapes.items()))
        outputs = len(saved) == len(made) and saved[1:] == made[1:]
        labels = f", such as `num_labels: {saved[0]}` for its outputs" if outputs else ""
        return (
            f"{len(shapes)} of its weights have another shape than its config.json says: {name} is {saved},"
            f" not {made}; correct config.json{labels}"
        )
    missing, others = sorted(found["missing_keys"]), sorted(found["unexpected_keys"])
    if not missing:
        return None
    lacks = f"its weights lack {', '.join(missing[:3])}, so it would score at random"
    for prefix, what in PREFIXES.items():
        if any(name.startswith(prefix) and name.removeprefix(prefix) in missing for name in others):
            return f"{lacks}. Its tensors are called `{prefix}...`, as those of {what}"
    if others:
        listed = f"{', '.join(others[:3])} ({len(others)} in all)"
        return f"{lacks}. Its file has {listed} instead; rename them, or name a trained reward model"
    return f"{lacks}; name a trained reward model"


@contextlib.contextmanager
def _readable(source: str | Path, revision: str | None) -> Iterator[Path]:
    """Yield the folder of a model; what its files raise gets words."""
    verbosity = transformers_logging.get_verbosity()
    transformers_logging.set_verbosity_error()
    try:
        whole = Path(source)
        if not whole.is_dir():
            from polyreward.sources.hub import fetched_model  # the hub's client takes a moment to import

            whole = fetched_model(str(source), revision or "main")
        check_files(whole)
        with without_adapter(whole) as folder:
            yield folder
    except PolyrewardError:
        raise
    except Exception as error:  # a damaged file of a stranger's folder raises whatever its reader thinks of
        if lacks_memory(error):
            raise
        said = _said(error)
        if is_outage(error):
            raise PolyrewardError(f"{source}: not loaded ({said}); run again when that is fixed") from error
        raise UnavailableError(
            f"{source}: not a model folder or hub id that loads here ({said}); fix that, or correct the path"
        ) from error
    finally:
        transformers_logging.set_verbosity(verbosity)


def _said(error: Exception) -> str:
    return f"{type(error).__name__}: {error}"[:1000]


def _check_fit(model: torch.nn.Module, tokenizer, source: str | Path, max_length: int) -> None:
    """Raise PolyrewardError where token ids or positions lie outside the model; a GPU would not say so."""
    ids, rows = max(tokenizer.get_vocab().values()), model.get_input_embeddings().weight.shape[0]
    if ids >= rows:
        raise UnavailableError(
            f"{source}: its tokenizer has ids up to {ids}, but its embedding has only {rows} tokens. Save the"
            " tokenizer that it was trained with"
        )
    made_for = getattr(model.config.get_text_config(), "max_position_embeddings", None)
    for name, module in model.named_modules():
        if isinstance(module, torch.nn.Embedding) and name.rpartition(".")[2] in POSITIONS:
            unused = getattr(module, "offset", None) or (module.padding_idx or -1) + 1  # of OPT, RoBERTa
            made_for = module.weight.shape[0] - unused
            if max_length > made_for:
                raise PolyrewardError(
                    f"{source}: takes {made_for} tokens at most, and max_length is {max_length}; set it to"
                    f" {made_for} or less (--max-length, or its entry's `max_length`)"
                )
    if made_for and max_length > made_for:
        warn(f"{source}: is made for {made_for} tokens; texts of up to {max_length} may score at random")
