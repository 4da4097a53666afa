"""Requests with several pairs, as a training takes them."""

from tiny_models import ROWS
from transformers import AutoTokenizer

from polyreward.core.conversations import conversation_ids
from polyreward.training import reward_model as training


def test_all_pairs_of_a_request_are_in_one_batch(base):
    tokenizer = AutoTokenizer.from_pretrained(base)
    rows = [{**row, "request": "one" if number in (0, 2) else row["id"]} for number, row in enumerate(ROWS)]
    dataset, counts = training.tokenized_requests(rows, tokenizer, 128)
    assert (counts["requests"], counts["pairs"]) == (len(ROWS) - 1, len(ROWS))
    sides = ("chosen_ids", "rejected_ids")
    assert [len(request[side]) for request in dataset for side in sides] == [2, 2] + [1, 1] * (len(ROWS) - 2)
    batch = training.PairsOfRequests(0)(list(dataset)[:2])
    expected = [rows[number][role] for role in ("chosen", "rejected") for number in (0, 2, 1)]
    assert len(batch["input_ids"]) == 6
    for ids, mask, number, answer in zip(
        batch["input_ids"], batch["attention_mask"], (0, 2, 1, 0, 2, 1), expected, strict=True
    ):
        assert (
            ids[mask.bool()].tolist() == conversation_ids(tokenizer, rows[number]["prompt"], answer, 128)[0]
        )
