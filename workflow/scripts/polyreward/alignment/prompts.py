"""Prompts of a dataset of their own, for the policy."""

import json
from collections.abc import Sequence

from polyreward.core.draws import drawn
from polyreward.core.errors import PolyrewardError


def drawn_prompts(rows: Sequence[dict], count: int, seed: int, where: str) -> list[dict]:
    """Return `count` rows (id, source, subset, prompt) of different prompts, drawn by hash, in their own
    order.

    Raises PolyrewardError where there are fewer prompts."""
    first: dict[str, dict] = {}
    for row in rows:
        first.setdefault(json.dumps(row["prompt"]), row)
    distinct = list(first.values())
    if len(distinct) < count:
        raise PolyrewardError(
            f"{where}: {len(distinct)} distinct prompts, not {count}; lower alignment.prompts"
        )
    kept = drawn(distinct, [], count, seed, "prompt")
    return [{key: row[key] for key in ("id", "source", "subset", "prompt")} for row in kept]
