"""Train one reward model."""

from polyreward.jobs import start_job

start_job(snakemake)

from polyreward.files import read_jsonl
from polyreward.training import TrainSettings, train_reward_model

train_reward_model(
    snakemake.input.base, read_jsonl(snakemake.input.rows), TrainSettings.from_config(snakemake.params.settings),
    snakemake.params.seed, snakemake.input.frozen, snakemake.params.checkpoints, snakemake.output[0],
    snakemake.wildcards.model,
)  # fmt: skip
