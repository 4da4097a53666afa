"""Datasets of the Hugging Face hub as our rows: pairs, passages, instructions or questions, with checked
columns.
"""

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path

import datasets
from datasets.exceptions import DatasetGenerationError, DatasetNotFoundError

from polyreward.core.errors import PolyrewardError, is_outage, raise_all
from polyreward.core.logs import announce
from polyreward.prepare.pair_files import pairs_of
from polyreward.prepare.pair_layouts import (
    LAYOUTS,
    Layout,
    LeftOut,
    UnfitRow,
    find_layout,
    message_list,
    pair,
    votes,
)
from polyreward.sources.hub import DATASETS, fetched
from polyreward.sources.question_sets import ACCEPTED, OPTIONS, question_rows

CATALOG = "workflow/catalog/datasets.yaml"
REASONS = 10  # for leaving records out that are listed
FEW = 100  # rows that tell the columns of a file that does not list them
TEXTS = ("prompt", "chosen", "rejected")
TEXT, MESSAGES, NUMBER, ANNOTATIONS = "text", "messages", "numbers", f"lists of {', '.join(ACCEPTED)}"
# What a column may hold, by the name that our rows have for it; a name that is not here may hold any plain
# value.
ALLOWED = {
    **dict.fromkeys(("prompt", "chosen", "rejected", "first", "second", "response"), (TEXT, MESSAGES)),
    **dict.fromkeys(("text", "subset", "reference", *OPTIONS), (TEXT,)),
    "answer": (NUMBER,),
    "annotations": (ANNOTATIONS,),
}


def hub_rows(entry: Mapping, name: str) -> list[dict]:
    """Return the rows of a dataset of the hub, of one of these kinds (`holds`).

    - pairs: a `layout`, as in pair_layouts. Or columns chosen, rejected, and prompt unless the answers are
      whole conversations. Or prompt, first, second, preference, with `chooses` {first: values, second:
      values}. Or prompt, response, rating, with `ratings` {value: number} or None.
    - passages: column text. instructions: column prompt, perhaps reference.
    - Both have `languages` {language: its config, split, files} and `key`, the columns that identify rows
      across languages. Pairs may have both too, and then `translations`.
    - questions: columns as in question_sets.py, and `languages` with different rows.

    Args:
        entry: id (or a folder in the hub's layout), revision, config, split, files, and its kind's keys.
            `columns` is {our name: the dataset's, or several of which the first existing one counts}. `only`
            is {column: values of rows to read}.
    """
    path = Path(entry["id"])
    folder = path if path.is_dir() else fetched(entry["id"], DATASETS, entry["revision"])
    return HOLDS[entry["holds"]](entry, name, folder)


def column_problems(entry: Mapping, name: str) -> Iterator[str]:
    """Yield what a dataset lacks of the configs, splits, files and columns that its entry names.

    No more is read of the hub than where the columns are. Values, and so `only`, are not looked at."""
    keys = _keys(entry)
    for there in _of_languages(entry).values():
        try:
            stream = _loaded(there, name, entry["id"], revision=entry["revision"], streaming=True)
            features = stream.features or datasets.Dataset.from_list(list(stream.take(FEW))).features
            table = datasets.Dataset.from_dict({column: [] for column in features}, features)
            if entry["holds"] == "pairs":
                _layout_there(table, there, name, keys)
            else:
                _check(table, {**there, "columns": {**keys, **entry["columns"]}}, name)
        except PolyrewardError as error:
            if is_outage(error):
                raise
            yield str(error)


def _pairs(entry: Mapping, name: str, folder: Path) -> list[dict]:
    pairs = _parallel_pairs(entry, name, folder) if "languages" in entry else _read_pairs(entry, name, folder)
    return [
        {"source": name, "subset": name, **pair, "id": str(pair.get("id", f"{name}-{number}"))}
        for number, pair in enumerate(pairs)
    ]


