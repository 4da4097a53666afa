"""A miniature of every repository of the hub that the catalogs name: {file: bytes} with its layout, classes and columns.

Weights are random and texts are ours. Quirks are those of miniatures.py, or of the lines below that say so."""

import json
import tempfile
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from itertools import cycle, islice
from pathlib import Path
from threading import Lock

import miniatures
import torch
import transformers as hf
import yaml
from hub_layout import as_repository
from safetensors.torch import load_file
from tiny_models import ROOT, TEMPLATE_SCHEMA
from tokenizers import Tokenizer
from tokenizers.models import BPE
from tokenizers.pre_tokenizers import Metaspace
from tokenizers.trainers import BpeTrainer

from polyreward.sources.chat_templates import chat_template
from polyreward.sources.templates import data_files, expanded, read_templates

CODES = ["eng_Latn", "spa_Latn", "ita_Latn", "kor_Hang", "zho_Hans"]
ROWS_OF_A_SUBSET = 8


def load(path: str) -> dict:
    return yaml.safe_load((ROOT / path).read_text(encoding="utf-8"))


DATASETS = {
    name: entry for name, entry in load("workflow/catalog/datasets.yaml").items() if entry["kind"] == "hub"
}
BENCHMARKS = load("workflow/catalog/benchmarks.yaml")


# --- models


SIZES = {
    key: size for key, size in miniatures.SIZES.items() if key != "head_dim"
}  # where heads fill the width
GEMMA3 = {"sliding_window": 32, "layer_types": ["sliding_attention", "full_attention"]}
PICTURES = ["<image_soft_token>", "<start_of_image>", "<end_of_image>"]


def small(tokens, sizes=miniatures.SIZES) -> dict:
    """Return the settings of a small model with a tokenizer's special tokens."""
    ends = {f"{name}_token_id": getattr(tokens, f"{name}_token_id") for name in ("bos", "eos", "pad")}
    return {"vocab_size": len(tokens), **sizes, **ends}


def save(folder: Path, kind: type, tokens, **settings) -> None:
    """Write a model of a class with seeded weights and its tokenizer."""
    config = kind.config_class(**settings)
    miniatures.seeded(lambda: kind(config)).save_pretrained(folder)
    tokens.save_pretrained(folder)


def llama(template: str | None = "llama3_2", kind: type = hf.LlamaForCausalLM) -> Callable[[Path], None]:
    """Make a Llama 3.2, whose template prints today's date and which has no pad token; or a relative of it.

    template: None for a base without one."""

    def make(folder: Path) -> None:
        tokens = miniatures.llama3_tokenizer(None, template or "llama3")
        tokens.chat_template = tokens.chat_template if template else None
        labels = {"num_labels": 1} if "Classification" in kind.__name__ else {}
        save(folder, kind, tokens, **small(tokens), **labels)

    return make


def qwen(
    template: str, kind: type, sizes=SIZES, pad: str | None = None, **settings
) -> Callable[[Path], None]:
    """Make a Qwen: no begin token before a text, and a pad token that is not its end token."""

    def make(folder: Path) -> None:
        special = ["<|endoftext|>", "<|endoftext|>", "<|im_start|>", "<|im_end|>"]
        tokens = miniatures.tokenizer(special, chat_template(template), "<|endoftext|>", "<|im_end|>")
        tokens.bos_token = None
        tokens.backend_tokenizer.post_processor = None
        if pad:
            tokens.add_special_tokens({"pad_token": pad})
        save(folder, kind, tokens, **small(tokens, sizes), **settings)

    return make


def gemma3(folder: Path) -> None:
    """Gemma 3 1B: its text model only, of local and global layers, and an answer's end next to the text's."""
    tokens = miniatures.tokenizer(miniatures.GEMMA, chat_template("gemma3"), "<pad>", "<eos>")
    ends = {"eos_token_id": tokens.convert_tokens_to_ids(["<eos>", "<end_of_turn>"])}
    save(folder, hf.Gemma3ForCausalLM, tokens, **small(tokens) | ends, **GEMMA3)


