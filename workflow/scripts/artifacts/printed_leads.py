"""Draw the lead of English that the transfer paper prints, by base and target language."""

from polyreward.artifacts.figures import save_figure
from polyreward.core.tables import read_csv, write_table
from polyreward.ops.jobs import run
from polyreward.transfer.printed_leads import COLUMNS, draw_printed_leads, plotted_leads


def main(snakemake):
    output = snakemake.output
    leads = plotted_leads(read_csv(snakemake.input[0]))
    write_table(leads, output.csv, COLUMNS)
    save_figure(draw_printed_leads(leads, snakemake.params.confidence), output.png, output.pdf)


if __name__ == "__main__":
    run(main, globals().get("snakemake"))
