"""A project of three rules that Snakemake ran for real: what its records say of each file is known."""

from support import snakemake

SNAKEFILE = """
from pathlib import Path
from polyreward.core.codehash import code_of

CODE = code_of(Path("workflow/scripts/copy.py"), Path("workflow/scripts/polyreward"))

rule model:
    input: "raw/a.txt"
    output: directory("results/model")
    shell: "mkdir {output} && cp {input} {output} && cd {output} && sha256sum a.txt > SHA256SUMS"

rule copy:
    input: "results/model", "raw/b.txt"
    output: "results/copy.txt"
    params: code=CODE, size=3
    log: "results/logs/copy.log"
    script: "workflow/scripts/copy.py"

use rule copy as table with:
    input: "results/copy.txt"
    output: "results/table.csv"
    log: "results/logs/table.log"
"""
JOB = "open(snakemake.output[0], 'w').write('done')\n"


def run_small_project(root):
    """Make its table below an empty folder, and return that."""
    for folder in ("raw", "workflow/scripts/polyreward"):
        (root / folder).mkdir(parents=True)
    for name in "ab":
        (root / f"raw/{name}.txt").write_text(f"{name}\n")
    (root / "requirements.lock").write_text("x==1\n")
    (root / "workflow/scripts/polyreward/__init__.py").touch()
    (root / "workflow/scripts/copy.py").write_text(JOB)
    (root / "Snakefile").write_text(SNAKEFILE)
    ran = snakemake("--cores", "1", "results/table.csv", cwd=root)
    assert ran.returncode == 0, ran.stdout
    return root
