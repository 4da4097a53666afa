"""Fetch one reward model of the hub, at one commit, from the cache or the network."""

from polyreward.ops.jobs import start_job

start_job(snakemake)

from polyreward.core.unavailable import model_or_reason
from polyreward.core.seals import sealed_folder
from polyreward.sources.hub import copy_model, fetched_model
from polyreward.sources.revisions import at_commit

with sealed_folder(snakemake.output[0]) as folder, model_or_reason(folder, snakemake):
    source = at_commit({"id": snakemake.params.repository}, snakemake.input)
    copy_model(fetched_model(source["id"], source["revision"]), folder)
