"""Compare all scorers on CARB: the leaderboard, scores by group of languages and by domain, and one item."""

from polyreward.ops.jobs import start_job

start_job(snakemake)

from polyreward.carb.figures.figure1 import COLUMNS, glance_table
from polyreward.carb.figures.figure3 import BEST, KINDS
from polyreward.carb.items.groups import (
    DOMAIN_COLUMNS,
    GROUP_COLUMNS,
    domain_table,
    group_table,
    language_groups,
    sections_of,
)
from polyreward.carb.leaderboard import board_of, by_scorer, leaderboard_columns
from polyreward.core.files import read_jsonl
from polyreward.core.tables import read_scores, write_exact

params, settings, output = snakemake.params, snakemake.params.settings, snakemake.output
groups = language_groups(params.languages, settings["cultures"])
scores = by_scorer(list(settings["kinds"]), map(read_scores, snakemake.input.scores))
board = board_of(scores, settings, sections_of(groups))
items = [item for path in snakemake.input.item_files for item in read_jsonl(path)]
write_exact(board.table(), output.leaderboard, leaderboard_columns(settings["cultures"], settings["domains"]))
write_exact(group_table(board, groups), output.groups, GROUP_COLUMNS)
write_exact(domain_table(board, KINDS, BEST), output.domains, DOMAIN_COLUMNS)
write_exact(glance_table(board, items, scores, params.example_culture), output.glance, COLUMNS)
