"""Compare all scorers on place quartets."""

from polyreward.analysis.bootstrap import Interval
from polyreward.carb.culture.comparison import (
    CULTURE_COLUMNS,
    DIFFERENCE_COLUMNS,
    culture_table,
    difference_table,
    read_culture,
)
from polyreward.core.sheet import read_sheet
from polyreward.core.tables import unavailable_reasons, write_exact
from polyreward.ops.jobs import run


def main(snakemake):
    files, params, output = snakemake.input, snakemake.params, snakemake.output
    sheet = read_sheet(files.sheet)
    interval = Interval(**params.interval)
    found = read_culture(
        files.item_files, files.scores, sheet, interval, files.unplaced, files.unplaced_scores
    )
    table = culture_table(found, sheet, params.languages, unavailable_reasons(files.scores))
    first = next(iter(found.values()))
    differences = difference_table(first, sheet, params.languages, params.source)
    write_exact(table, output.table, CULTURE_COLUMNS)
    write_exact(differences, output.differences, DIFFERENCE_COLUMNS)


if __name__ == "__main__":
    run(main, globals().get("snakemake"))
