"""What of their rows trainings take, and requests with several pairs."""

import math

import pytest
from hub_layout import as_repository, cache, write_files  # noqa: F401 - cache is a fixture
from support import refused
from tiny_models import ROWS, train
from trained_folders import record_of
from transformers import AutoTokenizer
from trl.trainer.reward_trainer import DataCollatorForPreference

from polyreward.core.conversations import answer_header, conversation_ids
from polyreward.core.files import read_jsonl, write_jsonl
from polyreward.prepare.pool import Share, prepared_pool, row_problems
from polyreward.sources.hub_data import hub_rows
from polyreward.training import reward_model as training
from polyreward.training.common import fitting
from polyreward.translation.engines import source_rows


def test_all_pairs_of_a_request_are_in_one_batch(base):
    tokenizer = AutoTokenizer.from_pretrained(base)
    rows = [{**row, "request": "one" if number in (0, 2) else row["id"]} for number, row in enumerate(ROWS)]
    dataset, counts = training.tokenized_requests(rows, tokenizer, 128)
    assert (counts["requests"], counts["pairs"]) == (len(ROWS) - 1, len(ROWS))
    sides = ("chosen_ids", "rejected_ids")
    assert [len(request[side]) for request in dataset for side in sides] == [2, 2] + [1, 1] * (len(ROWS) - 2)
    batch = training.pairs_of_requests(DataCollatorForPreference(0), list(dataset)[:2])
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


def test_an_answer_that_holds_another_header_is_left_out_where_the_reward_reads_after_one(
    base, tmp_path, capsys
):
    tokenizer = AutoTokenizer.from_pretrained(base)
    header = answer_header(tokenizer)
    mark = tokenizer.decode(header)
    rows = [{**ROWS[0], "rejected": f"He said:\n{mark}Yes."}, *ROWS[1:]]
    dataset, counts = training.tokenized_requests(rows, tokenizer, 128, header)
    assert len(dataset) == counts["pairs"] == len(ROWS) - 1 and counts["another_header"] == 1
    # The head on the last token reads such a pair as any other.
    assert training.tokenized_requests(rows, tokenizer, 128)[1]["pairs"] == len(ROWS)
    train(base, tmp_path / "pooled", rows=rows, pooling="answer")
    assert "left out 1 pairs with an answer that holds" in capsys.readouterr().err


FAST = {"token_budget": 999, "cache_frozen_layers": True}  # pairs as rows, on a CPU


@pytest.mark.parametrize("how", [{}, FAST, {"pooling": "answer"}], ids=["TRL's pass", "rows", "pooled"])
def test_a_margin_of_the_dataset_reaches_the_loss_through_all_stages(tiny_gemma, tmp_path, how):
    records = [{"p": row["prompt"], "c": row["chosen"], "r": row["rejected"], "gap": 1.5} for row in ROWS]
    del records[0]["gap"]
    columns = {"prompt": "p", "chosen": "c", "rejected": "r"}

    def losses(name, **more):
        folder = write_files(tmp_path / name, as_repository({"data/train.jsonl": records}, {}))
        entry = {"id": str(folder), "holds": "pairs", "config": None, "split": "train", "files": "data/*.jsonl",
                 "columns": {**columns, **more}}  # fmt: skip
        kept = prepared_pool(hub_rows(entry, "hub"), [], {}, 0.0, {}, Share(None, None), 1)[0]
        write_jsonl(source_rows(kept), tmp_path / "rows.jsonl")
        rows = read_jsonl(tmp_path / "rows.jsonl")
        assert len(rows) == len(ROWS)
        reward_model = train(tiny_gemma, tmp_path / name, rows=rows, learning_rate=1e-12, batch_size=6, **how)
        (step,) = [one for one in record_of(reward_model)["steps"] if "loss" in one]
        return float(step["loss"])

    plain, moved = losses("plain"), losses("moved", margin="gap")
    # An untrained head's rewards are near 0: of a margin m the loss is about log(1 + exp(m)).
    assert plain == pytest.approx(math.log(2), abs=0.3)
    assert moved - plain == pytest.approx((math.log1p(math.exp(1.5)) - math.log(2)) * 5 / 6, abs=0.1)


def test_a_margin_goes_with_its_pair_and_a_row_without_one_has_none(tiny_gemma):
    tokenizer = AutoTokenizer.from_pretrained(tiny_gemma)
    rows = [{**row, "request": "one"} for row in ROWS[:3]]
    rows[1]["margin"], rows[2]["margin"] = 2, None
    dataset, _ = training.tokenized_requests(rows, tokenizer, 128)
    assert dataset["margin"] == [[0.0, 2.0, 0.0]]
    batch = training.pairs_of_requests(DataCollatorForPreference(0), list(dataset))
    assert batch["margin"].tolist() == [0.0, 2.0, 0.0] and len(batch["input_ids"]) == 6
    assert "margin" not in training.tokenized_requests(ROWS, tokenizer, 128)[0].column_names


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"margin": math.nan}, "row r0: `margin` is no finite number; give one or leave it out"),
        ({"margin": "2"}, "row r0: `margin` is no finite number"),
        ({"weight": 0.5}, "row r0: the loss does not read the number `weight`; leave it out, or call it `margin`"),
    ],
)  # fmt: skip
def test_a_number_that_the_loss_cannot_read_is_refused(tiny_gemma, changes, words):
    tokenizer = AutoTokenizer.from_pretrained(tiny_gemma)
    rows = [ROWS[1], {**ROWS[0], **changes}]
    assert words in refused(training.tokenized_requests, rows, tokenizer, 128)
    assert "margin" not in changes or list(row_problems({**ROWS[0], **changes}))


def test_a_request_has_as_many_pairs_as_it_has_whatever_the_length(tiny_gemma, tmp_path):
    """TRL's own filter would count the pairs of a request as its tokens."""
    rows = [
        {**row, "id": f"{n}", "request": "one", "chosen": f"{n} {row['chosen']}"}
        for n in range(5)
        for row in ROWS
    ]
    record = record_of(train(tiny_gemma, tmp_path, rows=rows, max_length=20))
    assert record["counts"]["pairs"] == 30 > 20 and record["steps"][-1]["step"] == 1
