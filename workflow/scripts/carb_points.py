"""Put the picks beside the reward models' scores on both benchmarks."""

from polyreward.jobs import start_job

start_job(snakemake)

from polyreward.carb.correlation import POINT_COLUMNS
from polyreward.carb.leaderboard import leaderboard_columns
from polyreward.carb.validity import PICK_COLUMNS, with_benchmarks
from polyreward.reports import LANGUAGE_COLUMNS
from polyreward.tables import read_table, write_table

inputs, params = snakemake.input, snakemake.params
rewardbench = [read_table(path, LANGUAGE_COLUMNS) for path in inputs.rewardbench]
leaderboard = read_table(inputs.leaderboard, leaderboard_columns(params.cultures, params.domains))
points = with_benchmarks(read_table(inputs.picks, PICK_COLUMNS), leaderboard, rewardbench, params.of_model)
write_table(points, snakemake.output[0], POINT_COLUMNS)
