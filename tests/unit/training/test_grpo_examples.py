"""What of its examples GRPO trains on: known answers."""

import pytest

from polyreward.training.grpo import _fitting


class Words:
    """A tokenizer whose tokens are words."""

    def apply_chat_template(self, messages, **asked):
        return {"input_ids": messages[0]["content"].split()}


def asked(words, right):
    return {"prompt": [{"role": "user", "content": "word " * words}], "right": right}


EXAMPLES = [asked(2, "A"), asked(2, "B"), asked(9, "A"), asked(2, "B"), asked(2, "A"), asked(3, "B")]


@pytest.mark.parametrize(("together", "left"), [(1, "ABBAB"), (2, "ABAB"), (3, "")])
def test_neighbours_of_a_prompt_that_is_too_long_go_with_it(together, left):
    kept = _fitting(Words(), EXAMPLES if together < 3 else EXAMPLES[:3], together, 5)
    assert "".join(example["right"] for example in kept) == left
