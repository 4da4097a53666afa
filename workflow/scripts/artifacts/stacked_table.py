"""Join tables that are made for each language or benchmark."""

import pandas as pd

from polyreward.artifacts.renderings import write_artifact
from polyreward.core.tables import read_csv
from polyreward.ops.jobs import run


def main(snakemake):
    caption, name = snakemake.params.caption, snakemake.wildcards.table
    table = pd.concat([read_csv(path, dtype_backend="numpy_nullable") for path in snakemake.input])
    write_artifact(table, list(table.columns), caption, name, snakemake.output)


if __name__ == "__main__":
    run(main, globals().get("snakemake"))