def _read_pairs(entry: Mapping, name: str, folder: Path, keys: Mapping | None = None) -> list[dict]:
    """Return the pairs of one table, each with the values of `keys` as its id.

    What makes no pair is left out and counted.
    """
    table = _table(entry, name, folder)
    layout, columns = _layout_there(table, entry, name, keys or {})
    records = _records(table, columns, entry.get("only", {}))
    if keys:
        records = [{**record, "id": _key(record)} for record in records]
    if layout.together:
        first: dict[str, int] = {}
        records.sort(key=lambda record: first.setdefault(str(record[layout.together]), len(first)))
    pairs, left_out = [], Counter()
    for _, found in pairs_of([(name, record) for record in records], layout):
        if isinstance(found, list):
            for one in found:
                one["prompt"] = _plain(one["prompt"])
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


def _layout_there(
    table: datasets.Dataset, entry: Mapping, name: str, keys: Mapping
) -> tuple[Layout, dict[str, str]]:
    """Return the layout of a table of pairs and its columns {ours: the dataset's}; raise what is missing."""
    if "layout" in entry:
        given = {column: column for column in table.column_names}
        try:
            layout = find_layout(given, entry["layout"])
        except PolyrewardError as error:
            raise PolyrewardError(
                f"{_where(entry)}: {error}; correct `layout` of {name} in {CATALOG}"
            ) from None
    else:
        given = entry["columns"]
        layout = _declared(entry)
    columns = _columns_there(table, {**keys, **given})
    whole = _hold_conversations(table, columns)
    if whole and columns.get("prompt") not in table.column_names:
        columns.pop("prompt", None)  # the answers bring it
    # A layout's own reader checks its columns.
    _check(table, {**entry, "columns": {} if "layout" in entry else columns}, name)
    if layout.name == "pairs" and "prompt" not in columns and not whole:
        raise PolyrewardError(
            f"{_where(entry)}: no column for `prompt`, and the answers are no conversations that hold it; it"
            f" has {', '.join(table.column_names)}: add it to `columns` of {name} in {CATALOG}"
        )
    return layout, columns


def _declared(entry: Mapping) -> Layout:
    """Return the layout that an entry's columns make."""
    if "preference" in entry["columns"]:
        return Layout("preference", (), partial(_compared, entry["chooses"]))
    if "rating" in entry["columns"]:
        return Layout("rating", (), partial(_rated, entry["ratings"]), together="prompt")
    return LAYOUTS["pairs"]


def _compared(chooses: Mapping, row: dict) -> list[dict]:
    better = (row["preference"] in chooses["first"]) - (row["preference"] in chooses["second"])
    names = {"id": row.get("id"), "subset": row.get("subset")}
    return votes(row["prompt"], row["first"], row["second"], better, **names)


def _rated(ratings: Mapping | None, rows: Sequence[dict]) -> list[dict]:
    """Make a pair of a prompt's only highest-rated and its only lowest-rated response."""
    rated = [
        (_number(row["rating"]) if ratings is None else ratings.get(row["rating"]), row["response"])
        for row in rows
        if row["response"]
    ]
    counts = Counter(rating for rating, _ in rated if rating is not None)
    best, worst = max(counts, default=0), min(counts, default=0)
    if not (best > worst and counts[best] == counts[worst] == 1):
        raise LeftOut("prompts without one best and one worst response")
    of = dict(rated)
    return [pair(rows[0]["prompt"], of[best], of[worst], id=rows[0].get("id"))]


def _parallel_pairs(entry: Mapping, name: str, folder: Path) -> list[dict]:
    """Return the first language's pairs that are in all languages, with the other texts as `translations`."""
    keys = _keys(entry)
    found = {
        language: [(one["id"], one) for one in _read_pairs(there, name, folder, keys)]
        for language, there in _of_languages(entry).items()
    }
    by_key = _without_repeated(found, name)
    source, *others = by_key
    whole = [
        key for key in by_key[source] if all(_has_texts(of_key.get(key, {})) for of_key in by_key.values())
    ]
    if len(whole) < len(by_key[source]):
        announce(
            f"dataset {name}: {len(by_key[source]) - len(whole)} pairs are not in all of {', '.join(by_key)}"
            " and are left out"
        )
    return [
        {
            **by_key[source][key],
            "translations": {
                language: {role: by_key[language][key][role] for role in TEXTS} for language in others
            },
        }
        for key in whole
    ]


