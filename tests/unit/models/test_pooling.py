"""A reward is read from the last token, or from all tokens of the answer."""

import dataclasses
import json
import os
import shutil
import subprocess
import sys

import numpy as np
import pytest
import torch
from safetensors.torch import load_file
from tiny_models import ROWS, train
from transformers import AutoTokenizer

from polyreward.core.conversations import answer_header, as_turns, conversation_ids, rendered
from polyreward.core.errors import PolyrewardError
from polyreward.models.answer_reward import for_version_4, reward_of
from polyreward.models.batches import padded
from polyreward.models.reward_model import new_reward_model, reward_model_to_train
from polyreward.scoring.load import load_classifier, load_tokenizer
from polyreward.scoring.pairs import score_rows


@pytest.fixture
def pooled(base):
    """An untrained reward model whose reward is the mean over the answer's tokens, and its tokenizer."""
    return new_reward_model(base, seed=1, pooling="answer")


@pytest.fixture(scope="module")
def trained_to_answer(bases, tmp_path_factory):
    return train(bases["tiny-llama"], tmp_path_factory.mktemp("pooled"), pooling="answer")


def states_of(model, ids):
    return model.get_decoder()(input_ids=torch.tensor([ids])).last_hidden_state[0]


TURNS = "{% for turn in messages %}{{ turn.content }}{% endfor %}"


def test_a_header_is_what_the_template_writes_before_an_answer(base):
    tokenizer = AutoTokenizer.from_pretrained(base)
    assert tokenizer.decode(answer_header(tokenizer)) == "<start_of_turn>model\n"
    for template in (TURNS, TURNS + "{% if add_generation_prompt %}?{% endif %}"):  # an answer has none
        tokenizer.chat_template = template
        with pytest.raises(PolyrewardError, match="set reward_model.pooling to last"):
            answer_header(tokenizer)


def test_a_reward_is_the_mean_of_the_head_over_the_answer_s_tokens(pooled):
    model, tokenizer = pooled
    row = ROWS[0]
    ids, _ = conversation_ids(tokenizer, row["prompt"], row["chosen"], 128)
    turns, options = [{"role": "user", "content": row["prompt"]}], {"return_dict": True}
    prompt = tokenizer.apply_chat_template(turns, add_generation_prompt=True, **options)["input_ids"]
    assert ids[: len(prompt)] == prompt
    rewards = model.score(states_of(model, ids))[:, 0]
    expected = rewards[len(prompt) :].mean().item()
    assert expected != pytest.approx(rewards[-1].item(), abs=1e-3)
    found = reward_of(model, ids, states_of(model, ids)).item()
    assert found == pytest.approx(expected, abs=1e-6)
    assert model(**padded([ids], tokenizer.pad_token_id)).logits.item() == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize(
    ("before", "after", "counted"),
    [
        ([5, 6], [7, 8, 9], 3),
        ([], [7, 8], 2),
        (None, [7, 8, 9, 10], 4),  # the header was cut away: what is left is the answer
        ([5, 6, 7], [], 1),  # nothing after the header
    ],
)
def test_the_tokens_after_the_last_header_count_and_padding_does_not(pooled, before, after, counted):
    model, tokenizer = pooled
    header = list(model.config.answer_header)
    ids = after if before is None else [*header, *before, *header, *after]
    states = states_of(model, ids)
    expected = model.score(states[-counted:]).mean().item()
    assert reward_of(model, ids, states).item() == pytest.approx(expected, abs=1e-6)
    together = model(**padded([ids, [5, 6] * 40], tokenizer.pad_token_id)).logits
    assert together[0].item() == pytest.approx(expected, abs=1e-6)


