"""Measure how a base and its reward models lay out the parallel passages."""

from safetensors.numpy import load_file

from polyreward.analysis.bootstrap import Interval
from polyreward.analysis.geometry import COLUMNS, geometry_table
from polyreward.core.seals import intact
from polyreward.core.tables import write_table
from polyreward.ops.jobs import run


def main(snakemake):
    params, states = snakemake.params, load_file(intact(snakemake.input[0]))
    in_order = {name: states[name] for name in ("base", *params.languages)}
    table = geometry_table(in_order, snakemake.wildcards.base, params.languages, Interval(**params.interval))
    write_table(table, snakemake.output[0], COLUMNS)


if __name__ == "__main__":
    run(main, globals().get("snakemake"))
