"""What became of a judge's replies: faults, counts and columns."""

from collections import Counter
from collections.abc import Sequence

import pandas as pd

from polyreward.scoring.criteria_layout import FAULTS, Reply

REPLY_COLUMNS = ["scorer", "replies", "in_form", *FAULTS]
HELD_OUT_COLUMNS = ["judge", "id", "item", "in_form", "p_right"]
UNNAMED = "no answer named"  # a fault of a reply while such a judge trains, and of no reply that is scored
TRAINING_FAULTS = (*FAULTS, UNNAMED)


def reply_counts(scorer: str, replies: Sequence[Reply]) -> pd.DataFrame:
    """Return one row: how many replies a scorer gave, how many are in form, and how many have each fault."""
    faults = Counter(reply.fault for reply in replies)
    counts = [scorer, len(replies), faults[None], *(faults[fault] for fault in FAULTS)]
    return pd.DataFrame([counts], columns=REPLY_COLUMNS)


def replies_of(judge) -> list[Reply]:
    """Return the replies that a judge gave so far; none for one that gives its verdicts at once."""
    return getattr(judge, "said", [])
