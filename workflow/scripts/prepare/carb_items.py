"""Filter possible items and draw the benchmark's, or take the user's own items as they are."""

import dataclasses
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain, product
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
from polyreward.core.errors import nearest, raise_all
from polyreward.core.files import read_jsonl, write_jsonl
from polyreward.core.logs import announce
from polyreward.core.tables import read_sealed, write_table
from polyreward.core.writing import script_share
from polyreward.ops.jobs import run
from polyreward.prepare.pair_files import PROBLEMS
from polyreward.prepare.pair_layouts import AS_TEXT, UnfitRow, name_of
from polyreward.prepare.row_files import file_rows

PREFIX = "cultural_"  # of the public sample's domains
SAMPLE_DOMAINS = {"value": "values", "toxicity": "safety", "linguistic": "linguistics"}  # theirs: ours
LEAST_SHARE = 0.5  # of an item's letters are in its language's script; words and names may be in another
SELECTION_COLUMNS = [*COUNT_COLUMNS, "items_drawn"]
ByCulture = dict[str, list[dict]]


@dataclasses.dataclass(frozen=True)
class Expected:
    """What the configuration expects of items.

    names: {culture: its language's English name}; scripts: {culture: its ISO 15924 script}."""

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
        options = (named, plain, SAMPLE_DOMAINS.get(plain))
        return next((name for name in options if name in self.domains), None)


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
    drawn = chain(*by_culture.values())
    return by_culture, pd.DataFrame(selection_counts(counts, drawn))[SELECTION_COLUMNS]


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
        cell, script = (item["culture"], item["domain"]), expected.scripts[item["culture"]]
        there[cell] += 1
        odd[cell] += sum(foreign(text, script, filters.script_share) for text in _texts(item))
    counts = pd.DataFrame(
        [(*cell, count, odd[cell], drawn[cell]) for cell, count in there.items()],
        columns=["culture", "domain", "items", "answers_foreign", "items_drawn"],
    ).reindex(columns=SELECTION_COLUMNS)
    return _by_culture(finished, expected.names), counts.astype(dict.fromkeys(SELECTION_COLUMNS[2:], "Int64"))


def _texts(item: dict) -> list[str]:
    return [answer["text"] for answer in (item["chosen"], *item["answers"])]


def _by_culture(items: Sequence[dict], cultures: Iterable[str]) -> ByCulture:
    return {culture: [item for item in items if item["culture"] == culture] for culture in cultures}


def checked_items(
    kept: Sequence[dict],
    counts: Sequence[dict],
    references: Sequence[dict],
    cultures: Sequence[str],
    domains: Sequence[str],
    seed: int,
    items_per_cell: int | None,
) -> ByCulture:
    """Return {culture: finished items}; kept, counts: as filters.kept_items returns them.

    Raises:
        PolyrewardError: cultures and domains without an item, or faults that item_problems finds; all listed.
    """
    raise_all(empty_cells(counts, cultures, domains), "carb")
    items = finished_items(kept, seed, items_per_cell)
    made = {(item["culture"], item["domain"]) for item in items}
    gone = (cell for cell in product(cultures, domains) if cell not in made)
    problem = "no four questions have answers that all differ; write more topics"
    raise_all((f"{culture}, {domain}: {problem}" for culture, domain in gone), "carb")
    raise_all(item_problems(items, references), "carb")
    return _by_culture(items, cultures)


def selection_counts(counts: Sequence[dict], items: Iterable[dict]) -> list[dict]:
    """Return the counts of filters.kept_items with the number of items drawn of each culture and domain."""
    drawn = Counter((item["culture"], item["domain"]) for item in items)
    return [{**row, "items_drawn": drawn[row["culture"], row["domain"]]} for row in counts]


