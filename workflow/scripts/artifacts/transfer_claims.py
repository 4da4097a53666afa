"""Test the transfer paper's claims."""

from polyreward.analysis.bootstrap import Interval
from polyreward.analysis.comparison import Benchmark
from polyreward.claims.printed import Printed
from polyreward.claims.table import claims_table, write_claims
from polyreward.claims.transfer_evidence import Setting, read_evidence
from polyreward.ops.jobs import run


def main(snakemake):
    params, inputs = snakemake.params, snakemake.input
    setting, interval = Setting(scripts=params.scripts, **params.setting), Interval(**params.interval)
    facts = Benchmark(**params.benchmark)
    evidence = read_evidence(inputs, setting, facts, interval, params.policy_trainings)
    printed = Printed.read(inputs.published, params.paper)
    table = claims_table(params.claims, evidence, printed, interval.confidence)
    write_claims(table, "transfer_claims", params.caption, params.confidence, params.shorts, snakemake.output)


if __name__ == "__main__":
    run(main, globals().get("snakemake"))
