"""Time the dry run of every scale."""

import os
import re
import subprocess
import sys
import tempfile
import time

import common

from polyreward.core.errors import PolyrewardError

PLAN = [sys.executable, "-m", "snakemake", "-n", "--forceall", "--quiet", "rules", "--cores", "1", "all"]
SCALES = {"tiny": ["workflow/scales/tiny.yaml"], "mini": [], "paper": ["workflow/scales/paper.yaml"]}
CAPTION = """`snakemake -n --forceall all`, the least of {repeats} rounds. Processor seconds say more than
seconds where other work runs. Peak: the largest resident set, no less than this program's own."""


def dry_run(scale: str, repeats: int) -> dict:
    """Return a row of the table: jobs, seconds, processor seconds and peak memory (MiB)."""
    configfiles = SCALES[scale]
    command, runs, text = [*PLAN, *(["--configfile", *configfiles] if configfiles else [])], [], ""
    for _ in range(repeats):
        with tempfile.TemporaryFile("w+") as printed:
            start = time.perf_counter()
            process = subprocess.Popen(command, cwd=common.ROOT, stdout=printed, stderr=subprocess.STDOUT)
            _, status, used = os.wait4(process.pid, 0)
            runs.append((time.perf_counter() - start, used.ru_utime + used.ru_stime, used.ru_maxrss / 1024))
            printed.seek(0)
            text = printed.read()
        if status:
            raise PolyrewardError(f"{' '.join(command)} failed:\n{text[-2000:]}")
    jobs = re.search(r"^total +(\d+)$", text, re.MULTILINE)[1]
    seconds, processor, peak = (f"{min(values):.1f}" for values in zip(*runs, strict=True))
    row = {"scale": scale, "jobs": jobs, "seconds": seconds, "processor seconds": processor}
    return {**row, "peak MiB": peak.partition(".")[0]}


def main() -> None:
    """Print one table."""
    parser = common.parser(__doc__)
    parser.add_argument("--repeats", type=int, default=1, help="rounds")
    parser.add_argument(
        "--scales", nargs="+", default=list(SCALES), choices=list(SCALES), help="what to plan"
    )
    options = parser.parse_args()
    rows = [dry_run(scale, options.repeats) for scale in options.scales]
    common.print_table(CAPTION.format(repeats=options.repeats), rows)


if __name__ == "__main__":
    common.run(main)
