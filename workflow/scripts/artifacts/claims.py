"""Join the claims of both papers."""

import pandas as pd

from polyreward.claims.table import read_claims, write_claims
from polyreward.ops.jobs import run


def main(snakemake):
    table, params = pd.concat(map(read_claims, snakemake.input)), snakemake.params
    write_claims(table, "claims", params.caption, params.confidence, params.shorts, snakemake.output)


if __name__ == "__main__":
    run(main, globals().get("snakemake"))
