"""Resolve the revision of one hub repository to a commit."""

from polyreward.ops.jobs import start_job

start_job(snakemake)

from polyreward.core.unavailable import may_be_missing
from polyreward.sources.revisions import record_revision

params = snakemake.params
(repository, revision), kind = params.asked, snakemake.wildcards.kind
record_revision(
    repository, kind, revision, params.known, snakemake.output[0], may_be_missing(snakemake.config)
)
