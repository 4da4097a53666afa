"""Teach a base the layout, on replies that are written by rule."""

from polyreward.ops.jobs import start_job

start_job(snakemake)

from polyreward.training.policies import PolicySettings, train_sft
from polyreward.core.files import read_jsonl
from polyreward.think_as_locals.criteria import at_once
from polyreward.training.launch import train

params, settings = snakemake.params, PolicySettings.from_config(snakemake.params.settings)
rows = read_jsonl(snakemake.input.rows) if params.criteria else at_once(read_jsonl(snakemake.input.rows))
where = {
    "base_folder": snakemake.input.base,
    "checkpoints": params.checkpoints,
    "out_folder": snakemake.output[0],
}
train(train_sft, params.launch, settings, "warm-up of judges", rows=rows, seed=params.seed, **where)
