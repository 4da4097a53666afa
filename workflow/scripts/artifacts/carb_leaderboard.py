"""Rank all scorers on CARB."""

from polyreward.ops.jobs import start_job

start_job(snakemake)

from polyreward.core.unavailable import with_reasons
from polyreward.artifacts.renderings import write_artifact
from polyreward.carb.leaderboard import display_leaderboard, leaderboard_columns
from polyreward.core.tables import read_exact

params = snakemake.params
columns = leaderboard_columns(params.cultures, params.domains)
table = read_exact(snakemake.input[0], columns)
shown = display_leaderboard(table, [*params.cultures, *params.domains], params.confidence)
write_artifact(
    table, columns, with_reasons(params.caption, table, "scorer"), "carb_leaderboard", snakemake.output, shown
)
