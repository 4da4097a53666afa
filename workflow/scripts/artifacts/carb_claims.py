"""Test the CARB paper's claims."""

from polyreward.analysis.bootstrap import Interval
from polyreward.analysis.comparison import Benchmark
from polyreward.claims.carb_evidence import read_carb_evidence
from polyreward.claims.printed import Printed
from polyreward.claims.table import claims_table, write_claims
from polyreward.ops.jobs import run


def main(snakemake):
    params, inputs = snakemake.params, snakemake.input
    interval = Interval(**params.interval)
    evidence = read_carb_evidence(
        inputs, params.cells, params.judged_cultures, Benchmark(**params.benchmark), params.source, interval
    )
    printed = Printed.read(inputs.published, params.paper)
    table = claims_table(params.claims, evidence, printed, interval.confidence)
    write_claims(table, "carb_claims", params.caption, params.confidence, params.shorts, snakemake.output)


if __name__ == "__main__":
    run(main, globals().get("snakemake"))
