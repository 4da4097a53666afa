"""Measure the similarity of each wrong answer to the right one."""

from collections import defaultdict
from collections.abc import Iterable, Sequence

import numpy as np
import pandas as pd
import torch
from torch import nn
from transformers import AutoModel, AutoTokenizer

from polyreward.accel.onednn import multiply_by_onednn
from polyreward.core.files import read_jsonl
from polyreward.core.logs import progress
from polyreward.core.seals import intact
from polyreward.core.tables import write_sealed
from polyreward.models.batches import padded, token_budget_batches
from polyreward.models.devices import device
from polyreward.ops.jobs import run


class Encoder:
    """A model and tokenizer as a text encoder: the mean of a text's hidden states.

    source: a folder or hub id (with revision) of any model for AutoModel. layers: number of blocks to run,
    from the bottom; None for all. max_length: tokens, truncated on the right."""

    def __init__(
        self,
        source: str,
        dtype: str,
        layers: int | None,
        max_length: int,
        token_budget: int,
        revision: str | None = None,
    ):
        self.tokenizer = AutoTokenizer.from_pretrained(intact(source), revision=revision)
        model = AutoModel.from_pretrained(source, revision=revision, dtype=dtype)
        self.model = multiply_by_onednn(model.to(device()).eval())
        self.model.config.use_cache = False
        self.max_length, self.token_budget = max_length, token_budget
        if layers is not None:
            lists = (module for module in model.modules() if isinstance(module, nn.ModuleList))
            del next(blocks for blocks in lists if len(blocks) == model.config.num_hidden_layers)[layers:]

    @torch.inference_mode()
    def vectors(self, texts: Sequence[str], label: str) -> np.ndarray:
        """Return the vectors of texts (texts, d_model) in fp32."""
        sequences = [self.tokenizer(text)["input_ids"][: self.max_length] for text in texts]
        found = np.empty((len(texts), self.model.config.hidden_size), dtype="float32")
        with progress(label, len(texts)) as advance:
            for batch in token_budget_batches(list(map(len, sequences)), self.token_budget):
                together = padded([sequences[i] for i in batch], self.tokenizer.pad_token_id, device())
                states = self.model(**together).last_hidden_state
                for index, of_text in zip(batch, states, strict=True):
                    found[index] = of_text[: len(sequences[index])].float().mean(dim=0).cpu().numpy()
                advance(len(batch))
        return found


def similarities(items: Iterable[dict], encoder: Encoder) -> pd.DataFrame:
    """Return the cosine similarity of each possible answer to its item's chosen one: id, value, similarity.

    The mean of each language's embeddings is subtracted, since otherwise all texts of a language are similar.
    """
    by_culture = defaultdict(list)
    for item in items:
        if item["answers"]:  # questions that lend each other their answers are not compared
            by_culture[item["culture"]].append(item)
    records = []
    for culture, of_culture in by_culture.items():
        answers = (answer for item in of_culture for answer in (item["chosen"], *item["answers"]))
        texts = sorted({answer["text"] for answer in answers})
        vectors = unit_vectors(encoder.vectors(texts, f"embeddings, {culture}"))
        vector = dict(zip(texts, vectors, strict=True))
        records += (
            (item["id"], answer["value"], float(vector[answer["text"]] @ vector[item["chosen"]["text"]]))
            for item in of_culture
            for answer in item["answers"]
        )
    return pd.DataFrame(records, columns=["id", "value", "similarity"])


def unit_vectors(vectors: np.ndarray) -> np.ndarray:
    """Subtract the mean from vectors (texts, d_model) and scale each to length 1; zero vectors stay zero."""
    centred = vectors - vectors.mean(axis=0)
    norms = np.linalg.norm(centred, axis=1, keepdims=True)
    return centred / np.where(norms > 0, norms, 1)


def main(snakemake):
    encoder = Encoder(**snakemake.params.embedding, token_budget=snakemake.params.token_budget)
    write_sealed(similarities(read_jsonl(snakemake.input.possible), encoder), snakemake.output[0])


if __name__ == "__main__":
    run(main, globals().get("snakemake"))
