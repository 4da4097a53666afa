"""Made-up sheets of scorers, as rules write them and scripts read them."""

import io

from polyreward.core.naming import ModelName, without_lessons
from polyreward.core.sheet import read_sheet
from polyreward.core.tables import write_csv
from polyreward.sheet.scorers import Scorer, Sheet, printed


def as_printed(kinds, half=(), entries=None, bases=None, cells=()):
    """Return a sheet as polyreward prints it. A name such as base_en_seed2 is trained here; a baseline's ties
    are half right.

    Args:
        kinds: {scorer: kind}, or names of classifiers.
        half: other scorers whose ties are half right.
        entries: {scorer: how it is loaded}.
        bases: {scorer: its base} of those that are not trained here.
        cells: (table, benchmark, scorer, language) that tables read.
    """
    rows = {}
    for name, kind in (kinds if isinstance(kinds, dict) else dict.fromkeys(kinds, "classifier")).items():
        trained = ModelName.parse(without_lessons(name)) if "_" in name else None
        base = (bases or {}).get(name, name)
        of_training = (trained.base, trained.language, trained.seed) if trained else (base, "", None)
        ties = "half" if kind == "baseline" or name in half else "wrong"
        rows[name] = Scorer(name, kind, *of_training, ties, (entries or {}).get(name))
    return printed(Sheet(rows, tuple(cells)))


def sheet(*parts, **more):
    """Return a sheet as scripts read it; arguments as as_printed takes them."""
    return read_sheet(io.StringIO(as_printed(*parts, **more).to_csv(index=False)))


def sheet_file(folder, *parts, **more):
    """Write a sheet into a folder and return the file; arguments as as_printed takes them."""
    write_csv(as_printed(*parts, **more), folder / "scorers.csv")
    return folder / "scorers.csv"
