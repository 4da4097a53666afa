"""Write Table 1, tidy and as the paper prints it."""

from polyreward.analysis.tables import TRANSFER_COLUMNS
from polyreward.artifacts.renderings import write_artifact
from polyreward.core.tables import read_table
from polyreward.ops.jobs import run
from polyreward.transfer.tables import display_table1


def main(snakemake):
    params, table = snakemake.params, read_table(snakemake.input[0], TRANSFER_COLUMNS)
    shown = display_table1(table, params.confidence)
    write_artifact(table, TRANSFER_COLUMNS, params.caption, "table1", snakemake.output, shown)


if __name__ == "__main__":
    run(main, globals().get("snakemake"))
