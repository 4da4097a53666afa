"""make where HOME cannot be written to, as for a container's user without an entry."""

import os
import subprocess
import sys
from pathlib import Path

from support import ROOT


def test_make_keeps_caches_in_its_folder_where_home_cannot_be_written_to(tmp_path):
    (tmp_path / "Snakefile").write_text('rule one:\n    output: "results/out"\n    shell: "touch {output}"\n')
    (tmp_path / "config.yaml").write_text("results: results\n")
    home = tmp_path / "home"
    home.touch()  # a file, since root may write to any folder
    command = ["make", "-f", ROOT / "Makefile", "-o", ".venv/ready", f"BIN={Path(sys.executable).parent}"]
    environment = {name: value for name, value in os.environ.items() if name != "XDG_CACHE_HOME"}
    how = {"text": True, "stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}
    ran = subprocess.run(
        [*command, "CORES=1", "results/out"], cwd=tmp_path, env={**environment, "HOME": str(home)}, **how
    )
    assert ran.returncode == 0, ran.stdout
    assert list((tmp_path / ".snakemake/cache").iterdir())
