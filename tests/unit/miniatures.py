"""Miniatures of published models: folders with the layout, classes, settings and quirks of the real ones, and
random weights."""

import json
from pathlib import Path

import torch
from safetensors.torch import save_file
from tiny_models import ROWS
from tokenizers import ByteLevelBPETokenizer
from tokenizers.processors import TemplateProcessing
from transformers import (
    Gemma2Config,
    Gemma2ForSequenceClassification,
    LlamaConfig,
    LlamaForCausalLM,
    LlamaForSequenceClassification,
    LlamaModel,
    Phi3Config,
    Phi3ForSequenceClassification,
    PreTrainedTokenizerFast,
)

from polyreward.sources.chat_templates import chat_template

LLAMA3 = [
    "<|begin_of_text|>",
    "<|end_of_text|>",
    "<|start_header_id|>",
    "<|end_header_id|>",
    "<|eot_id|>",
    "[PAD]",
]
GEMMA = ["<bos>", "<eos>", "<start_of_turn>", "<end_of_turn>", "<pad>"]
SIZES = {"hidden_size": 32, "intermediate_size": 48, "num_hidden_layers": 2, "num_attention_heads": 2, "num_key_value_heads": 1,
         "head_dim": 16, "max_position_embeddings": 512}  # fmt: skip
OBJECTIVES = 19
# What stops a run if it is imported: the name that transformers no longer has.
REMOTE_CODE = "from transformers.models.llama.modeling_llama import LLAMA_INPUTS_DOCSTRING\n"


def tokenizer(
    special: list[str], template: str, pad: str | None, end: str, texts=None
) -> PreTrainedTokenizerFast:
    """Return a small tokenizer that puts its begin token, the first of `special`, before every text, as
    Llama's do."""
    trained = ByteLevelBPETokenizer()
    texts = texts or [row[role] for row in ROWS for role in ("prompt", "chosen", "rejected")]
    trained.train_from_iterator(texts, vocab_size=400, special_tokens=special, show_progress=False)
    begin = special[0]
    fast = PreTrainedTokenizerFast(
        tokenizer_object=trained._tokenizer,
        bos_token=begin,
        eos_token=end,
        pad_token=pad,
        additional_special_tokens=special[2:],
    )
    fast.backend_tokenizer.post_processor = TemplateProcessing(
        single=f"{begin} $A", special_tokens=[(begin, fast.convert_tokens_to_ids(begin))]
    )
    fast.chat_template = template
    return fast


def llama3_tokenizer(
    pad: str | None = "[PAD]", template: str = "llama3", end: str = "<|eot_id|>"
) -> PreTrainedTokenizerFast:
    """Return one with Llama 3's special tokens. template: one that TRL ships, llama3_2 with today's date."""
    return tokenizer(LLAMA3, chat_template(template), pad, end)


def llama_config(tokens, **changes) -> LlamaConfig:
    """Return the configuration of a small Llama with a tokenizer's special tokens."""
    ends = {
        "bos_token_id": tokens.bos_token_id,
        "eos_token_id": tokens.eos_token_id,
        "pad_token_id": tokens.pad_token_id,
    }
    return LlamaConfig(vocab_size=len(tokens), **{**SIZES, **ends, **changes})


def seeded(make, seed: int = 3):
    """Return what `make` makes, of larger random weights than transformers' own, so that conversations
    differ."""
    torch.manual_seed(seed)
    model = make()
    with torch.no_grad():
        for weight in model.parameters():
            if weight.dim() > 1:
                weight.normal_(0, 0.2)
    return model


def armo_rm(folder: Path) -> Path:
    """RLHFlow/ArmoRM-Llama3-8B-v0.1: a decoder, 19 objectives, a gate on the prompt, and code that no longer
    imports."""
    tokens = llama3_tokenizer()
    config = llama_config(tokens, num_labels=OBJECTIVES)
    decoder = seeded(lambda: LlamaModel(config))
    wide, gate = SIZES["hidden_size"], 24
    random = torch.Generator().manual_seed(5)
    heads = {
        "regression_layer.weight": (OBJECTIVES, wide), "reward_transform_matrix": (OBJECTIVES, OBJECTIVES),
        "gating.logit_scale": (1,),
        "gating.layers.0.weight": (gate, wide), "gating.layers.0.bias": (gate,),
        "gating.layers.1.weight": (gate, gate), "gating.layers.1.bias": (gate,),
        "gating.layers.2.weight": (OBJECTIVES, gate), "gating.layers.2.bias": (OBJECTIVES,),
    }  # fmt: skip
    tensors = {name: torch.randn(shape, generator=random) for name, shape in heads.items()}
    published = {"architectures": ["LlamaForRewardModelWithGating"], "num_objectives": OBJECTIVES, "gating_temperature": 10,
                 "gating_hidden_dim": gate, "gating_n_hidden": 2,
                 "auto_map": {"AutoModelForSequenceClassification": "modeling_custom.LlamaForRewardModelWithGating"}}  # fmt: skip
    written(folder, tokens, decoder, config, tensors, published)
    (folder / "modeling_custom.py").write_text(REMOTE_CODE)
    return folder


