"""Held-out instructions with reference answers, in every language."""

from collections.abc import Sequence

from polyreward.errors import PolyrewardError
from polyreward.passages import parallel_passages


def parallel_instructions(items: Sequence[dict], languages: Sequence[str], where: str) -> dict[str, list[dict]]:
    """Return {language: rows of id, prompt and reference}, the same instructions in the same order in each.

    items: {id, prompt: {language: text}, reference: {language: text}}. Raises PolyrewardError that lists every item that lacks
    a text, and every id that stands twice."""
    found, problems = {}, []
    for role in ("prompt", "reference"):
        texts = [{"id": item.get("id"), **(item.get(role) or {})} for item in items]
        try:
            found[role] = parallel_passages(texts, languages, f"{where}, {role}")
        except PolyrewardError as error:
            problems.append(str(error))
    if problems:
        raise PolyrewardError("\n".join(problems))
    return {
        language: [
            {"id": prompt["id"], "prompt": prompt["text"], "reference": reference["text"]}
            for prompt, reference in zip(found["prompt"][language], found["reference"][language], strict=True)
        ]
        for language in languages
    }
