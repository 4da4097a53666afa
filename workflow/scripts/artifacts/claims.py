"""Put the claims of both papers together."""

from polyreward.ops.jobs import start_job

start_job(snakemake)

import pandas as pd
from polyreward.claims.table import read_claims, write_claims

params = snakemake.params
table = pd.concat(map(read_claims, snakemake.input))
write_claims(table, "claims", params.caption, params.confidence, snakemake.output)
