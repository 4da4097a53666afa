"""How far a run is, from known events; the time left, with known answers; why a job failed."""

import textwrap
from types import SimpleNamespace

import pytest

from polyreward.ops import progress
from polyreward.ops.progress import SILENT, Job, LogTail, Run, duration, failure, known_seconds, reason

HEAD = "s\th:m:s\tmax_rss\n"


def run_of(stats, earlier=None):
    """Return a run and its clock, whose `now` tests move."""
    clock = SimpleNamespace(now=100.0)
    return Run(stats, earlier, lambda: clock.now), clock


def ended(run, clock, number, rule, seconds):
    run.start(number, rule, {})
    clock.now += seconds
    run.finish(number)


def test_the_time_left_follows_from_earlier_jobs_and_from_those_of_this_run():
    run, clock = run_of(
        {"train": 3, "score": 2, "all": 1, "total": 6}, {"train": [60.0, 80.0], "score": [5.0]}
    )
    assert run.plan() == "6 jobs: 3 train, 2 score\nabout 4 min left"
    assert run.seconds_left() == (3 * 70 + 2 * 5, [])
    run.start(1, "train", {"base": "b"})
    clock.now += 20
    assert run.seconds_left() == (200, [])
    clock.now += 100  # longer than it should: no less than nothing is left of it
    assert run.seconds_left() == (150, [])
    run.finish(1)
    assert run.seconds_left() == (2 * 120 + 2 * 5, [])  # what a rule takes now counts


@pytest.mark.parametrize(("seed", "name"), [("", "score gemma ko"), ("_seed3", "score gemma seed3 ko")])
def test_a_job_is_named_by_its_rule_and_its_wildcards(seed, name):
    run, _ = run_of({"score": 1})
    run.start(1, "score", {"base": "gemma", "seed": seed, "language": "ko"})
    assert run.running[1].name == name


def test_jobs_that_run_at_a_time_share_the_time_left_and_no_run_is_shorter_than_its_longest_job():
    run, clock = run_of({"train": 4}, {"train": [60.0]})
    run.start(1, "train", {})
    run.start(2, "train", {})
    clock.now += 60
    run.finish(1), run.finish(2)
    assert run.seconds_left() == (60, [])
    run, _ = run_of({"train": 2}, {"train": [60.0]})
    run.cores = 8
    assert run.seconds_left() == (60, [])


def test_rules_that_never_ran_are_named():
    run, _ = run_of({"a": 1, "b": 2, "all": 1}, {"b": [30.0]})
    assert run.seconds_left() == (60, ["a"])
    assert run.line() == "0 of 4 jobs in 0 s; 1 min left + 1 rule not timed"
    run, _ = run_of({"a": 1, "b": 2})
    assert run.line() == "0 of 3 jobs in 0 s; 2 rules not timed"
    assert run.plan().endswith("time left not known; not timed yet, as they never ran here: a, b")


def test_a_first_run_goes_by_the_reference_run_scaled_to_what_this_machine_has_done():
    run, clock = run_of({"fetch": 1, "train": 4, "score": 2, "all": 1})
    run.reference, run.cores = {"fetch": 10.0, "train": 60.0, "score": 20.0}, 2
    assert run.seconds_left() == ((10 + 240 + 40) / 2, [])
    assert run.plan().endswith("about 2 min left")
    ended(run, clock, 1, "fetch", 20)  # twice as long as there, but one short job says little
    assert run.pace() == (20 + 60) / (10 + 60)
    assert run.seconds_left()[0] == pytest.approx(80 / 70 * (240 + 40))  # one job at a time so far
    ended(run, clock, 2, "train", 240)
    assert run.pace() == (20 + 240 + 60) / (10 + 60 + 60)
    assert run.seconds_left()[0] == pytest.approx(3 * 240 + 2 * 20 * 320 / 130)
    run.reference.pop("score")
    assert run.seconds_left() == (3 * 240, ["score"])


