"""Every command and every block of settings in the documents is tried as it is shown: make as a dry run, Snakemake
as a plan, polyreward by its options, and the rest in a folder of its own. There are no exceptions."""

import os
import re
import shlex
import shutil
import subprocess
import sys
import tomllib
from functools import cache
from pathlib import Path
from typing import NamedTuple

import jsonschema
import pytest
import yaml
from pages import PAGES, blocks
from snakemake.utils import update_config
from support import ROOT, TINY, checkout, snakemake

from polyreward import cli
from polyreward.core.errors import PolyrewardError
from polyreward.core.yaml_files import read_yaml
from polyreward.settings.messages import Places, parsed_settings
from polyreward.sheet.catalogs import Project, read_catalogs
from polyreward.sheet.checks import check_fit

MODEL = "results/work/4_models/gemma-3-270m_es"  # which pages name as trained by then
SNAKEMAKE = ("snakemake ", ".venv/bin/snakemake ")
POLYREWARD = ("polyreward ", ".venv/bin/polyreward ")
INSTALL = ".venv/bin/pip install "
WORDS_AFTER = {"--cores": 1, "--logger": 1, "--configfile": 99, "--profile": 1, "--config": 99, "--until": 99}


class Command(NamedTuple):
    """A command of a page. settings: what the last block of settings above it holds, as text."""

    text: str
    settings: str


@cache
def commands() -> list[Command]:
    """Return the commands of all pages, in order."""
    found = []
    for page in PAGES:
        settings = ""
        for block in blocks(page.read_text("utf-8")):
            if block.language == "yaml":
                settings = block.text
            texts = [one for command in block.commands for one in command.split(" && ")]
            found += [Command(one, settings) for one in texts]
    return found


def starting(*starts: str) -> list[Command]:
    """Return the commands that begin so."""
    return [one for one in commands() if one.text.startswith(starts)]


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    """A checkout with the model that pages name as trained."""
    folder = checkout(tmp_path_factory.mktemp("commands") / "checkout")
    (folder / MODEL).mkdir(parents=True)
    (folder / MODEL / "config.json").write_text("{}", encoding="utf-8")
    return folder


def plan(folder: Path, arguments: list[str], settings: str = "") -> subprocess.CompletedProcess:
    """Plan in the checkout with these settings on top."""
    (folder / "mine.yaml").write_text(settings, encoding="utf-8")
    if settings and "mine.yaml" not in arguments:  # written into config.yaml
        arguments = ["--configfile", "mine.yaml", *arguments]
    return snakemake("-n", "--quiet", "all", *arguments, cwd=folder)


