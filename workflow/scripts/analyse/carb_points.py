"""Put the picks beside the reward models' scores on both benchmarks."""

from polyreward.ops.jobs import start_job

start_job(snakemake)

from polyreward.carb.downstream.correlation import POINT_COLUMNS
from polyreward.carb.leaderboard import leaderboard_columns
from polyreward.carb.downstream.picks import PICK_COLUMNS, with_benchmarks
from polyreward.analysis.tables import LANGUAGE_COLUMNS
from polyreward.core.tables import read_exact, read_table, write_table

inputs, params = snakemake.input, snakemake.params
rewardbench = [read_table(path, LANGUAGE_COLUMNS) for path in inputs.rewardbench]
leaderboard = read_exact(inputs.leaderboard, leaderboard_columns(params.cultures, params.domains))
points = with_benchmarks(read_table(inputs.picks, PICK_COLUMNS), leaderboard, rewardbench, **params.settings)
write_table(points, snakemake.output[0], POINT_COLUMNS)
