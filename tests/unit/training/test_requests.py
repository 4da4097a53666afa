"""What of their rows trainings take, and requests with several pairs."""

import pytest
from tiny_models import ROWS
from transformers import AutoTokenizer

from polyreward.core.conversations import conversation_ids
from polyreward.training import reward_model as training
from polyreward.training.common import fitting


def test_all_pairs_of_a_request_are_in_one_batch(base):
    tokenizer = AutoTokenizer.from_pretrained(base)
    rows = [{**row, "request": "one" if number in (0, 2) else row["id"]} for number, row in enumerate(ROWS)]
    dataset, counts = training.tokenized_requests(rows, tokenizer, 128)
    assert (counts["requests"], counts["pairs"]) == (len(ROWS) - 1, len(ROWS))
    sides = ("chosen_ids", "rejected_ids")
    assert [len(request[side]) for request in dataset for side in sides] == [2, 2] + [1, 1] * (len(ROWS) - 2)
    batch = training.PairsOfRequests(0)(list(dataset)[:2])
    found = [
        ids[mask.bool()].tolist()
        for ids, mask in zip(batch["input_ids"], batch["attention_mask"], strict=True)
    ]
    assert found == [
        conversation_ids(tokenizer, rows[number]["prompt"], rows[number][role], 128)[0]
        for role in ("chosen", "rejected") for number in (0, 2, 1)
    ]  # fmt: skip


@pytest.mark.parametrize(("together", "count", "left"), [(1, 6, "abdef"), (2, 6, "abef"), (3, 3, "")])
def test_neighbours_of_a_prompt_that_is_too_long_go_with_it(together, count, left, capsys):
    examples = [{"name": name, "words": 9 if name == "c" else 5} for name in "abcdef"[:count]]
    kept = fitting(examples, lambda example: example["words"], 5, "grpo", together)
    assert "".join(example["name"] for example in kept) == left
    said = f"grpo: {len(left)} examples, {count - len(left)} left out as longer than 5 tokens"
    assert said in capsys.readouterr().err
