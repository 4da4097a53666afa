"""Say which of the CARB paper's claims hold."""

import pandas as pd

from polyreward.analysis.comparison import Benchmark
from polyreward.claims.carb_evidence import read_carb_evidence
from polyreward.claims.carb_printed import CarbPrinted
from polyreward.claims.table import claims_table, write_claims
from polyreward.ops.jobs import run


def main(snakemake):
    params, inputs = snakemake.params, snakemake.input
    evidence = read_carb_evidence(inputs, benchmark=Benchmark(**params.benchmark), **params.evidence)
    printed = CarbPrinted(*map(pd.read_csv, inputs.published))
    table = claims_table(params.claims, evidence, printed, params.evidence["board"]["interval"]["confidence"])
    write_claims(table, "carb_claims", params.caption, params.confidence, snakemake.output)


if __name__ == "__main__":
    run(main, globals().get("snakemake"))
