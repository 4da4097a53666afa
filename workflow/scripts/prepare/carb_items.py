"""Put the benchmark's items together: built from references, or the user's own."""

import dataclasses
import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from html.entities import html5
from itertools import chain
from pathlib import Path

import pandas as pd

from polyreward.carb.items.filters import (
    ANSWERS,
    COUNT_COLUMNS,
    Filters,
    any_alike,
    empty_cells,
    foreign,
    kept_items,
)
from polyreward.carb.items.selection import finished_items, item_problems, split_topics
from polyreward.carb.perturbation.perturbations import PERTURBATIONS
from polyreward.core.errors import nearest, raise_all
from polyreward.core.files import read_jsonl, write_jsonl
from polyreward.core.tables import read_sealed, write_table
from polyreward.core.writing import script_share
from polyreward.ops.jobs import run
from polyreward.prepare.pair_files import PROBLEMS
from polyreward.prepare.pair_layouts import AS_TEXT, UnfitRow, name_of
from polyreward.prepare.row_files import file_rows

PREFIX = "cultural_"  # of the public sample's domains
SAMPLE_DOMAINS = {
    "value": "values",
    "toxicity": "safety",
    "linguistic": "linguistics",
}  # without the prefix: ours
LEAST_SHARE = 0.5  # of an item's letters are in its language's script; words and names may be in another
ALLOWED_CONTROLS = "\n\t"
TAGS = "a|b|blockquote|body|br|code|div|em|font|h[1-6]|hr|html|i|img|li|ol|p|pre|script|span|strong|sub|sup|table|td|th|tr|u|ul"  # noqa: E501
TAG = re.compile(rf"</?(?:{TAGS})(?:\s[^<>]*)?/?>", re.IGNORECASE)
ENTITY = re.compile(r"&(?:#\d+|#x[0-9a-f]+|\w+);", re.IGNORECASE)
SELECTION_COLUMNS = [*COUNT_COLUMNS, "items_drawn"]


@dataclasses.dataclass(frozen=True)
class Expected:
    """What the configuration expects of items.

    Attributes:
        names: {culture: its language's English name}.
        scripts: {culture: its ISO 15924 script}.
    """

    names: Mapping[str, str]
    scripts: Mapping[str, str]
    domains: Sequence[str]

    def culture(self, row: Mapping) -> str | None:
        """Return the culture that a row's `language` or `culture` names by code or in English, or None."""
        named = str(_first(row, "language", "culture") or "").strip().casefold()
        known = {key.casefold(): code for code, name in self.names.items() for key in (code, name)}
        return known.get(named)

    def domain(self, row: Mapping) -> str | None:
        """Return the domain that a row's `domain` or `subset` names, as here or as in the public sample."""
        named = str(_first(row, "domain", "subset") or "").strip()
        plain = named.removeprefix(PREFIX)
        return next(
            (name for name in (named, plain, SAMPLE_DOMAINS.get(plain)) if name in self.domains), None
        )


ByCulture = dict[str, list[dict]]


def benchmark_items(
    files: Mapping[str, str | Sequence[str]],
    names: Mapping[str, str],
    scripts: Mapping[str, str],
    domains: Sequence[str],
    filters: Mapping[str, float],
    training_share: float,
    items_per_cell: int | None,
    seed: int,
) -> tuple[ByCulture, pd.DataFrame]:
    """Return ({culture: the benchmark's items}, counts with SELECTION_COLUMNS).

    Args:
        files: {"given": files of items}, or else {"references", "possible", "similarities"}.
        names: {culture: its language's English name}.
        scripts: {culture: its ISO 15924 script}.
        filters: the arguments of Filters.
    """
    if "given" in files:
        expected = Expected(names, scripts, domains)
        items = read_item_files(files["given"], expected)
        return given_items(items, expected, Filters(**filters), items_per_cell, seed)
    read = [read_jsonl(files[name]) for name in ("references", "possible")]
    references, items = split_topics(*read, training_share, seed, training=False)
    similarities = read_sealed(files["similarities"])
    kept, counts = kept_items(items, references, similarities, scripts, Filters(**filters))
    by_culture = checked_items(kept, counts, references, list(names), domains, seed, items_per_cell)
    return by_culture, pd.DataFrame(selection_counts(counts, chain(*by_culture.values())))[SELECTION_COLUMNS]


