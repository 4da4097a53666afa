"""Draw Figure 2 of the CARB paper."""

from polyreward.artifacts.figures import save_figure
from polyreward.carb.figures.figure2 import GROUP_COLUMNS, draw_figure2
from polyreward.carb.leaderboard import chance_of, leaderboard_columns
from polyreward.core.tables import read_exact, write_table
from polyreward.ops.jobs import run


def main(snakemake):
    params, inputs, output = snakemake.params, snakemake.input, snakemake.output
    table = read_exact(inputs.groups, GROUP_COLUMNS)
    chance = chance_of(read_exact(inputs.leaderboard, leaderboard_columns(params.cultures, params.domains)))
    write_table(table, output.csv, GROUP_COLUMNS)
    save_figure(draw_figure2(table, chance, params.confidence), output.png, output.pdf)


if __name__ == "__main__":
    run(main, globals().get("snakemake"))
