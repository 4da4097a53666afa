"""Write the sheet of scorers."""

import pandas as pd

from polyreward.core.sheet import SHEET_COLUMNS
from polyreward.core.tables import write_csv
from polyreward.ops.jobs import run


def main(snakemake):
    write_csv(pd.DataFrame(snakemake.params.sheet)[SHEET_COLUMNS], snakemake.output[0])


if __name__ == "__main__":
    run(main, globals().get("snakemake"))