def test_the_reference_run_is_that_of_the_scale(tmp_path, monkeypatch):
    monkeypatch.setattr(progress, "REFERENCE", tmp_path)
    for name, seconds in {"mini": 30, "night": 90}.items():
        (tmp_path / name).mkdir()
        (tmp_path / name / "costs.csv").write_text(f"rule,jobs,seconds\ntrain,3,{seconds}\n")
    for name, found in {"results": {"train": 10.0}, "results/night": {"train": 30.0}, "x": {}}.items():
        assert progress.reference_seconds(progress.Path(name)) == found


def test_the_line_has_jobs_and_times_and_the_end_what_was_done():
    run, clock = run_of({"train": 4, "all": 1}, {"train": [60.0]})
    assert run.end() == "stopped after 0 s: 0 of 5 jobs done. The same command goes on from here."
    ended(run, clock, 1, "train", 60)
    run.start(2, "train", {"base": "gemma", "language": "ko"})
    assert run.line() == "1 of 5 jobs in 1 min; about 3 min left; now train gemma ko"
    for number in (3, 4, 5):
        run.start(number, "score", {"n": str(number)})
    assert run.line().endswith("; now train gemma ko, score 3, score 4 and 1 more")
    for number in (2, 3, 4, 5):
        run.finish(number)
    assert run.end() == "all 5 jobs done in 1 min"
    one, _ = run_of({"train": 1}, {"train": [60.0]})
    one.start(1, "train", {"base": "gemma"})
    one.finish(1)
    assert one.end() == "1 job done in 0 s"


def test_on_80_columns_the_line_says_what_runs_now_and_how_much_is_not_timed():
    """A first run of scale tiny, of which most rules were never timed."""
    run, clock = run_of({"train": 210, **{f"rule{number}": 1 for number in range(91)}}, {"train": [60.0]})
    for number in range(58):
        ended(run, clock, number, "train", 60)
    run.start(99, "reward_model", {"base": "gemma-3-270m", "language": "ko"})
    clock.now += 540
    line = run.line(80)
    assert line.startswith("58 of 301 jobs in 1 h 7 min; 2 h") and len(line) == 80
    assert " left + 91 rules not timed; now reward" in line


def test_a_server_that_is_asked_again_is_shown_once_in_a_while(tmp_path):
    log, clock = tmp_path / "judge.log", SimpleNamespace(now=0.0)
    tail, said = (
        LogTail(lambda: clock.now),
        "INFO openai: Retrying request in 1.900000 seconds (retry {} of 5)\n",
    )
    job = Job("ready_made_scores", "ready_made_scores my-judge", 0.0, [str(log)])
    assert tail.retries([job]) == []  # its log is not there yet
    log.write_text(said.format(1) + said.format(2))
    shown = "ready_made_scores my-judge: no reply; asks again in 2 s (retry {} of 5)"
    assert tail.retries([job]) == [shown.format(2)] and tail.retries([job]) == []
    with log.open("a") as stream:
        stream.write(said.format(3))
    assert tail.retries([job]) == []
    clock.now += 5
    with log.open("a") as stream:
        stream.write(said.format(4))
    assert tail.retries([job]) == [shown.format(4)]


def test_what_a_job_warned_of_is_told_when_it_has_ended(tmp_path):
    log = tmp_path / "train.log"
    log.write_text("step 1 of 2\nwarning: b_ko: may have learnt nothing\nno warning: here\n")
    run, _ = run_of({"train": 4})
    run.start(1, "train", logs=[log])
    run.start(2, "train", logs=[tmp_path / "none.log"])
    run.start(3, "train")
    run.start(4, "train", logs=[log])  # the same words again
    assert run.finish(1) == ["warning: train: b_ko: may have learnt nothing"]
    assert run.finish(2) == run.finish(3) == run.finish(4) == run.finish(5) == [] and run.done == 4


