"""The file of cultures: their places, phrases and holidays, and how their languages frame an answer."""

import re
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path

from polyreward.carb.items.facts import Culture, holiday_dates
from polyreward.core.errors import raise_all, unknown
from polyreward.core.yaml_files import read_yaml


def read_cultures(path: str | Path, asked: Sequence[str]) -> dict:
    """Read a file of cultures: {cultures: {name: {territory, places, holidays}}, languages}.

    asked: the cultures of config.yaml. Raises PolyrewardError that lists every problem."""
    data = read_yaml(path)
    raise_all(_problems(data, asked, path), str(path))
    return data


def culture_of(cultures: dict, name: str) -> Culture:
    """Return a culture as facts.py wants it; cultures: as read_cultures returns them."""
    entry = cultures["cultures"][name]
    return Culture(name, entry["territory"], tuple(entry.get("holidays", ())))


def missing(what: str, texts: dict, languages: Collection[str]) -> Iterator[str]:
    """Yield a problem where a text is absent or blank in one of the languages."""
    absent = [language for language in languages if not str(texts.get(language) or "").strip()]
    if absent:
        yield f"{what} is not in {', '.join(absent)}; write it in every language"


def _problems(data: dict, asked: Sequence[str], path: str | Path) -> Iterator[str]:
    keys = ("cultures", "languages")
    if not isinstance(data, dict) or not all(isinstance(data.get(key), dict) for key in keys):
        yield "needs `cultures` and `languages`, each a mapping"
        return
    yield from unknown("carb.cultures", asked, data["cultures"], str(path))
    names = list(data["cultures"])
    for name, entry in data["cultures"].items():
        if not isinstance(entry, dict) or not str(entry.get("territory") or "").isalpha():
            yield f"culture {name}: has no `territory` (ISO 3166, such as DE)"
            continue
        yield from missing(f"culture {name}: places", entry.get("places") or {}, names)
        culture = culture_of(data, name)
        known = holiday_dates(culture.language, culture.territory) if culture.holidays else {}
        yield from unknown(f"culture {name}: holidays", culture.holidays, known, "the package holidays")
    for name in names:
        for frame, places, with_place in (
            ("labelled", 1, "{place} or {Place} once"),
            ("unlabelled", 0, "no place"),
        ):
            text = str((data["languages"].get(name) or {}).get(frame, ""))
            if text.count("{answer}") != 1 or len(re.findall(r"\{[Pp]lace\}", text)) != places:
                yield f"language {name}: `{frame}` is a text with {{answer}} once and {with_place}"
