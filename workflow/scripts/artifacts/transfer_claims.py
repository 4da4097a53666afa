"""Say which of the transfer paper's claims hold."""

from polyreward.ops.jobs import start_job

start_job(snakemake)

import pandas as pd
from polyreward.analysis.comparison import Benchmark
from polyreward.analysis.bootstrap import Interval
from polyreward.claims.table import claims_table, write_claims
from polyreward.claims.transfer_evidence import Setting, read_evidence
from polyreward.claims.transfer_printed import Printed

params, inputs = snakemake.params, snakemake.input
setting, interval = Setting(scripts=params.scripts, **params.setting), Interval(**params.interval)
evidence = read_evidence(
    inputs, setting, params.scorers, Benchmark(**params.benchmark), interval, params.halves
)
printed = Printed(*map(pd.read_csv, inputs.published), params.scripts)
table = claims_table(params.claims, evidence, printed, interval.confidence)
write_claims(table, "transfer_claims", params.caption, params.confidence, snakemake.output)