def gemma3_with_pictures(folder: Path) -> None:
    """Gemma 3 4B and 27B: the same text model next to a tower for pictures, and sizes one level below."""
    special = [*miniatures.GEMMA, *PICTURES]
    tokens = miniatures.tokenizer(special, chat_template("gemma3"), "<pad>", "<eos>")
    tower = {"hidden_size": 32, "intermediate_size": 48, "num_hidden_layers": 1, "num_attention_heads": 2}
    names = ("image_token_index", "boi_token_index", "eoi_token_index")
    save(
        folder,
        hf.Gemma3ForConditionalGeneration,
        tokens,
        text_config={**small(tokens), **GEMMA3},
        vision_config={**tower, "image_size": 28, "patch_size": 14},
        mm_tokens_per_image=4,
        **dict(zip(names, tokens.convert_tokens_to_ids(PICTURES), strict=True)),
    )


def olmo(folder: Path) -> None:
    """OLMo 1B: no begin token, no chat template."""
    special = ["<|endoftext|>", "<|endoftext|>", "<|padding|>"]
    tokens = miniatures.tokenizer(special, "", "<|padding|>", "<|endoftext|>")
    tokens.chat_template = None
    save(folder, hf.OlmoForCausalLM, tokens, **small(tokens, SIZES))


def nllb(folder: Path) -> None:
    """NLLB-200: an encoder and a decoder, languages as tokens, and weights that are no safetensors."""
    trained = Tokenizer(BPE(unk_token="<unk>"))
    trained.pre_tokenizer = Metaspace(replacement="\u2581", prepend_scheme="always", split=True)
    texts = [text for row in own_pairs()[:40] for text in (row["chosen"], row["rejected"])]
    special = ["<s>", "<pad>", "</s>", "<unk>"]
    trained.train_from_iterator(
        texts, BpeTrainer(vocab_size=400, special_tokens=special, show_progress=False)
    )
    model = json.loads(trained.to_str())["model"]
    merges = [tuple(merge) for merge in model["merges"]]
    tokens = hf.NllbTokenizer(vocab=model["vocab"], merges=merges, extra_special_tokens=CODES)
    sizes = {f"{part}_{what}": size for part in ("encoder", "decoder")
             for what, size in (("layers", 2), ("attention_heads", 2), ("ffn_dim", 48))}  # fmt: skip
    ends = {"decoder_start_token_id": 2, "bos_token_id": 0, "pad_token_id": 1, "eos_token_id": 2}
    width = {"vocab_size": len(tokens), "d_model": 32, "max_position_embeddings": 256}
    save(folder, hf.M2M100ForConditionalGeneration, tokens, **width, **ends, **sizes)
    torch.save(load_file(folder / "model.safetensors"), folder / "pytorch_model.bin")
    (folder / "model.safetensors").unlink()


