"""Datasets of the Hugging Face hub as our rows: pairs, passages, instructions or questions."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path

import datasets
from datasets.exceptions import DatasetGenerationError, DatasetNotFoundError

from polyreward.core.errors import PolyrewardError, is_outage, raise_all
from polyreward.core.logs import announce
from polyreward.prepare.pair_files import pairs_of
from polyreward.prepare.pair_layouts import LAYOUTS, Layout, find_layout, number_in, rated, voted
from polyreward.prepare.pair_shape import UnfitRow, message_list
from polyreward.sources.hub import DATASETS, fetched
from polyreward.sources.question_sets import ACCEPTED, OPTIONS, question_rows

CATALOG = "workflow/catalog/datasets.yaml"
REASONS = 10  # for leaving records out that are listed
FEW = 100  # rows that tell the columns of a file that does not list them
TEXTS = ("prompt", "chosen", "rejected")
TEXT, MESSAGES, NUMBER, ANNOTATIONS = "text", "messages", "numbers", f"lists of {', '.join(ACCEPTED)}"
# What a column may hold, by the name that our rows have for it; other names may hold any plain value
ALLOWED = {
    **dict.fromkeys(("prompt", "chosen", "rejected", "first", "second", "response"), (TEXT, MESSAGES)),
    **dict.fromkeys(("text", "subset", "reference", *OPTIONS), (TEXT,)),
    **dict.fromkeys(("answer", "margin"), (NUMBER,)),
    "annotations": (ANNOTATIONS,),
}


def hub_rows(entry: Mapping, name: str) -> list[dict]:
    """Return the rows of a dataset of the hub, or of a folder in its layout.

    Args:
        entry: as the head of CATALOG explains it.
    """
    path = Path(entry["id"])
    folder = path if path.is_dir() else fetched(entry["id"], DATASETS, entry["revision"])
    return HOLDS[entry["holds"]](entry, name, folder)


def column_problems(entry: Mapping, name: str) -> Iterator[str]:
    """Yield what a dataset lacks of the configs, splits, files and columns that its entry names.

    Only what tells the columns is read of the hub."""
    for there in _tables(entry).values():
        try:
            stream = _loaded(there, name, entry["id"], revision=entry["revision"], streaming=True)
            features = stream.features or datasets.Dataset.from_list(list(stream.take(FEW))).features
            table = datasets.Dataset.from_dict({column: [] for column in features}, features)
            if entry["holds"] == "pairs":
                _layout(there, name, table)
            _columns(there, name, table)
        except PolyrewardError as error:
            if is_outage(error):
                raise
            yield str(error)


def _pairs(entry: Mapping, name: str, folder: Path) -> list[dict]:
    if entry.get("languages") is None:
        pairs = _read_pairs(entry, name, folder)
    else:
        pairs = _with_translations(_parallel(entry, name, folder, _read_pairs), name)
    return [
        {"source": name, "subset": name, **pair, "id": str(pair.get("id", f"{name}-{number}"))}
        for number, pair in enumerate(pairs)
    ]


def _read_pairs(entry: Mapping, name: str, folder: Path) -> list[dict]:
    """Return the pairs of one table; what makes no pair is left out and counted."""
    table = _table(entry, name, folder)
    layout, records = _layout(entry, name, table), _records(entry, name, table)
    if layout.together:
        first: dict[str, int] = {}
        records.sort(key=lambda record: first.setdefault(str(record[layout.together]), len(first)))
    with_margins = "margin" in entry.get("columns", {})
    pairs, left_out = [], Counter()
    for number, found in pairs_of([(str(number), record) for number, record in enumerate(records)], layout):
        if isinstance(found, list):
            for one in found:
                one["prompt"] = _plain(one["prompt"])
                one["margin"] = records[int(number)]["margin"] if with_margins else None
                pairs.append({key: value for key, value in one.items() if value is not None})
        else:
            left_out[str(found)] += 1
    for reason, count in left_out.most_common(REASONS):
        announce(f"dataset {name}: {count} left out: {reason}")
    if not pairs:
        raise PolyrewardError(
            f"{_where(entry)}: holds no pair ({'; '.join(list(left_out)[:REASONS])}); correct {name} in"
            f" {CATALOG}"
        )
    return pairs


def _layout(entry: Mapping, name: str, table: datasets.Dataset) -> Layout:
    """Return the layout of an entry of pairs: the one that it names, or the one that its columns make."""
    if "layout" in entry:
        try:
            return find_layout(table.features, entry["layout"])
        except PolyrewardError as error:
            fix = f"correct `layout` of {name} in {CATALOG}"
            raise PolyrewardError(f"{_where(entry)}: {error}; {fix}") from None
    if "preference" in entry["columns"]:
        names = {"id": "id", "subset": "subset"}
        return Layout("preference", (), partial(_compared, entry["chooses"]), names)
    if "rating" in entry["columns"]:
        return Layout("rating", (), partial(_rated, entry["ratings"]), together="prompt")
    return LAYOUTS["pairs"]


def _compared(chooses: Mapping, row: dict) -> tuple:
    better = (row["preference"] in chooses["first"]) - (row["preference"] in chooses["second"])
    return voted(row["prompt"], row["first"], row["second"], better)


def _rated(ratings: Mapping | None, rows: Sequence[dict]) -> tuple:
    def rating(row: dict) -> float | None:
        try:
            return number_in(row, "rating") if ratings is None else ratings.get(row["rating"])
        except UnfitRow:
            return None

    return rated(rows[0]["prompt"], [(rating(row), row["response"]) for row in rows if row["response"]])


def _plain(prompt: object) -> object:
    """Return a prompt of one single question as its text."""
    if isinstance(prompt, list) and len(prompt) == 1 and prompt[0].get("role") == "user":
        return prompt[0]["content"]
    return prompt


def _with_translations(found: Mapping[str, Mapping[str, dict]], name: str) -> list[dict]:
    """Return the first language's pairs that are in all languages, with the other texts as `translations`."""
    source, *others = found
    whole = [
        key
        for key in found[source]
        if all(pairs.get(key, {}).get(role) for pairs in found.values() for role in TEXTS)
    ]
    if len(whole) < len(found[source]):
        left_out = len(found[source]) - len(whole)
        announce(f"dataset {name}: {left_out} pairs are not in all of {', '.join(found)} and are left out")
    return [
        {
            **found[source][key],
            "translations": {
                language: {role: found[language][key][role] for role in TEXTS} for language in others
            },
        }
        for key in whole
    ]


