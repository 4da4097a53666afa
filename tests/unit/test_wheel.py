"""The wheel, installed with nothing but the packages that it declares: each of its commands, for real, far from the checkout."""

import json
import re
import shutil
import subprocess
import sys
import tomllib
from importlib.metadata import distribution
from pathlib import Path

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from short_texts import SHORT
from support import ROOT, checkout
from tiny_models import ROWS

from polyreward import cli

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
EXTRA = PROJECT["optional-dependencies"]["pipeline"]
PIPELINE = [Requirement(one).name for one in EXTRA]


def with_what_they_need(requirements):
    """Return the names of installed packages that these requirements bring, themselves included."""
    todo, found = [Requirement(one) for one in requirements], set()
    while todo:
        need = todo.pop()
        for extra in ("", *need.extras):
            if (need.name, extra) not in found and (not need.marker or need.marker.evaluate({"extra": ""})):
                found.add((need.name, extra))
                texts = distribution(need.name).requires or []
                wanted = [Requirement(text) for text in texts]
                todo += [one for one in wanted if not one.marker or one.marker.evaluate({"extra": extra})]
    return {canonicalize_name(name) for name, _ in found}


PIP = [sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check"]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    folder = tmp_path_factory.mktemp("wheel")
    source = checkout(folder / "source")
    for name in ("pyproject.toml", "setup.py", "README.md", "LICENSE", "NOTICE"):
        shutil.copy(ROOT / name, source)
    shutil.copytree(ROOT / "docs/data", source / "docs/data")
    build = ["wheel", "--no-deps", "--no-build-isolation", "--no-index", "--wheel-dir", folder, source]
    subprocess.run([*PIP, *build], check=True)
    (wheel,) = folder.glob("*.whl")
    return wheel


def environment(folder, wheel, requirements):
    """Make an environment that has the wheel and, as links, the packages that it requires; return its folder."""
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder / "venv"], check=True)
    (packages,) = folder.glob("venv/lib/python*/site-packages")
    for name in with_what_they_need(requirements):
        found = distribution(name)
        for top in {file.parts[0] for file in found.files} - {"..", "__pycache__"}:
            if not (packages / top).exists():
                (packages / top).symlink_to(Path(found.locate_file(top)))
    into = ["--python", folder / "venv/bin/python", "install", "--no-deps", "--no-index", wheel]
    subprocess.run([*PIP, *into], check=True)
    return folder / "venv"


@pytest.fixture(scope="module")
def installed(wheel, tmp_path_factory):
    return environment(tmp_path_factory.mktemp("bare"), wheel, PROJECT["dependencies"])


@pytest.fixture(scope="module")
def with_pipeline(wheel, tmp_path_factory):
    return environment(tmp_path_factory.mktemp("pipeline"), wheel, [*PROJECT["dependencies"], *EXTRA])


def runner(environment, folder):
    def run(*arguments, status=0):
        ran = subprocess.run(
            [environment / "bin/polyreward", *map(str, arguments)], cwd=folder, text=True, capture_output=True,
            env={"PATH": "/usr/bin:/bin", "HOME": str(folder), "HF_HUB_OFFLINE": "1", "OMP_NUM_THREADS": "1"},
        )  # fmt: skip
        assert ran.returncode == status, ran.stderr
        return ran.stderr if status else ran.stdout

    return run


@pytest.fixture
def run(installed, tmp_path):
    return runner(installed, tmp_path)


@pytest.fixture
def pairs(tmp_path):
    (tmp_path / "pairs.jsonl").write_text("".join(json.dumps(row) + "\n" for row in ROWS))
    return "pairs.jsonl"


@pytest.mark.slow
def test_it_has_its_packages_and_version_and_not_the_pipelines(installed, run):
    assert run("--version") == f"polyreward {PROJECT['version']}\n"
    code = "import importlib.util; print([name for name in {!r} if importlib.util.find_spec(name)])"
    absent = ["snakemake", "trl", "openai", "gguf", "jupytext", "seaborn", "sacrebleu", "justmytype"]
    ran = [installed / "bin/python", "-c", code.format(absent)]
    assert subprocess.check_output(ran, text=True) == "[]\n"


@pytest.mark.slow
def test_score_inspect_and_compare(run, pairs, trained):
    assert f"{len(ROWS)} pairs" in run("inspect", pairs, "--model", trained["tiny-llama"])
    for name, model in (("one", trained["tiny-llama"]), ("two", trained["tiny-gemma"])):
        run("score", model, pairs, "--out", f"{name}.csv", "--max-length", "128")
    assert "2 models" in run("compare", "one.csv", "two.csv", "--out", "compared")
    said = run("compare", "one.csv", "two.csv", "--sections", "rewardbnch", status=1)
    assert "did you mean `rewardbench`" in said  # the catalog is in the wheel