def given_items(
    items: Sequence[dict], expected: Expected, filters: Filters, items_per_cell: int | None, seed: int
) -> tuple[ByCulture, pd.DataFrame]:
    """Return the user's items as the benchmark has them, with all else that they bring, and counts.

    Nothing is filtered: answers_foreign counts the answers that filters.script_share would remove.
    """
    more = {item["id"]: item["more"] for item in items}
    finished = [{**more[item["id"]], **item} for item in finished_items(items, seed, items_per_cell)]
    there, odd, drawn = Counter(), Counter(), Counter((item["culture"], item["domain"]) for item in finished)
    for item in items:
        cell = item["culture"], item["domain"]
        there[cell] += 1
        odd[cell] += sum(
            foreign(answer["text"], expected.scripts[item["culture"]], filters.script_share)
            for answer in (item["chosen"], *item["answers"])
        )
    counts = pd.DataFrame(
        [(*cell, count, odd[cell], drawn[cell]) for cell, count in there.items()],
        columns=["culture", "domain", "items", "answers_foreign", "items_drawn"],
    ).reindex(columns=SELECTION_COLUMNS)
    counts = counts.astype(dict.fromkeys(SELECTION_COLUMNS[2:], "Int64"))
    return {
        culture: [item for item in finished if item["culture"] == culture] for culture in expected.names
    }, counts


def checked_items(
    kept: Sequence[dict],
    counts: Sequence[dict],
    references: Sequence[dict],
    cultures: Sequence[str],
    domains: Sequence[str],
    seed: int,
    items_per_cell: int | None,
) -> dict[str, list[dict]]:
    """Return {culture: finished items}.

    Args:
        kept, counts: as filters.kept_items returns them.

    Raises:
        PolyrewardError: cultures and domains without an item, or faults that item_problems finds; all listed.
    """
    raise_all(empty_cells(counts, cultures, domains), "carb")
    items = finished_items(kept, seed, items_per_cell)
    made = {(item["culture"], item["domain"]) for item in items}
    raise_all(
        (
            f"{culture}, {domain}: no four questions have answers that all differ; write more topics"
            for culture in cultures
            for domain in domains
            if (culture, domain) not in made
        ),
        "carb",
    )
    raise_all(item_problems(items, references), "carb")
    return {culture: [item for item in items if item["culture"] == culture] for culture in cultures}


def selection_counts(counts: Sequence[dict], items: Iterable[dict]) -> list[dict]:
    """Return the counts of filters.kept_items with the number of items drawn of each culture and domain."""
    drawn = Counter((item["culture"], item["domain"]) for item in items)
    return [{**row, "items_drawn": drawn[row["culture"], row["domain"]]} for row in counts]


def read_item_files(paths: Iterable[str | Path], expected: Expected) -> list[dict]:
    """Read and check all items of some files; return them as filters.kept_items does, and `more`: their other
    keys.

    An item's id becomes `<domain>-<id>_<culture>`, so that the same id in two cultures is one topic asked of
    both.

    Raises:
        PolyrewardError: lists every problem with its file and place.
    """
    items, problems, places = [], [], {}
    unknown: dict[
        str, list[str]
    ] = {}  # {problem: places}: an unknown language or domain is one problem of its items
    for place, row in (row for path in paths for row in file_rows(path)):
        if isinstance(row, str):
            problems.append(f"{place}: {row}")
            continue
        where = f"{place}: `{row['id']}`" if _id(row) else place
        found = list(row_problems(row, expected))
        problems += [f"{where}: {text}" for text in found]
        for text in _unknown_names(row, expected):
            unknown.setdefault(text, []).append(where)
        culture, domain = expected.culture(row), expected.domain(row)
        if culture and domain and _id(row):
            earlier = places.setdefault((culture, domain, _id(row)), place)
            if earlier != place:
                problems.append(
                    f"{where}: {earlier} has the same id, too; an id appears once within a language and a"
                    " domain"
                )
            elif not found:
                items.append(own_item(row, culture, domain))
    problems += [
        f"{found[0]}{f' and {len(found) - 1} more' if len(found) > 1 else ''}: {text}"
        for text, found in unknown.items()
    ]
    cells = {key[:2] for key in places}
    problems += [
        f"{culture}, {domain}: there is no item; add some, or leave one of the two out of carb.cultures and"
        " carb.domains"
        for culture in expected.names
        for domain in expected.domains
        if (culture, domain) not in cells
    ]
    raise_all(problems, "carb.item_files", PROBLEMS)
    return items


def _unknown_names(row: Mapping, expected: Expected) -> Iterator[str]:
    """Yield a problem for a row's language and domain where they are named, but not known."""
    languages = [name for both in expected.names.items() for name in both]
    for named, found, setting, known, near in (
        (_first(row, "language", "culture"), expected.culture(row), "cultures", expected.names, languages),
        (
            _first(row, "domain", "subset"),
            expected.domain(row),
            "domains",
            expected.domains,
            expected.domains,
        ),
    ):
        if named and not found:
            meant = nearest(str(named), near)
            hint = f"did you mean `{meant}`? " if meant else ""
            yield (
                f"`{named}` is not in carb.{setting} ({', '.join(known)}); {hint}add it there, or drop the"
                " items"
            )


