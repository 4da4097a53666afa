"""Loading models to score with: each family's checks, and how fast a model can be run."""

from functools import partial
from pathlib import Path

import torch
from transformers import AutoConfig, AutoModelForCausalLM, AutoModelForSequenceClassification, AutoTokenizer
from transformers.utils import logging as transformers_logging

from polyreward.accel.onednn import multiply_by_onednn
from polyreward.core.conversations import pin_date
from polyreward.core.errors import PolyrewardError, UnavailableError, is_outage
from polyreward.core.logs import announce
from polyreward.core.naming import COMMIT
from polyreward.core.seals import intact
from polyreward.models.attention import EAGER_TOKENS, attention_for
from polyreward.models.devices import device
from polyreward.models.precision import torch_dtype
from polyreward.models.reward_model import pooled
from polyreward.scoring.classifier import Classifier, shares_prompt
from polyreward.scoring.heads import Reward, head_of
from polyreward.scoring.loglik import CausalLM, causal_lm
from polyreward.sources.model_folders import without_adapter

POSITIONS = ("wpe", "embed_positions", "position_embeddings")  # modules that embed positions
SDPA_REFUSED = "scaled_dot_product_attention"  # in what transformers says of a kind of model without it


def load_classifier(
    source: str | Path,
    dtype: str,
    max_length: int,
    token_budget: int,
    attention: str = "sdpa",
    revision: str | None = None,
    remote_code: bool = False,
    output: str = "logits",
    gpus: int = 1,
) -> Classifier:
    """Load a sequence classification model and its tokenizer, ready to score.

    source: a Hugging Face folder, or a hub id with its revision. attention: transformers' name; eager is used
    where a kind of model has no sdpa. remote_code: run the model's own Python code; a hub model's only at a
    pinned revision. output: the field of its output that is the reward. gpus: the number of GPUs that hold
    it. Raises PolyrewardError where it has no known head of one output, or no chat template."""
    if remote_code and not Path(source).is_dir() and not COMMIT.fullmatch(revision or ""):
        raise PolyrewardError(
            f"{source}: remote_code runs what its authors wrote; pin it by `revision`, a commit of the hub"
            " (40 hexadecimal digits)"
        )
    model, tokenizer, attention = _loaded(
        AutoModelForSequenceClassification, source, dtype, attention, revision, remote_code, gpus
    )
    if isinstance(model, Reward):
        model.learn_tokens(tokenizer)
    elif output == "logits" and model.config.num_labels != 1:
        raise UnavailableError(
            f"{source}: has {model.config.num_labels} outputs; a reward model has one (num_labels: 1); name"
            " the field of its output that holds the reward as `output`, if there is one"
        )
    _check_fit(model, tokenizer, source, max_length)
    share = shares_prompt(model, output)
    return Classifier(model, tokenizer, max_length, _fitting_budget(attention, token_budget), share, output)


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
    model, tokenizer, attention = _loaded(
        AutoModelForCausalLM, source, dtype, attention, revision, False, gpus
    )
    _check_fit(model, tokenizer, source, max_length)
    return causal_lm(model, tokenizer, max_length, _fitting_budget(attention, token_budget))


def causal_lm_of(entry: dict, scoring: dict) -> CausalLM:
    """Load the causal LM of an entry; arguments as in load_reward_model."""
    return load_causal_lm(
        entry["source"], **scoring, revision=entry.get("revision"), gpus=entry.get("gpus", 1)
    )


def _check_fit(model: torch.nn.Module, tokenizer, source: str | Path, max_length: int) -> None:
    """Raise PolyrewardError where token ids or positions lie outside the model, which a GPU would not say in
    words."""
    ids, rows = max(tokenizer.get_vocab().values()), model.get_input_embeddings().weight.shape[0]
    if ids >= rows:
        raise UnavailableError(
            f"{source}: its tokenizer has ids up to {ids}, but its embedding has only {rows} tokens. Save the"
            " tokenizer that it was trained with"
        )
    for name, module in model.named_modules():
        if isinstance(module, torch.nn.Embedding) and name.rpartition(".")[2] in POSITIONS:
            unused = getattr(module, "offset", None) or (module.padding_idx or -1) + 1  # of OPT, RoBERTa
            if max_length > (held := module.weight.shape[0] - unused):
                raise PolyrewardError(
                    f"{source}: takes {held} tokens at most, and max_length is {max_length}; set max_length"
                    f" to {held} or less (--max-length {held}, or `max_length` of its entry or of scoring)"
                )
    made_for = getattr(model.config.get_text_config(), "max_position_embeddings", None)
    if made_for and max_length > made_for:
        announce(
            f"{source}: is made for {made_for} tokens; longer texts, of up to {max_length} by max_length,"
            " may score at random"
        )


