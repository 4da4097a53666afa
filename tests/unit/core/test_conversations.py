"""A conversation's token ids, and where its answer starts."""

import pytest
from support import refused
from transformers import AutoTokenizer

from polyreward.core.conversations import answer_start, as_messages, contents, conversation_ids, map_texts
from polyreward.sources.chat_templates import chat_template

TURNS = [
    {"role": "user", "content": "What is 3 plus 4?"},
    {"role": "assistant", "content": "It is 7."},
    {"role": "user", "content": "And half of it?"},
]


@pytest.fixture
def tokenizer(base):
    return AutoTokenizer.from_pretrained(base)


def test_an_answer_follows_a_text_or_all_turns_of_a_message_list_which_is_not_changed():
    hello, answer = {"role": "user", "content": "Hello"}, {"role": "assistant", "content": "Hi!"}
    assert as_messages("Hello", "Hi!") == [hello, answer]
    turns = [dict(turn) for turn in TURNS]
    assert as_messages(turns, "Hi!") == [*TURNS, answer]
    assert turns == TURNS


@pytest.mark.parametrize("role", ["tool", "developer"])
def test_a_role_that_our_template_has_no_label_for_is_refused(tokenizer, role):
    tokenizer.chat_template = chat_template("plain")
    text = refused(conversation_ids, tokenizer, [{"role": role, "content": "Hello"}, *TURNS], "3.5", 60)
    assert f"refuses the conversation that begins `Hello` (it has no role {role}" in text


def test_each_text_of_a_prompt_is_changed_and_roles_stay():
    assert (contents("Hello"), map_texts("Hello", str.upper)) == (["Hello"], "HELLO")
    assert contents(TURNS) == ["What is 3 plus 4?", "It is 7.", "And half of it?"]
    changed = map_texts(TURNS, str.upper)
    assert [turn["role"] for turn in changed] == ["user", "assistant", "user"]
    assert contents(changed) == ["WHAT IS 3 PLUS 4?", "IT IS 7.", "AND HALF OF IT?"]


def test_truncation_cuts_the_start_and_says_so(tokenizer):
    whole, was_cut = conversation_ids(tokenizer, TURNS, "It is 3.5.", 999)
    assert not was_cut
    assert conversation_ids(tokenizer, TURNS, "It is 3.5.", 9) == (whole[-9:], True)


ANSWERS = ["It is 7.", "7", "한국어 답변", "```python\nreturn 7\n```"]


@pytest.mark.parametrize(
    "prompt", ["What is 3 plus 4?", TURNS, [{"role": "system", "content": "Be brief."}, *TURNS]]
)
@pytest.mark.parametrize("answer", [*ANSWERS, "I", "model\nmodel"])
def test_answer_start_is_the_first_token_of_the_answer(tokenizer, prompt, answer):
    ids, _ = conversation_ids(tokenizer, prompt, answer, 999)
    start = answer_start(tokenizer, prompt, ids)
    assert tokenizer.decode(ids[start:]).startswith(answer)
    assert tokenizer.decode(ids[:start]).endswith("<start_of_turn>model\n")


@pytest.mark.parametrize("prompt", ["What is 3 plus 4?", TURNS])
@pytest.mark.parametrize("answer", [*ANSWERS, "A: A:", "(7)"])
def test_under_the_plain_template_a_conversation_ends_with_the_answers_own_last_token(
    tokenizer, prompt, answer
):
    tokenizer.chat_template = chat_template("plain")
    ids, _ = conversation_ids(tokenizer, prompt, answer, 999)
    start = answer_start(tokenizer, prompt, ids)
    assert tokenizer.decode(ids[start:]).strip() == answer
    assert tokenizer.decode(ids[:start]).endswith("\nA:")
