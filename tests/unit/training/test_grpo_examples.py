"""What of its examples GRPO trains on: known answers."""

import pytest

from polyreward.training.common import fitting


def asked(words, right):
    return {"prompt": "word " * words, "right": right}


EXAMPLES = [asked(2, "A"), asked(2, "B"), asked(9, "A"), asked(2, "B"), asked(2, "A"), asked(3, "B")]


@pytest.mark.parametrize(("together", "left"), [(1, "ABBAB"), (2, "ABAB"), (3, "")])
def test_neighbours_of_a_prompt_that_is_too_long_go_with_it(together, left):
    examples = EXAMPLES if together < 3 else EXAMPLES[:3]
    kept = fitting(examples, lambda example: len(example["prompt"].split()), 5, together)
    assert "".join(example["right"] for example in kept) == left
