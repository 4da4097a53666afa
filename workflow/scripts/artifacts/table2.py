"""Write Table 2, tidy and as the paper prints it."""

from polyreward.analysis.tables import READY_MADE_COLUMNS
from polyreward.artifacts.renderings import write_artifact
from polyreward.core.tables import read_table
from polyreward.core.unavailable import with_reasons
from polyreward.ops.jobs import run
from polyreward.transfer.tables import display_ready_made


def main(snakemake):
    params, table = snakemake.params, read_table(snakemake.input[0], READY_MADE_COLUMNS)
    shown = display_ready_made(table, params.confidence)
    caption = with_reasons(params.caption, table, "reward_model")
    write_artifact(table, READY_MADE_COLUMNS, caption, "table2", snakemake.output, shown)


if __name__ == "__main__":
    run(main, globals().get("snakemake"))
