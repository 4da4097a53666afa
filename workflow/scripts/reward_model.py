"""Train one reward model."""

from polyreward.jobs import start_job

start_job(snakemake)

from polyreward.files import read_jsonl
from polyreward.launch import train
from polyreward.training import TrainSettings, train_reward_model

files, params = snakemake.input, snakemake.params
train(
    train_reward_model, params.launch, TrainSettings.from_config(params.settings), snakemake.wildcards.model,
    base_folder=files.base, rows=read_jsonl(files.rows), seed=params.seed, checkpoints=params.checkpoints,
    out_folder=snakemake.output[0],
)  # fmt: skip
