"""Write the checksums of all files of artifacts."""

from pathlib import Path

from polyreward.artifacts.sums import write_sums
from polyreward.ops.jobs import run


def main(snakemake):
    results = Path(snakemake.output[0]).parent
    names = [Path(path).relative_to(results).as_posix() for path in snakemake.input]
    write_sums(results, names, snakemake.output[0])


if __name__ == "__main__":
    run(main, globals().get("snakemake"))
