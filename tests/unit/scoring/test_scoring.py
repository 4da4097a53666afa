"""Scoring: a reward is a function of only its conversation."""

import dataclasses
import json
import shutil

import numpy as np
import pandas as pd
import pytest
import torch
from tiny_models import ROWS
from transformers import (
    AutoModelForSequenceClassification,
    AutoTokenizer,
    GPT2Config,
    OPTConfig,
    RobertaConfig,
)

from polyreward.analysis.accuracy import chance, subset_summary
from polyreward.core.conversations import conversation_ids
from polyreward.core.errors import PolyrewardError
from polyreward.scoring import pairs
from polyreward.scoring.interface import Conversations, Scores
from polyreward.scoring.load import load_classifier
from polyreward.scoring.pairs import margin_noise, score_rows, score_table

COLUMNS = [
    "id",
    "template",
    "subset",
    "category",
    "score_chosen",
    "score_rejected",
    "truncated_share",
    "within_noise",
]
SCORES = ["score_chosen", "score_rejected"]


@pytest.fixture
def classifier(reward_folder):
    return load_classifier(reward_folder, "float32", 128, 60)


def rewards_one_by_one(reward_model, rows=ROWS):
    """Return (rows, 2) rewards, each conversation run through the whole model by itself."""
    with torch.no_grad():
        return np.array([
            [reward_model.model(torch.tensor([conversation_ids(reward_model.tokenizer, row["prompt"], row[role], 128)[0]]))
             .logits.item() for role in ("chosen", "rejected")]
            for row in rows
        ])  # fmt: skip


def forwarded(model) -> list[int]:
    """Return a list that gets the number of rows of each forward pass."""
    sizes = []
    model.get_decoder().register_forward_pre_hook(
        lambda module, args, kwargs: sizes.append(len(kwargs["input_ids"])), with_kwargs=True
    )
    return sizes


@pytest.mark.parametrize("token_budget", [1, 60, 10_000])
@pytest.mark.parametrize("share", [True, False])
def test_rewards_do_not_depend_on_batch_size_or_on_sharing(classifier, token_budget, share):
    separate = rewards_one_by_one(classifier)
    assert np.ptp(separate) > 1e-2  # else nothing would be tested
    table = score_rows(dataclasses.replace(classifier, token_budget=token_budget, share=share), ROWS, "")
    assert table[SCORES].to_numpy() == pytest.approx(separate, abs=1e-5)


def test_rewards_come_back_in_the_given_order_whatever_the_order(classifier):
    order = np.random.default_rng(1).permutation(len(ROWS))
    table = score_rows(classifier, ROWS, "")
    shuffled = score_rows(classifier, [ROWS[i] for i in order], "")
    assert list(shuffled["id"]) == [ROWS[i]["id"] for i in order]
    assert shuffled[SCORES].to_numpy() == pytest.approx(table[SCORES].to_numpy()[order], abs=1e-5)


def test_a_table_has_its_columns_and_rows(classifier):
    table = score_rows(classifier, ROWS, "")
    assert list(table.columns) == COLUMNS
    assert list(table["id"]) == [row["id"] for row in ROWS]
    assert not table["within_noise"].any()


def test_an_answer_s_first_words_may_be_those_of_the_other(classifier):
    row = {**ROWS[0], "chosen": "Simmer the rice.", "rejected": "Simmer the rice. Then throw it away."}
    table = score_rows(classifier, [row], "")
    assert table[SCORES].to_numpy() == pytest.approx(rewards_one_by_one(classifier, [row]), abs=1e-5)


def test_the_answers_to_one_prompt_are_one_row_and_the_same_answer_is_run_once(classifier):
    swapped = [
        {**row, "id": f"{row['id']}-b", "chosen": row["rejected"], "rejected": row["chosen"]} for row in ROWS
    ]
    sizes = forwarded(classifier.model)
    table = score_rows(classifier, [*ROWS, *swapped, *({**row, "id": f"{row['id']}-c"} for row in ROWS)], "")
    assert sum(sizes) == len(ROWS)
    first, second, third = np.split(table[SCORES].to_numpy(), 3)
    assert np.array_equal(first, second[:, ::-1])
    assert np.array_equal(first, third)


def test_the_same_answer_to_another_prompt_is_another_conversation(classifier):
    sizes = forwarded(classifier.model)
    table = score_rows(classifier, [ROWS[0], {**ROWS[0], "id": "x", "prompt": "Hello"}], "")
    assert sum(sizes) == 2
    assert table["score_chosen"].nunique() == 2


