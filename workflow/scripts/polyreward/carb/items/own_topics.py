"""Topics whose questions and answers each culture has for itself: sayings, requests."""

from collections.abc import Iterator, Sequence


def own_rows(topic: dict, asked: Sequence[str]) -> Iterator[dict]:
    """Yield the rows of references of a topic whose questions and answers each culture has for itself.

    topic: with `own`, {culture: [{prompt, text: {language: answer}, check}]}."""
    for culture in asked:
        entries = topic["own"].get(culture, [])
        for number, entry in enumerate(entries, 1):
            name = topic["id"] if len(entries) == 1 else f"{topic['id']}-{number}"
            yield {
                "topic": name,
                "domain": topic["domain"],
                "source": topic["source"],
                "culture": culture,
                "prompt": entry["prompt"],
                "is_fact": True,
                "family": topic["id"],
                "scale": "",
                "value": name,
                "check": entry["check"],
                "texts": {language: text for language, text in entry["text"].items() if language in asked},
            }


def own_problems(topic: dict, cultures: dict) -> Iterator[str]:
    """Yield what is wrong with a topic whose questions each culture has for itself, in words."""
    counts = {culture: len(entries) for culture, entries in topic["own"].items()}
    if len(set(counts.values())) > 1:
        listed = ", ".join(f"{culture} {count}" for culture, count in counts.items())
        yield f"own: cultures have different numbers of questions ({listed}); write as many for each"
    for culture, entries in topic["own"].items():
        if culture not in cultures["cultures"]:
            yield f"own: culture {culture} is not in the file of cultures; write one that is there"
        for number, entry in enumerate(entries, 1):
            if culture not in entry["text"]:
                yield (
                    f"own, {culture}, question {number}: its answer has no text in its own language; write it"
                )
        answers = [entry["text"].get(culture) for entry in entries]
        if len(set(answers)) < len(answers):
            yield f"own, {culture}: two questions have the same answer; write another"
