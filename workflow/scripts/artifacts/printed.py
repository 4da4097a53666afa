"""Check the papers' printed tables against themselves, without any model."""

from pathlib import Path

import pandas as pd

from polyreward.analysis.comparison import Benchmark
from polyreward.artifacts.renderings import as_cells, with_interval, write_artifact
from polyreward.claims.printed_checks import COLUMNS, printed_checks
from polyreward.core.tables import read_csv
from polyreward.ops.jobs import run

COUNTS = ("average", "copied", "same numbers")  # checks whose value is a number of rows or cells
HEADS = dict(zip(COLUMNS[:6], ["Paper", "Tables", "Check", "Base", "Language", "What"], strict=True))


def display_checks(table: pd.DataFrame, confidence: str) -> pd.DataFrame:
    """Return the cells of the checks for readers; confidence: such as "95%"."""
    shown = table[list(HEADS)].rename(columns=HEADS).fillna("")
    values = [
        with_interval(row.value, row.low, row.high, _form(row.check, row.what)) for row in table.itertuples()
    ]
    counts = as_cells(table["n"])
    return shown.assign(**{f"Value [{confidence}]": values, "n": counts, "Note": table["note"]})


def _form(check: str, what: str) -> str:
    if check in COUNTS:
        return ".0f"
    return "+.1f" if "minus" in what else ".1f"


def main(snakemake):
    params = snakemake.params
    tables = {
        name: {Path(path).stem: read_csv(path) for path in snakemake.input if Path(path).parts[-3] == name}
        for name in params.papers
    }
    table = printed_checks(params.papers, tables, Benchmark(**params.benchmark), params.level)
    shown = display_checks(table, params.confidence)
    write_artifact(table, COLUMNS, params.caption, "printed", snakemake.output, shown)


if __name__ == "__main__":
    run(main, globals().get("snakemake"))
