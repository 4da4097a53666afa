"""Put the judgements of all languages together, and count wins."""

import pandas as pd

from polyreward.alignment.win_rates import COLUMNS, JUDGEMENT_COLUMNS, win_rates
from polyreward.analysis.bootstrap import Interval
from polyreward.core.tables import read_table, write_table
from polyreward.ops.jobs import run


def main(snakemake):
    judged = pd.concat([read_table(path, JUDGEMENT_COLUMNS) for path in snakemake.input])
    write_table(judged, snakemake.output.judgements, JUDGEMENT_COLUMNS)
    rates = win_rates(judged, Interval(**snakemake.params.interval))
    write_table(rates, snakemake.output.win_rates, COLUMNS)


if __name__ == "__main__":
    run(main, globals().get("snakemake"))
