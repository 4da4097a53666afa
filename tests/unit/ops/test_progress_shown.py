"""What Snakemake's logger plugin shows of a run, on a terminal and in a file."""

import io
import logging
import os
import signal
import subprocess
import sys

import pytest
from snakemake_interface_logger_plugins.common import LogEvent
from snakemake_interface_logger_plugins.tests import MockOutputSettings, TestLogHandlerBase
from support import ROOT

import snakemake_logger_plugin_polyreward as plugin
from polyreward.core.logs import LOG_ONLY

HEAD = "s\th:m:s\tmax_rss\n"


@pytest.fixture(autouse=True)
def environment():
    """The plugin sets a variable for its jobs. Tests read Snakemake's own words, but here."""
    kept = os.environ.pop(plugin.EVERY_JOB, None)
    yield
    os.environ[plugin.EVERY_JOB] = kept or ""
    os.environ.pop(LOG_ONLY, None)


class Terminal(io.StringIO):
    def isatty(self):
        return True


class TestPlugin(TestLogHandlerBase):
    """Snakemake's own tests of a logger plugin."""

    __test__ = True

    def get_log_handler_cls(self):
        return plugin.LogHandler

    def get_log_handler_settings(self):
        return None


def record(text="", event=None, level=logging.INFO, **facts):
    found = logging.LogRecord("snakemake", level, "", 0, text, (), None)
    found.__dict__.update(facts, **({"event": event} if event else {}))
    return found


def shown(monkeypatch, stream, events, **settings):
    """Return what the plugin writes of some events."""
    monkeypatch.setattr(sys, "stderr", stream)
    common = MockOutputSettings()
    vars(common).update(settings)
    handler = plugin.LogHandler(common, None)
    for event in events:
        handler.emit(event)
    handler.close()
    handler.close()
    return stream.getvalue()