def test_several_rejected_answers_are_scored_and_the_best_stands(classifier):
    rejected = [row["rejected"] for row in ROWS[:3]]
    several = score_rows(classifier, [{**ROWS[0], "rejected": rejected}], "")
    each = score_rows(classifier, [{**ROWS[0], "rejected": answer} for answer in rejected], "")
    assert several["score_chosen"][0] == pytest.approx(each["score_chosen"][0], abs=1e-5)
    assert several["score_rejected"][0] == pytest.approx(each["score_rejected"].max(), abs=1e-5)


def test_chance_is_one_answer_of_each_item_s():
    assert chance([{"prompt": "", "chosen": "a", "rejected": "b"}]) == 50
    assert chance([{"prompt": "", "chosen": "a", "rejected": ["b", "c", "d"]}, ROWS[0]]) == pytest.approx(
        (25 + 50) / 2
    )


def test_message_lists_are_scored(classifier):
    turns = [
        {"role": "user", "content": "Hi"},
        {"role": "assistant", "content": "Hello!"},
        {"role": "user", "content": "Rice?"},
    ]
    row = {**ROWS[0], "prompt": turns}
    assert score_rows(classifier, [row], "")[SCORES].to_numpy() == pytest.approx(
        rewards_one_by_one(classifier, [row]), abs=1e-5
    )


def test_the_truncated_share_of_a_row_is_stored(classifier):
    lengths = [[len(conversation_ids(classifier.tokenizer, row["prompt"], row[role], 999)[0]) for role in ("chosen", "rejected")]
               for row in ROWS]  # fmt: skip
    limit = sorted(map(max, lengths))[2]
    table = score_rows(dataclasses.replace(classifier, max_length=limit), ROWS, "")
    assert list(table["truncated_share"]) == [sum(n > limit for n in of_row) / 2 for of_row in lengths]
    assert 0 < (table["truncated_share"] > 0).sum() < len(ROWS)


def test_answers_that_are_the_same_after_truncation_tie_exactly_and_a_tie_is_wrong(classifier):
    row = {**ROWS[0], "chosen": "one" + " same" * 40, "rejected": "two" + " same" * 40}
    table = score_rows(dataclasses.replace(classifier, max_length=20), [row], "")
    assert table["score_chosen"][0] == table["score_rejected"][0]
    assert table["within_noise"][0]
    assert list(subset_summary(table)["accuracy_pct"]) == [0.0, 0.0]


def test_a_head_that_gives_nan_is_refused_with_the_ids(classifier):
    classifier.model.score.weight.data[:] = float("nan")
    with pytest.raises(PolyrewardError, match=r"the scores of 6 rows are NaN \(r0, r1, r2, r3, r4, r5\)"):
        score_rows(classifier, ROWS, "")


class Wobbly:
    """A reward model whose margins move by `wobble` when it runs texts one by one."""

    def __init__(self, wobble, exact=False):
        self.wobble, self.exact = wobble, exact

    def score(self, conversations, label):
        values = [np.array([0.1 * number, 0.0]) + [self.wobble, 0] for number, _ in enumerate(conversations)]
        return Scores(values, [np.zeros(2, dtype=bool)] * len(values))

    def unbatched(self):
        return Wobbly(0.0)


def test_noise_is_by_how_much_batching_moves_a_margin():
    margins = 0.25 + 0.1 * np.arange(len(ROWS))
    assert margin_noise(Wobbly(0.25), ROWS, margins) == pytest.approx(0.25)
    assert margin_noise(Wobbly(0.25, exact=True), ROWS, margins) == pairs.FP32_NOISE
    assert list(score_rows(Wobbly(0.25), ROWS, "")["within_noise"]) == [
        True,
        False,
        False,
        False,
        False,
        False,
    ]


def test_bfloat16_has_noise_and_fp32_has_none(reward_folder):
    coarse = load_classifier(reward_folder, "bfloat16", 128, 60)
    assert not coarse.exact
    table = score_rows(coarse, ROWS, "")
    assert margin_noise(coarse, ROWS, (table["score_chosen"] - table["score_rejected"]).to_numpy()) < 0.1
    assert load_classifier(reward_folder, "float32", 128, 60).exact


def changed(reward_folder, folder, change, tokenizer=lambda tokenizer: None):
    """Save a reward model to folder with something changed; returns the folder."""
    model, tokens = (
        AutoModelForSequenceClassification.from_pretrained(reward_folder),
        AutoTokenizer.from_pretrained(reward_folder),
    )
    tokenizer(tokens)
    change(model).save_pretrained(folder)
    tokens.save_pretrained(folder)
    return folder


def test_a_model_without_a_head_is_refused(base, tmp_path):
    with pytest.raises(PolyrewardError, match=r"its weights lack score.weight, so it would score at random"):
        load_classifier(base, "float32", 128, 60)


