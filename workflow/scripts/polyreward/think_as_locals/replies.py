"""What became of a judge's replies, in numbers."""

from collections import Counter
from collections.abc import Sequence

import pandas as pd

from polyreward.scoring.criteria_layout import FAULTS, Reply

REPLY_COLUMNS = ["replies", "in_form", *FAULTS]


def reply_counts(said: Sequence[Reply]) -> pd.DataFrame:
    """Return one row: how many replies a judge gave, how many are in form, and how many have each fault."""
    faults = Counter(reply.fault for reply in said)
    counts = [len(said), faults[None], *(faults[fault] for fault in FAULTS)]
    return pd.DataFrame([counts], columns=REPLY_COLUMNS)
