"""Compare a table of ours with the transfer paper's printed one, cell by cell."""

import pandas as pd

from polyreward.analysis.tables import VALUES
from polyreward.artifacts.printed_tables import COLUMNS, long_cells, paired
from polyreward.core.errors import PolyrewardError
from polyreward.core.tables import read_csv, write_csv
from polyreward.ops.jobs import run

OFF_THE_SHELF, DELTA = "off the shelf", "delta"


def compared(artifact: str, ours: pd.DataFrame, printed: pd.DataFrame, language: str | None) -> pd.DataFrame:
    """Return the cells that our table and the printed one share, paired by model; language: of a table of
    one.

    No rows where none of our languages is printed; an error where they share a language, but no cell."""
    shape = _language_table if language else {"table1": _table1, "table2": _table2}[artifact]
    pairs = paired(*shape(ours, printed, language))
    in_print = {*printed.columns, *printed.get("eval_language", ())}
    if pairs.empty and in_print & ({language} if language else {*ours["eval_language"]}):
        raise PolyrewardError(
            f"{artifact}: no cell is both in our table and in the printed one; correct `published` in"
            " workflow/artifacts.yaml"
        )
    return pairs


def _table1(ours: pd.DataFrame, printed: pd.DataFrame, _: None) -> tuple[pd.DataFrame, pd.DataFrame]:
    wide = printed.set_index(["eval_language", "base_model", "rm_training"])[VALUES]
    delta = wide.xs("english", level=2) - wide.xs("target", level=2)
    whole = pd.concat([printed, delta.reset_index().assign(rm_training=DELTA)])
    return tuple(
        long_cells(table, table["base_model"], table["eval_language"] + " " + table["rm_training"], VALUES)
        for table in (ours, whole)
    )


def _table2(ours: pd.DataFrame, printed: pd.DataFrame, _: None) -> tuple[pd.DataFrame, pd.DataFrame]:
    wide = ours.pivot(index="reward_model", columns="eval_language", values="avg").reset_index()
    languages = [name for name in printed.columns.drop(["reward_model", "kind"]) if name in wide.columns]
    return tuple(
        long_cells(table, table["reward_model"], pd.Series("avg", table.index), languages)
        for table in (wide, printed)
    )


def _language_table(
    ours: pd.DataFrame, printed: pd.DataFrame, language: str
) -> tuple[pd.DataFrame, pd.DataFrame]:
    own = printed[printed["eval_language"] == language]
    return (
        long_cells(
            ours,
            ours["base_model"].fillna(ours["reward_model"]),
            ours["rm_training"].fillna(OFF_THE_SHELF),
            VALUES,
        ),
        long_cells(own, own["base_model"], own["rm_language"].fillna(OFF_THE_SHELF), VALUES),
    )


def main(snakemake):
    params = snakemake.params
    ours, printed = map(read_csv, (snakemake.input.ours, snakemake.input.printed))
    table = compared(snakemake.wildcards.printed, ours, printed, params.language)
    write_csv(table[COLUMNS], snakemake.output.csv, "%.6f")


if __name__ == "__main__":
    run(main, globals().get("snakemake"))
