"""A text's score never depends on other texts: any subset, order and budget gives the same."""

import dataclasses

import numpy as np
import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from miniatures import armo_rm, dynamic, inf_orm, longrope, offset_bias, skywork_gemma2
from tiny_models import ROWS, scores_of
from transformers import AutoModelForCausalLM, AutoModelForSequenceClassification

from polyreward.core.conversations import conversation_ids
from polyreward.scoring.implicit import LogLikelihood
from polyreward.scoring.load import load_causal_lm, load_classifier

FAMILIES = {
    "ArmoRM": armo_rm,
    "INF-ORM": inf_orm,
    "INF-ORM without a pad token": lambda folder: inf_orm(folder, None),
    "Gemma 2": skywork_gemma2,
    "Llama": lambda folder: offset_bias(folder, "[PAD]", "[PAD]"),
    "Llama without a pad token": lambda folder: offset_bias(folder, None, None),
    "dynamic": dynamic,
    "longrope": longrope,
}
LONG = [
    {**ROWS[n], "id": f"long{n}", "prompt": " ".join([ROWS[n]["prompt"]] * times)}
    for n, times in enumerate((2, 3, 4))
]
TEXTS = [*ROWS, *LONG]  # some within, some beyond 24 tokens


@pytest.fixture(scope="module", params=FAMILIES)
def family(request, tmp_path_factory):
    """A model of a family, and the scores of TEXTS by a fresh copy of it for each text."""
    folder = FAMILIES[request.param](tmp_path_factory.mktemp("family") / "rm")

    def fresh(row, role):
        model = load_classifier(folder, "float32", 256, 1)
        alone = dataclasses.replace(model, share=False, plain_head=False)
        return scores_of(alone, [{**row, "chosen": row[role], "rejected": row[role]}])[0, 0]

    return folder, np.array([[fresh(row, role) for role in ("chosen", "rejected")] for row in TEXTS])


@settings(max_examples=12, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
@given(st.data())
def test_any_subset_order_and_budget_gives_the_scores_of_each_text_by_itself(family, data):
    folder, expected = family
    model = load_classifier(folder, "float32", 256, data.draw(st.sampled_from([1, 40, 90, 400, 5000])))
    for _ in range(2):  # the second with what the first may have left in the model
        places = data.draw(st.permutations(range(len(TEXTS))))[: data.draw(st.integers(1, len(TEXTS)))]
        found = scores_of(model, [TEXTS[n] for n in places])
        assert found == pytest.approx(expected[places], abs=1e-4)


@pytest.mark.parametrize("make", [dynamic, longrope])
def test_frequencies_that_follow_the_longest_text_are_found_and_are_plain_transformers_own(tmp_path, make):
    folder = make(tmp_path / "rm")
    model = load_classifier(folder, "float32", 256, 5000)
    assert (model.single_beyond, model.share) == (24, False)
    within = load_classifier(folder, "float32", 24, 5000)
    assert within.single_beyond is None and within.share
    for row, (found, _) in zip(TEXTS, scores_of(model, TEXTS), strict=True):
        plain = AutoModelForSequenceClassification.from_pretrained(folder, dtype=torch.float32).eval()
        ids, _ = conversation_ids(model.tokenizer, row["prompt"], row["chosen"], 256)
        with torch.no_grad():
            assert found == pytest.approx(plain(torch.tensor([ids])).logits.item(), abs=1e-4)


def test_log_likelihoods_do_not_depend_on_company_either(tmp_path):
    folder = dynamic(tmp_path / "rm")
    AutoModelForCausalLM.from_pretrained(folder).save_pretrained(folder)
    model = LogLikelihood(load_causal_lm(folder, "float32", 256, 5000))
    together = scores_of(model, TEXTS)
    alone = [scores_of(LogLikelihood(load_causal_lm(folder, "float32", 256, 1)), [row])[0] for row in TEXTS]
    assert together == pytest.approx(np.array(alone), abs=1e-4)


def test_a_model_without_a_pad_token_is_run_in_batches(tmp_path):
    model = load_classifier(offset_bias(tmp_path / "rm", None, None), "float32", 256, 5000)
    expected = scores_of(dataclasses.replace(model, plain_head=False), ROWS)
    sizes = []
    model.model.get_decoder().register_forward_pre_hook(
        lambda module, args, kwargs: sizes.append(len(kwargs["input_ids"])), with_kwargs=True
    )
    found = scores_of(dataclasses.replace(model, share=False), ROWS)
    assert sizes == [2 * len(ROWS)]
    assert found == pytest.approx(expected, abs=1e-5)
