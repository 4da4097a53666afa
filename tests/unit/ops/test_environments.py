"""Environments: written from the lock, and each used by a rule."""

import json
import re
import subprocess
import sys

import pytest
import yaml
from tiny_models import ROOT

from polyreward.core.errors import PolyrewardError
from polyreward.ops.environments import (
    PIP,
    PYTHON,
    STAGES,
    environment_text,
    locked_versions,
    write_environments,
)

VERSIONS = locked_versions(ROOT)


def pins(stage) -> dict[str, str]:
    dependencies = yaml.safe_load((ROOT / f"envs/{stage}.yaml").read_text())["dependencies"]
    return dict(pin.split("==") for pin in dependencies[-1]["pip"])


@pytest.mark.parametrize("stage", STAGES)
def test_each_file_is_what_is_written_from_the_lock(stage):
    assert (ROOT / f"envs/{stage}.yaml").read_text(encoding="utf-8") == environment_text(stage, VERSIONS)


@pytest.mark.parametrize("stage", STAGES)
def test_every_pin_equals_the_lock(stage):
    lock = (ROOT / "requirements.lock").read_text().splitlines()
    project = (ROOT / "pyproject.toml").read_text()
    for name, version in pins(stage).items():
        if name == "torch":
            assert f'"torch=={version}"' in project
        else:
            assert any(
                line.split(" ")[0].lower().replace("_", "-") == f"{name}=={version}" for line in lock
            ), name


@pytest.mark.parametrize("stage", STAGES)
def test_each_environment_has_python_pip_and_all_that_its_stage_imports(stage):
    environment = yaml.safe_load((ROOT / f"envs/{stage}.yaml").read_text())
    assert environment["dependencies"][:2] == [f"python ={PYTHON}", f"pip ={PIP}"]
    assert environment["channels"] == ["conda-forge", "nodefaults"]
    assert pins(stage).keys() >= set(STAGES[stage].split())


def resolved(*wanted) -> set[str] | None:
    """Return name==version of all that pip would install for what is wanted, without installing it; None
    where it cannot."""
    command = [
        sys.executable,
        "-m",
        "pip",
        "install",
        "--dry-run",
        "--ignore-installed",
        "--quiet",
        "--report",
        "-",
        *wanted,
    ]
    ran = subprocess.run(command, text=True, capture_output=True)
    if ran.returncode:
        return None
    found = [package["metadata"] for package in json.loads(ran.stdout)["install"]]
    return {f"{re.sub('[-_.]+', '-', one['name']).lower()}=={one['version']}" for one in found}


@pytest.fixture(scope="module")
def index():
    if not resolved("tabulate"):
        pytest.skip("pip reaches no package index")


@pytest.mark.environments
@pytest.mark.parametrize("stage", STAGES)
def test_pip_resolves_each_environment_to_its_pins_and_nothing_else(stage, index):
    wanted = {f"{name}=={version}" for name, version in pins(stage).items()}
    found = resolved(*wanted)
    assert found is not None, "the pins contradict one another, or one is not to be had"
    found = {pin.split("+")[0] for pin in found}  # a build of torch's has a name of its own
    of_cuda = {
        pin for pin in found if pin.startswith(("nvidia-", "cuda-", "triton=="))
    }  # come with torch's build for CUDA
    assert found - of_cuda == wanted


def test_the_apptainer_image_is_made_of_the_locked_versions():
    definition = (ROOT / "envs/apptainer.def").read_text(encoding="utf-8")
    installed = re.findall(r"^ +python -m pip install --no-cache-dir (.+)$", definition, re.MULTILINE)
    assert installed == [
        f"torch=={VERSIONS['torch']}",
        "--no-deps --require-hashes -r /opt/polyreward/requirements.lock",
    ]
    assert re.search(
        r"^%files\n +requirements.lock /opt/polyreward/requirements.lock$", definition, re.MULTILINE
    )
    assert re.search(rf"^From: python:{re.escape(PYTHON)}-", definition, re.MULTILINE)
    image = re.search(r"apptainer build (\S+) envs/apptainer.def", definition)[1]
    assert f'container: "{image}"' in (ROOT / "Snakefile").read_text(encoding="utf-8")


def test_what_packages_need_is_pinned_too():
    assert {"tokenizers", "huggingface-hub", "numpy"} <= pins("train").keys()  # transformers' own
    assert "tinycss2" in pins("notebook")  # of bleach[css], as nbconvert asks for it


def test_every_rule_names_an_environment_and_every_environment_a_rule():
    named = set()
    for rules in (ROOT / "workflow/rules").glob("*.smk"):
        text = rules.read_text()
        named |= set(re.findall(r'conda:\s+"\.\./\.\./envs/(\w+)\.yaml"', text))
        assert len(re.findall(r"^ *rule(?: \w+)?:", text, re.MULTILINE)) == text.count("conda:"), rules.name
    assert named == set(STAGES) == {path.stem for path in (ROOT / "envs").glob("*.yaml")}


def test_write_environments_writes_all_files(tmp_path):
    for name in ("requirements.lock", "pyproject.toml"):
        (tmp_path / name).write_text((ROOT / name).read_text())
    paths = write_environments(tmp_path)
    assert [path.relative_to(tmp_path) for path in paths] == [
        path.relative_to(ROOT) for path in map(ROOT.joinpath, _files())
    ]
    for path in paths:
        assert path.read_bytes() == (ROOT / path.relative_to(tmp_path)).read_bytes()


def _files():
    return [f"envs/{stage}.yaml" for stage in STAGES]


def test_a_package_that_is_not_locked_is_named():
    with pytest.raises(
        PolyrewardError, match=r"envs/plot.yaml: jinja2 is not in requirements.lock; add it to pyproject.toml"
    ):
        environment_text("plot", {name: version for name, version in VERSIONS.items() if name != "jinja2"})


def test_another_locked_version_is_another_file():
    assert environment_text("plot", {**VERSIONS, "pandas": "0.0.1"}) != environment_text("plot", VERSIONS)
