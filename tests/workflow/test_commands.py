"""Every command in a code block of the documents is tried: make as a dry run, Snakemake as a plan, polyreward
by its options."""

import os
import re
import shlex
import subprocess
from functools import cache

import pytest
import yaml
from support import ROOT, TINY, checkout, snakemake

from polyreward import cli

PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
# {what a command begins with: why it is not tried here, or what tries it}
ELSEWHERE = {
    "git clone": "CI runs .ci/run in a fresh clone",
    "cd ": "goes with `git clone`",
    "source .venv": "every run of make uses that environment",
    "export ": "a key that the reader has",
    "nano ": "an editor",
    "tar ": "tests/e2e/test_moved.py runs both",
    "make -C polyreward": "needs a second environment; the target is tried as `make env`",
    "polyreward/.venv/bin/snakemake": "tests/workflow/test_module.py runs the page's Snakefile",
    "snakemake --cores all all --configfile workflow/scales/paper": (
        "tests/workflow/test_paper_scale.py plans both"
    ),
    ".venv/bin/python tests/dress_rehearsal.py": (
        "takes up to 20 minutes; tests/e2e/test_rehearsal.py runs a sample"
    ),
    "snakemake --cores all results/tiny_french/": "tests/workflow/test_dry_run.py plans everything so",
    "snakemake --cores all results/german/": (
        "has no folder here; French, added in the same way, is planned as above"
    ),
    "snakemake --cores all results/carb_leaderboard.csv --configfile mine.yaml": (
        "tests/e2e/test_own_items.py has such files"
    ),
}
WORDS_AFTER = {
    "--cores": 1,
    "--logger": 1,
    "--configfile": 99,
    "--profile": 1,
}  # options with so many words at most


def blocks(page, languages):
    """Return the code blocks of a page that are marked as one of these languages."""
    found = re.findall(
        r"^ *```(\w*)\n(.*?)^ *```$", page.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL
    )
    return [text for language, text in found if language in languages]


@cache
def commands():
    """Return [(page, command)] of all code blocks, comments left out."""
    return [
        (page, one)
        for page in PAGES
        for block in blocks(page, ("", "bash", "sh", "shell", "console"))
        for line in block.replace("\\\n", " ").splitlines()
        for one in re.sub(r"\s+#.*", "", line.strip()).split(" && ")
        if one
    ]


def tried(*starts):
    """Return [(page, command)] of those that begin so and are not tried elsewhere."""
    return [
        (page, one)
        for page, one in commands()
        if one.startswith(starts) and not one.startswith(tuple(ELSEWHERE))
    ]


def overlay(page):
    """Return what a page says to put into config.yaml for its commands."""
    settings = {}
    for block in blocks(page, ["yaml"]):
        found = yaml.safe_load(block)
        if {"reward_models", "own_benchmarks"} & found.keys():
            settings |= found
    return settings


def made_by(command):
    """Return the lines that make would run."""
    environment = {
        name: value for name, value in os.environ.items() if name not in ("MAKEFLAGS", "MAKELEVEL", "MFLAGS")
    }
    words = [*shlex.split(command), "-n", "-o", ".venv/ready"]
    ran = subprocess.run(
        words, cwd=ROOT, env=environment, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
    )
    assert ran.returncode == 0, f"{command}: {ran.stdout}"
    return ran.stdout.splitlines()


def targets_of(command):
    """Return (targets, scale's overlays) of a command that calls Snakemake."""
    targets, files, option, left = [], [], None, 0
    for word in shlex.split(command[command.rindex("snakemake ") :])[1:]:  # behind make's lock
        if word.startswith("-"):
            option, left = word, WORDS_AFTER.get(word, 0)
        elif left:
            left -= 1
            files += [word] if option == "--configfile" else []
        else:
            targets.append(word)
    return targets, tuple(file for file in files if file != "mine.yaml")


@cache
def planned():
    """Return {(overlay as text, scale): targets} of all commands that make or Snakemake would plan."""
    found = {}
    for page, command in [*tried("make "), *tried("snakemake ", ".venv/bin/snakemake ")]:
        lines = (
            [line for line in made_by(command) if "bin/snakemake " in line]
            if command.startswith("make ")
            else [command]
        )
        for line in lines:
            if "--report" not in line:
                targets, scale = targets_of(line)
                found.setdefault((yaml.safe_dump(overlay(page)), scale), set()).update(targets)
    return found


def test_each_command_is_tried_here_or_elsewhere_and_no_exception_is_stale():
    here = ("make ", "snakemake ", ".venv/bin/polyreward ", "polyreward ", "pre-commit ")
    assert [one for _, one in commands() if not one.startswith((*here, *ELSEWHERE))] == []
    said = [one for _, one in commands()]
    assert [start for start in ELSEWHERE if not any(one.startswith(start) for one in said)] == []


def test_make_knows_every_target():
    assert len(tried("make ")) > 20
    for _, command in tried("make "):
        assert made_by(command)


@pytest.mark.parametrize("number", range(5))
def test_snakemake_plans_what_the_pages_ask_for(tmp_path, number):
    """One page's settings and one scale at a time: nothing, tiny, a model and a benchmark, and only a
    benchmark.
    """
    groups = sorted(planned().items(), key=str)
    assert len(groups) == 5, [key for key, _ in groups]
    (settings, scale), targets = groups[number]
    folder = checkout(tmp_path / "checkout")
    model = folder / "results/work/4_models/gemma-3-270m_es"  # which the pages name as trained by then
    model.mkdir(parents=True)
    (model / "config.json").write_text("{}", encoding="utf-8")
    (folder / "mine.yaml").write_text(settings, encoding="utf-8")
    files = [*scale, *(["mine.yaml"] if yaml.safe_load(settings) else [])]
    assert set(scale) <= {TINY, "workflow/scales/gpu.yaml"}
    ran = snakemake(
        "-n",
        "--quiet",
        "all",
        "--cores",
        "1",
        *(["--configfile", *files] if files else []),
        "--",
        *sorted(targets),
        cwd=folder,
    )
    assert ran.returncode == 0, ran.stdout


def test_polyreward_takes_the_options_of_every_command(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for folder in ("tiny", "german"):
        (tmp_path / "results" / folder).mkdir(parents=True)
    (tmp_path / "bundle.zip").touch()
    found = tried(".venv/bin/polyreward ", "polyreward ")
    assert len(found) > 8
    for _, command in found:
        name, *words = shlex.split(command)[1:]
        context = cli.commands.commands[name].make_context(name, words)
        assert context.args == [], command
        assert not context.params.get("help"), command


def test_each_file_of_tests_that_a_page_names_is_there():
    named = {
        path
        for page in PAGES
        for path in re.findall(r"pytest (tests/[\w/.]+)", page.read_text(encoding="utf-8"))
    }
    assert len(named) > 10
    assert [path for path in named if not (ROOT / path).exists()] == []
