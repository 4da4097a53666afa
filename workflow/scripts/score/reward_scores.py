"""Score reward models of one base on one benchmark, in the languages asked for."""

from polyreward.ops.jobs import start_job

start_job(snakemake)

from polyreward.scoring.in_turn import Scoring, score_in_turn

models, rows, params = snakemake.input.models, snakemake.input.rows, snakemake.params
work = [
    Scoring(models[model], rows[of_rows], scores)
    for (model, of_rows), scores in zip(params.pairs, snakemake.output, strict=True)
]
score_in_turn(work, params.scoring, params.top_layers)
