"""Scoring: a reward is a function of its conversation alone."""

import numpy as np
import pandas as pd
import pytest
from models import ROWS

from polyreward.conversations import conversation_ids
from polyreward.errors import PolyrewardError
from polyreward.reward_model import load_reward_model
from polyreward.scoring import score_pairs, score_sequences, score_table, subset_summary

COLUMNS = ["id", "subset", "category", "score_chosen", "score_rejected", "truncated"]


@pytest.fixture
def loaded(reward_folder):
    return load_reward_model(reward_folder, "float32")


@pytest.fixture
def sequences(loaded):
    tokenizer = loaded[1]
    return [conversation_ids(tokenizer, row["prompt"], row[role], 128)[0] for row in ROWS for role in ("chosen", "rejected")]


def forwarded(model) -> list[int]:
    """Return a list that gets the number of sequences of each forward pass."""
    sizes = []
    model.register_forward_pre_hook(lambda module, args, kwargs: sizes.append(len(kwargs["input_ids"])), with_kwargs=True)
    return sizes


@pytest.mark.parametrize("token_budget", [1, 60, 10_000])
def test_rewards_do_not_depend_on_batch_size(loaded, sequences, token_budget):
    model, tokenizer = loaded
    alone = [score_sequences(model, [ids], tokenizer.pad_token_id, 1, "")[0] for ids in sequences]
    assert np.ptp(alone) > 1e-2  # else nothing would be tested
    assert score_sequences(model, sequences, tokenizer.pad_token_id, token_budget, "") == pytest.approx(alone, abs=1e-5)


def test_rewards_come_back_in_the_given_order_whatever_the_order(loaded, sequences):
    model, tokenizer = loaded
    order = np.random.default_rng(1).permutation(len(sequences))
    rewards = score_sequences(model, sequences, tokenizer.pad_token_id, 60, "")
    shuffled = score_sequences(model, [sequences[i] for i in order], tokenizer.pad_token_id, 60, "")
    assert shuffled == pytest.approx(rewards[order], abs=1e-5)


def test_a_reward_does_not_depend_on_its_neighbours(loaded, sequences):
    model, tokenizer = loaded
    alone = score_sequences(model, sequences[:1], tokenizer.pad_token_id, 9999, "")
    for neighbours in (sequences[1:2], sequences[2:], [sequences[1] * 9]):
        rewards = score_sequences(model, [sequences[0], *neighbours], tokenizer.pad_token_id, 9999, "")
        assert rewards[0] == pytest.approx(alone[0], abs=1e-5)


def test_score_pairs_gives_each_row_its_own_scores(loaded):
    model, tokenizer = loaded
    table = score_pairs(model, tokenizer, ROWS, 128, 60, "")
    assert list(table.columns) == COLUMNS
    assert list(table["id"]) == [row["id"] for row in ROWS]
    for row, (_, scores) in zip(ROWS, table.iterrows(), strict=True):
        for role in ("chosen", "rejected"):
            ids, _ = conversation_ids(tokenizer, row["prompt"], row[role], 128)
            reward = score_sequences(model, [ids], tokenizer.pad_token_id, 60, "")[0]
            assert scores[f"score_{role}"] == pytest.approx(reward, abs=1e-5)


def test_the_same_prompt_and_answer_is_scored_once(loaded):
    model, tokenizer = loaded
    swapped = [{**row, "id": f"{row['id']}-b", "chosen": row["rejected"], "rejected": row["chosen"]} for row in ROWS]
    sizes = forwarded(model)
    table = score_pairs(model, tokenizer, [*ROWS, *swapped, *({**row, "id": f"{row['id']}-c"} for row in ROWS)], 128, 60, "")
    assert sum(sizes) == 2 * len(ROWS)
    first, second, third = np.split(table[["score_chosen", "score_rejected"]].to_numpy(), 3)
    assert np.array_equal(first, second[:, ::-1])
    assert np.array_equal(first, third)


def test_the_same_answer_to_another_prompt_is_another_conversation(loaded):
    model, tokenizer = loaded
    sizes = forwarded(model)
    table = score_pairs(model, tokenizer, [ROWS[0], {**ROWS[0], "id": "x", "prompt": "Hello"}], 128, 60, "")
    assert sum(sizes) == 4
    assert table["score_chosen"].nunique() == 2


def test_truncated_rows_are_flagged(loaded):
    model, tokenizer = loaded
    roles = ("chosen", "rejected")
    longest = [max(len(conversation_ids(tokenizer, row["prompt"], row[role], 999)[0]) for role in roles) for row in ROWS]
    limit = sorted(longest)[2]
    table = score_pairs(model, tokenizer, ROWS, limit, 60, "")
    assert list(table["truncated"]) == [length > limit for length in longest]
    assert 0 < table["truncated"].sum() < len(ROWS)


def test_answers_that_are_the_same_after_truncation_tie_exactly_and_a_tie_is_wrong(loaded):
    model, tokenizer = loaded
    row = {**ROWS[0], "chosen": "one" + " same" * 40, "rejected": "two" + " same" * 40}
    table = score_pairs(model, tokenizer, [row], 20, 60, "")
    assert table["score_chosen"][0] == table["score_rejected"][0]
    assert list(subset_summary(table)["accuracy_pct"]) == [0.0, 0.0]


def test_a_head_that_gives_nan_is_refused_with_the_ids(loaded):
    model, tokenizer = loaded
    model.score.weight.data[:] = float("nan")
    with pytest.raises(PolyrewardError, match=r"6 rows have a score that is not a number \(r0, r1, r2, r3, r4, r5\)"):
        score_pairs(model, tokenizer, ROWS, 128, 60, "")


def test_only_the_rows_without_a_score_are_named_and_at_most_ten():
    rows = [{"id": f"r{n}", "subset": "a", "category": "A"} for n in range(30)]
    with pytest.raises(PolyrewardError, match=r"^1 rows .*\(r7\)"):
        score_table(rows, [1.0] * 30, [float("nan") if n == 7 else 0.0 for n in range(30)])
    with pytest.raises(PolyrewardError, match=r"^30 rows .*\(r0, r1, r2, r3, r4, r5, r6, r7, r8, r9\)"):
        score_table(rows, [float("nan")] * 30, [0.0] * 30)


def test_subset_summary_of_known_scores():
    scores = pd.DataFrame({
        "subset": ["b", "a", "b", "a", "b", "b"],
        "score_chosen": [1.0, 0.0, 2.0, 5.0, 3.0, -1.0],
        "score_rejected": [0.0, 0.0, 1.0, 4.0, 2.0, 1.0],  # right, a tie, right, right, right, wrong
    })  # fmt: skip
    summary = subset_summary(scores).set_index("subset")
    assert list(summary.index) == ["a", "b", "all pairs"]
    assert list(summary["n_pairs"]) == [2, 4, 6]
    assert list(summary["accuracy_pct"]) == pytest.approx([50, 75, 100 * 4 / 6])
    assert list(summary["low"]) == pytest.approx([wilson(1, 2, -1), wilson(3, 4, -1), wilson(4, 6, -1)])
    assert list(summary["high"]) == pytest.approx([wilson(1, 2, 1), wilson(3, 4, 1), wilson(4, 6, 1)])


def wilson(right: int, n: int, side: int, z: float = 1.959963984540054) -> float:
    share = right / n
    return 100 * (share + z * z / (2 * n) + side * z * (share * (1 - share) / n + z * z / (4 * n * n)) ** 0.5) / (1 + z * z / n)
