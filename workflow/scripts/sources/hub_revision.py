"""Resolve the revision of one hub repository to a commit."""

from polyreward.core.unavailable import may_be_missing
from polyreward.ops.jobs import run
from polyreward.sources.revisions import record_revision


def main(snakemake):
    repository, revision = snakemake.params.asked
    record_revision(
        repository,
        snakemake.wildcards.kind,
        revision,
        snakemake.params.known,
        snakemake.output[0],
        may_be_missing(snakemake.config),
    )


if __name__ == "__main__":
    run(main, globals().get("snakemake"))
