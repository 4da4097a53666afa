"""Draw Figure 2 of the CARB paper."""

from polyreward.jobs import start_job

start_job(snakemake)

import pandas as pd
from polyreward.carb.figure2 import draw_figure2
from polyreward.carb.groups import GROUP_COLUMNS, group_table, language_groups, sections_of
from polyreward.carb.leaderboard import board_of, by_scorer
from polyreward.figures import save_figure
from polyreward.tables import write_table

params, output = snakemake.params, snakemake.output
groups = language_groups(params.languages, params.settings["cultures"])
scores = by_scorer(list(params.settings["kinds"]), map(pd.read_parquet, snakemake.input))
board = board_of(scores, params.settings, sections_of(groups))
table = group_table(board, groups)
write_table(table, output.csv, GROUP_COLUMNS)
save_figure(draw_figure2(table, board.chance("carb")), output.png, output.pdf)
