"""Measure each engine's sample against the hand-made translation."""

from pathlib import Path

import pandas as pd
from polyreward.core.files import read_jsonl
from polyreward.core.tables import write_table
from polyreward.ops.jobs import run
from polyreward.translation.quality import QUALITY_COLUMNS, quality_row


def main(snakemake):
    inputs = snakemake.input
    source = read_jsonl(inputs.source)
    references = {Path(path).stem: read_jsonl(path) for path in inputs.references}
    rows = [
        quality_row(
            source, read_jsonl(path), references[path.stem], engine=path.parent.name, language=path.stem
        )
        for path in map(Path, inputs.samples)
    ]
    write_table(pd.concat(rows), snakemake.output[0], QUALITY_COLUMNS)


if __name__ == "__main__":
    run(main, globals().get("snakemake"))
