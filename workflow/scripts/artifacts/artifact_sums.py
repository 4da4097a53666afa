"""Write the checksums of all files of artifacts."""

from pathlib import Path

from polyreward.ops.jobs import start_job

start_job(snakemake)

from polyreward.artifacts.sums import write_sums

results = Path(snakemake.output[0]).parent
write_sums(
    results, [Path(path).relative_to(results).as_posix() for path in snakemake.input], snakemake.output[0]
)
