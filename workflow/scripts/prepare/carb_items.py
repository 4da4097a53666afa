"""Filter possible items and draw the benchmark's, or take the user's own items as they are."""

import dataclasses
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import product
from pathlib import Path

import pandas as pd

from polyreward.carb.items.filters import ANSWERS, COUNT_COLUMNS, any_alike, empty_cells, foreign, kept_items
from polyreward.carb.items.selection import TRAINING_SHARE, finished_items, item_problems, split_topics
from polyreward.core.errors import nearest, raise_all
from polyreward.core.files import read_jsonl, write_jsonl
from polyreward.core.logs import announce
from polyreward.core.tables import read_sealed, write_table
from polyreward.core.writing import script_share
from polyreward.ops.jobs import run
from polyreward.prepare.pair_files import PROBLEMS
from polyreward.prepare.pair_shape import AS_TEXT, UnfitRow, name_of
from polyreward.prepare.row_files import file_rows

PREFIX = "cultural_"  # of the public sample's domains
SAMPLE_DOMAINS = {"value": "values", "toxicity": "safety", "linguistic": "linguistics"}  # theirs: ours
LEAST_SHARE = 0.5  # of an item's letters are in its language's script; words and names may be in another
SELECTION_COLUMNS = [*COUNT_COLUMNS, "items_drawn"]


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


def built_items(
    references: Sequence[dict],
    possible: Sequence[dict],
    similarities: pd.DataFrame,
    expected: Expected,
    items_per_cell: int | None,
    seed: int,
) -> tuple[list[dict], pd.DataFrame]:
    """Return the benchmark's items and their counts; similarities: as filters.kept_items takes them.

    Raises PolyrewardError that lists cultures and domains without an item, or item_problems."""
    references, possible = split_topics(references, possible, TRAINING_SHARE, seed, training=False)
    kept, counts = kept_items(possible, references, similarities, expected.scripts)
    raise_all(empty_cells(counts, list(expected.names), expected.domains), "carb")
    items = finished_items(kept, seed, items_per_cell)
    drawn = _cells(items)
    problem = "no four questions have answers that all differ; write more topics"
    gone = (cell for cell in product(expected.names, expected.domains) if cell not in drawn)
    raise_all((f"{culture}, {domain}: {problem}" for culture, domain in gone), "carb")
    raise_all(item_problems(items, references), "carb")
    return items, pd.DataFrame(
        [{**row, "items_drawn": drawn[row["culture"], row["domain"]]} for row in counts]
    )


def given_items(
    paths: Iterable[str | Path], expected: Expected, items_per_cell: int | None, seed: int
) -> tuple[list[dict], pd.DataFrame]:
    """Return the user's items as the benchmark has them, with all else that they bring, and counts.

    Nothing is filtered: answers_foreign counts the answers that filters.foreign would remove."""
    items = read_item_files(paths, expected)
    more = {item["id"]: item["more"] for item in items}
    finished = [{**more[item["id"]], **item} for item in finished_items(items, seed, items_per_cell)]
    drawn, odd = _cells(finished), Counter()
    for item in items:
        script = expected.scripts[item["culture"]]
        odd[item["culture"], item["domain"]] += sum(foreign(text, script) for text in _answers(item))
    counts = pd.DataFrame(
        [(*cell, count, odd[cell], drawn[cell]) for cell, count in _cells(items).items()],
        columns=["culture", "domain", "items", "answers_foreign", "items_drawn"],
    ).reindex(columns=SELECTION_COLUMNS)
    return finished, counts.astype(dict.fromkeys(SELECTION_COLUMNS[2:], "Int64"))


def _answers(item: dict) -> list[str]:
    return [answer["text"] for answer in (item["chosen"], *item["answers"])]


def _cells(items: Iterable[dict]) -> Counter:
    return Counter((item["culture"], item["domain"]) for item in items)