@pytest.mark.slow
def test_matrix(run, pairs, trained, tmp_path):
    shutil.copy(tmp_path / pairs, tmp_path / "es.jsonl")
    named = ["--pairs", f"en={pairs}", "--pairs", "es=es.jsonl", "--max-length", "128"]
    said = run("matrix", "--model", trained["tiny-llama"], *named, "--out", "matrix")
    assert "in 2 languages" in said and "ArmoRM" in said  # the printed numbers are in the wheel
    assert "<table>" in (tmp_path / "matrix/matrix.html").read_text(
        encoding="utf-8"
    )  # and the page's template


@pytest.mark.slow
def test_claims_of_a_papers_folder(run):
    folder = ROOT / "workflow/papers/m_rewardbench"
    assert "nothing is missing" in run("claims", "check", folder)
    assert "holds" in run("claims", "verdicts", folder)


@pytest.mark.slow
def test_gpu_check_and_plan_with_the_extra(with_pipeline, trained, tmp_path):
    """A scale of the wheel's with an overlay of the user's, whose paths and results are in the user's folder."""
    run = runner(with_pipeline, tmp_path)
    own = {"mine": {"kind": "classifier", "path": "models/mine"}}
    shutil.copytree(trained["tiny-llama"], tmp_path / "models/mine")
    (tmp_path / "mine.yaml").write_text(yaml.safe_dump({**SHORT, "results": "made", "reward_models": own}))
    (project,) = with_pipeline.glob("lib/python*/site-packages/polyreward/project")
    before = {path: path.stat().st_mtime_ns for path in project.rglob("*")}
    overlays = ["--configfile", "workflow/scales/tiny.yaml", "mine.yaml"]
    assert "scoring, models/mine" in run("gpu-check", "--device", "cpu", *overlays)
    assert (tmp_path / "made/throughputs.json").is_file()
    assert "Jobs that gpu-check tried: " in run("plan", *overlays)
    assert "reference run" in run("plan", "results")  # the costs of mini's are in the wheel
    assert "mine2.yaml: no such file" in run("plan", "--configfile", "mine2.yaml", status=1)
    assert {path: path.stat().st_mtime_ns for path in project.rglob("*")} == before  # it may be read-only
    assert {path.name for path in tmp_path.iterdir()} <= {"made", "mine.yaml", "models", ".cache", ".config"}


@pytest.mark.slow
@pytest.mark.parametrize("command", sorted(cli.NEEDED))
def test_what_needs_the_extra_names_it_in_one_line(run, command):
    said = run(command, status=1)
    assert said.startswith(f"polyreward: {command}: needs {' and '.join(cli.NEEDED[command])}")
    assert said.endswith("pip install 'polyreward[pipeline]'\n") and said.count("\n") == 1


@pytest.mark.slow
@pytest.mark.parametrize("command", sorted(cli.commands.commands.keys() - {*cli.ANYWHERE}))
def test_what_needs_a_checkout_says_so_in_one_line(run, command):
    said = run(command, status=1)
    assert said.startswith(f"polyreward: {command}: needs a checkout") and said.count("\n") == 1


def test_the_version_is_written_once():
    """CITATION.cff, which no tool fills, has the same."""
    (cited,) = re.findall(r"^version: (.+)$", (ROOT / "CITATION.cff").read_text(), re.MULTILINE)
    assert cited == PROJECT["version"]


def test_the_source_archive_has_what_the_wheel_takes():
    patterns = re.findall(r'^    "(.+)",$', (ROOT / "setup.py").read_text(), re.MULTILINE)
    taken = {path for pattern in patterns for path in ROOT.glob(pattern)}
    archived = set()
    for line in (ROOT / "MANIFEST.in").read_text().splitlines():
        kind, *rest = line.split()
        wanted = rest if kind == "include" else [f"{rest[0]}/**/{pattern}" for pattern in rest[1:]]
        archived |= {path for pattern in wanted for path in ROOT.glob(pattern)}
    assert taken and taken <= archived


def test_the_lock_has_all_extras_that_an_environment_gets():
    (line,) = re.findall(r"^RESOLVE = (.+)$", (ROOT / "Makefile").read_text(), re.MULTILINE)
    assert re.findall(r"--extra (\w+)", line) == ["pipeline", "dev", "docs"]
    locked = {
        canonicalize_name(name)
        for name in re.findall(r"^([\w.-]+)==", (ROOT / "requirements.lock").read_text(), re.MULTILINE)
    }
    assert {canonicalize_name(name) for name in PIPELINE} <= locked