def test_tensors_without_a_place_are_named_and_change_nothing(reward_folder, tmp_path, capfd):
    def more(model):
        model.register_buffer("injected", torch.ones(1))
        return model

    plain, grown = (
        score_rows(load_classifier(folder, "float32", 128, 60), ROWS, "")
        for folder in (reward_folder, changed(reward_folder, tmp_path, more))
    )
    assert (
        f"{tmp_path}: left out are tensors that its kind of model has no place for: injected (1 in all)"
        in capfd.readouterr().err
    )
    assert grown.equals(plain)


def test_two_outputs_are_refused(reward_folder, tmp_path):
    def two(model):
        model.score = torch.nn.Linear(model.score.in_features, 2, bias=False)
        model.config.num_labels = 2
        return model

    with pytest.raises(PolyrewardError, match=r"has 2 outputs; a reward model has one .* name the field"):
        load_classifier(changed(reward_folder, tmp_path, two), "float32", 128, 60)


def no_template(tokenizer):
    tokenizer.chat_template = None


def test_a_tokenizer_without_a_chat_template_is_refused(reward_folder, tmp_path):
    folder = changed(reward_folder, tmp_path, lambda model: model, no_template)
    with pytest.raises(PolyrewardError, match="has no chat template; save one with it"):
        load_classifier(folder, "float32", 128, 60)


@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
def test_a_trained_model_loads_in_the_type_asked_for_ready_to_score(reward_folder, dtype):
    model = load_classifier(reward_folder, dtype, 128, 60).model
    assert model.dtype == getattr(torch, dtype)
    assert not model.training


def test_what_is_no_model_is_refused(tmp_path):
    with pytest.raises(PolyrewardError, match=r"not a model folder or hub id that loads here"):
        load_classifier(tmp_path, "float32", 128, 60)


def test_a_tokenizer_with_ids_outside_the_embedding_is_refused(reward_folder, tmp_path):
    folder = changed(
        reward_folder, tmp_path, lambda model: model, lambda tokenizer: tokenizer.add_tokens(["<new>"])
    )
    with pytest.raises(
        PolyrewardError, match=r"has ids up to \d+, but its embedding has only \d+ tokens. Save the"
    ):
        load_classifier(folder, "float32", 128, 60)


POSITIONS = {
    "gpt2": (GPT2Config(n_embd=16, n_layer=1, n_head=2, n_positions=64), 64),
    "opt": (OPTConfig(hidden_size=16, ffn_dim=16, num_hidden_layers=1, num_attention_heads=2, max_position_embeddings=64), 64),
    "roberta": (RobertaConfig(hidden_size=16, intermediate_size=16, num_hidden_layers=1, num_attention_heads=2,
                              max_position_embeddings=66), 64),
}  # fmt: skip


@pytest.mark.parametrize("kind", POSITIONS)
def test_more_positions_than_the_model_has_are_refused_and_as_many_are_scored(reward_folder, tmp_path, kind):
    config, held = POSITIONS[kind]
    tokenizer = AutoTokenizer.from_pretrained(reward_folder)
    pad = 1 if kind == "roberta" else tokenizer.pad_token_id
    config.update(
        {"vocab_size": len(tokenizer), "num_labels": 1, "pad_token_id": pad, "word_embed_proj_dim": 16}
    )
    AutoModelForSequenceClassification.from_config(config).save_pretrained(tmp_path)
    tokenizer.save_pretrained(tmp_path)
    with pytest.raises(
        PolyrewardError, match=f"takes {held} tokens at most, and max_length is {held + 1}; set"
    ):
        load_classifier(tmp_path, "float32", held + 1, 200)
    long = [{**ROWS[0], "prompt": "rice " * 100}]
    assert (
        score_rows(load_classifier(tmp_path, "float32", held, 200), long, "")["truncated_share"].item() == 1
    )


def test_longer_texts_than_a_model_is_made_for_are_said(reward_folder, capfd):
    made_for = load_classifier(reward_folder, "float32", 128, 60).model.config.max_position_embeddings
    load_classifier(reward_folder, "float32", made_for + 1, 60)
    assert f"is made for {made_for} tokens; longer texts" in capfd.readouterr().err


@pytest.mark.parametrize("method", ["bitsandbytes", "gptq"])
def test_quantized_weights_that_do_not_load_here_name_what_they_need(reward_folder, tmp_path, method):
    shutil.copytree(reward_folder, tmp_path / "rm", ignore=shutil.ignore_patterns("SHA256SUMS"))
    config = json.loads((tmp_path / "rm/config.json").read_text())
    config["quantization_config"] = {"quant_method": method, "load_in_4bit": True, "bits": 4}
    (tmp_path / "rm/config.json").write_text(json.dumps(config))
    with pytest.raises(PolyrewardError, match=f"quantized by {method}, and do not load here") as error:
        load_classifier(tmp_path / "rm", "float32", 128, 60)
    assert "name a folder with its weights as they were" in str(
        error.value
    ) and "correct the path" not in str(error.value)