def read_item_files(paths: Iterable[str | Path], expected: Expected) -> list[dict]:
    """Read and check items; return them as filters.kept_items does, and `more`: their other keys.

    An item's id becomes `<domain>-<id>_<culture>`: the same id in two cultures is one topic asked of both.
    Raises PolyrewardError that lists the problems with their file and place."""
    items, problems, places = [], [], {}
    for place, row in (row for path in paths for row in file_rows(path)):
        if isinstance(row, str):
            problems.append(f"{place}: {row}")
            continue
        where = f"{place}: `{row['id']}`" if _id(row) else place
        found = list(_row_problems(row, expected))
        culture, domain = expected.culture(row), expected.domain(row)
        if culture and domain and _id(row):
            earlier = places.setdefault((culture, domain, _id(row)), place)
            if earlier != place:
                found.append(f"{earlier} has the same id, too; ids are unique within a language and a domain")
            elif not found:
                items.append(_own_item(row, culture, domain))
        problems += [f"{where}: {text}" for text in found]
    cells = {key[:2] for key in places}
    either = "add some, or leave one of the two out of carb.cultures and carb.domains"
    problems += [
        f"{culture}, {domain}: there is no item; {either}"
        for culture, domain in product(expected.names, expected.domains)
        if (culture, domain) not in cells
    ]
    problems += _script_problems(items, expected)
    raise_all(problems, "carb.item_files", PROBLEMS)
    return items


def _row_problems(row: Mapping, expected: Expected) -> Iterator[str]:
    if not _id(row):
        yield "has no `id`; give a text or a number"
    languages = [name for both in expected.names.items() for name in both]
    for key, other, found, setting, known, near, example in (
        ("language", "culture", expected.culture(row), "cultures", expected.names, languages, "ko or Korean"),
        ("domain", "subset", expected.domain(row), "domains", *[expected.domains] * 2, expected.domains[0]),
    ):
        named = _first(row, key, other)
        if not named:
            yield f"has no `{key}` (or `{other}`); give it, such as {example}"
        elif not found:
            meant = nearest(str(named), near)
            hint = f"did you mean `{meant}`? " if meant else ""
            there = f"`{named}` is not in carb.{setting} ({', '.join(known)})"
            yield f"{there}; {hint}add it there, or drop the items"
    answers = []
    for key, count in (("prompt", 1), ("chosen", 1), ("rejected", ANSWERS - 1)):
        value = row.get(key)
        texts = [value] if isinstance(value, str) else value
        wanted = "one text" if count == 1 else f"a list of {count} texts"
        if not isinstance(texts, list) or not all(isinstance(text, str) for text in texts):
            yield f"`{key}` is {'missing' if value is None else 'no text'}; write {wanted}"
            continue
        if len(texts) != count:
            yield f"`{key}` has {len(texts)} texts; write {wanted}"
        elif not all(text.strip() for text in texts):
            yield f"`{key}` is empty; write the text"
        elif any(AS_TEXT.match(text) for text in texts):
            yield f"`{key}` holds messages as text (pandas writes CSV so); write plain text"
        answers += texts if key != "prompt" else []
    if any_alike(answers):
        yield "two of its answers are the same text; change one, or drop the item"


def _script_problems(items: Sequence[dict], expected: Expected) -> Iterator[str]:
    """Yield a problem for each culture whose items are all in another script; announce how many others are.

    An item about an idiom may hold mostly English, as some of the authors' own do."""
    odd, all_items = Counter(), Counter(item["culture"] for item in items)
    for item in items:
        texts = " ".join([item["prompt"], *_answers(item)])
        odd[item["culture"]] += script_share(texts, expected.scripts[item["culture"]]) < LEAST_SHARE
    for culture, count in (+odd).items():
        said = f"{count} of {all_items[culture]} items of {expected.names[culture]}"
        letters = f"less than {LEAST_SHARE:.0%} of their letters in its script ({expected.scripts[culture]})"
        if count == all_items[culture]:
            yield f"{said} have {letters}; correct their language"
        else:
            announce(f"carb.item_files: {said} have {letters}; they stay")


def _own_item(row: Mapping, culture: str, domain: str) -> dict:
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
        "answers": [  # of unknown cultures
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
    params, files = snakemake.params, snakemake.input
    expected = Expected(**params.expected)
    if files.given:
        items, counts = given_items(files.given, expected, **params.draw)
    else:
        rows = (read_jsonl(files.references), read_jsonl(files.possible), read_sealed(files.similarities))
        items, counts = built_items(*rows, expected, **params.draw)
    write_table(counts, snakemake.output.counts, SELECTION_COLUMNS)
    for culture in expected.names:
        write_jsonl([item for item in items if item["culture"] == culture], snakemake.output[culture])


if __name__ == "__main__":
    run(main, globals().get("snakemake"))
