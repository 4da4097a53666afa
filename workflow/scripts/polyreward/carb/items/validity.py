"""How good an answer to a question is: whether it says an accepted one, and how near it is to one."""

from collections.abc import Sequence

from sacrebleu.metrics import CHRF

from polyreward.carb.items.answers import matches


def answer_ratings(answer: str, accepted: Sequence[str]) -> dict[str, float]:
    """Rate an answer from 0 to 100. match: whether it says an accepted one; chrf: against the nearest of
    these."""
    return {
        "match": 100.0 * matches(answer, accepted),
        "chrf": max(CHRF().sentence_score(answer, [text]).score for text in accepted),
    }
