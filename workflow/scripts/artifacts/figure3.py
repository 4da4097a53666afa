"""Draw Figure 3."""

from polyreward.alignment import win_rates
from polyreward.artifacts.figures import save_figure
from polyreward.core.tables import read_table, write_table
from polyreward.ops.jobs import run
from polyreward.transfer.figure3 import COLUMNS, draw_figure3, figure3_table


def main(snakemake):
    files, output = snakemake.input, snakemake.output
    rates = read_table(files.win_rates, win_rates.COLUMNS)
    judge = read_table(files.judge, win_rates.JUDGE_COLUMNS)
    table = figure3_table(rates, read_table(files.judgements, win_rates.JUDGEMENT_COLUMNS))
    write_table(table, output.csv, COLUMNS)
    write_table(judge, output.judge, win_rates.JUDGE_COLUMNS)
    agreement = read_table(files.agreement, win_rates.AGREEMENT_COLUMNS)
    write_table(agreement, output.agreement, win_rates.AGREEMENT_COLUMNS)
    save_figure(draw_figure3(table, judge, snakemake.params.confidence), output.png, output.pdf)


if __name__ == "__main__":
    run(main, globals().get("snakemake"))