def row_problems(row: Mapping, expected: Expected) -> Iterator[str]:
    """Yield what is wrong with one item, except for an unknown culture or domain."""
    if not _id(row):
        yield "has no `id`; give a text or a number"
    for key, other, example in (
        ("language", "culture", "ko or Korean"),
        ("domain", "subset", expected.domains[0]),
    ):
        if not _first(row, key, other):
            yield f"has no `{key}` (or `{other}`); give it, such as {example}"
    parts = {"prompt": 1, "chosen": 1, "rejected": ANSWERS - 1}
    texts = {key: _texts(row.get(key)) for key in parts}
    for key, count in parts.items():
        found = texts[key]
        if found is None:
            what, wanted = "missing" if row.get(key) is None else "no text", f"a list of {count} texts"
            yield f"`{key}` is {what}; write {'one text' if count == 1 else wanted}"
        elif len(found) != count:
            fix = f"leave {'one' if count == 1 else count}" if len(found) > count else "add what lacks"
            yield f"`{key}` has {len(found)} texts; an item has {count}: {fix}"
        for text in found or []:
            yield from _text_problems(key, text)
    answers = [*(texts["chosen"] or []), *(texts["rejected"] or [])]
    if any_alike(answers):
        yield "two of its answers are the same text; change one, or drop the item"
    culture = expected.culture(row)
    if culture:
        script, name = expected.scripts[culture], expected.names[culture]
        share = script_share(" ".join([*(texts["prompt"] or []), *answers]), script)
        if share < LEAST_SHARE:
            yield (
                f"{share:.0%} of its letters are in the script of {name} ({script}); correct its language, or"
                " drop the item"
            )
    yield from _rewrite_problems(row, texts["chosen"] or [])


def _rewrite_problems(row: Mapping, chosen: Sequence[str]) -> Iterator[str]:
    """Yield what is wrong with an item's own perturbations and versions."""
    for key, names in (("perturbations", list(PERTURBATIONS)), ("versions", None)):
        found = row.get(key)
        if found is None:
            continue
        if not isinstance(found, dict) or not all(isinstance(text, str) for text in found.values()):
            yield f"`{key}` is no mapping of texts; write {{{', '.join(names or ['language code'])}: text}}"
            continue
        if names and sorted(found) != sorted(names):
            yield f"`{key}` has {', '.join(found) or 'nothing'}; write all of {', '.join(names)}"
        for name, text in found.items():
            yield from _text_problems(f"{key}.{name}", text)
        if names and any_alike([*chosen, *found.values()]):
            yield f"two of `chosen` and `{key}` are the same text; change one, or leave `{key}` out"


def _text_problems(key: str, text: str) -> Iterator[str]:
    if not text.strip():
        yield f"`{key}` is empty; write the text"
    if AS_TEXT.match(text):
        yield f"`{key}` holds messages as text (pandas writes CSV so); write plain text"
    controls = sorted({c for c in text if unicodedata.category(c) == "Cc" and c not in ALLOWED_CONTROLS})
    if controls:
        listed = ", ".join(f"U+{ord(c):04X}" for c in controls)
        yield f"`{key}` has control characters ({listed}); take them out, only line feeds and tabs may stay"
    entities = [found for found in ENTITY.findall(text) if found[1] == "#" or found[1:] in html5]
    markup = [*TAG.findall(text), *entities]
    if markup:
        yield f"`{key}` has HTML ({', '.join(dict.fromkeys(markup))}); write plain text"


def own_item(row: Mapping, culture: str, domain: str) -> dict:
    """Return a sound row as a possible item; the cultures of its wrong answers are unknown."""
    topic = f"{domain}-{_id(row)}"
    (prompt,), (chosen,), rejected = (_texts(row[key]) or [] for key in ("prompt", "chosen", "rejected"))
    return {
        "id": f"{topic}_{culture}",
        "culture": culture,
        "domain": domain,
        "source": str(row.get("source") or "item_files"),
        "topic": topic,
        "prompt": prompt,
        "chosen": {"value": "chosen", "text": chosen},
        "answers": [
            {"value": f"rejected-{number}", "cultures": [None], "text": text}
            for number, text in enumerate(rejected, 1)
        ],
        "more": {key: value for key, value in row.items() if key != "rejected"},
    }


def _id(row: Mapping) -> str:
    try:
        return name_of(row.get("id"), "id") or ""
    except UnfitRow:
        return ""


def _first(row: Mapping, *keys: str) -> object:
    return next((row[key] for key in keys if row.get(key)), None)


def _texts(value: object) -> list[str] | None:
    """Return a text or a list of texts as a list; None for anything else."""
    found = [value] if isinstance(value, str) else value
    return found if isinstance(found, list) and all(isinstance(text, str) for text in found) else None


def main(snakemake):
    by_culture, counts = benchmark_items(dict(snakemake.input.items()), **snakemake.params.choices)
    write_table(counts, snakemake.output.counts, SELECTION_COLUMNS)
    for culture, of_culture in by_culture.items():
        write_jsonl(of_culture, snakemake.output[culture])


if __name__ == "__main__":
    run(main, globals().get("snakemake"))
