"""Resolve the revision of one hub repository to a commit."""

from polyreward.ops.jobs import run
from polyreward.sources.revisions import record_revision


def main(snakemake):
    params, kind = snakemake.params, snakemake.wildcards.kind
    repository, revision = params.asked
    record_revision(repository, kind, revision, params.known, snakemake.output[0], params.may_be_missing)


if __name__ == "__main__":
    run(main, globals().get("snakemake"))
