"""Teach a base the layout, on replies that are written by rule."""

from polyreward.jobs import start_job

start_job(snakemake)

from polyreward.alignment.policies import PolicySettings, train_sft
from polyreward.files import read_jsonl
from polyreward.launch import train

params, settings = snakemake.params, PolicySettings.from_config(snakemake.params.settings)
where = {"base_folder": snakemake.input.base, "out_folder": snakemake.output[0]}
train(train_sft, params.launch, settings, "warm-up of judges", rows=read_jsonl(snakemake.input.rows), seed=params.seed, **where)
