"""Pairs whose rejected answer belongs to another request: easy to distinguish, but not by answers only."""

from collections.abc import Sequence

from polyreward.core.conversations import contents


def off_topic_rows(rows: Sequence[dict], subset: str) -> list[dict]:
    """Return for each row another whose rejected answer is the chosen one of another template's row.

    Two templates with equally many rows and answers of similar length each reject what the other chooses, so
    that an answer is right as often as wrong. An unmatched template has no such row."""
    found = []
    for one, other in _in_twos(rows):
        for row, wrong in [*zip(one, other, strict=True), *zip(other, one, strict=True)]:
            messages = {**row["messages"], "rejected": wrong["messages"]["chosen"]}
            slots = {**row["slots"], "rejected": wrong["slots"]["chosen"]}
            texts = {"rejected": wrong["chosen"], "messages": messages, "slots": slots}
            found.append({**row, "id": f"{row['id']}-off", "subset": subset, **texts})
    return found


def _in_twos(rows: Sequence[dict]) -> list[tuple[list[dict], list[dict]]]:
    of_template: dict[str, list[dict]] = {}
    for row in rows:
        of_template.setdefault(row["template"], []).append(row)
    waiting: list[list[dict]] = []
    twos = []
    for group in sorted(of_template.values(), key=lambda group: (_length(group), group[0]["template"])):
        one = next((other for other in waiting if _differ(other, group)), None)
        if one is None:
            waiting.append(group)
        else:
            waiting.remove(one)
            twos.append((one, group))
    return twos


def _differ(one: Sequence[dict], other: Sequence[dict]) -> bool:
    return len(one) == len(other) and all(
        first["chosen"] != second["chosen"] for first, second in zip(one, other, strict=True)
    )


def _length(group: Sequence[dict]) -> int:
    return sum(len(text) for row in group for text in contents(row["messages"]["chosen"]))
