"""The benchmarks' own arithmetic: operations counted at torch's operators, the critical path, and the replay
of a schedule."""

import re
import sys
from pathlib import Path
from types import SimpleNamespace

import pandas as pd
import pytest
import torch
from transformers import LlamaConfig, LlamaModel

sys.path.insert(0, str(Path(__file__).parents[3] / "benchmarks"))

from budget import KINDS, REST, budget_rows, kind_of, shapes_of
from counting import Counting
from jobs import Job
from schedule import critical_path, replayed, run_sleepers

ROWS, LENGTH = 3, 16
HIDDEN, BETWEEN, HEADS, KEY_HEADS, SIZE, LAYERS = 32, 48, 4, 2, 8, 2
TOKENS = ROWS * LENGTH
# Of one layer: queries and outputs, keys and values, and the three matrices of its perceptron
LAYER = 2 * TOKENS * (2 * HIDDEN * HEADS * SIZE + 2 * HIDDEN * KEY_HEADS * SIZE + 3 * HIDDEN * BETWEEN)
# Scores and their sum over values, of each head
ATTENTION = ROWS * HEADS * 2 * (2 * LENGTH * LENGTH * SIZE)


@pytest.fixture
def decoder():
    torch.manual_seed(0)
    config = LlamaConfig(
        vocab_size=50, hidden_size=HIDDEN, intermediate_size=BETWEEN, num_hidden_layers=LAYERS, num_attention_heads=HEADS,
        num_key_value_heads=KEY_HEADS, head_dim=SIZE,
    )  # fmt: skip
    return LlamaModel(config).eval()


@pytest.fixture
def ids():
    return torch.arange(TOKENS).reshape(ROWS, LENGTH) % 50


@pytest.mark.parametrize("small", [0, 10**12], ids=["not computed", "computed"])
def test_forward_operations_are_those_of_two_layers_by_hand(decoder, ids, small):
    with torch.inference_mode(), Counting(small, large=1) as counting:
        found = decoder(ids, use_cache=False).last_hidden_state
    assert counting.operations == LAYERS * (LAYER + ATTENTION)
    assert found.shape == (ROWS, LENGTH, HIDDEN)


def test_what_is_computed_is_what_a_model_gives_without_counting(decoder, ids):
    with torch.inference_mode():
        alone = decoder(ids, use_cache=False).last_hidden_state
        with Counting() as counting:
            counted = decoder(ids, use_cache=False).last_hidden_state
    assert torch.equal(alone, counted)
    assert counting.operations > 0


@pytest.mark.parametrize("small", [0, 10**12], ids=["not computed", "computed"])
def test_backward_operations_leave_out_what_frozen_weights_do_not_need(decoder, ids, small):
    decoder.requires_grad_(False)
    matrix = decoder.layers[1].mlp.down_proj.weight.requires_grad_()
    with Counting(small, large=1) as counting:
        decoder(ids, use_cache=False).last_hidden_state.sum().backward()
    assert matrix.grad.shape == matrix.shape
    # Nothing lies below the last matrix that learns, so that its own gradient is all.
    assert counting.operations == LAYERS * (LAYER + ATTENTION) + 2 * TOKENS * HIDDEN * BETWEEN


def test_products_through_onednn_are_counted():
    operator = pytest.importorskip("polyreward.accel.onednn").OPERATOR
    if operator is None:
        pytest.skip("torch has no oneDNN here")
    with torch.inference_mode(), Counting() as counting:
        operator(torch.ones(5, 7), torch.ones(3, 7), None, "none", [], "")
    assert counting.operations == 2 * 5 * 7 * 3


def job(number, needs=(), threads=1, rule="rule", temporary=(), inputs=(), **resources):
    return Job(number, rule, tuple(needs), None, None, temporary, threads, 0, resources, {"input": inputs})


# Two chains from 0: 0-1-4 takes 1 + 5 + 1, 0-2-3-4 takes 1 + 2 + 2 + 1.
DIAMOND = [job(0, temporary=("a",)), job(1, [0]), job(2, [0]), job(3, [2]), job(4, [1, 3])]
SECONDS = {0: 1.0, 1: 5.0, 2: 2.0, 3: 2.0, 4: 1.0}


def test_critical_path_is_the_longest_chain():
    assert critical_path(DIAMOND, SECONDS) == [0, 1, 4]
    assert critical_path(DIAMOND, {**SECONDS, 3: 9.0}) == [0, 2, 3, 4]


def test_replay_waits_for_needs_and_for_free_cores():
    order = [0, 1, 2, 3, 4]
    assert replayed(DIAMOND, order, SECONDS, {"threads": 2}) == 7.0
    assert replayed(DIAMOND, order, SECONDS, {"threads": 1}) == sum(SECONDS.values())


def test_replay_waits_for_memory_and_gives_all_of_it_to_what_asks_for_more():
    two = [job(0, mem_mb=3000), job(1, mem_mb=9000)]
    assert replayed(two, [0, 1], {0: 2.0, 1: 3.0}, {"threads": 2, "mem_mb": 4000}) == 5.0
    assert replayed(two, [0, 1], {0: 2.0, 1: 3.0}, {"threads": 2, "mem_mb": 12000}) == 3.0


def test_snakemake_runs_sleepers_in_the_order_of_their_needs():
    found = run_sleepers(DIAMOND, dict.fromkeys(SECONDS, 0.0), 2, {"mem_mb": 4000})
    assert sorted(found["order"]) == [0, 1, 2, 3, 4]
    assert found["order"][0] == 0
    assert found["order"][-1] == 4
    assert found["order"].index(2) < found["order"].index(3)


def test_every_kind_of_job_names_a_rule_that_exists():
    text = "".join(
        path.read_text(encoding="utf-8") for path in Path(__file__).parents[3].glob("workflow/rules/*.smk")
    )
    rules = set(re.findall(r"^rule (\w+):| as (\w+) with:", text, re.MULTILINE))
    names = {name for pair in rules for name in pair}
    assert [kind for kind in KINDS if not any(re.fullmatch(kind, name) for name in names)] == []


def test_a_job_is_of_the_kind_that_its_rule_names():
    names = ("reward_model", "own_reward_scores", "cross_reward_scores_2", "table1")
    assert [kind_of(job(0, rule=name)) for name in names] == ["trainings", "scoring", "scoring", REST]


def test_shares_are_of_the_best_and_the_last_row_is_the_sum():
    table = pd.DataFrame(
        [
            {"what": "trainings", "jobs": 2, "operations": 3 * 10**12, "frozen": 10**12, "processor_s": 60.0},
            {"what": REST, "jobs": 5, "operations": 0, "frozen": 0, "processor_s": 40.0},
        ]
    )
    trainings, rest, whole = budget_rows(table, alone=100.0, beside=80.0)
    assert (trainings["GFLOP/s"], trainings["of the best, alone (%)"]) == ("50.0", "50")
    assert trainings["of them in frozen layers"] == "1.00"
    assert trainings["of the best, two side by side (%)"] == "62"
    assert (rest["GFLOP/s"], rest["of all (%)"]) == ("", "40")
    assert (whole["jobs"], whole["operations (1e12)"], whole["GFLOP/s"]) == (7, "3.00", "30.0")


def test_shapes_hold_both_matrices_of_a_perceptron():
    shapes = shapes_of([SimpleNamespace(hidden_size=640, intermediate_size=2048)], 1024)
    assert shapes[-2:] == [(1024, 640, 2048), (1024, 2048, 640)]
