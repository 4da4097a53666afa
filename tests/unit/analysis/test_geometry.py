"""Spectra and CKA of known matrices."""

from types import SimpleNamespace

import numpy as np
import pytest
import yaml
from support import script
from tiny_models import ROWS
from transformers import AutoModelForCausalLM, AutoModelForSequenceClassification, AutoTokenizer

from polyreward.analysis.bootstrap import Interval
from polyreward.analysis.geometry import COLUMNS, geometry_table, linear_cka, spectra
from polyreward.core.errors import PolyrewardError
from polyreward.core.files import read_jsonl
from polyreward.prepare.passages import parallel_passages
from polyreward.transfer.figure1 import draw_figure1

parallel_states = script("score/passage_states").parallel_states
INTERVAL = Interval(samples=200, confidence=0.95, seed=1)


def noise(*shape, seed=1):
    return np.random.default_rng(seed).normal(size=shape)


def table_of(base, english):
    return geometry_table({"base": base, "en": english}, "b", ["en", "es", "ko"][: len(base)], INTERVAL)


def cka_of(base, english):
    return table_of(base, english).query("quantity == 'cka'")


def test_languages_in_one_direction_have_a_share_of_one_and_those_at_right_angles_share_alike():
    one = np.ones((3, 4, 1)) * noise(4, 8)[None] * np.array([1.0, 2.0, -3.0])[:, None, None]
    assert spectra(one) == pytest.approx(np.tile([1.0, 0.0, 0.0], (4, 1)), abs=1e-9)
    assert spectra(np.eye(3)[:, None, :].repeat(2, axis=1)) == pytest.approx(np.full((2, 3), 1 / 3))


def test_cka_does_not_see_rotation_scale_or_shift():
    states = noise(40, 6)
    rotation = np.linalg.qr(noise(6, 6, seed=2))[0]
    assert linear_cka(states, 3 * states @ rotation + 5) == pytest.approx(1)


def test_cka_of_states_in_float32_that_are_far_from_zero_is_exact():
    one, other = noise(50, 600), noise(50, 600) + 0.05 * noise(50, 600, seed=9)
    single = [(100 + states).astype("float32") for states in (one, other)]
    assert linear_cka(*single) == pytest.approx(linear_cka(one, other), abs=1e-7)
    assert linear_cka(100 + one, 100 + other) == pytest.approx(linear_cka(one, other), abs=1e-12)
    ends = cka_of(single[0][None], single[1][None])
    assert 0.9 < ends["low"].item() < ends["high"].item() <= 1


def test_cka_of_unrelated_states_is_near_zero_though_there_are_fewer_passages_than_features():
    found = [linear_cka(noise(30, 200, seed=n), noise(30, 200, seed=100 + n)) for n in range(20)]
    assert np.mean(found) == pytest.approx(0, abs=0.03)


def test_the_table_has_every_quantity_of_every_model_with_its_interval():
    base = noise(3, 20, 8)
    table = table_of(base, base + 0.1 * noise(3, 20, 8, seed=2))
    assert list(table.columns) == COLUMNS
    assert table.groupby(["rm_training", "quantity"]).size().to_dict() == {
        ("base", "share"): 1, ("base", "spectrum"): 3, ("en", "share"): 1, ("en", "spectrum"): 3, ("en", "cka"): 3,
    }  # fmt: skip
    assert (table["low"] <= table["value"]).all() and (table["value"] <= table["high"]).all()
    spectrum = table[table["quantity"] == "spectrum"].groupby("rm_training")["value"].sum()
    assert spectrum.to_numpy() == pytest.approx([1, 1])
    shares = table[table["quantity"] == "share"].set_index("rm_training")["value"]
    assert shares["base"] == pytest.approx(spectra(base)[:, 0].mean())
    assert table[table["quantity"] == "cka"]["value"].between(0.9, 1).all()


def test_intervals_of_few_passages_stay_within_bounds():
    """The jackknife on CKA's own scale reached 7 here; Fisher's keeps it below 1."""
    for seed in range(5):
        base = noise(3, 6, 8, seed=seed)
        table = table_of(base, base + 0.5 * noise(3, 6, 8, seed=50 + seed))
        cka, shares = table[table["quantity"] == "cka"], table[table["quantity"] != "cka"]
        assert cka["low"].between(-1, cka["value"]).all() and cka["high"].between(cka["value"], 1).all()
        assert (cka["high"] > cka["low"]).all()
        assert shares[["low", "high"]].stack().between(0, 1).all()


