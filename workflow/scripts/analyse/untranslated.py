"""Count how much of the translated rows is still in the source language."""

from pathlib import Path

import pandas as pd
from polyreward.core.files import read_jsonl
from polyreward.core.tables import write_table
from polyreward.ops.jobs import run
from polyreward.translation.untranslated import UNTRANSLATED_COLUMNS, untranslated_rows


def main(snakemake):
    sources = {Path(path).parent.name: read_jsonl(path) for path in snakemake.input.source}
    tables = [
        untranslated_rows(
            sources[path.parent.name], read_jsonl(path), rows=path.parent.name, language=path.stem
        )
        for path in map(Path, snakemake.input.translated)
    ]
    write_table(pd.concat(tables), snakemake.output[0], UNTRANSLATED_COLUMNS)


if __name__ == "__main__":
    run(main, globals().get("snakemake"))
