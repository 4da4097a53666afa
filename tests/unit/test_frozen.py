"""Frozen layers answered from memory give what computing them gives."""

import dataclasses

import pytest
import torch
from models import ROWS, train
from safetensors.torch import load_file, save_file
from transformers import AutoModelForCausalLM, AutoTokenizer

from polyreward.batches import padded
from polyreward.conversations import conversation_ids
from polyreward.frozen import FrozenLayers, frozen_files, save_frozen_states
from polyreward.scoring.load import load_classifier
from polyreward.scoring.pairs import score_rows


def saved(base, folder, rows=ROWS, top_layers=1, max_length=128):
    save_frozen_states(base, {"en": rows}, top_layers, max_length, "float32", 64, folder)
    return folder / "en.safetensors"


def sequences(tokenizer, rows=ROWS):
    return [conversation_ids(tokenizer, row["prompt"], row[role], 128)[0] for row in rows for role in ("chosen", "rejected")]


def pairs(ids):
    return list(zip(ids[0::2], ids[1::2], strict=True))


def scored(reward_folder, rows=ROWS, *, frozen=(), max_length=128, token_budget=64, share=True):
    """Return (scores of the rows, the list that grew by one whenever the lowest layer was computed)."""
    reward_model = load_classifier(reward_folder, "float32", max_length, token_budget, frozen_states=frozen)
    assert reward_model.share
    runs = lowest_layer_runs(reward_model.model)
    table = score_rows(dataclasses.replace(reward_model, share=share), rows, "")
    return table[["score_chosen", "score_rejected"]].to_numpy(), runs


def lowest_layer_runs(model) -> list:
    """Return a list that grows by one whenever the lowest layer is computed."""
    runs = []
    model.model.layers[0].self_attn.register_forward_hook(lambda *args: runs.append(1))
    return runs


@pytest.mark.parametrize("changes", [{}, {"epochs": 2}, {"gradient_checkpointing": True}], ids=str)
def test_training_from_memory_gives_the_same_weights(base, tmp_path, changes):
    computed = load_file(train(base, tmp_path / "a", **changes) / "model.safetensors")
    remembered = load_file(
        train(base, tmp_path / "b", frozen=[saved(base, tmp_path / "states")], **changes) / "model.safetensors"
    )
    assert computed.keys() == remembered.keys()
    for name in computed:
        torch.testing.assert_close(computed[name], remembered[name], atol=1e-5, rtol=0)


def test_training_really_reads_the_memory(base, tmp_path):
    tensors = load_file(saved(base, tmp_path / "states"))
    save_file({**tensors, "states": tensors["states"] * 0 + 1}, tmp_path / "wrong", metadata={"layers": "1"})
    computed = load_file(train(base, tmp_path / "a") / "model.safetensors")
    wrong = load_file(train(base, tmp_path / "b", frozen=[tmp_path / "wrong"]) / "model.safetensors")
    assert not torch.allclose(computed["score.weight"], wrong["score.weight"], atol=1e-4)


@pytest.mark.parametrize("share", [True, False])
def test_scoring_from_memory_gives_the_same_rewards(base, reward_folder, tmp_path, share):
    computed, _ = scored(reward_folder)
    save_frozen_states(base, {"en": ROWS[:3], "es": ROWS[3:]}, 1, 128, "float32", 64, tmp_path / "states")
    remembered, runs = scored(reward_folder, frozen=frozen_files([tmp_path / "states"]), share=share)
    assert runs == []
    assert remembered == pytest.approx(computed, abs=1e-5)
    _, runs = scored(reward_folder, frozen=frozen_files([tmp_path / "states"], "es"), share=share)
    assert runs