def _keys(entry: Mapping) -> dict[str, str | list[str]]:
    """Return {our name: key column}; a column that the entry names otherwise, such as `subset`, as there."""
    named = (entry.get("columns", {}).get(column, column) for column in entry.get("key", []))
    return {f"key {number}": column for number, column in enumerate(named)}


def _key(record: Mapping) -> str:
    return "-".join(str(value) for column, value in record.items() if column.startswith("key "))


def _has_texts(pair: Mapping) -> bool:
    return all(pair.get(role) for role in TEXTS)


def _number(rating) -> float | None:
    """Return a rating as a number, or None if it is none."""
    try:
        found = float(rating)
    except (TypeError, ValueError):
        return None
    return found if math.isfinite(found) else None


def _passages(entry: Mapping, name: str, folder: Path) -> list[dict]:
    found = _by_language(entry, name, folder)
    source = next(iter(found.values()))
    # A passage appears once, however many ask about it.
    first = {record["text"]: key for key, record in reversed(source.items())}
    return [
        {"id": key, **{language: of_key[key]["text"] for language, of_key in found.items() if key in of_key}}
        for key, record in source.items()
        if first[record["text"]] == key
    ]


def _instructions(entry: Mapping, name: str, folder: Path) -> list[dict]:
    found = _by_language(entry, name, folder)
    roles = [role for role in ("prompt", "reference") if role in entry["columns"]]
    return [
        {
            "id": key,
            **{
                role: {language: of_key[key][role] for language, of_key in found.items() if key in of_key}
                for role in roles
            },
        }
        for key in next(iter(found.values()))
    ]


def _questions(entry: Mapping, name: str, folder: Path) -> list[dict]:
    """Return the questions of all languages, each with its `language` and an id that is unique in the set."""
    rows = []
    for language, there in _of_languages(entry).items():
        records = _checked_records(there, name, folder)
        read = question_rows(records, _where(there))
        ids = [f"{name}-{row.get('id', number)}_{language}" for number, row in enumerate(read, 1)]
        kept = {
            id_: {**row, "id": id_, "language": language}
            for id_, row in zip(reversed(ids), reversed(read), strict=True)
        }
        if len(kept) < len(records):
            left_out = len(records) - len(kept)
            announce(
                f"dataset {name}, {language}: {left_out} of {len(records)} questions, without an answer or"
                " twice, are left out"
            )
        rows += list(kept.values())[::-1]
    return rows


def _by_language(entry: Mapping, name: str, folder: Path) -> dict[str, dict[str, dict]]:
    """Return {language: {key: record}} without keys that any language repeats."""
    columns = {**_keys(entry), **entry["columns"]}
    found = {}
    for language, there in _of_languages({**entry, "columns": columns}).items():
        records = _checked_records(there, name, folder)
        found[language] = [(_key(record), _with_plain_prompt(record, there)) for record in records]
    return _without_repeated(found, name)


def _without_repeated(found: Mapping[str, list[tuple[str, dict]]], name: str) -> dict[str, dict[str, dict]]:
    """Return {language: {key: record}} without keys that a language repeats."""
    twice = {
        key
        for keyed in found.values()
        for key, count in Counter(key for key, _ in keyed).items()
        if count > 1
    }
    if twice:
        announce(f"dataset {name}: {len(twice)} keys appear twice in a language and are left out")
    return {
        language: {key: record for key, record in keyed if key not in twice}
        for language, keyed in found.items()
    }


