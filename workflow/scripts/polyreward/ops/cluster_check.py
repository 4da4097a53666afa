"""Try the SLURM profile with a toy, and print what it found."""

import json
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from polyreward.core.errors import PolyrewardError, raise_all, unknown
from polyreward.ops.cluster import output_of, site_file, site_settings

PROFILE = Path(__file__).parents[3] / "profiles/slurm"


def check_cluster(folder: Path, options: list[str]) -> None:
    """Compare the site's settings with the cluster, run a job on a CPU and one on a GPU, and print both.

    Args:
        folder: where they write, on a disk that all nodes share.
        options: more of Snakemake's.
    """
    missing = [tool for tool in ("sbatch", "squeue", "sinfo", "srun") if not shutil.which(tool)]
    if missing:
        raise PolyrewardError(f"{', '.join(missing)}: not found; run this on a login node of a SLURM cluster")
    site = site_settings()
    raise_all(cluster_problems(site), str(site_file()))
    for key, value in site.items():
        print(f"{key}: {value or 'none'}")
    kinds = ["cpu", "gpu"] if site["gpu_partition"] else ["cpu"]
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    command = [sys.executable, "-m", "snakemake", "--snakefile", PROFILE / "check.smk", "--profile", PROFILE]
    ran = subprocess.run([*command, *options, "--config", f"gpu={'gpu' in kinds}"], cwd=folder)
    if ran.returncode:
        logs = f"Snakemake names its log above, and SLURM's are in {folder}/.snakemake"
        raise PolyrewardError(f"the toy failed; {logs}")
    for kind in kinds:
        facts = json.loads((folder / f"{kind}.json").read_text(encoding="utf-8"))
        gpus = ", ".join(facts["gpus"]) or "no GPU"
        versions = f"Python {facts['python']}, torch {facts['torch']}"
        print(f"{kind}: ran on {facts['node']}, {facts['cpus']} CPUs, {versions}, {gpus}")
        if kind == "gpu" and not facts["gpus"]:
            raise PolyrewardError(
                f"SLURM gave the GPU job a GPU on {facts['node']}, but PyTorch sees none there; is torch "
                f"{facts['torch']} a build for its driver (see `nvidia-smi` on that node)?"
            )
    print("The profile works here.")


def cluster_problems(site: dict) -> Iterator[str]:
    """Yield where a site's settings do not fit the cluster that this machine belongs to."""
    listed = [line.split("|") for line in output_of("sinfo", "--noheader", "--format=%R|%G").splitlines()]
    partitions, partition = {name for name, _ in listed}, site["gpu_partition"]
    named = [site[key] for key in ("partition", "gpu_partition") if site[key]]
    yield from unknown("partition", named, partitions, "this cluster")
    gpus = sorted({gpu for name, gpu in listed if name == partition and gpu.startswith("gpu:")})
    if partition in partitions and not gpus:
        yield f"gpu_partition: no node of `{partition}` has a GPU; name another, or write null"
    elif gpus and site["gpu_type"] and not any(f"gpu:{site['gpu_type']}:" in gpu for gpu in gpus):
        yield f"gpu_type: no node of `{partition}` has `{site['gpu_type']}`, but {', '.join(gpus)}"
    if site["status_command"] == "sacct":
        ran = subprocess.run(["sacct", "--allocations", "--noheader"], text=True, capture_output=True)
        if ran.returncode:
            yield f"status_command: `sacct` says: {(ran.stderr or ran.stdout).strip()}; write squeue"