def test_equal_states_have_a_cka_of_one_without_width_and_four_passages_no_interval():
    cka = cka_of(noise(1, 8, 4), noise(1, 8, 4))
    assert cka[["value", "low", "high"]].to_numpy() == pytest.approx(np.ones((1, 3)))
    assert cka_of(noise(1, 4, 4), noise(1, 4, 4, seed=3))["low"].isna().all()


def test_states_are_those_of_each_text_s_last_token(base):
    texts = [[row["prompt"] for row in ROWS[:3]], [row["chosen"] for row in ROWS[:3]]]
    found = parallel_states(base, texts, 128, 64, "")
    model, tokenizer = AutoModelForCausalLM.from_pretrained(base).eval(), AutoTokenizer.from_pretrained(base)
    inputs = tokenizer(texts[1][2], return_tensors="pt")
    expected = model(**inputs, output_hidden_states=True).hidden_states[-1][0, -1].detach().numpy()
    assert found.shape == (2, 3, model.config.hidden_size)
    assert found[1, 2] == pytest.approx(expected, abs=1e-5)


def test_layers_that_models_of_a_base_share_are_run_once(base):
    texts, known = [[row["prompt"] for row in ROWS[:3]], [row["chosen"] for row in ROWS[:3]]], {}
    expected = parallel_states(base, texts, 128, 64, "")
    for _ in range(2):  # it fills the memory, and reads it
        assert parallel_states(base, texts, 128, 64, "", 1, known) == pytest.approx(expected, abs=1e-5)
        assert len(known) == len({text for of_language in texts for text in of_language})
    forgotten = {ids: 0 * states for ids, states in known.items()}
    assert np.abs(parallel_states(base, texts, 128, 64, "", 1, forgotten) - expected).max() > 1e-2
    unshared = parallel_states(base, texts, 128, 64, "", 0, {})
    assert unshared == pytest.approx(expected, abs=1e-5)


def test_a_reward_model_s_states_are_those_before_its_head(reward_folder):
    found = parallel_states(reward_folder, [[ROWS[0]["prompt"]]], 128, 64, "")
    model = AutoModelForSequenceClassification.from_pretrained(reward_folder)
    inputs = AutoTokenizer.from_pretrained(reward_folder)(ROWS[0]["prompt"], return_tensors="pt")
    logits = model(**inputs).logits
    head = model.score.weight.detach().numpy()
    assert (found[0, 0] @ head.T)[0] == pytest.approx(logits.item(), abs=1e-4)


def test_passages_are_taken_apart_by_language():
    items = [{"id": "a", "en": "one", "es": "uno"}, {"id": "b", "en": "two", "es": "dos"}]
    assert parallel_passages(items, ["es"], "p.yaml") == {
        "es": [{"id": "a", "text": "uno"}, {"id": "b", "text": "dos"}]
    }


def test_a_part_of_the_passages_is_the_same_one_in_every_language(tmp_path):
    items = [{"id": f"p{number}", "en": f"one {number}", "es": f"uno {number}"} for number in range(9)]
    path, outputs = tmp_path / "p.yaml", [tmp_path / f"{language}.jsonl" for language in ("en", "es")]
    path.write_text(yaml.safe_dump(items))
    kept = {}
    for most in (4, 6, None):
        params = SimpleNamespace(languages=["en", "es"], max_passages=most, seed=1)
        script("translate/passages").main(SimpleNamespace(input=[path], output=outputs, params=params))
        english, spanish = ([row["id"] for row in read_jsonl(output)] for output in outputs)
        assert english == spanish and len(english) == (most or 9)
        kept[most] = set(english)
    assert kept[4] < kept[6] < kept[None]


def test_every_passage_that_lacks_a_language_is_named():
    items = [{"id": "a", "en": "one"}, {"id": "b", "en": " ", "es": "dos"}, {"id": "b", "en": "x", "es": "y"}]
    said = "`a` is not in es; translate it", "`b` is not in en", r"passage 2 has no id of its own \(`b`\)"
    with pytest.raises(PolyrewardError, match="(?s)" + "".join(f"(?=.*{one})" for one in said)):
        parallel_passages(items, ["en", "es"], "p.yaml")


def test_figure_1_has_a_bar_and_a_point_for_each_model():
    states = {name: noise(2, 10, 6, seed=n) for n, name in enumerate(["base", "en", "es"])}
    figure = draw_figure1(geometry_table(states, "b", ["en", "es"], INTERVAL), "95%")
    assert len(figure.axes) == len(figure.axes[0].patches) == len(figure.axes[1].containers) == 3
