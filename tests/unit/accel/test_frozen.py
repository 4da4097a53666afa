"""Frozen layers answered from memory give what computing them gives."""

import dataclasses

import pytest
import torch
from safetensors.torch import load_file
from tiny_models import ROWS, train
from transformers import AutoModelForCausalLM, AutoTokenizer

from polyreward.accel.frozen import FrozenLayers, keep_frozen_states
from polyreward.core.conversations import conversation_ids
from polyreward.core.errors import PolyrewardError
from polyreward.models.batches import padded
from polyreward.scoring.classifier import with_memory
from polyreward.scoring.load import load_classifier
from polyreward.scoring.pairs import score_rows


def sequences(base):
    """Return the token ids of both conversations of each row."""
    tokenizer = AutoTokenizer.from_pretrained(base)
    return [
        [conversation_ids(tokenizer, row["prompt"], row[role], 128)[0] for role in ("chosen", "rejected")]
        for row in ROWS
    ]


def filled(model, groups, count=1, token_budget=64):
    """Return the memory of a model's first layers for some groups."""
    frozen = FrozenLayers(model, count)
    frozen.fill(groups, 0, token_budget, True)
    return frozen


def scored(reward_folder, rows=ROWS, *, states=None, top_layers=1, token_budget=64):
    """Return (scores of the rows, how often the lowest layer was computed), with a memory where `states` is
    given."""
    reward_model = load_classifier(reward_folder, "float32", 128, token_budget)
    assert reward_model.share
    runs = lowest_layer_runs(reward_model.model)
    if states is not None:
        reward_model = with_memory(reward_model, top_layers, states)
    table = score_rows(reward_model, rows, "")
    return table[["score_chosen", "score_rejected"]].to_numpy(), len(runs)


def lowest_layer_runs(model) -> list:
    """Return a list that grows by one whenever the lowest layer is computed."""
    runs = []
    model.model.layers[0].self_attn.register_forward_hook(lambda *args: runs.append(1))
    return runs


@pytest.mark.parametrize("changes", [{}, {"epochs": 2}, {"gradient_checkpointing": True}], ids=str)
def test_training_from_memory_gives_the_same_weights(base, tmp_path, changes):
    computed, remembered = (
        load_file(
            train(base, tmp_path / str(cached), cache_frozen_layers=cached, **changes) / "model.safetensors"
        )
        for cached in (False, True)
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


def test_one_reward_model_scores_one_set_of_rows_after_another(reward_folder):
    separate = load_classifier(reward_folder, "float32", 128, 64)
    remembering = with_memory(load_classifier(reward_folder, "float32", 128, 64), 1, {})
    columns = ["score_chosen", "score_rejected"]
    for rows in (ROWS[:2], ROWS[2:], ROWS):
        expected, found = (score_rows(one, rows, "")[columns].to_numpy() for one in (separate, remembering))
        assert found == pytest.approx(expected, abs=1e-5)


def test_a_prefix_of_a_known_sequence_is_another_sequence(reward_folder):
    cut = [{**row, "chosen": row["chosen"][:-6], "rejected": row["rejected"] + " No."} for row in ROWS]
    computed, _ = scored(reward_folder, cut)
    states = {}
    scored(reward_folder, states=states)
    found, _ = scored(reward_folder, cut, states=states)
    assert found == pytest.approx(computed, abs=1e-5)


@pytest.mark.parametrize("count", [1, 2])
def test_states_out_of_a_padded_batch_are_those_of_single_sequences(base, count):
    model, groups, seen = AutoModelForCausalLM.from_pretrained(base).eval(), sequences(base), []
    single = [ids for group in groups for ids in group]
    assert len(set(map(len, single))) > 5  # so that a batch has padding
    frozen = filled(model, groups, count, 4096)
    model.model.layers[count - 1].register_forward_hook(
        lambda module, args, output: seen.append(output[0] if isinstance(output, tuple) else output)
    )
    for ids in single:
        with torch.no_grad():
            model(torch.tensor([ids]))
        state = frozen.states[tuple(ids)]
        assert state.shape == (len(ids), model.config.hidden_size)
        torch.testing.assert_close(state, seen.pop().reshape(state.shape), atol=1e-5, rtol=0)


def test_the_whole_output_from_memory_equals_the_computed_one_at_every_position(base):
    model, groups = AutoModelForCausalLM.from_pretrained(base).eval(), sequences(base)
    inputs = padded([ids for group in groups for ids in group], 0)
    with torch.no_grad():
        computed = model(**inputs, use_cache=False).logits
        filled(model, groups).install()
        remembered = model(**inputs, use_cache=False).logits
    real = inputs["attention_mask"].bool()
    torch.testing.assert_close(remembered[real], computed[real], atol=1e-5, rtol=0)


GROUPS = [([5, 6, 7], [8, 9]), ([5, 6, 7], [5, 6, 7])]


def test_a_changed_file_of_states_is_not_used(base, tmp_path):
    model = AutoModelForCausalLM.from_pretrained(base)
    frozen, path = filled(model, GROUPS), tmp_path / "states"
    frozen.save(path)
    content = bytearray(path.read_bytes())
    content[-1] ^= 1
    path.write_bytes(content)
    for use in (frozen.load, lambda path: keep_frozen_states(model, [path])):
        with pytest.raises(PolyrewardError, match="states: changed since it was made"):
            use(path)


def test_states_of_a_base_of_another_depth_are_refused(base, tmp_path):
    whole, cut = (AutoModelForCausalLM.from_pretrained(base) for _ in range(2))
    filled(whole, GROUPS).save(tmp_path / "states")
    decoder = cut.get_decoder()
    decoder.layers = decoder.layers[:1]
    with pytest.raises(PolyrewardError, match="states of a model of 2 layers, and this one has 1"):
        keep_frozen_states(cut, [tmp_path / "states"])


def test_saved_states_load_again(base, tmp_path):
    model = AutoModelForCausalLM.from_pretrained(base)
    one, other = filled(model, GROUPS), FrozenLayers(model, 1)
    one.save(tmp_path / "states")
    other.load(tmp_path / "states")
    assert set(one.states) == set(other.states) == {(5, 6, 7), (8, 9)}
    for key, state in one.states.items():
        assert torch.equal(state, other.states[key])


@pytest.mark.parametrize("top_layers", [0, 2, 9])
def test_where_no_layer_is_frozen_nothing_is_kept(reward_folder, top_layers):
    computed, runs = scored(reward_folder)
    states = {}
    found, as_often = scored(reward_folder, states=states, top_layers=top_layers)
    assert found == pytest.approx(computed, abs=1e-6)
    assert (as_often, states) == (runs, {})


def test_rows_of_single_sequences_are_left_as_they_are(reward_folder):
    separate = dataclasses.replace(load_classifier(reward_folder, "float32", 128, 64), share=False)
    assert with_memory(separate, 1, {}) is separate
