"""Which Python the environment is made with, and what is said where none is right; on a PATH with made-up
ones."""

import shutil
import stat
import subprocess
import tomllib

import pytest
from support import ROOT

SCRIPT = ROOT / "envs/python.sh"


class Place:
    """A PATH of its own with a shell's few tools, and a home."""

    def __init__(self, folder):
        self.bin, self.home = folder / "bin", folder / "home"
        self.environment = {"PATH": str(self.bin), "HOME": str(self.home)}
        self.home.mkdir()
        self.bin.mkdir()
        for tool in ("sh", "sed", "head"):
            (self.bin / tool).symlink_to(shutil.which(tool))

    def put(self, name, script, folder=None):
        path = (folder or self.bin) / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"#!{shutil.which('sh')}\n{script}\n", encoding="utf-8")
        path.chmod(stat.S_IRWXU)
        return path

    def python(self, name, version, venv=True, folder=None):
        """Put a program that answers as a Python of a version does; venv: can it make environments?"""
        checks = (
            f'case "$2" in *version_info\\[:3\\]*) echo {version} ;; *ensurepip*) exit {0 if venv else 1} ;;'
            " esac"
        )
        return self.put(name, f'{checks}\n[ "$2" = venv ] && echo "$@" >> {self.home}/made; exit 0', folder)

    def run(self, *arguments):
        return subprocess.run(
            [self.bin / "sh", SCRIPT, *arguments], env=self.environment, text=True, capture_output=True
        )

    def found(self, *arguments):
        ran = self.run("find", *arguments)
        assert ran.returncode == 0, ran.stderr
        return ran.stdout.strip()

    def said(self, *arguments):
        ran = self.run("find", *arguments)
        assert (ran.returncode, ran.stdout) == (1, "")
        return ran.stderr


@pytest.fixture
def place(tmp_path):
    return Place(tmp_path)


def test_the_longest_tested_one_comes_first(place):
    place.python("python3", "3.13.1")
    assert place.found() == str(place.bin / "python3")
    for version in ("3.13.1", "3.12.4", "3.11.9"):
        path = place.python(f"python{version[:4]}", version)
        assert place.found() == str(path)


def test_all_that_is_wrong_is_reported_at_once_with_a_command_that_brings_one(place):
    assert "no Python is on the PATH" in place.said()
    place.python("python3.12", "3.12.1", venv=False)
    place.put("python3.13", "echo 'pyenv: command not found' >&2; exit 127")
    place.python("python3", "3.10.13")
    place.python("python", "3.14.0")
    said = place.said()
    assert "on Debian and Ubuntu, `sudo apt install python3.12-venv`" in said
    assert "python3.13 does not run: pyenv: command not found" in said
    assert "python3 is Python 3.10.13: too old" in said
    assert "python is Python 3.14.0: too new" in said
    assert "Nothing was downloaded" in said
    path = place.python("python3.11", "3.11.2")
    assert place.found() == str(path)


@pytest.mark.parametrize(("tools", "command"), [
    (["uv", "pipx"], "  uv python install 3.12\n"),
    (["pipx"], "  pipx run uv python install 3.12\n"),
    ([], "  python3 -m venv ~/.uv && ~/.uv/bin/pip install uv && ~/.uv/bin/uv python install 3.12\n"),
])  # fmt: skip
def test_the_command_is_one_that_can_be_run(place, tools, command):
    place.python("python3", "3.9.2")
    for tool in tools:
        place.put(tool, "exit 0")
    assert place.said().endswith(command)


def test_what_uv_installed_is_found_off_the_path(place):
    place.python("python3", "3.10.1")
    where = ".local/share/uv/python/cpython-3.12.9-linux-x86_64-gnu/bin"
    path = place.python("python3.12", "3.12.9", folder=place.home / where)
    assert place.found() == str(path)


def test_a_named_python_is_looked_at_alone(place):
    right, old = place.python("python3.11", "3.11.9"), place.python("old", "3.10.1")
    assert place.found(str(right)) == str(right)
    assert f"{old} is Python 3.10.1: too old" in place.said(str(old))
    assert "then run make again, without PYTHON=:" in place.said(str(old))
    assert "/nowhere/python is not there" in place.said("/nowhere/python")


def made(place):
    return (place.home / "made").read_text(encoding="utf-8").split("\n")[-2]


def test_an_environment_of_another_python_or_a_moved_one_is_made_anew(place):
    place.python("python3.12", "3.12.1")
    venv = place.home / "venv"
    assert place.run("make", venv).returncode == 0
    assert made(place) == f"-m venv {venv}"
    place.python("bin/python", "3.12.4", folder=venv)
    place.put("bin/pip", "", folder=venv)
    assert place.run("make", venv).stderr == ""
    assert made(place) == f"-m venv {venv}"
    assert place.run("usable", venv).stdout == ""
    place.python("bin/python", "3.11.4", folder=venv)
    assert "is of Python 3.11.4; making it anew with 3.12.1" in place.run("make", venv).stderr
    assert made(place) == f"-m venv --clear {venv}"
    (venv / "bin/pip").write_text(f"#!{venv}-moved/bin/python\n", encoding="utf-8")
    assert place.run("usable", venv).stdout == "no\n"
    assert "does not run here (its folder was moved" in place.run("make", venv).stderr
    assert place.run("usable", place.home / "none").stdout == ""


def test_the_bounds_are_the_package_s():
    bounds = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"][
        "requires-python"
    ]
    assert bounds == ">=3.11,<3.14"
    assert 'NEEDED="3.11 3.12 3.13"' in SCRIPT.read_text(encoding="utf-8")
