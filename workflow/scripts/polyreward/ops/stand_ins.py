"""Stand-ins to measure jobs with: models of real sizes with random weights, and texts of so many tokens."""

import random
from pathlib import Path

import torch
from transformers import AutoConfig, AutoModelForCausalLM, AutoModelForSequenceClassification, AutoTokenizer

from polyreward.core.files import save_tokenizer
from polyreward.models.devices import device
from polyreward.models.reward_model import give_pad_token
from polyreward.scoring import criteria_layout, generative
from polyreward.sources.base_models import fetch_base_model

SEED = 1
# {part of a model's name: its kind in transformers}; others are tried as a Llama of their size
ARCHITECTURES = {
    "qwen3": "qwen3",
    "qwen": "qwen2",
    "gemma-3": "gemma3_text",
    "gemma": "gemma2",
    "mistral": "mistral",
    "olmo": "olmo",
}
NAMES = {
    "layers": "num_hidden_layers",
    "width": "hidden_size",
    "mlp": "intermediate_size",
    "heads": "num_attention_heads",
    "kv_heads": "num_key_value_heads",
    "head_dim": "head_dim",
    "vocabulary": "vocab_size",
}
TOKENS = 2048  # of the tokenizer, which a real one has more of
SYLLABLES = ["ba", "do", "ki", "lu", "me", "no", "pa", "ri", "su", "te"]
SMALL = {
    "layers": 2,
    "width": 64,
    "mlp": 176,
    "heads": 4,
    "kv_heads": 2,
    "head_dim": 16,
    "vocabulary": TOKENS,
}


def words() -> list[str]:
    """Return made-up words, always the same."""
    generator = random.Random(SEED)
    return sorted({"".join(generator.choices(SYLLABLES, k=generator.randint(1, 4))) for _ in range(800)})


def architecture_of(name: str, entry: dict) -> str:
    """Return a model's kind in transformers, by its entry or its name."""
    source = entry.get("source", {})
    kinds = (kind for part, kind in ARCHITECTURES.items() if part in name.lower())
    return source.get("architecture") or next(kinds, "llama")


def sizes_of(entry: dict, shape: dict) -> dict:
    """Return a configuration's sizes: those of a random model's entry, else by the shape."""
    source = entry.get("source", {})
    return source["config"] if source.get("kind") == "random" else by_shape(shape, entry.get("parameters_b"))


def by_shape(shape: dict, parameters_b: float | None = None) -> dict:
    """Return transformers' names of a shape's sizes. An embedding that is also the output counts once."""
    embedding = shape["vocabulary"] * shape["width"]
    attention = 2 * (shape["heads"] + shape["kv_heads"]) * shape["head_dim"]
    layers = shape["layers"] * shape["width"] * (attention + 3 * shape["mlp"])
    # Nearer to one embedding than to two, with room for the tower for pictures that Gemma 3 has
    tied = parameters_b is None or parameters_b * 1e9 < layers + 1.7 * embedding
    sizes = {ours: shape[name] for name, ours in NAMES.items()}
    return {**sizes, "max_position_embeddings": 32768, "tie_word_embeddings": tied}


def make_base(architecture: str, sizes: dict, layers: int | None, folder: Path) -> Path:
    """Make a base of such sizes with random weights in bfloat16, where it will compute.

    layers: its lowest ones; None for all. Its tokenizer is a small one of made-up words."""
    small = {**by_shape(SMALL), "vocab_size": min(TOKENS, sizes["vocab_size"])}
    asked = [generative.TEMPLATE, *generative.FORMS.values(), criteria_layout.QUESTION]
    corpus = [" ".join(words()), *asked] * 4
    source = {"kind": "random", "architecture": "llama", "config": small}
    fetch_base_model({"source": source, "chat_template": "gemma3"}, SEED, corpus, folder)
    ends = AutoConfig.from_pretrained(folder)
    config = AutoConfig.for_model(
        architecture,
        **sizes | ({"num_hidden_layers": min(layers, sizes["num_hidden_layers"])} if layers else {}),
        bos_token_id=ends.bos_token_id,
        eos_token_id=ends.eos_token_id,
    )
    _save(AutoModelForCausalLM, config, folder)
    (folder / "SHA256SUMS").unlink()  # of the small model
    return folder


def make_classifier(base: Path, folder: Path) -> Path:
    """Make a reward model of a base's sizes with random weights, and with the pad token that ours have."""
    config, tokenizer = AutoConfig.from_pretrained(base), AutoTokenizer.from_pretrained(base)
    config.num_labels = 1
    _save(AutoModelForSequenceClassification, config, folder, tokenizer)
    save_tokenizer(tokenizer, folder)
    return folder


def _save(kind, config, folder: Path, tokenizer=None) -> None:
    torch.manual_seed(SEED)
    with torch.device(device()):
        model = kind.from_config(config, dtype=torch.bfloat16)
        if tokenizer is not None:
            give_pad_token(model, tokenizer)
    model.save_pretrained(folder)


class Texts:
    """Made-up texts of a number of tokens, always the same."""

    def __init__(self, tokenizer):
        self.sizes = {word: len(tokenizer.encode(f" {word}", add_special_tokens=False)) for word in words()}

    def text(self, tokens: int, *key: object) -> str:
        """Return a text of at most so many tokens. key: what it is for; each has other words."""
        generator, found, left = random.Random(f"{SEED} {key}"), [], tokens
        pool = list(self.sizes)
        while left >= max(self.sizes.values()):
            found.append(generator.choice(pool))
            left -= self.sizes[found[-1]]
        return " ".join(found)

    def pair(self, tokens: int, number: int) -> dict[str, str]:
        """Return a preference row whose conversations have at most so many tokens; half are the prompt's."""
        inside = max(16, tokens - 40)  # without what the chat template adds
        roles = {"prompt": inside // 2, "chosen": inside - inside // 2, "rejected": inside - inside // 2}
        return {"id": str(number), **{role: self.text(size, number, role) for role, size in roles.items()}}

    def pairs(self, count: int, tokens: int) -> list[dict[str, str]]:
        """Return preference rows."""
        return [self.pair(tokens, number) for number in range(count)]
