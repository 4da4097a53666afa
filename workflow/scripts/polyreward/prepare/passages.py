"""Short parallel texts in every language."""

from collections.abc import Iterator, Sequence

from polyreward.core.errors import raise_all


def parallel_passages(items: Sequence[dict], languages: Sequence[str], where: str) -> dict[str, list[dict]]:
    """Return {language: rows of id and text}, in the same order; items: {id, <language>: text, ...}.

    Raises:
        PolyrewardError: lists every passage without a language, and every repeated id.
    """
    raise_all(_problems(items, languages, where), where)
    return {
        language: [{"id": item["id"], "text": item[language]} for item in items] for language in languages
    }


def _problems(items: Sequence[dict], languages: Sequence[str], where: str) -> Iterator[str]:
    if len(items) < 2:
        yield f"{where}: holds {len(items)} passages; give two or more"
    ids = [item.get("id") for item in items]
    for number, item in enumerate(items, 1):
        if not item.get("id") or ids.count(item["id"]) > 1:
            yield f"{where}: passage {number} has no id of its own (`{item.get('id')}`); give it one"
        missing = [language for language in languages if not str(item.get(language) or "").strip()]
        if missing:
            yield (
                f"{where}: passage `{item.get('id')}` is not in {', '.join(missing)}; translate it or drop it"
            )
