"""A run that is killed with kill -9 goes on where it was, to the same bytes: a job of each rule."""

import os
import time

import pytest
from flow import WANTED
from kills import Wave, one_of_each_rule, waves
from recorded import Job, jobs_made

SEED = 20  # draws the jobs and the moments; FAULTS_SEED has another one
SAMPLE = ("dpo_policy", "reward_scores", "table1")


def test_no_wave_holds_a_job_that_another_one_of_it_needs():
    needs = {"data": [], "base": [], "rows": ["data"], "model": ["base", "rows"], "scores": ["model"]}
    jobs = [
        Job(name, name, (f"{name}.out",), tuple(f"{one}.out" for one in ones), 1.0)
        for name, ones in needs.items()
    ]
    chosen = waves([jobs[0], jobs[1], jobs[4]], jobs)
    assert [[job.rule for job in wave] for wave in chosen] == [["data", "base"], ["scores"]]
    assert [len(wave) for wave in waves(jobs, jobs)] == [2, 1, 1, 1]
    assert {job.rule for job in one_of_each_rule(jobs, 1)} == needs.keys()


def killed(copy, chosen, jobs, seed):
    """Kill and resume jobs of a finished run; prints a line for each wave and returns what went wrong."""
    problems = []
    for wave in waves(chosen, jobs):
        run, start = Wave(copy, wave, WANTED, seed), time.monotonic()
        problems += run.problems()
        names = " ".join(job.rule for job in wave)
        quick = f"; too quick to kill: {', '.join(run.quick)}" if run.quick else ""
        seconds = f"{time.monotonic() - start:.0f} s"
        print(f"{run.kills} kills ({run.late} too late), {seconds}: {names}{quick}", flush=True)
    return problems


@pytest.mark.slow
def test_a_run_killed_in_some_jobs_ends_with_the_bytes_of_one_that_was_not(copy):
    jobs = jobs_made(copy)
    chosen = [job for job in one_of_each_rule(jobs, SEED) if job.rule in SAMPLE]
    assert len(chosen) == len(SAMPLE)
    assert killed(copy, chosen, jobs, SEED) == []


@pytest.mark.matrix
def test_a_run_killed_in_a_job_of_each_rule_ends_with_the_bytes_of_one_that_was_not(copy):
    seed, jobs = int(os.environ.get("FAULTS_SEED", SEED)), jobs_made(copy)
    chosen = one_of_each_rule(jobs, seed)
    problems = killed(copy, chosen, jobs, seed)
    print(f"seed {seed}: {len(chosen)} rules, {len(problems)} problems")
    assert problems == []