def _fitting_budget(attention: str, token_budget: int) -> int:
    return min(token_budget, EAGER_TOKENS) if attention == "eager" else token_budget


def load_tokenizer(source: str | Path, revision: str | None = None):
    """Load a model's tokenizer only; source: checked already, if it carries checksums.

    Raises:
        PolyrewardError: it cannot be loaded, or has no chat template.
    """
    try:
        with without_adapter(_folder(source, revision)) as folder:
            tokenizer = AutoTokenizer.from_pretrained(folder)
    except PolyrewardError:
        raise
    except Exception as error:  # a damaged file of a stranger's folder raises whatever its reader thinks of
        raise PolyrewardError(
            f"{source}: its tokenizer does not load here ({type(error).__name__}: {error})"[:600]
        ) from error
    if tokenizer.chat_template is None:
        raise PolyrewardError(f"{source}: its tokenizer has no chat template; save one with it")
    pin_date(tokenizer)
    return tokenizer


def _loaded(
    kind, source: str | Path, dtype: str, attention: str, revision: str | None, remote_code: bool, gpus: int
):
    """Return the model, its tokenizer and the attention that it runs, which may not be what is wanted."""
    verbosity, quantized = transformers_logging.get_verbosity(), None
    transformers_logging.set_verbosity_error()
    intact(source)
    try:
        with without_adapter(_folder(source, revision)) as folder:
            config = AutoConfig.from_pretrained(folder, trust_remote_code=remote_code)
            quantized = getattr(config, "quantization_config", None)
            if kind is AutoModelForSequenceClassification:
                kind = head_of(config, source, remote_code) or kind
            tokenizer = AutoTokenizer.from_pretrained(folder, trust_remote_code=remote_code)
            own_code = {} if issubclass(kind, Reward) else {"trust_remote_code": remote_code}
            load = partial(
                kind.from_pretrained,
                folder,
                dtype=torch_dtype(dtype),
                device_map="auto" if spread(gpus) else None,
                output_loading_info=True,
                use_safetensors=True,
                **own_code,
            )
            wanted = attention_for(config, attention)
            try:
                model, found = load(attn_implementation=wanted)
            except ValueError as error:
                if wanted != "sdpa" or SDPA_REFUSED not in str(error):
                    raise
                announce(
                    f"{source}: its kind of model has no attention by sdpa; eager, which every model has,"
                    " takes its place"
                )
                wanted = "eager"
                model, found = load(attn_implementation=wanted)
    except (MemoryError, torch.OutOfMemoryError, PolyrewardError):
        raise
    except Exception as error:  # a damaged file of a stranger's folder raises whatever its reader thinks of
        said = f"{type(error).__name__}: {error}"[:1000]
        if is_outage(error):
            raise PolyrewardError(f"{source}: not loaded ({said}); run again when that is fixed") from error
        if quantized:
            method = dict(quantized).get("quant_method", "a method of its own")
            raise UnavailableError(
                f"{source}: its weights are quantized by {method}, and do not load here ({said}); install"
                f" what {method} needs, which may be a GPU, or name a folder with its weights as they were"
            ) from error
        raise UnavailableError(
            f"{source}: not a model folder or hub id that loads here ({said}); correct the path"
        ) from error
    finally:
        transformers_logging.set_verbosity(verbosity)
    if found["missing_keys"]:
        raise UnavailableError(
            f"{source}: its weights lack {', '.join(sorted(found['missing_keys'])[:3])}, so it would score at"
            " random; name a trained reward model"
        )
    if found["unexpected_keys"]:
        names = sorted(found["unexpected_keys"])
        announce(
            f"{source}: left out are tensors that its kind of model has no place for: {', '.join(names[:3])}"
            f" ({len(names)} in all); if they matter, correct `architectures` in its config.json"
        )
    if tokenizer.chat_template is None:
        raise UnavailableError(f"{source}: its tokenizer has no chat template; save one with it")
    pin_date(tokenizer)
    model = multiply_by_onednn(pooled(model if spread(gpus) else model.to(device())).eval())
    return model, tokenizer, wanted


def spread(gpus: int) -> bool:
    """Return whether a model that asks for so many GPUs is spread over several."""
    return gpus > 1 and torch.cuda.device_count() > 1


def _folder(source: str | Path, revision: str | None) -> Path:
    """Return the folder of a model: the one that is named, or that of a hub id in the cache."""
    if Path(source).is_dir():
        return Path(source)
    from polyreward.sources.hub import fetched_model  # the hub's client takes a moment to import

    return fetched_model(str(source), revision or "main")


def classifier(entry: dict, scoring: dict, cache) -> Classifier:
    """Load an entry of kind `classifier`; arguments as in load_reward_model."""
    options = {key: entry[key] for key in ("revision", "remote_code", "output", "gpus") if key in entry}
    return load_classifier(entry["source"], **scoring, **options)
