"""Test the CARB paper's claims."""

from pathlib import Path

from polyreward.analysis.bootstrap import Interval
from polyreward.analysis.comparison import Benchmark
from polyreward.claims.carb_evidence import read_carb_evidence
from polyreward.claims.carb_printed import CarbPrinted
from polyreward.claims.table import claims_table, write_claims
from polyreward.core.tables import read_csv
from polyreward.ops.jobs import run


def main(snakemake):
    params, inputs = snakemake.params, snakemake.input
    interval = Interval(**params.interval)
    evidence = read_carb_evidence(
        inputs, params.cells, params.judged_cultures, Benchmark(**params.benchmark), params.source, interval
    )
    published = {Path(path).stem.removeprefix("carb_"): read_csv(path) for path in inputs.published}
    table = claims_table(params.claims, evidence, CarbPrinted(**published), interval.confidence)
    write_claims(table, "carb_claims", params.caption, params.confidence, snakemake.output)


if __name__ == "__main__":
    run(main, globals().get("snakemake"))
