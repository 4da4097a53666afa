"""What all tests share: the repository, and Snakemake as a user calls it."""

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
TINY = "workflow/scales/tiny.yaml"


def snakemake(*arguments: str, cwd: Path = ROOT, offline: bool = True) -> subprocess.CompletedProcess:
    """Run Snakemake with the tests' own Python; output and errors are one text. offline: from the hub's cache alone."""
    command = [sys.executable, "-m", "snakemake", *arguments]
    environment = {**os.environ, **({"HF_HUB_OFFLINE": "1"} if offline else {})}
    return subprocess.run(command, cwd=cwd, env=environment, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