QWEN2 = qwen("qwen2_5", hf.Qwen2ForCausalLM, tie_word_embeddings=True)
LLAMA_REWARD = llama(kind=hf.LlamaForSequenceClassification)
MODELS: dict[str, Callable[[Path], object]] = {
    **dict.fromkeys([f"meta-llama/Llama-{size}-Instruct" for size in ("3.2-3B", "3.2-1B", "3.1-8B", "3.1-70B")], llama()),
    "mistralai/Mistral-7B-Instruct-v0.3": llama("llama3", hf.MistralForCausalLM),
    **dict.fromkeys([f"Qwen/Qwen2.5-{size}B-Instruct" for size in ("0.5", "1.5", "3", "7", "14", "32", "72")], QWEN2),
    "gaotang/RM-R1-Qwen2.5-Instruct-7B": QWEN2,
    "google/gemma-3-1b-it": gemma3,
    **dict.fromkeys(["google/gemma-3-4b-it", "google/gemma-3-27b-it"], gemma3_with_pictures),
    "allenai/OLMo-1B-hf": olmo,
    "HuggingFaceTB/SmolLM-1.7B": llama(None),
    **dict.fromkeys([f"haoranxu/X-ALMA-13B-Group{number}" for number in (2, 6)], miniatures.x_alma),
    "facebook/nllb-200-distilled-600M": nllb,
    "RLHFlow/ArmoRM-Llama3-8B-v0.1": miniatures.armo_rm,
    "NCSOFT/Llama-3-OffsetBias-RM-8B": lambda folder: miniatures.offset_bias(folder, "[PAD]", "[PAD]"),
    "facebook/Self-taught-evaluator-llama3.1-70B": llama("llama3_1"),
    "Skywork/Skywork-Reward-Gemma-2-27B": miniatures.skywork_gemma2,
    "infly/INF-ORM-Llama3.1-70B": miniatures.inf_orm,
    "Skywork/Skywork-Reward-V2-Qwen3-0.6B": qwen("qwen3", hf.Qwen3ForSequenceClassification, miniatures.SIZES, num_labels=1),
    "iqwiki-kor/Llama3.2-3B-MP-RM": LLAMA_REWARD,
    "iqwiki-kor/Qwen2.5-3B-MP-RM": qwen("qwen2_5", hf.Qwen2ForSequenceClassification, pad="[PAD]", num_labels=1),
    "Skywork/Skywork-Reward-V2-Llama-3.2-1B": LLAMA_REWARD,
}  # fmt: skip


def model_files(repository: str) -> dict[str, bytes]:
    """Return a model's files. Raises KeyError where nobody made a miniature of it: add it to MODELS."""
    with tempfile.TemporaryDirectory() as folder:
        MODELS[repository](Path(folder))
        return {
            path.relative_to(folder).as_posix(): path.read_bytes()
            for path in sorted(Path(folder).rglob("*"))
            if path.is_file()
        }


# --- datasets

# {dataset: our names of columns with messages, where another has plain text}
MESSAGES = {
    "ultrafeedback": ("chosen", "rejected"),
    "helpsteer3": ("prompt",),
    "mp-86k": ("chosen", "rejected"),
}
WITHOUT_PROMPT = ("mp-86k",)  # datasets
OTHER = "code"  # a value that `only` leaves out


@cache
def own_pairs() -> list[dict]:
    """Return our own pairs to train on, in English, instead of theirs."""
    rows = expanded(read_templates(data_files(ROOT / "resources/mini/pool"), TEMPLATE_SCHEMA), "pool")
    return [row for row in rows if isinstance(row["prompt"], str)]


def dataset_files(name: str, entry: Mapping) -> dict[str, bytes]:
    """Return a dataset's files: a README.md that names its configs and splits, and the records of each."""
    files, configs = {}, {}
    for language, part in (entry.get("languages") or {"en": {}}).items():
        config, split, path = ({**entry, **part}[key] for key in ("config", "split", "files"))
        if not path:
            config = config or "default"
            path = f"data/{name}-{config}-{split}.jsonl"  # all have one commit, by which `datasets` caches
            configs.setdefault(config, {})[split] = path
        files[path] = list(_rows(name, entry, language))
    return as_repository(files, configs)


def _rows(name: str, entry: Mapping, language: str) -> Iterator[dict]:
    """Yield a dataset's records under its own columns; of pairs, as many as a benchmark needs of each
    subset."""
    made, columns = HOLDS[entry["holds"]](name, entry, language), _columns(entry, language)
    for number, record in enumerate(made):
        keys = {column: f"{number}" for column in entry.get("key", []) if column not in columns}
        kept = {
            column: (values + [OTHER])[number % (len(values) + 1)]
            for column, values in entry.get("only", {}).items()
        }
        yield {**keys, **kept, **{columns[ours]: value for ours, value in record.items() if ours in columns}}


def _columns(entry: Mapping, language: str) -> dict[str, str]:
    """Return {ours: theirs}; of several names the first, but the last in a language that is only a file."""
    separate = "files" in entry.get("languages", {}).get(language, {})
    return {
        ours: theirs if isinstance(theirs, str) else theirs[-1 if separate else 0]
        for ours, theirs in entry["columns"].items()
    }