def read_item_files(paths: Iterable[str | Path], expected: Expected) -> list[dict]:
    """Read and check items; return them as filters.kept_items does, and `more`: their other keys.

    An item's id becomes `<domain>-<id>_<culture>`: the same id in two cultures is one topic asked of both.

    Raises:
        PolyrewardError: lists the problems with their file and place.
    """
    items, problems, places = [], [], {}
    for place, row in (row for path in paths for row in file_rows(path)):
        if isinstance(row, str):
            problems.append(f"{place}: {row}")
            continue
        where = f"{place}: `{row['id']}`" if _id(row) else place
        found = list(row_problems(row, expected))
        culture, domain = expected.culture(row), expected.domain(row)
        if culture and domain and _id(row):
            earlier = places.setdefault((culture, domain, _id(row)), place)
            if earlier != place:
                found.append(f"{earlier} has the same id, too; ids are unique within a language and a domain")
            elif not found:
                items.append(own_item(row, culture, domain))
        problems += [f"{where}: {text}" for text in found]
    cells = {key[:2] for key in places}
    problems += [
        f"{culture}, {domain}: there is no item; add some, or leave one of the two out of carb.cultures and"
        " carb.domains"
        for culture, domain in product(expected.names, expected.domains)
        if (culture, domain) not in cells
    ]
    problems += script_problems(items, expected)
    raise_all(problems, "carb.item_files", PROBLEMS)
    return items


def row_problems(row: Mapping, expected: Expected) -> Iterator[str]:
    """Yield what is wrong with one item."""
    if not _id(row):
        yield "has no `id`; give a text or a number"
    culture, languages = expected.culture(row), [name for both in expected.names.items() for name in both]
    for key, other, found, known, near, example in (
        ("language", "culture", culture, list(expected.names), languages, "ko or Korean"),
        ("domain", "subset", expected.domain(row), expected.domains, expected.domains, expected.domains[0]),
    ):
        named = _first(row, key, other)
        if not named:
            yield f"has no `{key}` (or `{other}`); give it, such as {example}"
        elif not found:
            meant = nearest(str(named), near)
            hint = f"did you mean `{meant}`? " if meant else ""
            setting = "cultures" if key == "language" else "domains"
            there = f"`{named}` is not in carb.{setting} ({', '.join(known)})"
            yield f"{there}; {hint}add it there, or drop the items"
    texts = {}
    for key, count in (("prompt", 1), ("chosen", 1), ("rejected", ANSWERS - 1)):
        value = row.get(key)
        texts[key] = [value] if isinstance(value, str) else value
        wanted = "one text" if count == 1 else f"a list of {count} texts"
        if not isinstance(texts[key], list) or not all(isinstance(text, str) for text in texts[key]):
            yield f"`{key}` is {'missing' if value is None else 'no text'}; write {wanted}"
            texts[key] = []
        elif len(texts[key]) != count:
            yield f"`{key}` has {len(texts[key])} texts; write {wanted}"
        elif not all(text.strip() for text in texts[key]):
            yield f"`{key}` is empty; write the text"
        elif any(AS_TEXT.match(text) for text in texts[key]):
            yield f"`{key}` holds messages as text (pandas writes CSV so); write plain text"
    if any_alike([*texts["chosen"], *texts["rejected"]]):
        yield "two of its answers are the same text; change one, or drop the item"


def script_problems(items: Sequence[dict], expected: Expected) -> Iterator[str]:
    """Yield a problem for each culture whose items are all in another script; announce how many others are.

    An item about an idiom may hold mostly English, as some of the authors' own do."""
    odd, all_items = Counter(), Counter(item["culture"] for item in items)
    for item in items:
        texts = [item["prompt"], *_texts(item)]
        odd[item["culture"]] += script_share(" ".join(texts), expected.scripts[item["culture"]]) < LEAST_SHARE
    for culture, count in (+odd).items():
        said = f"{count} of {all_items[culture]} items of {expected.names[culture]}"
        letters = f"less than {LEAST_SHARE:.0%} of their letters in its script ({expected.scripts[culture]})"
        if count == all_items[culture]:
            yield f"{said} have {letters}; correct their language"
        else:
            announce(f"carb.item_files: {said} have {letters}; they stay")


def own_item(row: Mapping, culture: str, domain: str) -> dict:
    """Return a sound row as a possible item; the cultures of its wrong answers are unknown."""
    topic = f"{domain}-{_id(row)}"
    prompt, chosen = (row[key] if isinstance(row[key], str) else row[key][0] for key in ("prompt", "chosen"))
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
            for number, text in enumerate(row["rejected"], 1)
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


def main(snakemake):
    by_culture, counts = benchmark_items(dict(snakemake.input.items()), **snakemake.params.choices)
    write_table(counts, snakemake.output.counts, SELECTION_COLUMNS)
    for culture, of_culture in by_culture.items():
        write_jsonl(of_culture, snakemake.output[culture])


if __name__ == "__main__":
    run(main, globals().get("snakemake"))
