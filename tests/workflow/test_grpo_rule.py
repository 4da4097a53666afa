"""The rules that train a policy by GRPO with a reward model's score, and let it answer the questions, at
scale tiny."""

import json

import pytest
from support import TINY, checkout, snakemake


@pytest.mark.slow
def test_a_policy_that_a_judge_rewards_is_trained_and_answers_what_the_policy_before_answered(tmp_path):
    here = checkout(tmp_path / "polyreward")
    scores = here / "results/tiny/work/5_scores/grpo"
    targets = [str((scores / name).relative_to(here)) for name in ("start.jsonl", "answers/tiny-judge.jsonl")]
    ran = snakemake("--cores", "1", *targets, "--configfile", TINY, cwd=here, many_jobs=True)
    assert ran.returncode == 0, ran.stdout
    before, after = (
        [json.loads(line) for line in (here / path).read_text(encoding="utf-8").splitlines()]
        for path in targets
    )
    assert [row["id"] for row in before] == [row["id"] for row in after] and len(after) == 80
    assert all(len(row["answers"]) == 1 and row["answers"][0] for row in [*before, *after])
    record = json.loads(
        (here / "results/tiny/work/4_models/policies/grpo_tiny-judge/training.json").read_text()
    )
    rewards = [step["reward"] for step in record["steps"] if "reward" in step]
    assert len(rewards) == 2 and record["questions"] == 8 and record["groups"] == 2
    assert not list((here / "results/tiny/work/4_models/policies").glob("checkpoints/*"))