@pytest.mark.parametrize("known", [ROWS[:1], ROWS[:3]], ids=len)
@pytest.mark.parametrize("share", [True, False])
def test_sequences_that_are_not_in_memory_are_computed(base, reward_folder, tmp_path, known, share):
    computed, _ = scored(reward_folder)
    found, runs = scored(reward_folder, frozen=[saved(base, tmp_path / "states", known)], token_budget=4096, share=share)
    assert found == pytest.approx(computed, abs=1e-5)
    assert len(runs) == 1  # one batch, not all of it known


def test_a_prefix_of_a_known_sequence_is_another_sequence(base, reward_folder, tmp_path):
    cut = [{**row, "chosen": row["chosen"][:-6], "rejected": row["rejected"] + " No."} for row in ROWS]
    computed, _ = scored(reward_folder, cut)
    found, _ = scored(reward_folder, cut, frozen=[saved(base, tmp_path / "states")])
    assert found == pytest.approx(computed, abs=1e-5)


@pytest.mark.parametrize("count", [1, 2])
def test_states_out_of_a_padded_batch_are_those_of_single_sequences(base, count):
    model, tokenizer = AutoModelForCausalLM.from_pretrained(base).eval(), AutoTokenizer.from_pretrained(base)
    ids = sequences(tokenizer)
    assert len(set(map(len, ids))) > 5  # so that a batch has padding
    frozen = FrozenLayers(model, count)
    frozen.fill(pairs(ids), 0, 4096, True)
    seen = []
    model.model.layers[count - 1].register_forward_hook(
        lambda module, args, output: seen.append(output[0] if isinstance(output, tuple) else output)
    )
    for sequence in ids:
        with torch.no_grad():
            model(torch.tensor([sequence]))
        state = frozen.states[tuple(sequence)]
        assert state.shape == (len(sequence), model.config.hidden_size)
        torch.testing.assert_close(state, seen.pop().reshape(state.shape), atol=1e-5, rtol=0)


def test_the_whole_output_from_memory_equals_the_computed_one_at_every_position(base, tmp_path):
    model, tokenizer = AutoModelForCausalLM.from_pretrained(base).eval(), AutoTokenizer.from_pretrained(base)
    inputs = padded(sequences(tokenizer), 0)
    with torch.no_grad():
        computed = model(**inputs, use_cache=False).logits
        frozen = FrozenLayers(model, 1)
        frozen.fill(pairs(sequences(tokenizer)), 0, 64, True)
        frozen.install()
        remembered = model(**inputs, use_cache=False).logits
    real = inputs["attention_mask"].bool()
    torch.testing.assert_close(remembered[real], computed[real], atol=1e-5, rtol=0)


def test_saved_states_load_again(base, tmp_path):
    model = AutoModelForCausalLM.from_pretrained(base)
    one, other = FrozenLayers(model, 1), FrozenLayers(model, 1)
    one.fill([([5, 6, 7], [8, 9]), ([5, 6, 7], [5, 6, 7])], 0, 64, True)
    one.save(tmp_path / "states")
    other.load(tmp_path / "states")
    assert set(one.states) == set(other.states) == {(5, 6, 7), (8, 9)}
    for key, state in one.states.items():
        assert torch.equal(state, other.states[key])


@pytest.mark.parametrize("top_layers", [2, 9])
def test_where_no_layer_is_frozen_scoring_stays_right(base, reward_folder, tmp_path, top_layers):
    computed, _ = scored(reward_folder)
    found, _ = scored(reward_folder, frozen=[saved(base, tmp_path / "states", top_layers=top_layers)])
    assert found == pytest.approx(computed, abs=1e-5)


def test_the_memory_of_all_conversations_is_saved_truncated_on_the_left(base, tmp_path):
    tensors = load_file(saved(base, tmp_path / "states", max_length=10))
    ids = {tuple(key.tolist()) for key in tensors["ids"].split(tensors["lengths"].tolist())}
    tokenizer = AutoTokenizer.from_pretrained(base)
    assert ids == {tuple(sequence[-10:]) for sequence in sequences(tokenizer)}
    assert len(tensors["states"]) == len(tensors["ids"])
