"""Draw Figure 3 of the CARB paper."""

from polyreward.artifacts.figures import save_figure
from polyreward.carb.figures.figure3 import DOMAIN_COLUMNS, draw_figure3
from polyreward.carb.leaderboard import chance_of, leaderboard_columns
from polyreward.core.tables import read_exact, write_table
from polyreward.ops.jobs import run


def main(snakemake):
    params, inputs, output = snakemake.params, snakemake.input, snakemake.output
    table = read_exact(inputs.domains, DOMAIN_COLUMNS)
    chance = chance_of(read_exact(inputs.leaderboard, leaderboard_columns(params.cultures, params.domains)))
    write_table(table, output.csv, DOMAIN_COLUMNS)
    save_figure(draw_figure3(table, chance, params.confidence), output.png, output.pdf)


if __name__ == "__main__":
    run(main, globals().get("snakemake"))
