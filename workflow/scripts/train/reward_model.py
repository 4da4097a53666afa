"""Train one reward model."""

from polyreward.ops.jobs import start_job

start_job(snakemake)

from polyreward.core.files import read_jsonl
from polyreward.training.launch import train
from polyreward.training.reward_model import TrainSettings, train_reward_model

files, params = snakemake.input, snakemake.params
settings, name = TrainSettings.from_config(params.settings), snakemake.wildcards.model
where = {"base_folder": files.base, "checkpoints": params.checkpoints, "out_folder": snakemake.output[0]}
train(
    train_reward_model, params.launch, settings, name, rows=read_jsonl(files.rows), seed=params.seed, **where
)
