"""Rank all scorers on CARB."""

from polyreward.jobs import start_job

start_job(snakemake)

import pandas as pd
from polyreward.carb.leaderboard import board_of, by_scorer, display_leaderboard
from polyreward.renderings import write_artifact

params, settings = snakemake.params, snakemake.params.settings
table = board_of(by_scorer(list(settings["kinds"]), map(pd.read_parquet, snakemake.input)), settings).table()
shown = display_leaderboard(table, [*settings["cultures"], *settings["domains"]], params.confidence)
write_artifact(table, list(table.columns), params.caption, "carb_leaderboard", snakemake.output, shown)