def test_a_saved_folder_scores_as_it_was_trained_with_the_weights_of_transformers_class(base, tmp_path):
    folder = train(base, tmp_path, pooling="answer")
    shared, single = (load_classifier(folder, "float32", 128, budget) for budget in (512, 1))
    assert shared.share
    found, expected = (score_rows(one, ROWS, "")["score_chosen"].to_numpy() for one in (shared, single))
    np.testing.assert_allclose(found, expected, atol=1e-5)
    model = shared.model
    ids, _ = conversation_ids(shared.tokenizer, ROWS[0]["prompt"], ROWS[0]["chosen"], 128)
    with torch.no_grad():
        assert found[0] == pytest.approx(reward_of(model, ids, states_of(model, ids)).item(), abs=1e-5)
    assert type(model).__module__.startswith("transformers.")


@pytest.mark.parametrize("pooling", ["last", "answer"])
def test_training_goes_on_from_a_reward_model_as_it_is_and_makes_one_of_a_base(base, tmp_path, pooling):
    trained = train(base, tmp_path, pooling=pooling)
    model, tokenizer = reward_model_to_train(trained, seed=9, pooling="last")
    held = load_file(trained / "model.safetensors")
    assert all(torch.equal(tensor, held[name]) for name, tensor in model.state_dict().items())
    assert bool(getattr(model.config, "answer_header", None)) == (pooling == "answer")
    assert tokenizer.padding_side == "right" and model.config.pad_token_id == tokenizer.pad_token_id
    first = reward_model_to_train(base, 9)[0].score.weight
    assert torch.equal(first, new_reward_model(base, 9)[0].score.weight)
    again = train(trained, tmp_path / "again", pooling="last")  # still reads what it was trained to read
    read = {
        path: json.loads((path / "config.json").read_text()).get("answer_header") for path in (trained, again)
    }
    assert read[again] == read[trained]


PLAIN = """
import json, sys
import torch
from transformers import AutoModelForSequenceClassification, AutoTokenizer

folder, again, rows = sys.argv[1], sys.argv[2], json.loads(sys.argv[3])


def rewards(folder):
    model = AutoModelForSequenceClassification.from_pretrained(folder, trust_remote_code=True).eval()
    tokenizer = AutoTokenizer.from_pretrained(folder)
    turns = [
        [{"role": "user", "content": row["prompt"]}, {"role": "assistant", "content": row["chosen"]}]
        for row in rows
    ]
    texts = [tokenizer.apply_chat_template(turn, tokenize=False) for turn in turns]
    inputs = tokenizer(texts, padding=True, return_tensors="pt", add_special_tokens=False)
    with torch.no_grad():
        return model, model(**inputs).logits[:, 0].tolist()


model, found = rewards(folder)
model.save_pretrained(again)
AutoTokenizer.from_pretrained(folder).save_pretrained(again)
kind = type(AutoModelForSequenceClassification.from_pretrained(sys.argv[4])).__name__
try:
    AutoModelForSequenceClassification.from_pretrained(folder)
    refused = ""
except ValueError as error:
    refused = str(error)
print(json.dumps({"rewards": found, "refused": refused, "kind": kind}))
"""


def test_plain_transformers_gives_the_same_rewards_or_refuses_the_folder(base, tmp_path, reward_folder):
    folder = train(base, tmp_path / "model", pooling="answer")
    rows = [{name: row[name] for name in ("prompt", "chosen")} for row in ROWS]
    expected = score_rows(load_classifier(folder, "float32", 128, 512), ROWS, "")["score_chosen"].tolist()
    asked = [folder, tmp_path / "again", json.dumps(rows), reward_folder]
    environment = {**os.environ, "HF_MODULES_CACHE": str(tmp_path / "modules"), "PYTHONPATH": ""}
    found = subprocess.run(
        [sys.executable, "-c", PLAIN, *map(str, asked)],
        capture_output=True,
        text=True,
        check=True,
        env=environment,
        stdin=subprocess.DEVNULL,
    )
    said = json.loads(found.stdout[found.stdout.index('{"rewards"') :])  # after transformers' question
    assert said["rewards"] == pytest.approx(expected, abs=1e-5)
    assert "trust_remote_code=True" in said["refused"]
    assert said["kind"].endswith("ForSequenceClassification")  # other models of the type load as before
    saved = json.loads((tmp_path / "again/config.json").read_text())
    assert saved["model_type"] == json.loads((folder / "config.json").read_text())["model_type"]


