"""Lay out a comparison of judges."""

from polyreward.artifacts.renderings import write_artifact
from polyreward.core.tables import read_exact
from polyreward.core.unavailable import with_reasons
from polyreward.ops.jobs import run
from polyreward.think_as_locals.comparison import COLUMNS, display


def main(snakemake):
    params, table = snakemake.params, read_exact(snakemake.input[0], COLUMNS)
    shown = display(table, params.names, params.confidence)
    caption = with_reasons(params.caption, table, "judge")
    write_artifact(table, COLUMNS, caption, params.artifact, snakemake.output, shown)


if __name__ == "__main__":
    run(main, globals().get("snakemake"))
