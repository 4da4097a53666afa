"""Scoring: a reward is a function of only its conversation."""

import dataclasses
import json
import shutil

import numpy as np
import pandas as pd
import pytest
import torch
from made_up_scorers import Backend
from support import refused
from tiny_models import ROWS, scores_of
from transformers import (
    AutoModelForSequenceClassification,
    AutoTokenizer,
    GPT2Config,
    OPTConfig,
    RobertaConfig,
)
from transformers.modeling_outputs import ModelOutput, SequenceClassifierOutput

from polyreward.analysis.accuracy import chance, subset_summary
from polyreward.core.conversations import conversation_ids
from polyreward.core.errors import PolyrewardError
from polyreward.scoring import pairs
from polyreward.scoring.generative import Judge
from polyreward.scoring.interface import Conversations, Scores
from polyreward.scoring.load import load_classifier
from polyreward.scoring.local_judge import LocalBackend
from polyreward.scoring.pairs import margin_noise, score_rows, score_table, unbatched


def loaded(folder, dtype="float32", max_length=128, token_budget=60, **options):
    return load_classifier(folder, dtype, max_length, token_budget, **options)


@pytest.fixture
def classifier(reward_folder):
    return loaded(reward_folder)


def lengths(reward_model, rows=ROWS) -> list[tuple[int, int]]:
    roles = ("chosen", "rejected")
    return [
        tuple(
            len(conversation_ids(reward_model.tokenizer, row["prompt"], row[role], 999)[0]) for role in roles
        )
        for row in rows
    ]


def rewards_one_by_one(reward_model, rows=ROWS) -> np.ndarray:
    """Return (rows, 2) rewards, each conversation run through the whole model by itself."""

    def reward(row, role):
        ids = conversation_ids(reward_model.tokenizer, row["prompt"], row[role], 128)[0]
        return reward_model.model(torch.tensor([ids])).logits.item()

    with torch.no_grad():
        return np.array([[reward(row, role) for role in ("chosen", "rejected")] for row in rows])


@pytest.mark.parametrize("token_budget", [1, 60, 10_000])
@pytest.mark.parametrize("share", [True, False])
def test_rewards_do_not_depend_on_batch_size_or_on_sharing(classifier, token_budget, share):
    separate = rewards_one_by_one(classifier)
    assert np.ptp(separate) > 1e-2  # else nothing would be tested
    found = scores_of(dataclasses.replace(classifier, token_budget=token_budget, share=share))
    assert found == pytest.approx(separate, abs=1e-5)


def test_a_table_has_its_columns_and_the_rows_in_the_given_order(classifier):
    order = np.random.default_rng(1).permutation(len(ROWS))
    table, shuffled = (score_rows(classifier, rows, "") for rows in (ROWS, [ROWS[i] for i in order]))
    columns = ["id", "template", "subset", "category", "score_chosen", "score_rejected"]
    assert list(table.columns) == [*columns, "truncated_share", "within_noise"]
    assert list(table["id"]) == [row["id"] for row in ROWS] and not table["within_noise"].any()
    assert shuffled["id"].tolist() == table["id"][order].tolist()
    expected = table["score_chosen"].to_numpy()[order]
    assert shuffled["score_chosen"].to_numpy() == pytest.approx(expected, abs=1e-5)


TURNS = [
    {"role": "user", "content": "Hi"},
    {"role": "assistant", "content": "Hello!"},
    {"role": "user", "content": "Rice?"},
]


@pytest.mark.parametrize(
    "change",
    [
        # An answer may begin with the whole other one.
        {"chosen": "Simmer the rice.", "rejected": "Simmer the rice. Then throw it away."},
        {"prompt": TURNS},
    ],
)
def test_other_conversations_are_scored_as_by_themselves(classifier, change):
    row = {**ROWS[0], **change}
    assert scores_of(classifier, [row]) == pytest.approx(rewards_one_by_one(classifier, [row]), abs=1e-5)


def test_the_answers_to_one_prompt_are_one_row_and_the_same_conversation_is_run_once(classifier):
    sizes = []  # rows of each forward pass
    classifier.model.get_decoder().register_forward_pre_hook(
        lambda module, args, kwargs: sizes.append(len(kwargs["input_ids"])), with_kwargs=True
    )
    swapped = [{**row, "chosen": row["rejected"], "rejected": row["chosen"]} for row in ROWS]
    elsewhere = {**ROWS[0], "prompt": "Hello"}  # the same answer to another prompt is another conversation
    *found, other = np.split(scores_of(classifier, [*ROWS, *swapped, *ROWS, elsewhere]), [6, 12, 18])
    assert sum(sizes) == len(ROWS) + 1
    assert np.array_equal(found[0], found[1][:, ::-1]) and np.array_equal(found[0], found[2])
    assert other[0, 0] != found[0][0, 0]


