"""The printed tables of a paper's folder."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from polyreward.claims.estimate import require
from polyreward.core.tables import read_csv

ROUNDING = 0.1  # points between a printed average and the mean of printed parts: half a digit of each


@dataclass(frozen=True)
class Printed:
    """Printed tables by name, and what paper.yaml says of them and of the paper."""

    tables: Mapping[str, pd.DataFrame]
    facts: Mapping

    @classmethod
    def read(cls, paths: Iterable[str | Path], facts: Mapping) -> "Printed":
        """Read CSV files of printed/; facts: paper.yaml."""
        entries = facts.get("tables", {})
        keys = {Path(path): entries.get(Path(path).stem, {}).get("keys", []) for path in paths}
        return cls({path.stem: read_printed(path, of_path) for path, of_path in keys.items()}, facts)

    def table(self, name: str, columns: Sequence[str] = ()) -> pd.DataFrame:
        """Return a table; raise UntestableError where it, or one of the columns, is not there."""
        require(name in self.tables, f"printed/{name}.csv is not there")
        missing = [column for column in columns if column not in self.tables[name]]
        require(not missing, f"printed/{name}.csv has no column {', '.join(missing)}")
        return self.tables[name]

    @property
    def scripts(self) -> Mapping[str, str]:
        """Scripts of the printed languages."""
        return self.facts.get("scripts", {})

    @property
    def note(self) -> str:
        """What is said of each printed number."""
        return self.facts.get("note", "")


def read_printed(path: str | Path, keys: Sequence[str]) -> pd.DataFrame:
    """Read a printed table; columns other than keys are numbers where they can be, also one of a language
    that is called `id`."""
    table = read_csv(path)
    for column in table.columns.difference(keys):
        numbers = pd.to_numeric(table[column], errors="coerce")
        if numbers.notna().equals(table[column].notna()):
            table[column] = numbers
    return table
