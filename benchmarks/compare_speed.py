"""Seconds of `polyreward compare` on ten made-up models and the 2,985 rows of RewardBench's subsets."""

import argparse
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pandas as pd

ROOT = Path(__file__).parent.parent
SIZES = ROOT / "workflow/papers/transfer/printed/rewardbench_sizes.csv"


def write_models(folder: Path, count: int) -> list[str]:
    """Write a file of scores for each model, and return their paths. What is hard is hard for all."""
    sizes = pd.read_csv(SIZES)
    subsets = np.repeat(sizes["subset"], sizes["pairs"]).to_numpy()
    generator = np.random.default_rng(1)
    hard, paths = generator.normal(size=len(subsets)), []
    for number in range(count):
        margins = 1 + 0.1 * number + hard + generator.normal(size=len(subsets))
        rows = pd.DataFrame({"id": range(len(subsets)), "subset": subsets, "score_chosen": margins})
        paths.append(str(folder / f"model{number}.jsonl"))
        rows.assign(score_rejected=0.0).to_json(paths[-1], orient="records", lines=True)
    return paths


def main() -> None:
    """Print a Markdown table, a row for each level at which pairs are compared."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--models", type=int, default=10, help="number of models")
    count = parser.parse_args().models
    print("| level | seconds | seconds of CPU | load of the machine |\n| --- | --- | --- | --- |")
    with tempfile.TemporaryDirectory() as folder:
        paths = write_models(Path(folder), count)
        for level in ("overall", "section", "subset"):
            options = ["--sections", "rewardbench", "--level", level, "--out", f"{folder}/out"]
            command = [Path(sys.executable).with_name("polyreward"), "compare", *paths, *options]
            used, before = cpu_seconds(), time.monotonic()
            subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
            seconds, cpu = time.monotonic() - before, cpu_seconds() - used
            load = f"{os.getloadavg()[0]:.1f} on {os.cpu_count()} cores"
            print(f"| {level} | {seconds:.1f} | {cpu:.1f} | {load} |", flush=True)


def cpu_seconds() -> float:
    """Return the processor seconds of all commands that have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


if __name__ == "__main__":
    main()