def test_several_rejected_answers_are_scored_and_the_best_stands(classifier):
    rejected = [row["rejected"] for row in ROWS[:3]]
    several = scores_of(classifier, [{**ROWS[0], "rejected": rejected}])
    each = scores_of(classifier, [{**ROWS[0], "rejected": answer} for answer in rejected])
    assert several[0] == pytest.approx([each[0, 0], each[:, 1].max()], abs=1e-5)


def test_chance_is_one_answer_of_each_item_s():
    assert chance([{"prompt": "", "chosen": "a", "rejected": "b"}]) == 50
    assert chance([{"prompt": "", "chosen": "a", "rejected": ["b", "c", "d"]}, ROWS[0]]) == (25 + 50) / 2


def test_the_truncated_share_of_a_row_is_stored(classifier):
    limit = sorted(map(max, lengths(classifier)))[2]
    shares = score_rows(dataclasses.replace(classifier, max_length=limit), ROWS, "")["truncated_share"]
    assert list(shares) == [sum(n > limit for n in of_row) / 2 for of_row in lengths(classifier)]
    assert 0 < (shares > 0).sum() < len(ROWS)


def test_answers_that_are_the_same_after_truncation_tie_exactly_and_a_tie_is_wrong(classifier):
    row = {**ROWS[0], "chosen": "one" + " same" * 40, "rejected": "two" + " same" * 40}
    table = score_rows(dataclasses.replace(classifier, max_length=20), [row], "")
    assert table["score_chosen"][0] == table["score_rejected"][0] and table["within_noise"][0]
    assert list(subset_summary(table)["accuracy_pct"]) == [0.0, 0.0]


def test_a_head_that_gives_nan_is_refused_with_the_ids(classifier):
    classifier.model.score.weight.data[:] = float("nan")
    with pytest.raises(
        PolyrewardError, match=r"the scores of 6 rows are NaN or infinite \(r0, r1, r2, r3, r4, r5\)"
    ):
        score_rows(classifier, ROWS, "")


@dataclasses.dataclass
class Wobbly:
    """A reward model whose margins move by `wobble` when it runs several texts at once."""

    wobble: float
    exact: bool = False
    concurrency: int = 8

    def score(self, conversations, label):
        moved = self.wobble * (self.concurrency > 1)
        values = [np.array([int(prompt) / 10 + moved, 0.0]) for prompt, _ in conversations]
        return Scores(values, [np.zeros(2, dtype=bool)] * len(values))


@pytest.mark.parametrize("bad", [["r3"], []])
def test_what_a_model_raises_has_the_row_and_the_cause(classifier, bad):
    whole, prompts = type(classifier).score, {row["prompt"] for row in ROWS if row["id"] in bad}

    class Failing:
        exact = True

        def score(self, conversations, label):
            if any(prompt in prompts for prompt, _ in conversations) or len(conversations) == len(ROWS):
                raise IndexError("index 99 is out of range")
            return whole(classifier, conversations, label)

    said = refused(score_rows, Failing(), ROWS, "rm")
    where = "row `r3`" if bad else "these 6 rows together"
    assert f"rm: the model fails on {where} (IndexError: index 99 is out of range)" in said


def test_noise_is_by_how_much_batching_moves_a_margin():
    rows = [{**row, "prompt": str(number)} for number, row in enumerate(ROWS)]
    margins = 0.25 + 0.1 * np.arange(len(rows))
    assert margin_noise(Wobbly(0.25), rows, margins) == pytest.approx(0.25)
    assert margin_noise(Wobbly(0.25, exact=True), rows, margins) == pairs.FP32_NOISE
    assert list(score_rows(Wobbly(0.25), rows, "")["within_noise"]) == [True] + [False] * 5


def test_an_item_without_a_verdict_has_no_noise_of_its_own():
    backend = Backend(lambda text: "Hm." if "bread" in text else "So: [[A]]")
    backend.exact = False
    rows = [{**row, "prompt": prompt} for row, prompt in zip(ROWS, ["rice", "bread", "tea"], strict=False)]
    assert margin_noise(Judge(backend, "text"), rows, np.zeros(3)) == 0


