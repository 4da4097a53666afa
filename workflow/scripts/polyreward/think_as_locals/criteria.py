"""Well-formed criteria for the warm-up, written by rule from what an item is about and where."""

from collections.abc import Collection, Iterator, Sequence
from pathlib import Path

from polyreward.core.errors import raise_all
from polyreward.core.seeds import job_seed
from polyreward.core.yaml_files import read_yaml
from polyreward.scoring.criteria_layout import written
from polyreward.think_as_locals.pairs import both_orders

FULL_STOPS = ".。"
ELSEWHERE = "elsewhere"
ANYWHERE = "anywhere"


def read_criteria(
    path: str | Path, languages: Collection[str], domains: Collection[str]
) -> dict[str, dict[str, list[str]]]:
    """Read criteria templates: {language: {domain or "elsewhere": templates with {place} once, "anywhere":
    without}}.

    Raises PolyrewardError that lists every language and domain without a template, and every template without
    its place, or with one where it has none."""
    data = read_yaml(path)
    raise_all(_problems(data or {}, languages, [*domains, ELSEWHERE, ANYWHERE]), str(path))
    return data


def _problems(data: dict, languages: Collection[str], kinds: Sequence[str]) -> Iterator[str]:
    for language in languages:
        for kind in kinds:
            templates = (data.get(language) or {}).get(kind) or []
            if not templates:
                yield f"language {language}: no criteria of {kind}; write one or more"
            times, wanted = (0, "leave it out") if kind == ANYWHERE else (1, "say it once")
            yield from (
                f"language {language}, {kind}: {text!r} has {{place}} {text.count('{place}')} times;"
                f" {wanted}, on one line"
                for text in templates
                if text.count("{place}") != times or "\n" in text
            )


def criteria_of(
    asked: dict, templates: dict, places: dict[str, dict[str, str]], language: str, elsewhere: bool, seed: int
) -> tuple[str, ...]:
    """Return a question's criteria: what a local checks in its domain, and with `elsewhere` that what holds
    there does not count.

    A pair that is of no culture gets one that holds anywhere. asked: as pairs.both_orders returns it.
    templates: as read_criteria returns them; which of them is drawn by hash. places: {culture: {language:
    place phrase}}. Elsewhere is where the wrong answer was taken from; nothing is said of it where that is
    the same culture, as such an answer is right nowhere."""
    pair = asked["pair"]
    if "culture" not in pair:
        return (_drawn(templates[language], ANYWHERE, asked, seed),)
    cultures = {pair["domain"]: pair["culture"]}
    if elsewhere and pair["elsewhere"] != pair["culture"]:
        cultures[ELSEWHERE] = pair["elsewhere"]
    return tuple(
        _drawn(templates[language], kind, asked, seed).replace("{place}", places[culture][language])
        for kind, culture in cultures.items()
    )


def ending(text: str, most: int) -> str:
    """Return a text on one line, or where it is longer than `most` characters its end, from the beginning of
    a word on."""
    line = " ".join(text.split())
    if len(line) <= most:
        return line
    end = line[-most:]
    before, space, words = end.partition(" ")
    return (
        words if space and len(before) < most // 2 else end
    )  # Chinese, Japanese and Thai have no spaces between words


def _drawn(templates: dict[str, list[str]], kind: str, asked: dict, seed: int) -> str:
    return templates[kind][job_seed(seed, "criteria", asked["id"], kind) % len(templates[kind])]


def warmup_rows(
    pairs: Sequence[dict],
    templates: dict,
    places: dict[str, dict[str, str]],
    language: str | None,
    elsewhere: bool,
    quote: int,
    seed: int,
) -> list[dict]:
    """Return questions and replies in form to fine-tune on, each pair in both orders: prompt, chosen.

    language: of the criteria; None for each pair's own, and English where it has none. elsewhere: as in
    criteria_of. quote: characters of the right answer's end that the last criterion names, with its label
    behind them; 0 for none."""
    rows = []
    for asked in both_orders(pairs):
        spoken = language or asked["pair"].get("language", "en")
        criteria = criteria_of(asked, templates, places, spoken, elsewhere, seed)
        if quote:
            *others, last = criteria
            criteria = (
                *others,
                f"{last.rstrip(FULL_STOPS)}: {ending(asked['pair']['chosen'], quote)} ({asked['right']})",
            )
        rows.append({"prompt": asked["request"], "chosen": written(criteria, asked["right"])})
    return rows


def at_once(rows: Sequence[dict]) -> list[dict]:
    """Return the warm-up's rows with replies that are a verdict alone."""
    return [{**row, "chosen": row["chosen"].rsplit("\n", 1)[-1]} for row in rows]
