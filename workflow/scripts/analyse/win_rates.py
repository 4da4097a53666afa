"""Put the judgements of all languages together, and count wins and what the judge gets right."""

import pandas as pd

from polyreward.alignment.win_rates import (
    AGREEMENT_COLUMNS,
    COLUMNS,
    JUDGE_COLUMNS,
    JUDGEMENT_COLUMNS,
    KNOWN_COLUMNS,
    LABEL_COLUMNS,
    judge_accuracy,
    label_agreement,
    win_rates,
)
from polyreward.analysis.bootstrap import Interval
from polyreward.core.tables import read_table, write_table
from polyreward.ops.jobs import run


def main(snakemake):
    files, interval = snakemake.input, Interval(**snakemake.params.interval)
    judged = pd.concat([read_table(path, JUDGEMENT_COLUMNS) for path in files.judgements])
    known = pd.concat([read_table(path, KNOWN_COLUMNS) for path in files.known])
    labels = pd.concat([read_table(path, LABEL_COLUMNS) for path in files.labels])
    write_table(judged, snakemake.output.judgements, JUDGEMENT_COLUMNS)
    write_table(win_rates(judged, interval, snakemake.params.trainings), snakemake.output.win_rates, COLUMNS)
    write_table(judge_accuracy(known, interval), snakemake.output.judge, JUDGE_COLUMNS)
    write_table(label_agreement(labels, interval), snakemake.output.agreement, AGREEMENT_COLUMNS)


if __name__ == "__main__":
    run(main, globals().get("snakemake"))