def test_each_text_runs_by_itself_in_every_part_of_a_model(classifier):
    judge = Judge(LocalBackend(classifier, 1), "labels")
    for model in (unbatched(classifier), unbatched(judge).backend.lm):
        assert (model.token_budget, model.share) == (1, False)
    assert classifier.share


@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
def test_a_model_loads_in_the_type_asked_for_and_only_bfloat16_has_noise(reward_folder, dtype):
    classifier = loaded(reward_folder, dtype)
    assert classifier.model.dtype == getattr(torch, dtype) and not classifier.model.training
    assert classifier.exact == (dtype == "float32")
    noise = margin_noise(classifier, ROWS, scores_of(classifier) @ [1, -1])
    assert (noise == pairs.FP32_NOISE) == classifier.exact and noise < 0.1


def changed(reward_folder, folder, change=lambda model: model, tokenizer=lambda tokenizer: None):
    """Save a reward model to folder with something changed; returns the folder."""
    model = AutoModelForSequenceClassification.from_pretrained(reward_folder)
    tokens = AutoTokenizer.from_pretrained(reward_folder)
    tokenizer(tokens)
    change(model).save_pretrained(folder)
    tokens.save_pretrained(folder)
    return folder


def two_outputs(model):
    model.score = torch.nn.Linear(model.score.in_features, 2, bias=False)
    model.config.num_labels = 2
    return model


def no_template(tokenizer):
    tokenizer.chat_template = None


def new_token(tokenizer):
    tokenizer.add_tokens(["<new>"])


@pytest.mark.parametrize(("changes", "words"), [
    ({"change": two_outputs}, "has 2 outputs; a reward model has one"),
    ({"tokenizer": no_template}, "has no chat template; save one with it"),
    ({"tokenizer": new_token}, r"has ids up to \d+, but its embedding has only \d+ tokens. Save the"),
])  # fmt: skip
def test_a_model_that_cannot_score_is_refused(reward_folder, tmp_path, changes, words):
    with pytest.raises(PolyrewardError, match=words):
        loaded(changed(reward_folder, tmp_path, **changes))


def test_what_is_no_reward_model_is_refused(base, tmp_path):
    with pytest.raises(PolyrewardError, match="its weights lack score.weight, so it would score at random"):
        loaded(base)
    with pytest.raises(PolyrewardError, match="not a model folder or hub id that loads here"):
        loaded(tmp_path)
    with pytest.raises(PolyrewardError, match="pin it by `revision`"):  # a hub model's own code
        loaded("someone/model", remote_code=True)


@pytest.mark.parametrize("method", ["bitsandbytes", "gptq"])
def test_quantized_weights_that_do_not_load_here_name_what_they_need(reward_folder, tmp_path, method):
    shutil.copytree(reward_folder, tmp_path / "rm", ignore=shutil.ignore_patterns("SHA256SUMS"))
    config = json.loads((tmp_path / "rm/config.json").read_text())
    config["quantization_config"] = {"quant_method": method, "load_in_4bit": True, "bits": 4}
    (tmp_path / "rm/config.json").write_text(json.dumps(config))
    said = refused(loaded, tmp_path / "rm")
    assert f"quantized by {method}, and do not load here" in said and "correct the path" not in said
    assert "name a folder with its weights as they were" in said


@dataclasses.dataclass
class ScoreOutput(ModelOutput):
    """The output of a model with its own code, which calls its reward otherwise."""

    score: torch.Tensor | None = None


@pytest.mark.parametrize(("changed", "shapes"), [
    (lambda logits: SequenceClassifierOutput(logits=None), "{}"),
    (lambda logits: SequenceClassifierOutput(logits=logits.repeat(1, 3)), "{'logits': (2, 3)}"),
    (lambda logits: ScoreOutput(score=logits), "{'score': (2, 1)}"),
])  # fmt: skip
def test_outputs_that_are_not_one_value_for_each_text_are_named(classifier, changed, shapes):
    classifier.model.register_forward_hook(lambda module, args, output: changed(output.logits))
    whole = dataclasses.replace(classifier, plain_head=False, token_budget=10_000)
    said = refused(whole.score, [Conversations("a", ("b", "c"))], "")
    assert f"not one value for each of 2 texts; the model gives {shapes}" in said


