"""Translate one set of rows to one language, or its first few rows for the quality table."""

from polyreward.ops.jobs import start_job

start_job(snakemake)

from polyreward.core.files import read_jsonl, write_jsonl
from polyreward.translation.released import with_released
from polyreward.translation.run import translated

params = snakemake.params
rows = read_jsonl(snakemake.input.rows)[: params.first]
resource = snakemake.input.get("engine") or None
target = snakemake.wildcards.language
made = with_released(
    rows,
    target,
    lambda rest: translated(rest, resource=resource, source=params.source, target=target, **params.engine),
)
write_jsonl(made, snakemake.output[0])
