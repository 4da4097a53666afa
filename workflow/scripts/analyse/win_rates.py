"""Put the judgements of all languages together, and count wins."""

from polyreward.ops.jobs import start_job

start_job(snakemake)

import pandas as pd
from polyreward.alignment import judging
from polyreward.alignment import win_rates
from polyreward.analysis.bootstrap import Interval
from polyreward.core.tables import read_table, write_table

judged = pd.concat([read_table(path, judging.COLUMNS) for path in snakemake.input])
write_table(judged, snakemake.output.judgements, judging.COLUMNS)
rates = win_rates.win_rates(judged, Interval(**snakemake.params.interval))
write_table(rates, snakemake.output.win_rates, win_rates.COLUMNS)