def _passages(name: str, entry: Mapping, language: str) -> Iterator[dict]:
    for item in load("resources/mini/passages.yaml"):
        yield {"text": item[language]}


def _instructions(name: str, entry: Mapping, language: str) -> Iterator[dict]:
    for item in load("resources/mini/instructions.yaml"):
        yield {"prompt": item["prompt"][language], "reference": item["prompt"][language]}


def _questions(name: str, entry: Mapping, language: str) -> Iterator[dict]:
    unknown = {"idk": 0, "no-answer": 0, "not-applicable": 0}
    for number, item in enumerate(load("resources/mini/instructions.yaml")[:4]):
        text = f"{item['prompt'].get(language, item['prompt']['en'])} ({language})"
        record = {
            "id": f"Al-en-{number}",
            "prompt": text,
            "annotations": [{"answers": [text], "en_answers": ["yes"], "count": 1}],
        }
        options = {f"option_{letter}": f"{letter} {text}" for letter in "abcd"}
        yield record | options | {"unknown": unknown, "answer": number, "reference": text}


def _pairs(name: str, entry: Mapping, language: str) -> Iterator[dict]:
    subsets = next((of["sections"] for of in BENCHMARKS.values() if of["dataset"] == name), {"": [""]})
    places = [subset for section in subsets.values() for subset in section]
    pairs, columns = own_pairs(), entry["columns"]
    wanted = ROWS_OF_A_SUBSET * len(places) if len(places) > 1 else len(pairs)
    for number, row in enumerate(islice(cycle(pairs), wanted)):
        again = f" ({number // len(pairs)})" if number >= len(pairs) else ""
        other = f" ({language})" if language != "en" else ""
        row = {role: row[role] + other for role in ("prompt", "chosen", "rejected")}
        record = {"id": number, "subset": places[number % len(places)], "prompt": row["prompt"] + again}
        if "rating" in columns:
            ratings = entry.get("ratings") or {10: 10, 1: 1}
            best, worst = (which(ratings, key=ratings.get) for which in (max, min))
            yield record | {"response": row["chosen"], "rating": best}
            yield record | {"response": row["rejected"], "rating": worst}
        elif "preference" in columns:
            chooses = entry["chooses"]["first" if number % 2 else "second"][0]
            answers = (row["chosen"], row["rejected"])[:: 1 if number % 2 else -1]
            first, second = answers
            yield _messages(name, record | {"first": first, "second": second, "preference": chooses})
        else:
            yield _messages(name, record | {"chosen": row["chosen"], "rejected": row["rejected"]})


def _messages(name: str, record: dict) -> dict:
    """Return a record with messages where the dataset has them: a prompt, or whole conversations."""
    asked = {"role": "user", "content": record["prompt"]}
    for role in MESSAGES.get(name, ()):
        record[role] = (
            [asked] if role == "prompt" else [asked, {"role": "assistant", "content": record[role]}]
        )
    return {role: value for role, value in record.items() if role != "prompt" or name not in WITHOUT_PROMPT}


HOLDS = {"pairs": _pairs, "passages": _passages, "instructions": _instructions, "questions": _questions}


class Repositories(dict):
    """{(models or datasets, repository): files} of the hub on loopback, each made when it is first asked for."""

    def __init__(self):
        super().__init__()
        self.lock = Lock()  # the seed is the whole process's

    def get(self, key, default=None):
        """Return a repository's files; `default` where the catalogs name none of that name."""
        kind, repository = key
        with self.lock:
            if key not in self:
                name = next((name for name, entry in DATASETS.items() if entry["id"] == repository), None)
                if kind == "datasets" and name:
                    self[key] = dataset_files(name, DATASETS[name])
                elif kind == "models" and repository in MODELS:
                    self[key] = model_files(repository)
            return dict.get(self, key) or default