def test_a_hub_model_s_own_code_needs_a_pinned_revision():
    with pytest.raises(PolyrewardError, match=r"pin it by `revision`"):
        load_classifier("someone/model", "float32", 128, 60, remote_code=True)


REMOTE = """
import torch
from transformers import LlamaForSequenceClassification

class ManyObjectives(LlamaForSequenceClassification):
    def forward(self, input_ids=None, attention_mask=None, **kwargs):
        found = super().forward(input_ids=input_ids, attention_mask=attention_mask)
        found["preference"] = found.logits @ torch.tensor([[1.0], [-2.0], [0.5]])
        return found
"""


def test_a_multi_objective_model_scores_by_the_named_output_of_its_own_code(trained, tmp_path):
    def three(model):
        model.score = torch.nn.Linear(model.score.in_features, 3, bias=False)
        torch.nn.init.normal_(model.score.weight, generator=torch.Generator().manual_seed(1))
        model.config.num_labels = 3
        model.config.auto_map = {"AutoModelForSequenceClassification": "modeling.ManyObjectives"}
        model.config.architectures = ["ManyObjectives"]
        return model

    folder = changed(trained["tiny-llama"], tmp_path, three)
    (folder / "modeling.py").write_text(REMOTE)
    reward_model = load_classifier(folder, "float32", 128, 60, remote_code=True, output="preference")
    assert not reward_model.share
    table = score_rows(reward_model, ROWS, "")
    plain = AutoModelForSequenceClassification.from_pretrained(folder, trust_remote_code=False)
    for row, (_, found) in zip(ROWS, table.iterrows(), strict=True):
        ids = conversation_ids(reward_model.tokenizer, row["prompt"], row["chosen"], 128)[0]
        with torch.no_grad():
            expected = plain(torch.tensor([ids])).logits[0] @ torch.tensor([1.0, -2.0, 0.5])
        assert found["score_chosen"] == pytest.approx(expected.item(), abs=1e-5)
    without_its_code = load_classifier(folder, "float32", 128, 60, output="preference")
    with pytest.raises(
        PolyrewardError, match=r"output `preference` is not one value .* the model gives \{'logits': \(2, 3\)"
    ):
        without_its_code.score([Conversations("a", ("b", "c"))], "")


def test_only_the_rows_without_a_score_are_named_and_at_most_ten():
    rows = [{"id": f"r{n}", "subset": "a", "category": "A"} for n in range(30)]
    with pytest.raises(PolyrewardError, match=r"^the scores of 1 rows are NaN \(r7\)"):
        score_table(rows, [1.0] * 30, [float("nan") if n == 7 else 0.0 for n in range(30)])
    with pytest.raises(
        PolyrewardError, match=r"^the scores of 30 rows are NaN \(r0, r1, r2, r3, r4, r5, r6, r7, r8, r9\)"
    ):
        score_table(rows, [float("nan")] * 30, [0.0] * 30)


def test_subset_summary_of_known_scores():
    scores = pd.DataFrame({
        "subset": ["b", "a", "b", "a", "b", "b"],
        "score_chosen": [1.0, 0.0, 2.0, 5.0, 3.0, -1.0],
        "score_rejected": [0.0, 0.0, 1.0, 4.0, 2.0, 1.0],  # right, a tie, right, right, right, wrong
        "truncated_share": [0.0, 0.5, 0.0, 1.0, 0.0, 0.0],
        "within_noise": [False, True, False, False, False, False],
    })  # fmt: skip
    summary = subset_summary(scores).set_index("subset")
    assert list(summary.index) == ["a", "b", "all items"]
    assert list(summary["n_items"]) == [2, 4, 6]
    assert list(summary["accuracy_pct"]) == pytest.approx([50, 75, 100 * 4 / 6])
    assert list(summary["low"]) == pytest.approx([wilson(1, 2, -1), wilson(3, 4, -1), wilson(4, 6, -1)])
    assert list(summary["high"]) == pytest.approx([wilson(1, 2, 1), wilson(3, 4, 1), wilson(4, 6, 1)])
    assert list(summary["truncated_pct"]) == pytest.approx([75, 0, 25])
    assert list(summary["n_within_noise"]) == [1, 0, 1]
    assert subset_summary(scores, "half").set_index("subset")["accuracy_pct"]["a"] == 75


def wilson(right: int, n: int, side: int, z: float = 1.959963984540054) -> float:
    share = right / n
    return (
        100
        * (share + z * z / (2 * n) + side * z * (share * (1 - share) / n + z * z / (4 * n * n)) ** 0.5)
        / (1 + z * z / n)
    )
