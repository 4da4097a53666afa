"""Teach a base to answer, on chosen answers of every language."""

from polyreward.ops.jobs import start_job

start_job(snakemake)

from polyreward.training.policies import PolicySettings, spread, train_sft
from polyreward.core.files import read_jsonl
from polyreward.training.launch import train

params, settings = snakemake.params, PolicySettings.from_config(snakemake.params.settings)
examples = [row for path in snakemake.input.rows for row in spread(read_jsonl(path), params.rows)]
where = {
    "base_folder": snakemake.input.base,
    "checkpoints": params.checkpoints,
    "out_folder": snakemake.output[0],
}
train(train_sft, params.launch, settings, "SFT policy", rows=examples, seed=params.seed, **where)
