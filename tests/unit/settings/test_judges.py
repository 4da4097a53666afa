"""The trainings of Think-as-Locals' judges, by their settings."""

from small_scale import WEIGHTS, small_settings


def judges_with(**changes):
    changes = {f"think_as_locals__{name}": value for name, value in changes.items()}
    return small_settings(**changes).think_as_locals


def test_full_is_trained_once_for_each_seed_with_the_same_rewards():
    judges = judges_with(seeds=3)
    assert judges.repeats == ["full-2", "full-3"]
    assert judges.training("full-3") == judges.training("full")
    assert dict(judges.training("full")["rewards"]) == WEIGHTS
    assert dict(judges.training("bare")["rewards"]) == {**WEIGHTS, "layout": 0}
    assert judges_with(seeds=1).repeats == []


def test_only_a_judge_that_writes_criteria_quotes_and_only_after_a_warm_up_that_does():
    judges = judges_with(criteria_quote=5)
    found = {run: judges.training(run) for run in ("full", "bare", "no-criteria")}
    assert [(one["criteria"], one["quote"]) for one in found.values()] == [(True, 5), (True, 5), (False, 0)]
    assert judges_with(criteria_quote=5, warmup=None).training("full")["quote"] == 0


def test_a_run_that_is_called_as_a_repeat_may_be_is_not_one():
    runs = {"full": WEIGHTS, "full-quote": {**WEIGHTS, "correctness": 0}, "no-criteria": WEIGHTS}
    judges = judges_with(runs=runs)
    assert dict(judges.training("full-quote")["rewards"])["correctness"] == 0


def test_readers_are_shown_a_run_by_the_rewards_that_it_lacks():
    runs = {
        "full": WEIGHTS,
        "bare": {**WEIGHTS, "layout": 0},
        "no-criteria": {**WEIGHTS, "appropriateness": 0},
    }
    runs["one"] = {"correctness": 1, "appropriateness": 0, "layout": 0}
    assert judges_with(runs=runs).labels == {
        "rm-r1": "rm-r1",
        "base": "base, verdict at once",
        "base-with-criteria": "base, with criteria",
        "warmup": "after the warm-up",
        "no-criteria": "trained without criteria",
        "full": "all rewards",
        "bare": "without layout",
        "one": "without R_appr and layout",
    }
