"""Draw Figure 1 of the CARB paper."""

from polyreward.jobs import start_job

start_job(snakemake)

import pandas as pd
from polyreward.carb.figure1 import COLUMNS, draw_figure1, glance_table, own_names, texts_by_culture
from polyreward.carb.fonts import fonts_for
from polyreward.carb.leaderboard import board_of, by_scorer
from polyreward.figures import save_figure
from polyreward.files import read_jsonl
from polyreward.tables import write_table

params, inputs, output = snakemake.params, snakemake.input, snakemake.output
scores = by_scorer(list(params.settings["kinds"]), map(pd.read_parquet, inputs.scores))
board = board_of(scores, params.settings)
items = [item for path in inputs.item_files for item in read_jsonl(path)]
table, names = glance_table(board, items, scores, params.example_culture), own_names(params.settings["cultures"])
write_table(table, output.csv, COLUMNS)
with fonts_for(texts_by_culture(table, names)) as families:
    save_figure(draw_figure1(table, names, families), output.png, output.pdf)
