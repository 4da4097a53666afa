"""Well-formed criteria for the warm-up, written by rule from what an item is about and where."""

from collections.abc import Collection, Iterator, Sequence
from pathlib import Path

import yaml

from polyreward.core.errors import PolyrewardError, raise_all
from polyreward.core.seeds import job_seed
from polyreward.scoring.criteria_layout import written
from polyreward.think_as_locals.pairs import both_orders

ELSEWHERE = "elsewhere"


def read_criteria(path: str | Path, languages: Collection[str], domains: Collection[str]) -> dict[str, dict[str, list[str]]]:
    """Read criteria templates: {language: {domain or "elsewhere": templates with {place} once}}.

    Raises PolyrewardError that lists every language and domain without a template, and every template without its place."""
    try:
        data = yaml.safe_load(Path(path).read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        raise PolyrewardError(f"{path}: not a YAML file in UTF-8 ({error}); fix it") from error
    raise_all(_problems(data or {}, languages, [*domains, ELSEWHERE]), str(path))
    return data


def _problems(data: dict, languages: Collection[str], kinds: Sequence[str]) -> Iterator[str]:
    for language in languages:
        for kind in kinds:
            templates = (data.get(language) or {}).get(kind) or []
            if not templates:
                yield f"language {language}: no criteria of {kind}; write one or more"
            yield from (
                f"language {language}, {kind}: {text!r} has {{place}} {text.count('{place}')} times; say it once, on one line"
                for text in templates
                if text.count("{place}") != 1 or "\n" in text
            )


def criteria_of(asked: dict, templates: dict, places: dict[str, dict[str, str]], language: str, seed: int) -> tuple[str, ...]:
    """Return a question's criteria: what a local checks in its domain, and that what holds elsewhere does not count.

    asked: as pairs.both_orders returns it. templates: as read_criteria returns them; which of them is drawn by hash. places:
    {culture: {language: place phrase}}. Elsewhere is where the wrong answer was taken from; one of the same culture is right
    nowhere else, so that nothing is said of it."""
    pair = asked["pair"]
    cultures = {pair["domain"]: pair["culture"]}
    if pair["elsewhere"] != pair["culture"]:
        cultures[ELSEWHERE] = pair["elsewhere"]
    drawn = {kind: templates[language][kind][job_seed(seed, "criteria", asked["id"], kind) % len(templates[language][kind])]
             for kind in cultures}  # fmt: skip
    return tuple(drawn[kind].replace("{place}", places[culture][language]) for kind, culture in cultures.items())


def warmup_rows(
    pairs: Sequence[dict], templates: dict, places: dict[str, dict[str, str]], language: str | None, seed: int
) -> list[dict]:
    """Return questions and replies in form to fine-tune on, each pair in both orders: prompt, chosen.

    language: of the criteria; None for each pair's own."""
    return [
        {
            "prompt": asked["request"],
            "chosen": written(criteria_of(asked, templates, places, language or asked["pair"]["language"], seed), asked["right"]),
        }
        for asked in both_orders(pairs)
    ]