def _passages(entry: Mapping, name: str, folder: Path) -> list[dict]:
    found = _parallel(entry, name, folder, _read)
    first: dict[str, str] = {}  # a passage appears once, however many ask about it
    for key, record in next(iter(found.values())).items():
        first.setdefault(record["text"], key)
    return [
        {"id": key, **{language: rows[key]["text"] for language, rows in found.items() if key in rows}}
        for key in first.values()
    ]


def _instructions(entry: Mapping, name: str, folder: Path) -> list[dict]:
    found = _parallel(entry, name, folder, _asked)

    def texts(key: str, role: str) -> dict[str, str]:
        return {language: rows[key][role] for language, rows in found.items() if key in rows}

    roles = [role for role in ("prompt", "reference") if role in entry["columns"]]
    return [{"id": key, **{role: texts(key, role) for role in roles}} for key in next(iter(found.values()))]


def _asked(entry: Mapping, name: str, folder: Path) -> list[dict]:
    records = _read(entry, name, folder)
    for record in records:
        try:
            record["prompt"] = _plain(message_list(record["prompt"], "prompt"))
        except UnfitRow as error:
            raise PolyrewardError(f"{_where(entry)}: {record['id']}: {error}") from None
    return records


def _questions(entry: Mapping, name: str, folder: Path) -> list[dict]:
    """Return the questions of all languages, each with its `language` and an id that is unique in the set."""
    rows = []
    for language, there in _tables(entry).items():
        records, kept = _read(there, name, folder), {}
        for number, row in enumerate(question_rows(records, _where(there)), 1):
            key = f"{name}-{row.get('id', number)}_{language}"
            kept.setdefault(key, {**row, "id": key, "language": language})
        if len(kept) < len(records):
            left_out = len(records) - len(kept)
            announce(
                f"dataset {name}, {language}: {left_out} of {len(records)} questions, without an answer or"
                " twice, are left out"
            )
        rows += kept.values()
    return rows


def _parallel(entry: Mapping, name: str, folder: Path, read: Callable) -> dict[str, dict[str, dict]]:
    """Return {language: {id: record}} without ids that a language repeats."""
    found = {language: read(there, name, folder) for language, there in _tables(entry).items()}
    counts = [Counter(record["id"] for record in records) for records in found.values()]
    twice = {key for of_language in counts for key, count in of_language.items() if count > 1}
    if twice:
        announce(f"dataset {name}: {len(twice)} keys appear twice in a language and are left out")
    return {
        language: {record["id"]: record for record in records if record["id"] not in twice}
        for language, records in found.items()
    }


def _tables(entry: Mapping) -> dict[str, dict]:
    """Return {language: the entry of its table}; an entry without languages is one table."""
    parts = {"": {}} if entry.get("languages") is None else entry["languages"]
    if not parts:
        raise PolyrewardError(
            f"{_where(entry)}: has none of this run's languages; choose another dataset, or one of"
            " its languages as target_languages"
        )
    return {language: {**entry, **part, "languages": None} for language, part in parts.items()}


