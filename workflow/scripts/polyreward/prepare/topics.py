"""Topics, from which CARB's items and place quartets are built: which ask all cultures one question."""

from collections.abc import Mapping

# format: how a date, a price or a quotation is written, or a code
FACT, FORMAT = QUARTET_KINDS = ("fact", "format")
CULTURE = "culture"  # the domain of topics that only place quartets have


def quartet_kind(topic: Mapping) -> str | None:
    """Return the kind of a topic's place quartets, of QUARTET_KINDS; None for a topic that does not ask all
    cultures one question, as about holidays, where each culture is asked about its own."""
    if "values" not in topic and topic.get("fact") in (None, "holiday_date"):
        return None
    return FORMAT if "fact" in topic or topic.get("kind") == FORMAT else FACT