def test_a_failed_job_is_no_longer_left_and_one_that_is_tried_again_is():
    run, clock = run_of({"train": 2}, {"train": [60.0]})
    run.start(1, "train", {"base": "b"})
    job = run.fail(1)
    assert (job.name, run.seconds_left()) == ("train b", (60, []))
    assert ", 1 failed in 0 s" in run.line() and "1 failed (train b). What is done is kept." in run.end()
    run.start(1, "train", {"base": "b"})
    clock.now += 60
    run.finish(1)
    assert not run.failed and run.done == 1 and run.seconds_left()[0] == pytest.approx(60)


@pytest.mark.parametrize(
    ("seconds", "words"),
    [(0, "0 s"), (59.6, "1 min"), (3570, "1 h"), (4800, "1 h 20 min"), (86400, "1 d"), (183600, "2 d 3 h")],
)
def test_durations_in_words(seconds, words):
    assert duration(seconds) == words


def test_earlier_times_are_read_by_rule_and_damaged_files_left_out(tmp_path):
    rows = {"train/a": f"{HEAD}10.5\t0:00:10\t5\n", "train/b": f"{HEAD}2\t0:00:02\t5\n"}
    for name, text in {**rows, "score/a": "rubbish", "x/y": HEAD}.items():
        path = tmp_path / f"{name}.tsv"
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
    assert known_seconds(tmp_path) == {"train": [10.5, 2.0]}
    assert known_seconds(tmp_path / "none") == {}


TRACE = textwrap.dedent("""
    loading
    Traceback (most recent call last):
      File "a.py", line 1, in <module>
        outer()
        ~~~~~^^
      File "b.py", line 7, in inner
        return rows["id"]
               ~~~~^^^^^^
    KeyError: 'id'
    """)
MANY = ["polyreward: a.csv: 20 problems:", *(f"- {number}" for number in range(20))]


@pytest.mark.parametrize(
    ("log", "lines"),
    [
        ("asked for: mem_mb=1\n\npolyreward: a.csv: one problem:\n- one\n", ["polyreward: a.csv: one problem:", "- one"]),
        ("\n".join(MANY), [*MANY[:11], "... (10 more lines)"]),
        (TRACE, ['File "b.py", line 7, in inner', 'return rows["id"]', "KeyError: 'id'"]),
        ("1\n2\n\n3\n4\n", ["2", "3", "4"]),
        ("asked for: mem_mb=800\nran on: a processor\n", []),
        ("x" * 1000, ["x" * 300]),
    ],
    ids=["ours", "many of ours", "another's", "any log", "no words", "a long line"],
)  # fmt: skip
def test_the_reason_is_our_error_another_s_place_and_message_or_the_last_lines(log, lines):
    assert reason(log) == lines


def test_a_failure_names_the_job_why_and_the_log_with_a_cluster_s_words_first(tmp_path):
    own, of_slurm, none = (tmp_path / name for name in ("own.log", "slurm.log", "none.log"))
    own.write_text("polyreward: broken\n")
    run, _ = run_of({"train": 3})
    run.start(1, "train", {"base": "b"}, [str(own)])
    assert failure(run.fail(1), 90) == f"failed: train b, after 2 min\n  polyreward: broken\n  log: {own}"
    run.start(2, "train", {}, [str(none)])
    assert failure(run.fail(2), 1).split("\n") == [
        "failed: train, after 1 s",
        f"  {SILENT}",
        f"  log: {none}",
    ]
    own.write_text("step 3\n")
    of_slurm.write_text("slurmstepd: error: Detected 1 oom_kill event\n")
    run.start(3, "train", {}, [str(own)])
    job = run.fail(3, "train", [str(own), str(of_slurm)])
    assert failure(job, 60, "SLURM status is: 'OUT_OF_MEMORY'").splitlines()[1:] == [
        "  SLURM status is: 'OUT_OF_MEMORY'", "  step 3", "  slurmstepd: error: Detected 1 oom_kill event",
        f"  log: {own}", f"  log: {of_slurm}",
    ]  # fmt: skip
