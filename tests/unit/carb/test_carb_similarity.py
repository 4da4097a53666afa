"""Similarity of answers: known vectors, each text embedded once per language, and a real model's states."""

import numpy as np
import pytest
import torch
from carb_data import possible
from support import script
from transformers import AutoModel, AutoTokenizer, BertConfig, BertModel

carb_similarities = script("prepare/carb_similarities")


class Known:
    """An encoder with known vectors; remembers what it was asked."""

    def __init__(self, vectors):
        self.known, self.asked = vectors, []

    def vectors(self, texts, label):
        self.asked.append((label, list(texts)))
        return np.array([self.known[text] for text in texts], dtype="float32")


def item(item_id, *wrong, **changes):
    answers = [{"value": text, "check": "c", "cultures": ["de"], "text": text} for text in wrong]
    return possible(item_id, chosen={"value": "r", "check": "c", "text": "right"}, answers=answers, **changes)


def test_similarity_is_the_cosine_once_the_mean_is_off_of_each_text_of_a_language_once():
    known = Known({"right": [1, 0, 5], "same": [3, 0, 5], "across": [0, 2, 5], "back": [-4, -2, 5]})
    items = [item("t_en", "same", "across"), item("u_en", "back"), item("t_de", "same", culture="de")]
    table = carb_similarities.similarities(items, known)  # the mean of English is (0, 0, 5)
    assert table[["id", "value"]].values.tolist()[:3] == [
        ["t_en", "same"],
        ["t_en", "across"],
        ["u_en", "back"],
    ]
    assert table["similarity"].tolist()[:3] == pytest.approx([1, 0, -4 / np.sqrt(20)])
    assert known.asked == [
        ("embeddings, en", ["across", "back", "right", "same"]), ("embeddings, de", ["right", "same"]),
    ]  # fmt: skip


def test_unit_vectors_are_of_length_one_and_the_mean_stays_zero():
    found = carb_similarities.unit_vectors(np.array([[2.0, 1], [0, 1], [1, 1]]))
    assert found.tolist() == [[1, 0], [-1, 0], [0, 0]]


def encoder(source, layers=None, token_budget=64, max_length=128):
    return carb_similarities.Encoder(str(source), "float32", layers, max_length, token_budget)


TEXTS = ["They take off their shoes at the door.", "Handschlag", "玄関で靴を脱ぎます。"]


def test_a_vector_is_the_mean_of_the_last_hidden_states(base):
    model = AutoModel.from_pretrained(base, dtype=torch.float32)
    tokenizer = AutoTokenizer.from_pretrained(base)
    with torch.inference_mode():
        states = [model(torch.tensor([tokenizer(text)["input_ids"]])).last_hidden_state[0] for text in TEXTS]
    expected = np.stack([of_text.mean(dim=0).numpy() for of_text in states])
    for token_budget in (1, 4096):  # vectors do not depend on the batch
        assert np.allclose(encoder(base, token_budget=token_budget).vectors(TEXTS, "x"), expected, atol=1e-5)


def test_layers_and_length_are_cut(tiny_gemma):
    one, two, every = (encoder(tiny_gemma, layers).vectors(TEXTS, "x") for layers in (1, 2, None))
    assert np.array_equal(two, every) and not np.allclose(one, every)
    texts = ["They take off their shoes", "They take off their hats"]
    cut = encoder(tiny_gemma, max_length=2).vectors(texts, "x")
    assert cut.shape == (2, 32) and np.array_equal(cut[0], cut[1])


def test_a_bidirectional_encoder_serves(tiny_gemma, tmp_path):
    torch.manual_seed(1)
    BertModel(BertConfig(vocab_size=1100, hidden_size=16, num_hidden_layers=2, num_attention_heads=2, intermediate_size=32,
                         max_position_embeddings=256)).save_pretrained(tmp_path)  # fmt: skip
    AutoTokenizer.from_pretrained(tiny_gemma).save_pretrained(tmp_path)
    both, one = encoder(tmp_path).vectors(TEXTS, "x"), encoder(tmp_path, layers=1).vectors(TEXTS, "x")
    assert both.shape == (3, 16) and not np.allclose(both, one)
    assert np.allclose(both, encoder(tmp_path, token_budget=1).vectors(TEXTS, "x"), atol=1e-5)
