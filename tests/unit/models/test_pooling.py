"""A reward is read from the last token, or from all tokens of the answer."""

import json

import numpy as np
import pytest
import torch
from tiny_models import ROWS, train
from transformers import AutoModelForSequenceClassification, AutoTokenizer

from polyreward.core.conversations import answer_header, conversation_ids
from polyreward.core.errors import PolyrewardError
from polyreward.models.batches import padded
from polyreward.models.reward_model import new_reward_model, reward_of
from polyreward.scoring.interface import conversations_of
from polyreward.scoring.load import load_classifier


@pytest.fixture
def pooled(base):
    """An untrained reward model whose reward is the mean over the answer's tokens, and its tokenizer."""
    return new_reward_model(base, seed=1, pooling="answer")


def states_of(model, ids):
    return model.get_decoder()(input_ids=torch.tensor([ids])).last_hidden_state[0]


def test_a_header_is_what_the_template_writes_before_an_answer(base):
    tokenizer = AutoTokenizer.from_pretrained(base)
    assert tokenizer.decode(answer_header(tokenizer)) == "<start_of_turn>model\n"


@pytest.mark.parametrize(
    "template",
    [
        "{% for turn in messages %}{{ turn.content }}{% endfor %}",  # writes no header
        "{% for turn in messages %}{{ turn.content }}{% endfor %}{% if add_generation_prompt %}?{% endif %}",
    ],
)
def test_a_template_without_a_header_is_refused(base, template):
    tokenizer = AutoTokenizer.from_pretrained(base)
    tokenizer.chat_template = template
    with pytest.raises(PolyrewardError, match="set reward_model.pooling to last"):
        answer_header(tokenizer)


def test_a_reward_is_the_mean_of_the_head_over_the_answer_s_tokens(pooled):
    model, tokenizer = pooled
    row = ROWS[0]
    ids, _ = conversation_ids(tokenizer, row["prompt"], row["chosen"], 128)
    prompt = tokenizer.apply_chat_template(
        [{"role": "user", "content": row["prompt"]}], add_generation_prompt=True, return_dict=True
    )["input_ids"]
    assert ids[: len(prompt)] == prompt
    rewards = model.score(states_of(model, ids))[:, 0]
    expected = rewards[len(prompt) :].mean().item()
    assert reward_of(model, ids, states_of(model, ids)).item() == pytest.approx(expected, abs=1e-6)
    assert expected != pytest.approx(rewards[-1].item(), abs=1e-3)
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
def test_the_tokens_after_the_last_header_count(pooled, before, after, counted):
    model, _ = pooled
    header = list(model.config.answer_header)
    ids = after if before is None else [*header, *before, *header, *after]
    states = states_of(model, ids)
    expected = model.score(states[-counted:]).mean().item()
    assert reward_of(model, ids, states).item() == pytest.approx(expected, abs=1e-6)


def test_padding_changes_no_reward(pooled):
    model, tokenizer = pooled
    header = list(model.config.answer_header)
    texts = [[5, *header, 7, 8, 9], [5, *header, 7]]
    together = model(**padded(texts, tokenizer.pad_token_id)).logits
    for ids, reward in zip(texts, together, strict=True):
        alone = model(input_ids=torch.tensor([ids])).logits[0]
        torch.testing.assert_close(reward, alone, atol=1e-6, rtol=0)


@pytest.fixture
def folder(base, tmp_path):
    """A trained reward model whose reward is the mean over the answer's tokens."""
    return train(base, tmp_path, pooling="answer")


def test_a_saved_folder_scores_as_it_was_trained(folder):
    config = json.loads((folder / "config.json").read_text())
    assert config["answer_header"] and config["architectures"][0].endswith("ForSequenceClassification")
    reward_model = load_classifier(folder, "float32", 128, 512)
    asked = conversations_of(ROWS)
    shared, single = (one.score(asked, "test").values for one in (reward_model, reward_model.unbatched()))
    assert reward_model.share
    np.testing.assert_allclose(np.array(shared), np.array(single), atol=1e-5)
    ids, _ = conversation_ids(reward_model.tokenizer, ROWS[0]["prompt"], ROWS[0]["chosen"], 128)
    with torch.no_grad():
        reward = reward_of(reward_model.model, ids, states_of(reward_model.model, ids)).item()
    assert shared[0][0] == pytest.approx(reward, abs=1e-5)


def test_its_weights_are_those_of_transformers_class(folder):
    plain = AutoModelForSequenceClassification.from_pretrained(folder)
    model = load_classifier(folder, "float32", 128, 512).model
    assert type(plain).__name__ == type(model).__name__ and type(plain) is not type(model)
    ours = model.state_dict()
    assert all(torch.equal(value, ours[name]) for name, value in plain.state_dict().items())


def test_the_last_token_is_read_where_nothing_else_is_said(reward_folder):
    model = load_classifier(reward_folder, "float32", 128, 512).model
    assert not hasattr(model.config, "answer_header")
    ids = [5, 6, 7, 8]
    expected = model.score(states_of(model, ids)[-1])
    torch.testing.assert_close(reward_of(model, ids, states_of(model, ids)), expected)
    torch.testing.assert_close(model(input_ids=torch.tensor([ids])).logits[0], expected, atol=1e-6, rtol=0)
