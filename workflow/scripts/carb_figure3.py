"""Draw Figure 3 of the CARB paper."""

from polyreward.jobs import start_job

start_job(snakemake)

import pandas as pd
from polyreward.carb.figure3 import BEST, KINDS, draw_figure3
from polyreward.carb.groups import DOMAIN_COLUMNS, domain_table
from polyreward.carb.leaderboard import board_of, by_scorer
from polyreward.figures import save_figure
from polyreward.tables import write_table

params, output = snakemake.params, snakemake.output
scores = by_scorer(list(params.settings["kinds"]), map(pd.read_parquet, snakemake.input))
board = board_of(scores, params.settings)
table = domain_table(board, KINDS, BEST)
write_table(table, output.csv, DOMAIN_COLUMNS)
save_figure(draw_figure3(table, board.chance("carb")), output.png, output.pdf)
