"""Cut a base to its lowest layers."""

from pathlib import Path

import torch
from transformers import AutoModelForCausalLM, AutoTokenizer

from polyreward.core.errors import PolyrewardError
from polyreward.core.files import save_tokenizer
from polyreward.core.seals import intact, sealed_folder
from polyreward.ops.jobs import run


def save_truncated(base_folder: str | Path, layers: int, out_folder: str | Path) -> None:
    """Save a base's lowest layers, with its final norm and its head, as a plain model folder.

    Raises:
        PolyrewardError: the base has fewer layers.
    """
    model = AutoModelForCausalLM.from_pretrained(intact(base_folder), dtype=torch.float32)
    config, decoder = model.config, model.get_decoder()
    if layers > config.num_hidden_layers:
        raise PolyrewardError(
            f"reward_model.depth: {Path(base_folder).name} has {config.num_hidden_layers} layers, not"
            f" {layers}; give fewer, or leave the base out to keep it whole"
        )
    decoder.layers = decoder.layers[:layers]
    config.num_hidden_layers = layers
    if getattr(config, "layer_types", None):
        config.layer_types = config.layer_types[:layers]
    with sealed_folder(out_folder) as folder:
        model.save_pretrained(folder)
        save_tokenizer(AutoTokenizer.from_pretrained(base_folder), folder)


def main(snakemake):
    save_truncated(snakemake.input.base, snakemake.params.layers, snakemake.output[0])


if __name__ == "__main__":
    run(main, globals().get("snakemake"))
