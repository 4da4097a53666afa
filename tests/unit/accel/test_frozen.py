"""Frozen layers answered from memory give what computing them gives."""

import dataclasses

import pytest
import torch
from safetensors.torch import load_file
from tiny_models import ROWS, scores_of, train
from transformers import AutoModelForCausalLM, AutoTokenizer

from polyreward.accel.frozen import FrozenLayers, keep_frozen_states
from polyreward.core.conversations import conversation_ids
from polyreward.core.errors import PolyrewardError
from polyreward.models.batches import padded
from polyreward.scoring.classifier import with_memory
from polyreward.scoring.load import load_classifier


def sequences(base):
    """Return the token ids of both conversations of each row."""
    tokenizer = AutoTokenizer.from_pretrained(base)
    return [
        [conversation_ids(tokenizer, row["prompt"], row[role], 128)[0] for role in ("chosen", "rejected")]
        for row in ROWS
    ]


def filled(model, groups, count=1):
    """Return the memory of a model's first layers for some groups."""
    frozen = FrozenLayers(model, count)
    frozen.fill(groups, 0, 64, True)
    return frozen


def scored(reward_folder, rows=ROWS, *, states=None, top_layers=1, token_budget=64):
    """Return (scores of the rows, how often the lowest layer was computed), with a memory where `states` is
    given."""
    reward_model, runs = load_classifier(reward_folder, "float32", 128, token_budget), []
    assert reward_model.share
    lowest = reward_model.model.model.layers[0].self_attn
    lowest.register_forward_hook(lambda *args: runs.append(1))
    if states is not None:
        reward_model = with_memory(reward_model, top_layers, states)
    return scores_of(reward_model, rows), len(runs)


@pytest.mark.parametrize("changes", [{}, {"epochs": 2}, {"gradient_checkpointing": True}], ids=str)
def test_training_from_memory_gives_the_same_weights(base, tmp_path, changes):
    computed, remembered = (
        load_file(train(base, tmp_path / str(on), cache_frozen_layers=on, **changes) / "model.safetensors")
        for on in (False, True)
    )
    assert computed.keys() == remembered.keys()
    for name in computed:
        torch.testing.assert_close(computed[name], remembered[name], atol=1e-5, rtol=0)


def test_training_really_reads_the_memory(base, reward_folder, tmp_path, monkeypatch):
    def recall_another(self, trees, recall=FrozenLayers.recall):
        recall(self, trees)
        self.batch.append(self.batch.pop() + 1)

    monkeypatch.setattr(FrozenLayers, "recall", recall_another)
    wrong = load_file(train(base, tmp_path, cache_frozen_layers=True) / "model.safetensors")
    computed = load_file(reward_folder / "model.safetensors")
    assert not torch.allclose(computed["score.weight"], wrong["score.weight"], atol=1e-4)


def test_scoring_from_memory_gives_the_same_rewards_and_computes_frozen_layers_once(reward_folder):
    computed, runs = scored(reward_folder)
    states = {}
    first, filled = scored(reward_folder, states=states)
    again, none = scored(reward_folder, states=states)
    assert (filled, none) == (runs, 0)
    for found in (first, again):
        assert found == pytest.approx(computed, abs=1e-5)


@pytest.mark.parametrize("known", [ROWS[:1], ROWS[:3]], ids=len)
def test_sequences_that_are_not_in_memory_are_added(reward_folder, known):
    computed, _ = scored(reward_folder)
    states = {}
    scored(reward_folder, known, states=states)
    found, runs = scored(reward_folder, states=states, token_budget=4096)
    assert found == pytest.approx(computed, abs=1e-5)
    assert runs == 1  # one batch, of those that were not known
    assert scored(reward_folder, states=states)[1] == 0
    # A prefix of a known sequence is another sequence.
    cut = [{**row, "chosen": row["chosen"][:-6], "rejected": row["rejected"] + " No."} for row in ROWS]
    expected, found = (scored(reward_folder, cut, states=known)[0] for known in (None, states))
    assert found == pytest.approx(expected, abs=1e-5)


def test_one_reward_model_scores_one_set_of_rows_after_another(reward_folder):
    remembering = with_memory(load_classifier(reward_folder, "float32", 128, 64), 1, {})
    for rows in (ROWS[:2], ROWS[2:], ROWS):
        assert scores_of(remembering, rows) == pytest.approx(scored(reward_folder, rows)[0], abs=1e-5)


@pytest.mark.parametrize("count", [1, 2])
def test_the_whole_output_from_memory_equals_the_computed_one_at_every_position(base, count):
    model, groups = AutoModelForCausalLM.from_pretrained(base).eval(), sequences(base)
    inputs = padded([ids for group in groups for ids in group], 0)
    with torch.no_grad():
        computed = model(**inputs, use_cache=False).logits
        filled(model, groups, count).install()
        remembered = model(**inputs, use_cache=False).logits
    real = inputs["attention_mask"].bool()
    assert not real.all()
    torch.testing.assert_close(remembered[real], computed[real], atol=1e-5, rtol=0)


def test_saved_states_load_again_and_a_changed_file_is_not_used(base, tmp_path):
    model, path = AutoModelForCausalLM.from_pretrained(base), tmp_path / "states"
    frozen = filled(model, [([5, 6, 7], [8, 9]), ([5, 6, 7], [5, 6, 7])])
    frozen.save(path)
    found = keep_frozen_states(AutoModelForCausalLM.from_pretrained(base), [path])
    assert found.count == 1 and set(found.states) == set(frozen.states) == {(5, 6, 7), (8, 9)}
    assert all(torch.equal(state, found.states[key]) for key, state in frozen.states.items())
    content = bytearray(path.read_bytes())
    content[-1] ^= 1
    path.write_bytes(content)
    with pytest.raises(PolyrewardError, match="states: changed since it was made"):
        keep_frozen_states(model, [path])


def test_states_of_a_base_of_another_depth_are_refused(base, tmp_path):
    whole, cut = (AutoModelForCausalLM.from_pretrained(base) for _ in range(2))
    filled(whole, [([5, 6, 7], [8, 9])]).save(tmp_path / "states")
    decoder = cut.get_decoder()
    decoder.layers = decoder.layers[:1]
    with pytest.raises(PolyrewardError, match="states of a model of 2 layers, and this one has 1"):
        keep_frozen_states(cut, [tmp_path / "states"])


@pytest.mark.parametrize("top_layers", [0, 2, 9])
def test_where_no_layer_is_frozen_nothing_is_kept(reward_folder, top_layers):
    computed, runs = scored(reward_folder)
    states = {}
    found, as_often = scored(reward_folder, states=states, top_layers=top_layers)
    assert found == pytest.approx(computed, abs=1e-6)
    assert (as_often, states) == (runs, {})
    separate = dataclasses.replace(load_classifier(reward_folder, "float32", 128, 64), share=False)
    assert with_memory(separate, 1, {}) is separate  # rows of single sequences
