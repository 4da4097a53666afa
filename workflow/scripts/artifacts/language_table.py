"""Write one of Tables 3-7, tidy and as the paper prints it."""

from polyreward.analysis.tables import LANGUAGE_COLUMNS
from polyreward.artifacts.renderings import write_artifact
from polyreward.core.sheet import of_table, read_sheet
from polyreward.core.tables import read_table
from polyreward.core.unavailable import with_reasons
from polyreward.ops.jobs import run
from polyreward.transfer.tables import display_language_table


def main(snakemake):
    params, name = snakemake.params, snakemake.wildcards.language_table
    table = read_table(snakemake.input.table, LANGUAGE_COLUMNS)
    table = table[table["reward_model"].isin(of_table(read_sheet(snakemake.input.sheet), "language_tables"))]
    shown = display_language_table(table, params.confidence)
    caption = with_reasons(params.caption, table, "reward_model")
    write_artifact(table, LANGUAGE_COLUMNS, caption, name, snakemake.output, shown)


if __name__ == "__main__":
    run(main, globals().get("snakemake"))