def inf_orm(folder: Path, pad: str | None = "[PAD]") -> Path:
    """infly/INF-ORM-Llama3.1-70B: a head of two layers under `score`, and a class that transformers does not
    have."""
    tokens = llama3_tokenizer(pad)
    config, wide = llama_config(tokens), SIZES["hidden_size"]
    decoder, random = seeded(lambda: LlamaModel(config)), torch.Generator().manual_seed(6)
    shapes = {
        "score.0.weight": (wide, wide),
        "score.0.bias": (wide,),
        "score.2.weight": (1, wide),
        "score.2.bias": (1,),
    }
    tensors = {name: torch.randn(shape, generator=random) for name, shape in shapes.items()}
    return written(
        folder, tokens, decoder, config, tensors, {"architectures": ["INFORMForSequenceClassification"]}
    )


def written(folder: Path, tokens, decoder, config, heads: dict, published: dict) -> Path:
    """Write a decoder's weights and a head's as one file, with a config.json that adds the published keys."""
    weights = {f"model.{name}": tensor.contiguous() for name, tensor in decoder.state_dict().items()}
    folder.mkdir(parents=True, exist_ok=True)
    save_file({**weights, **heads}, folder / "model.safetensors", {"format": "pt"})
    (folder / "config.json").write_text(json.dumps({**config.to_dict(), **published, "dtype": "float32"}))
    tokens.save_pretrained(folder)
    return folder


def skywork_gemma2(folder: Path) -> Path:
    """Skywork/Skywork-Reward-Gemma-2-27B: Gemma 2 with soft caps low enough to show, a short window, and a
    head of one output."""
    tokens = tokenizer(GEMMA, chat_template("gemma"), "<pad>", "<eos>")
    config = Gemma2Config(
        vocab_size=len(tokens), **SIZES, query_pre_attn_scalar=16, sliding_window=16, num_labels=1, attn_logit_softcapping=0.5,
        final_logit_softcapping=3.0, bos_token_id=0, eos_token_id=1, pad_token_id=tokens.pad_token_id,
    )  # fmt: skip
    seeded(lambda: Gemma2ForSequenceClassification(config)).save_pretrained(folder)
    tokens.save_pretrained(folder)
    return folder


def offset_bias(folder: Path, pad: str | None, configured: str | None, template: str = "llama3") -> Path:
    """NCSOFT/Llama-3-OffsetBias-RM-8B: transformers' own class. pad: the tokenizer's token; configured: that
    of config.json."""
    tokens = llama3_tokenizer(pad, template)
    known = None if configured is None else tokens.convert_tokens_to_ids(configured)
    config = llama_config(tokens, num_labels=1, pad_token_id=known)
    seeded(lambda: LlamaForSequenceClassification(config)).save_pretrained(folder)
    tokens.save_pretrained(folder)
    return folder


def dynamic(folder: Path) -> Path:
    """A Llama whose rotary frequencies follow the longest text beyond 24 tokens, and stay for the next batch."""
    tokens = llama3_tokenizer()
    rope = {"rope_type": "dynamic", "factor": 8.0, "rope_theta": 10000.0}
    config = llama_config(tokens, num_labels=1, max_position_embeddings=24, rope_parameters=rope)
    seeded(lambda: LlamaForSequenceClassification(config)).save_pretrained(folder)
    tokens.save_pretrained(folder)
    return folder


def longrope(folder: Path) -> Path:
    """A Phi 3 with two sets of rotary frequencies: a batch with a text beyond 24 tokens takes the second."""
    tokens = llama3_tokenizer()
    sizes = {name: value for name, value in SIZES.items() if name != "head_dim"}
    rope = {"rope_type": "longrope", "rope_theta": 10000.0, "short_factor": [1.0] * 8,
            "long_factor": [1.0, 2.0, 4.0, 8.0, 8.0, 16.0, 16.0, 16.0], "original_max_position_embeddings": 24}  # fmt: skip
    config = Phi3Config(
        vocab_size=len(tokens), **sizes, num_labels=1, original_max_position_embeddings=24, rope_parameters=rope,
        bos_token_id=tokens.bos_token_id, eos_token_id=tokens.eos_token_id, pad_token_id=tokens.pad_token_id,
    )  # fmt: skip
    seeded(lambda: Phi3ForSequenceClassification(config)).save_pretrained(folder)
    tokens.save_pretrained(folder)
    return folder


def x_alma(folder: Path) -> Path:
    """haoranxu/X-ALMA-13B-Group2: whole, merged weights, and next to them the adapter that is merged into
    them."""
    from peft import LoraConfig, get_peft_model

    tokens = llama3_tokenizer()
    model = seeded(lambda: LlamaForCausalLM(llama_config(tokens)))
    adapted = get_peft_model(
        model,
        LoraConfig(
            r=4, lora_alpha=8, target_modules=["q_proj", "v_proj", "down_proj"], task_type="CAUSAL_LM"
        ),
    )
    with torch.no_grad():
        for name, weight in adapted.named_parameters():
            if "lora_B" in name:
                weight.normal_(0, 0.3)
    adapted.save_pretrained(folder)
    adapted.merge_and_unload().save_pretrained(folder)
    tokens.save_pretrained(folder)
    return folder