def _read(entry: Mapping, name: str, folder: Path) -> list[dict]:
    return _records(entry, name, _table(entry, name, folder))


def _table(entry: Mapping, name: str, folder: Path) -> datasets.Dataset:
    table = _loaded(entry, name, str(folder))
    if not len(table):
        raise PolyrewardError(f"{_where(entry)}: holds no row; correct `split` of {name} in {CATALOG}")
    return table


def _loaded(entry: Mapping, name: str, place: str, **how) -> datasets.Dataset | datasets.IterableDataset:
    try:
        return datasets.load_dataset(
            place, entry["config"], split=entry["split"], data_files=entry.get("files"), **how
        )
    except (ValueError, OSError, DatasetGenerationError, DatasetNotFoundError) as error:
        raise PolyrewardError(
            f"{_where(entry)}: does not load ({error}); correct `config`, `split` or `files` of {name} in"
            f" {CATALOG}"
        ) from error


def _where(entry: Mapping) -> str:
    file = f", file {entry['files']}" if entry.get("files") else ""
    return f"dataset {entry['id']}{file}, config {entry['config']}, split {entry['split']}"


def _records(entry: Mapping, name: str, table: datasets.Dataset) -> list[dict]:
    """Return the rows that `only` leaves, under our names; an entry's `key` makes their id."""
    columns, keys = _columns(entry, name, table)
    only = entry.get("only", {})
    return [
        {ours: row[theirs] for ours, theirs in columns.items()}
        | ({"id": "-".join(str(row[key]) for key in keys)} if keys else {})
        for row in table.select_columns(list({*columns.values(), *keys, *only}))
        if all(row[column] in values for column, values in only.items())
    ]


def _columns(entry: Mapping, name: str, table: datasets.Dataset) -> tuple[dict[str, str], list[str]]:
    """Return ({our name: the dataset's column}, key columns): of several names the first existing one.

    Raises:
        PolyrewardError: lists the columns that are missing, that hold something else than ALLOWED, and those
            without a value of `only`.
    """
    there, only = table.column_names, entry.get("only", {})
    columns = {}
    for ours, theirs in entry.get("columns", {column: column for column in there}).items():
        names = [theirs] if isinstance(theirs, str) else theirs
        columns[ours] = next((one for one in names if one in there), names[0])
    if "columns" in entry and "chosen" in columns:
        answers = [table.features.get(columns[role]) for role in ("chosen", "rejected")]
        if any(isinstance(one, datasets.Value) for one in answers):
            columns.setdefault("prompt", "prompt")
        elif columns.get("prompt") not in there:
            columns.pop("prompt", None)  # conversations bring it
    # A key with the name of one of our columns is looked up among them.
    keys = [columns.get(key, key) for key in entry.get("key", [])]
    missing = sorted({*columns.values(), *keys, *only} - set(there))
    problems, fix = [], f"correct `columns` of {name} in {CATALOG}"
    if missing:
        problems.append(f"no column {', '.join(missing)}; it has {', '.join(there)}: {fix}")
    if "columns" in entry:  # a layout's own reader checks its columns
        problems += [f"{problem}: {fix}" for problem in _unfit(columns, table)]
    for column, values in only.items() if len(table) else ():
        held = table.unique(column) if column in there else values
        if not set(values) & set(held):
            problems.append(
                f"column {column} holds none of {', '.join(map(str, values))}, but"
                f" {', '.join(sorted(map(str, held))[:9])}: correct `only` of {name} in {CATALOG}"
            )
    raise_all(problems, _where(entry))
    return columns, keys


def _unfit(columns: Mapping[str, str], table: datasets.Dataset) -> Iterator[str]:
    for ours, theirs in columns.items():
        if ours in ALLOWED and theirs in table.column_names:
            content = _content(table.features[theirs])
            if content not in ALLOWED[ours]:
                yield f"column {theirs} holds {content}, and `{ours}` {' or '.join(ALLOWED[ours])}"


def _content(feature) -> str:
    """Describe what a column holds."""
    if isinstance(feature, datasets.Value):
        return TEXT if feature.dtype in ("string", "large_string") else NUMBER
    inner = getattr(feature, "feature", feature[0] if isinstance(feature, list) and feature else None)
    if isinstance(inner, datasets.Json) or (  # of messages with different keys
        isinstance(inner, Mapping)
        and ({"role", "content"} <= inner.keys() or {"from", "value"} <= inner.keys())
    ):
        return MESSAGES
    if isinstance(inner, Mapping) and set(ACCEPTED) <= inner.keys():
        return ANNOTATIONS
    return str(feature)


HOLDS = {"pairs": _pairs, "passages": _passages, "instructions": _instructions, "questions": _questions}
