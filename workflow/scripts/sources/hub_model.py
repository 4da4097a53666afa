"""Fetch a reward model of the hub at one commit, from the cache or the network."""

from polyreward.core.seals import sealed_folder
from polyreward.core.unavailable import model_or_reason
from polyreward.ops.jobs import run
from polyreward.sources.hub import copy_model, fetched_model
from polyreward.sources.revisions import at_commit


def main(snakemake):
    params, output = snakemake.params, snakemake.output[0]
    with sealed_folder(output) as folder, model_or_reason(folder, output, params.may_be_missing):
        source = at_commit({"id": params.repository}, snakemake.input)
        copy_model(fetched_model(source["id"], source["revision"]), folder)


if __name__ == "__main__":
    run(main, globals().get("snakemake"))