def made_by(command: str, cwd: Path = ROOT) -> list[str]:
    """Return the lines that make would run."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("MAKE", "MFLAGS"))}
    words = [*shlex.split(command), "-n", "-o", ".venv/ready", "V=1"]
    ran = subprocess.run(words, cwd=cwd, env=kept, text=True, capture_output=True)
    assert ran.returncode == 0, f"{command}: {ran.stderr}"
    return ran.stdout.replace("\\\n", " ").splitlines()


def targets_of(line: str) -> tuple[list[str], list[str]]:
    """Return (targets, overlays) of a line of make that calls Snakemake."""
    targets, overlays, option, left = [], [], None, 0
    call = line[line.index("snakemake ") :].partition(" --forcerun ")[0]
    for word in shlex.split(call)[1:]:
        if word.startswith("-"):
            option, left = word, WORDS_AFTER.get(word, 0)
        elif left:
            left -= 1
            overlays += [word] if option == "--configfile" else []
        else:
            targets.append(word)
    return targets, overlays


def test_each_command_is_tried():
    others = (
        "git clone",
        "cd ",
        "tar ",
        "export ",
        "source ",
        ".venv/bin/python ",
        "polyreward/.venv/bin/snakemake",
        # tests/unit/test_wheel.py
        *(
            ".venv/bin/pip wheel ",
            "python3 -m venv ",
            "/tmp/wheel/bin/",
            "pip install ",
            "polyreward gpu-check",
        ),
    )
    tried = ("make", *SNAKEMAKE, *POLYREWARD, INSTALL, *others)
    assert len(commands()) > 80
    assert [one for one in commands() if not one.text.startswith(tried)] == []


@cache
def asked_of_make() -> dict[tuple[str, tuple[str, ...]], set[str]]:
    """Return {(settings, overlays): targets} that make would ask Snakemake for."""
    found: dict = {}
    for command, settings in starting("make"):
        if not command.startswith("make -C"):
            lines = made_by(command)
            assert lines, command
            for line in lines:
                if "bin/snakemake " in line and "--report" not in line:
                    targets, overlays = targets_of(line)
                    changed = {"reward_models", "own_benchmarks"} & set(yaml.safe_load(settings or "{}"))
                    found.setdefault((settings if changed else "", tuple(overlays)), set()).update(targets)
    return found


@pytest.mark.parametrize("number", range(7))
def test_snakemake_plans_what_make_asks_for(folder, number):
    """One block of settings and one scale at a time."""
    groups = sorted(asked_of_make().items(), key=str)
    assert len(groups) == 7, [key for key, _ in groups]
    (settings, overlays), targets = groups[number]
    assert set(overlays) <= {TINY, "workflow/scales/anchor.yaml", "workflow/scales/night.yaml"}
    options = ["--configfile", *overlays] if overlays else []
    ran = plan(folder, ["--cores", "1", *options, "--", *sorted(targets)], settings)
    assert ran.returncode == 0, ran.stdout


def planned(one: Command):
    """Return a case; slow where its plan takes long, as test_paper_scale.py plans these scales, too."""
    return pytest.param(*one, marks=[pytest.mark.slow] if re.search("scales/(paper|gpu)", one.text) else [])


@pytest.mark.parametrize(("text", "settings"), [planned(one) for one in sorted(set(starting(*SNAKEMAKE)))])
def test_snakemake_plans_what_a_page_asks_it_for(folder, text, settings):
    arguments = shlex.split(text)[1:]
    ran = plan(folder, arguments, settings if "mine.yaml" in arguments else "")
    assert ran.returncode == 0, ran.stdout


def test_each_block_of_settings_fits_config_yaml(monkeypatch):
    """Files of a reader, such as a trained model, may be missing."""
    monkeypatch.chdir(ROOT)
    tried = 0
    for page in PAGES:
        config = read_yaml(ROOT / "config.yaml")
        for block in (one.text for one in blocks(page.read_text("utf-8")) if one.language == "yaml"):
            update_config(config, yaml.safe_load(block))
            catalog = read_catalogs(Project(ROOT), config.get("language_folders", {}), ROOT)
            tried += 1
            try:
                check_fit(parsed_settings(config, Places([])), catalog, Places([]))
            except PolyrewardError as error:
                problems = str(error).splitlines()[1:]
                assert [line for line in problems if MODEL not in line] == [], page
    assert tried > 8


def test_polyreward_takes_the_options_of_every_command(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for folder in ("tiny", "paper"):
        (tmp_path / "results" / folder).mkdir(parents=True)
    (tmp_path / "bundle.zip").touch()
    found = starting(*POLYREWARD)
    assert len(found) > 8
    for command, _ in found:
        name, *words = shlex.split(command)[1:]
        context = cli.commands.commands[name].make_context(name, words)
        assert context.args == [], command
        assert not context.params.get("help"), command


def test_a_clone_is_entered_and_its_environment_can_be_turned_on(tmp_path):
    cloned = {one.text for one in starting("git clone")}
    assert cloned == {"git clone <this repository> polyreward"}
    assert {one.text for one in starting("cd ")} == {"cd polyreward"}
    assert {one.text for one in starting("source ")} == {"source .venv/bin/activate"}
    assert (Path(sys.prefix) / "bin/activate").is_file()
    if (ROOT / ".git").exists():
        command = ["git", "clone", "-q", "--depth", "1", "--no-checkout", f"file://{ROOT}", "polyreward"]
        subprocess.run(command, cwd=tmp_path, check=True)
        assert (tmp_path / "polyreward").is_dir()


def test_each_extra_that_is_installed_is_one_of_the_project():
    known = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["optional-dependencies"]
    named = [shlex.split(one.text)[-1] for one in starting(INSTALL)]
    extras = {
        extra for name in named for extra in re.fullmatch(r"(?:\.|polyreward)\[(.+)\]", name)[1].split(",")
    }
    assert extras == {"cuda", "vllm", "pipeline"} <= set(known)


def test_keys_are_exported_as_a_shell_reads_it():
    for command, _ in starting("export "):
        ran = subprocess.run(["bash", "-c", f"{command}; env"], text=True, capture_output=True, check=True)
        assert command.split(" ", 1)[1] in ran.stdout.splitlines()


def test_results_are_packed_and_unpacked(tmp_path):
    for name in ("results/tiny/table1.csv", ".snakemake/metadata/one"):
        (tmp_path / "from" / name).parent.mkdir(parents=True)
        (tmp_path / "from" / name).write_text(name)
    pack, unpack = (one.text for one in starting("tar "))
    subprocess.run(shlex.split(pack), cwd=tmp_path / "from", check=True)
    (tmp_path / "to").mkdir()
    shutil.move(tmp_path / "from/moved.tar", tmp_path / "to")
    subprocess.run(shlex.split(unpack), cwd=tmp_path / "to", check=True)
    assert (tmp_path / "to/results/tiny/table1.csv").read_text() == "results/tiny/table1.csv"


def test_a_module_s_commands_are_those_that_test_module_runs(tmp_path):
    (tmp_path / "polyreward").symlink_to(ROOT)
    assert made_by("make -C polyreward env", tmp_path) is not None
    assert {one.text for one in starting("make -C")} == {"make -C polyreward env"}
    planned = [shlex.split(one.text)[1:] for one in starting("polyreward/.venv/bin/snakemake")]
    assert planned == [["-n"], ["--cores", "all"]]


@pytest.mark.parametrize(
    "script", sorted({shlex.split(one.text)[1] for one in starting(".venv/bin/python ")})
)
def test_a_script_says_its_options(script):
    """In a process of its own, which cannot import what only tests have."""
    said = subprocess.check_output([sys.executable, script, "--help"], cwd=ROOT, text=True)
    assert "usage" in said.lower()


def test_each_file_of_tests_that_a_page_names_is_there():
    texts = "\n".join(page.read_text("utf-8") for page in PAGES)
    named = set(re.findall(r"(?:pytest |`)(tests/[\w/.]+)", texts))
    assert len(named) > 10
    assert [path for path in named if not (ROOT / path).exists()] == []


def test_make_report_takes_the_scale_of_results():
    assert [line.split(" report ")[1] for line in made_by("make report RESULTS=results/tiny")] == [
        "results/tiny"
    ]


def test_make_env_says_what_it_takes_and_a_silent_command_that_it_still_runs(tmp_path):
    ran = subprocess.run(
        ["make", "-n", "-W", "requirements.lock", "env"], cwd=ROOT, text=True, capture_output=True
    )
    assert "about 2 minutes and 3 GB of disk" in ran.stdout and ran.stdout.count("sh envs/shown.sh") == 3
    ticking = tmp_path / "sleep"  # ten seconds in a moment
    ticking.write_text("#!/bin/sh\nexec /bin/sleep 0.1\n")
    ticking.chmod(0o755)
    environment = {**os.environ, "PATH": f"{tmp_path}:{os.environ['PATH']}"}
    command = ["sh", str(ROOT / "envs/shown.sh"), "packages", "sh", "-c", "/bin/sleep 1; exit 3"]
    ran = subprocess.run(command, text=True, capture_output=True, env=environment)
    assert ran.returncode == 3
    assert ran.stderr.splitlines()[:3] == ["packages", "  packages: 10 s so far", "  packages: 20 s so far"]


def test_make_prints_no_shell_of_its_own(tmp_path):
    kept = {name: value for name, value in os.environ.items() if name not in ("CI", "V", "MAKEFLAGS")}
    (tmp_path / "polyreward").symlink_to("/bin/true")
    command = ["make", "-o", ".venv/ready", f"BIN={tmp_path}", "report"]
    ran = subprocess.run(command, cwd=ROOT, text=True, capture_output=True, env=kept)
    assert (ran.returncode, ran.stdout) == (0, ""), ran.stderr
    ran = subprocess.run([*command, "V=1"], cwd=ROOT, text=True, capture_output=True, env=kept)
    assert "polyreward report results" in ran.stdout


def test_the_entries_of_a_base_and_of_a_dataset_fit_their_catalogs():
    page = ROOT / "docs/howto/base.md"
    entries = [yaml.safe_load(one.text) for one in blocks(page.read_text("utf-8")) if one.language == "text"]
    for name, entry in zip(("models", "datasets"), entries, strict=True):
        schema = yaml.safe_load((ROOT / f"workflow/schemas/{name}.schema.yaml").read_text("utf-8"))
        jsonschema.validate(entry, schema)
