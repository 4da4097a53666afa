"""Put judges of several bases in one table."""

from collections.abc import Collection, Iterator, Mapping
from pathlib import Path

import pandas as pd

from polyreward.artifacts.renderings import write_artifact
from polyreward.core.errors import PolyrewardError, raise_all
from polyreward.core.tables import read_table
from polyreward.core.unavailable import sizes_of, with_reasons
from polyreward.ops.jobs import run
from polyreward.think_as_locals import comparison

COLUMNS = ["base", *comparison.COLUMNS]
OF_BASE = ["base", "full", "full - base"]  # the rows of each base
SIZES = ["n_pairs", "n_languages", "n_items", "n_cultures"]  # of the benchmarks


def read_tables(paths: Mapping[str, str | Path]) -> dict[str, pd.DataFrame]:
    """Read each base's comparison of judges, {base: file}; the last is this scale's own.

    Raises:
        PolyrewardError: lists every file that does not exist, is no such table, has no row of OF_BASE, or has
            benchmarks of other sizes than the last, and says how to make it.
    """
    problems, found = [], {}
    for base, path in paths.items():
        try:
            found[base] = _read(Path(path))
        except PolyrewardError as error:
            problems.append(f"{base}: {error}; {_command(path)}")
    last = list(paths)[-1]
    for base, table in found.items():
        differing = list(_differing(table, found[last])) if last in found else []
        if differing:
            problems.append(
                f"{base}: {paths[base]}: is about {', '.join(differing)} of {paths[last]}; give both scales"
                " the same benchmarks (benchmarks, target_languages, carb, think_as_locals.evaluation), then"
                f" {_command(paths[base])}"
            )
    raise_all(problems, "think_as_locals.beside")
    return found


def _read(path: Path) -> pd.DataFrame:
    if not path.is_file():
        raise PolyrewardError(f"{path}: no such file")
    table = read_table(path, comparison.COLUMNS)
    missing = [row for row in OF_BASE if row not in set(table["judge"])]
    if missing:
        raise PolyrewardError(f"{path}: has no row {', '.join(missing)}")
    return table


def _command(path: str | Path) -> str:
    """Say how a table is made."""
    return (
        f"make it with `snakemake --cores all {path} --configfile ...`, with the configuration files whose"
        f" `results` is {Path(path).parent}"
    )


def _differing(table: pd.DataFrame, own: pd.DataFrame) -> Iterator[str]:
    """Yield each size in which a table differs from ours."""
    for name in SIZES:
        there, here = (one.set_index("judge").loc["full", name] for one in (table, own))
        if there != here:
            yield f"{there} {name.removeprefix('n_')}, not the {here}"


def sizes_table(tables: Mapping[str, pd.DataFrame], ours: Collection[str]) -> pd.DataFrame:
    """Return COLUMNS: each base untrained, trained, and their difference; then judges that were trained
    elsewhere.

    Args:
        tables: {base: its comparison of judges}; the first one that has a judge from elsewhere counts for it.
        ours: names of judges that are trained here.
    """
    per_base = [
        table.set_index("judge").loc[OF_BASE].reset_index().assign(base=base)
        for base, table in tables.items()
    ]
    theirs = [table[[not _ours(judge, ours) for judge in table["judge"]]] for table in tables.values()]
    others = pd.concat(theirs).drop_duplicates("judge").assign(base=lambda rows: rows["judge"])
    # No rows at all would make numbers objects.
    table = pd.concat([*per_base, *([others] if len(others) else [])], ignore_index=True)
    return sizes_of(table, comparison.WHOLE)[COLUMNS]


def _ours(judge: str, ours: Collection[str]) -> bool:
    """Return whether a row of a comparison is about our judges or a difference."""
    return judge in ours or " - " in judge


def display(table: pd.DataFrame, names: Mapping[str, str], confidence: str) -> pd.DataFrame:
    """Lay out the table in text cells.

    Args:
        names: {judge of ours: its description}.
        confidence: the intervals' level ("95%").
    """
    theirs = {judge: judge for judge in table["judge"] if not _ours(judge, names)}
    shown = comparison.display(table, {**theirs, **names}, confidence)
    shown.insert(
        0,
        "base",
        ["" if judge in theirs else base for base, judge in zip(table["base"], table["judge"], strict=True)],
    )
    return shown


def main(snakemake):
    params = snakemake.params
    table = sizes_table(read_tables(params.tables), params.ours)
    shown = display(table, params.names, params.confidence)
    caption = with_reasons(params.caption, table, "judge")
    write_artifact(table, COLUMNS, caption, params.artifact, snakemake.output, shown)


if __name__ == "__main__":
    run(main, globals().get("snakemake"))