def _of_languages(entry: Mapping) -> dict[str, dict]:
    """Return {language: the entry of its table}; an entry without languages is one table."""
    parts = {"": {}} if entry.get("languages") is None else entry["languages"]
    if not parts:
        raise PolyrewardError(
            f"{_where(entry)}: has none of this run's languages; choose another dataset, or one of"
            " its languages as target_languages"
        )
    return {language: {**entry, **part, "languages": None} for language, part in parts.items()}


def _checked_records(entry: Mapping, name: str, folder: Path) -> list[dict]:
    table = _table(entry, name, folder)
    _check(table, entry, name)
    return _records(table, entry["columns"], entry.get("only", {}))


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


def _check(table: datasets.Dataset, entry: Mapping, name: str) -> None:
    """Raise PolyrewardError unless a table has what its entry says; entry: columns {ours: the dataset's}."""
    raise_all(_column_problems(table, entry["columns"], entry.get("only") or {}, name), _where(entry))


def _where(entry: Mapping) -> str:
    file = f", file {entry['files']}" if entry.get("files") else ""
    return f"dataset {entry['id']}{file}, config {entry['config']}, split {entry['split']}"


def _columns_there(table: datasets.Dataset, columns: Mapping[str, str | Sequence[str]]) -> dict[str, str]:
    """Return {ours: the dataset's}: of several possible names the first existing one, else the first."""
    given = {ours: [theirs] if isinstance(theirs, str) else list(theirs) for ours, theirs in columns.items()}
    there = table.column_names
    return {ours: next((one for one in names if one in there), names[0]) for ours, names in given.items()}


def _hold_conversations(table: datasets.Dataset, columns: Mapping[str, str]) -> bool:
    answers = [columns.get(role) for role in ("chosen", "rejected")]
    return all(
        column in table.column_names and _content(table.features[column]) == MESSAGES for column in answers
    )


def _column_problems(
    table: datasets.Dataset, columns: Mapping[str, str], only: Mapping, name: str
) -> Iterator[str]:
    fix = f"correct `columns` of {name} in {CATALOG}"
    missing = sorted((set(columns.values()) | set(only)) - set(table.column_names))
    if missing:
        yield f"no column {', '.join(missing)}; it has {', '.join(table.column_names)}: {fix}"
    for ours, theirs in columns.items():
        if ours in ALLOWED and theirs in table.column_names:
            content = _content(table.features[theirs])
            if content not in ALLOWED[ours]:
                yield f"column {theirs} holds {content}, and `{ours}` {' or '.join(ALLOWED[ours])}: {fix}"
    for column, values in only.items():
        if len(table) and column in table.column_names and not set(values) & set(table.unique(column)):
            held = ", ".join(sorted(map(str, table.unique(column)))[:9])
            sought = ", ".join(map(str, values))
            yield f"column {column} holds none of {sought}, but {held}: correct `only` of {name} in {CATALOG}"


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


def _records(table: datasets.Dataset, columns: Mapping[str, str], only: Mapping[str, Sequence]) -> list[dict]:
    kept = table.select_columns(list(dict.fromkeys([*columns.values(), *only])))
    return [
        {ours: record[theirs] for ours, theirs in columns.items()}
        for record in kept
        if all(record[column] in values for column, values in only.items())
    ]


def _with_plain_prompt(record: dict, entry: Mapping) -> dict:
    try:
        return {**record, "prompt": _plain(message_list(record["prompt"]))} if "prompt" in record else record
    except UnfitRow as error:
        raise PolyrewardError(f"{_where(entry)}: `prompt` of {_key(record)}: {error}") from None


def _plain(prompt: object) -> object:
    """Return a prompt of one single question as its text."""
    if isinstance(prompt, list) and len(prompt) == 1 and prompt[0].get("role") == "user":
        return prompt[0]["content"]
    return prompt


HOLDS = {"pairs": _pairs, "passages": _passages, "instructions": _instructions, "questions": _questions}
