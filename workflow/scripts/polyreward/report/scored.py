"""Tables of scores as the page of errors reads them."""

from collections.abc import Sequence

import pandas as pd

from polyreward.core.errors import PolyrewardError
from polyreward.core.tables import read_scores
from polyreward.core.unavailable import reasons


def has_scores(path: str) -> bool:
    """Tell whether a file holds scores, and not the reason why there are none."""
    return not reasons({"": read_scores(path)})


def read_columns(path: str, columns: Sequence[str]) -> pd.DataFrame:
    """Return some columns of a file of scores; raises PolyrewardError where it is damaged or lacks one."""
    table = read_scores(path)
    absent = [name for name in columns if name not in table.columns]
    if absent:
        raise PolyrewardError(
            f"{path}: no column {', '.join(absent)}; other code wrote it: remove it and make it again"
        )
    return table[list(columns)]