def events(tmp_path, jobs=20, failing=None):
    job = {"rule_name": "one", "log": [str(tmp_path / "one.log")]}
    begun = {**job, "wildcards": {"n": "x"}, "benchmark": "results/benchmarks/one/0.tsv"}
    yield record("Select jobs to execute...")
    yield record(event=LogEvent.RUN_INFO, stats={"one": jobs, "total": jobs})
    for number in range(jobs):
        yield record(event=LogEvent.JOB_INFO, jobid=number, **begun)
        if number == failing:
            failed = {"event": LogEvent.JOB_ERROR, "jobid": number, "rule_msg": None, "indent": False, **job}
            (tmp_path / "one.log").write_text("polyreward: broken\n")
            yield record("RuleException:\nCalledProcessError in file", LogEvent.ERROR, logging.ERROR)
            yield record(level=logging.ERROR, **failed)
            yield record("Exiting because a job execution failed. Look above", level=logging.ERROR)
            return
        yield record(event=LogEvent.JOB_FINISHED, job_id=number)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder in which jobs of `one` took two seconds before."""
    path = tmp_path / "results/benchmarks/one/0.tsv"
    path.parent.mkdir(parents=True)
    path.write_text(HEAD + "2\t0:00:02\t5\n")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_in_a_file_there_is_a_line_at_each_twentieth_and_no_escape(monkeypatch, folder):
    lines = shown(monkeypatch, io.StringIO(), events(folder, jobs=100)).splitlines()
    assert lines[:2] == ["100 jobs: 100 one", "about 3 min left"]
    assert [line.split(" of ")[0] for line in lines[2:-1]] == [str(number) for number in range(5, 101, 5)]
    assert lines[-1] == "all 100 jobs done in 0 s"
    assert "\033" not in "".join(lines) and "Select jobs" not in "".join(lines)
    assert os.environ[LOG_ONLY] == "1"


def test_on_a_terminal_one_line_is_renewed(monkeypatch, folder):
    text = shown(monkeypatch, Terminal(), events(folder, jobs=4))
    assert text.count("\n") == 3  # the plan, and the end
    assert text.count(plugin.CLEAR) > 4


def test_a_warning_of_a_finished_job_is_a_line_of_its_own(monkeypatch, folder):
    (folder / "one.log").write_text("warning: b_ko: may have learnt nothing\n")
    lines = shown(monkeypatch, io.StringIO(), events(folder, jobs=1)).splitlines()
    assert lines.count("warning: one: b_ko: may have learnt nothing") == 1


def test_a_failure_is_shown_once(monkeypatch, folder):
    text = shown(monkeypatch, io.StringIO(), events(folder, failing=1))
    assert text.count("polyreward: broken") == 1
    assert "RuleException" not in text and "Exiting because" not in text
    assert text.splitlines()[-1].startswith("stopped after 0 s: 1 of 20 jobs done, 1 failed (one x).")


def test_after_an_interrupt_nothing_has_failed_and_the_end_says_how_to_resume(monkeypatch, folder):
    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # a job in the background ignores it
    happened = list(events(folder, failing=3))

    def interrupted():
        yield from happened[:-4]
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)
        yield from happened[-3:]

    text = shown(monkeypatch, io.StringIO(), interrupted())
    signal.signal(signal.SIGINT, before)
    assert text.splitlines()[-1] == "stopped by you after 0 s: 3 of 20 jobs done. The same command resumes."
    assert "failed" not in text and "memory" not in text


def test_an_error_in_settings_is_shown_without_the_place_in_the_rules_that_raised_it(monkeypatch):
    words = (
        'WorkflowError in file "/a/rules/common.smk", line 48:\nconfiguration: 1 problem\n  - mine.yaml:3: basez: unknown'
        ' key\n  File "/a/rules/common.smk", line 48, in <module>\n  File "/a/plan.py", line 100, in read_plan'
    )
    error = record(words, LogEvent.ERROR, logging.ERROR)
    said = shown(monkeypatch, io.StringIO(), [record("Config file is extended."), error])
    assert said == "configuration: 1 problem\n  - mine.yaml:3: basez: unknown key\n"
    assert shown(monkeypatch, io.StringIO(), [error], dryrun=True) == said
    monkeypatch.setenv(plugin.EVERY_JOB, "snakemake")
    assert shown(monkeypatch, io.StringIO(), [error]) == f"{words}\n"


def test_the_words_of_a_command_that_runs_no_job_are_shown(monkeypatch):
    assert (
        shown(monkeypatch, io.StringIO(), [record("Unlocked working directory.")])
        == "Unlocked working directory.\n"
    )


def test_a_result_that_no_rule_makes_is_named_with_the_nearest(monkeypatch):
    monkeypatch.chdir(ROOT)
    words = "MissingRuleException:\nNo rule to produce results/figur2.png (if you use input functions)."
    said = shown(monkeypatch, io.StringIO(), [record(words, LogEvent.ERROR, logging.ERROR)])
    assert said.startswith("results/figur2.png: no such result; did you mean results/figure2.png? ")
    other = words.replace("figur2.png", "qqqq")
    assert shown(monkeypatch, io.StringIO(), [record(other, LogEvent.ERROR, logging.ERROR)]).startswith(
        "results/qqqq: no such result; workflow/artifacts.yaml has all"
    )


def test_an_error_without_a_job_and_a_dry_run_are_shown_in_snakemake_s_words(monkeypatch, folder):
    error = {"event": LogEvent.ERROR, "level": logging.ERROR}
    text = record("WorkflowError:\nno rule to make x", **error)
    assert shown(monkeypatch, io.StringIO(), [text]) == "WorkflowError:\nno rule to make x\n"
    begun = [*list(events(folder))[:2], record("CalledProcessError in onstart", **error)]
    assert "CalledProcessError in onstart" in shown(monkeypatch, io.StringIO(), begun)
    del os.environ[LOG_ONLY]
    assert "Select jobs to execute" in shown(monkeypatch, io.StringIO(), begun, dryrun=True)
    assert LOG_ONLY not in os.environ


def test_snakemake_finds_it_and_a_job_keeps_to_its_log(tmp_path):
    (tmp_path / "job.py").write_text(
        "from polyreward.ops.jobs import start_job\nstart_job(snakemake)\n"
        "from polyreward.core.errors import PolyrewardError\nraise PolyrewardError('a.csv:3: broken')\n"
    )
    rule = 'rule bad:\n output: "b"\n log: "b.log"\n benchmark: "results/benchmarks/bad/b.tsv"\n script: "job.py"\n'
    (tmp_path / "Snakefile").write_text(rule)
    # Not the default scheduler, whose solver fails with a warning where the path of TMPDIR has a space.
    options = ["--cores", "1", "--scheduler", "greedy", "--logger", "polyreward"]
    command = [sys.executable, "-m", "snakemake", *options]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    found = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, env=environment)
    assert found.returncode == 1
    planned, left = found.stderr.splitlines()[:2]
    assert planned == "1 job: 1 bad" and left.startswith("time left not known; not timed yet")
    assert found.stderr.count("a.csv:3: broken") == 1 and "log: b.log" in found.stderr
    assert "a.csv:3: broken" in (tmp_path / "b.log").read_text()