def loaded(folder, tmp_path, template=None):
    """Return a classifier of a folder, with another chat template."""
    shutil.copytree(folder, tmp_path / "rm", ignore=shutil.ignore_patterns("SHA256SUMS"))
    if template:
        tokenizer = AutoTokenizer.from_pretrained(folder)
        tokenizer.chat_template = template
        tokenizer.save_pretrained(tmp_path / "rm")
    return load_classifier(tmp_path / "rm", "float32", 128, 512)


HEADER = "<start_of_turn>model\n"
GOES_ON = f"Simmer it.<end_of_turn>\n<start_of_turn>user\nThanks<end_of_turn>\n{HEADER}Bye."


@pytest.mark.parametrize("prompt", [ROWS[0]["prompt"], [
    {"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Hello!"}, {"role": "user", "content": "Rice?"},
]])  # fmt: skip
@pytest.mark.parametrize("changes", [{}, {"share": False}, {"max_length": 36}])
def test_an_answer_begins_where_the_prompt_ends_also_if_it_goes_on_with_a_conversation(
    trained_to_answer, tmp_path, prompt, changes
):
    classifier = loaded(trained_to_answer, tmp_path)
    model, tokenizer = classifier.model, classifier.tokenizer
    ids, _ = conversation_ids(tokenizer, prompt, GOES_ON, 999)
    before = len(rendered(tokenizer, as_turns(prompt), add_generation_prompt=True))
    cut = max(0, len(ids) - changes.get("max_length", 999))
    states = states_of(model, ids[cut:])
    with torch.no_grad():
        expected = model.score(states[max(0, before - cut) :]).mean().item()
        after_last = reward_of(model, ids[cut:], states).item()
    row = {**ROWS[0], "prompt": prompt, "chosen": GOES_ON}
    found = score_rows(dataclasses.replace(classifier, **changes), [row], "")["score_chosen"][0]
    assert found == pytest.approx(expected, abs=1e-5) and found != pytest.approx(after_last, abs=1e-3)


@pytest.mark.parametrize(("template", "words"), [
    ("{% for m in messages %}<start_of_turn>{{ 'model' if m['role'] == 'assistant' else 'user' }}\n{{ m['content'] }}{% endfor %}<start_of_turn>model\n", "ends with such a"),
    ("{% for m in messages %}{{ m['role'] }}: {{ m['content'] }}{% endfor %}", "writes no such header"),
])  # fmt: skip
def test_a_template_without_its_header_or_with_one_at_the_end_is_refused(
    trained_to_answer, tmp_path, template, words
):
    with pytest.raises(PolyrewardError, match=f"its chat template {words}"):
        loaded(trained_to_answer, tmp_path, template)
    with pytest.raises(PolyrewardError, match=f"its chat template {words}"):  # as `inspect` loads it
        load_tokenizer(tmp_path / "rm")


def test_the_last_token_is_read_where_nothing_else_is_said(reward_folder):
    model = load_classifier(reward_folder, "float32", 128, 512).model
    assert not hasattr(model.config, "answer_header")
    ids = [5, 6, 7, 8]
    expected = model.score(states_of(model, ids)[-1])
    torch.testing.assert_close(reward_of(model, ids, states_of(model, ids)), expected)
    torch.testing.assert_close(model(input_ids=torch.tensor([ids])).logits[0], expected, atol=1e-6, rtol=0)


def test_version_4_of_transformers_gets_the_frequencies_or_an_error():
    rope = {"rope_theta": 1e5, "rope_type": "default"}
    assert for_version_4({"rope_parameters": rope}) == {"rope_theta": 1e5}
    assert for_version_4({"rope_parameters": rope, "rope_theta": 5.0}) == for_version_4({}) == {}
    for other in (rope | {"rope_type": "yarn"}, rope | {"factor": 2.0}, {"full_attention": rope}):
        with pytest.raises(ValueError, match="needs transformers 5"):
            for_version_4({"rope_parameters": other})
