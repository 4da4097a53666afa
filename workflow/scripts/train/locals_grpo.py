"""Train a judge by GRPO with one choice of rewards."""

from polyreward.ops.jobs import start_job

start_job(snakemake)

from polyreward.core.files import read_jsonl
from polyreward.training.launch import train
from polyreward.think_as_locals.grpo import GrpoSettings, train_grpo

files, params = snakemake.input, snakemake.params
where = {"start_folder": files.start, "checkpoints": params.checkpoints, "out_folder": snakemake.output[0]}
settings, label = GrpoSettings.from_config(params.settings), f"GRPO, {snakemake.wildcards.run}"
train(
    train_grpo,
    params.launch,
    settings,
    label,
    questions=read_jsonl(files.questions),
    seed=params.seed,
    **where,
)