def test_tensors_without_a_place_are_named_and_change_nothing(reward_folder, tmp_path, capfd):
    def more(model):
        model.register_buffer("injected", torch.ones(1))
        return model

    plain, grown = (scores_of(loaded(one)) for one in (reward_folder, changed(reward_folder, tmp_path, more)))
    words = "left out are tensors that its kind of model has no place for: injected (1 in all)"
    assert f"{tmp_path}: {words}" in capfd.readouterr().err
    assert np.array_equal(grown, plain)


@pytest.mark.parametrize("config", [
    GPT2Config(n_embd=16, n_layer=1, n_head=2, n_positions=64),
    OPTConfig(hidden_size=16, ffn_dim=16, num_hidden_layers=1, num_attention_heads=2, max_position_embeddings=64),
    RobertaConfig(hidden_size=16, intermediate_size=16, num_hidden_layers=1, num_attention_heads=2, max_position_embeddings=66),
], ids=lambda config: config.model_type)  # fmt: skip
def test_more_positions_than_the_model_has_are_refused_and_as_many_are_scored(
    reward_folder, tmp_path, config
):
    tokenizer = AutoTokenizer.from_pretrained(reward_folder)
    sizes = {"vocab_size": len(tokenizer), "num_labels": 1, "word_embed_proj_dim": 16}
    pad = 1 if config.model_type == "roberta" else tokenizer.pad_token_id  # its positions begin after it
    config.update({**sizes, "pad_token_id": pad})
    AutoModelForSequenceClassification.from_config(config).save_pretrained(tmp_path)
    tokenizer.save_pretrained(tmp_path)
    with pytest.raises(PolyrewardError, match="takes 64 tokens at most, and max_length is 65; set it to 64"):
        loaded(tmp_path, max_length=65)
    table = score_rows(loaded(tmp_path, max_length=64), [{**ROWS[0], "prompt": "rice " * 100}], "")
    assert table["truncated_share"].item() == 1


def test_longer_texts_than_a_model_is_made_for_are_said(reward_folder, capfd):
    made_for = loaded(reward_folder).model.config.max_position_embeddings
    loaded(reward_folder, max_length=made_for + 1)
    words = f"is made for {made_for} tokens; texts of up to {made_for + 1} may score at random"
    assert words in capfd.readouterr().err


REMOTE = """
from transformers import LlamaForSequenceClassification

class Negated(LlamaForSequenceClassification):
    def forward(self, input_ids=None, attention_mask=None, **kwargs):
        found = super().forward(input_ids=input_ids, attention_mask=attention_mask)
        found["logits"] = -found.logits
        return found
"""


def test_a_model_scores_by_its_own_code_where_that_is_allowed(trained, tmp_path):
    def other_code(model):
        model.config.auto_map = {"AutoModelForSequenceClassification": "modeling.Negated"}
        return model

    folder = changed(trained["tiny-llama"], tmp_path, other_code)
    (folder / "modeling.py").write_text(REMOTE)
    reward_model = loaded(folder, remote_code=True)
    assert not reward_model.share
    plain = scores_of(loaded(trained["tiny-llama"]))
    assert scores_of(reward_model) == pytest.approx(-plain, abs=1e-5)
    assert scores_of(loaded(folder)) == pytest.approx(plain, abs=1e-5)


@pytest.mark.parametrize("value", [float("nan"), float("inf"), -float("inf")])
@pytest.mark.parametrize("bad", [[7], list(range(30))], ids=len)
def test_only_the_rows_without_a_score_are_named_and_at_most_ten(bad, value):
    rows = [{"id": f"r{n}", "subset": "a", "category": "A"} for n in range(30)]
    listed = ", ".join(f"r{n}" for n in bad[:10])
    with pytest.raises(
        PolyrewardError, match=rf"^the scores of {len(bad)} rows are NaN or infinite \({listed}\)"
    ):
        score_table(rows, [1.0] * 30, [value if n in bad else 0.0 for n in range(30)])


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
    # Wilson's intervals of 1 of 2, 3 of 4 and 4 of 6
    assert list(summary["low"]) == pytest.approx([9.453121, 30.064184, 29.999332])
    assert list(summary["high"]) == pytest.approx([90.546879, 95.441274, 90.322859])
    assert list(summary["truncated_pct"]) == pytest.approx([75, 0, 25])
    assert list(summary["n_within_noise"]) == [1, 0, 1]
    assert subset_summary(scores, "half").set_index("subset")["accuracy_pct"]["a"] == 75
