"""A rule's script runs alike in a job of Snakemake's and by hand."""

import runpy
import subprocess
import sys

import pytest
from support import ROOT

from polyreward.core.errors import PolyrewardError
from polyreward.core.logs import RAN_ON
from polyreward.ops.hardware import hardware

SNAKEFILE = """
configfile: "config.yaml"


rule doubled:
    input:
        "{name}.txt",
    output:
        "made/{name}.txt",
    log:
        "logs/{name}.log",
    threads: 2
    resources:
        mem_mb=100,
    params:
        times=config["times"],
    script:
        "scripts/doubled.py"


use rule doubled as tripled with:
    output:
        "thrice/{name}.txt",
    params:
        times=3,
"""
SCRIPT = '''"""Repeat a text."""

import os
from pathlib import Path

from polyreward.core.errors import PolyrewardError
from polyreward.ops.jobs import run


def main(snakemake):
    text = Path(snakemake.input[0]).read_text()
    if not text:
        raise PolyrewardError("nothing to repeat")
    values = [text * snakemake.params.times, snakemake.wildcards.name, snakemake.rule, snakemake.threads]
    print("repeated")
    Path(snakemake.output[0]).write_text(repr(values))


if __name__ == "__main__":
    run(main, globals().get("snakemake"))
'''


@pytest.fixture
def project(tmp_path):
    (tmp_path / "scripts").mkdir()
    files = {"Snakefile": SNAKEFILE, "scripts/doubled.py": SCRIPT, "config.yaml": "times: 2\n"}
    for name, text in {**files, "a.txt": "x", "none.txt": ""}.items():
        (tmp_path / name).write_text(text)
    return tmp_path


def called(project, *command):
    return subprocess.run([sys.executable, *command], cwd=project, capture_output=True, text=True)


def test_a_job_and_a_script_by_hand_make_the_same_and_a_killed_job_s_half_is_removed(project):
    (project / "made").mkdir()
    for name in (".a.txt.abcd1234", ".b.txt.abcd1234", ".a.txt.own"):
        (project / "made" / name).mkdir()
    ran = called(project, "-m", "snakemake", "--cores", "2", "made/a.txt")
    assert ran.returncode == 0, ran.stderr
    made = (project / "made/a.txt").read_text()
    assert made == "['xx', 'a', 'doubled', 2]"
    left = sorted(path.name for path in (project / "made").iterdir())
    assert left == [".a.txt.own", ".b.txt.abcd1234", "a.txt"]
    first, second, *others = (project / "logs/a.log").read_text().splitlines()
    assert (first, second) == ("asked for: mem_mb=100", RAN_ON + hardware()) and "repeated" in others
    (project / "made/a.txt").unlink()
    ran = called(project, "scripts/doubled.py", "--wildcards", "name=a")
    assert (ran.returncode, ran.stdout, ran.stderr) == (0, "repeated\n", "")
    assert (project / "made/a.txt").read_text().replace(" 1]", " 2]") == made


def test_a_job_is_a_process_by_itself_whatever_launched_snakemake(project, monkeypatch):
    monkeypatch.setenv("RANK", "1")
    monkeypatch.setenv("WORLD_SIZE", "2")
    ran = called(project, "-m", "snakemake", "--cores", "1", "made/none.txt")
    assert "polyreward: nothing to repeat" in ran.stderr


def test_by_hand_a_script_takes_overlays_and_other_rules_and_says_what_it_does(project):
    assert "Repeat a text." in called(project, "scripts/doubled.py", "--help").stdout
    (project / "more.yaml").write_text("times: 5\n")
    named = ("scripts/doubled.py", "--wildcards", "name=a")
    assert called(project, *named, "--configfile", "more.yaml").returncode == 0
    assert "'xxxxx'" in (project / "made/a.txt").read_text()
    assert called(project, *named, "--rule", "tripled").returncode == 0
    assert "'xxx', 'a', 'tripled'" in (project / "thrice/a.txt").read_text()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ([], "its wildcards are name=...; give these as --wildcards"),
        (["--wildcards", "name=b"], "1 inputs are missing, the first is b.txt; make them: snakemake"),
        (["--wildcards", "name"], "write KEY=VALUE"),
        (["--rule", "all", "--wildcards", "name=a"], "name one that does: --rule doubled | tripled"),
        (["--configfile", "gone.yaml"], "gone.yaml"),
        (["--wildcards", "name=none"], "polyreward: nothing to repeat"),
    ],
)
def test_what_a_script_by_hand_lacks_is_said(project, monkeypatch, capsys, arguments, words):
    monkeypatch.chdir(project)
    monkeypatch.setattr(sys, "argv", ["doubled.py", *arguments])
    monkeypatch.setattr(sys, "excepthook", sys.excepthook)  # put back after the script has set its own
    with pytest.raises((PolyrewardError, SystemExit)) as caught:
        runpy.run_path("scripts/doubled.py", run_name="__main__")
    assert caught.type is PolyrewardError or caught.value.code
    if caught.type is PolyrewardError:
        sys.excepthook(caught.type, caught.value, caught.tb)
    said = capsys.readouterr().err
    assert words in said and "Traceback" not in said


def test_scripts_of_rules_run_by_hand():
    ran = called(ROOT, "workflow/scripts/train/reward_model.py", "--wildcards", "model=nobody_en")
    assert ran.returncode == 1
    assert "polyreward: " in ran.stderr
