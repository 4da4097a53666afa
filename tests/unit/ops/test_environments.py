"""Environments: written from the lock."""

import re

import pytest
from tiny_models import ROOT

from polyreward.core.errors import PolyrewardError
from polyreward.ops.environments import PYTHON, STAGES, environment_text, locked_versions

VERSIONS = locked_versions(ROOT)


@pytest.mark.parametrize("stage", STAGES)
def test_each_file_is_what_is_written_from_the_lock(stage):
    assert (ROOT / f"envs/{stage}.yaml").read_text(encoding="utf-8") == environment_text(stage, VERSIONS)


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


def test_a_package_that_is_not_locked_is_named():
    with pytest.raises(
        PolyrewardError, match=r"envs/plot.yaml: jinja2 is not in requirements.lock; add it to pyproject.toml"
    ):
        environment_text("plot", {name: version for name, version in VERSIONS.items() if name != "jinja2"})


def test_every_line_of_the_lock_has_a_version_and_hashes_and_make_asks_for_them():
    lock = re.sub(r"^\s*#.*\n", "", (ROOT / "requirements.lock").read_text(), flags=re.MULTILINE)
    entries = [entry for entry in re.split(r"\n(?=\S)", lock) if entry.strip()]
    assert len(entries) > 100
    assert [one for one in entries if not re.match(r"[\w.\[\]-]+==\S+(?s:.*)--hash=sha256:", one)] == []
    lines = (ROOT / "Makefile").read_text().splitlines()
    installs = [line for line in lines if "-r requirements.lock" in line and " install " in line]
    assert installs and all("--require-hashes" in line for line in installs)
