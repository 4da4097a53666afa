"""Which of transformers' attention implementations a model is run with."""

# Tokens of a batch at most: eager attention holds a number for each two tokens of a row, and of each head
EAGER_TOKENS = 8192


def attention_for(config, wanted: str) -> str:
    """Return an implementation that computes what the model's own configuration says.

    PyTorch's scaled_dot_product_attention has no soft cap on attention's logits, which Gemma 2 was trained
    with; a model with one is run `eager`. wanted: transformers' name."""
    capped = getattr(config.get_text_config(), "attn_logit_softcapping", None)
    return "eager" if capped and wanted == "sdpa" else wanted
