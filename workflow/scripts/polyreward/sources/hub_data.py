"""Datasets of the Hugging Face hub as our rows: preference pairs, parallel passages or instructions; columns checked first."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import datasets
from datasets.exceptions import DatasetGenerationError, DatasetNotFoundError

from polyreward.core.errors import PolyrewardError, raise_all
from polyreward.core.logs import announce
from polyreward.sources.hub import DATASETS, fetched

CATALOG = "workflow/catalog/datasets.yaml"
TEXT, MESSAGES, NUMBER = "text", "messages", "numbers"
# What a column may hold, by the name that our rows have for it; a name that is not here may hold any plain value.
ALLOWED = {
    **dict.fromkeys(("prompt", "chosen", "rejected", "first", "second", "response"), (TEXT, MESSAGES)),
    **dict.fromkeys(("text", "subset", "reference"), (TEXT,)),
}


def hub_rows(entry: Mapping, name: str) -> list[dict]:
    """Return the rows of a dataset of the hub.

    entry: id (or a folder in the hub's layout), revision (a commit), config, split, files (patterns, or None), columns {our name:
    the dataset's} and what it holds. pairs: columns are chosen, rejected, and prompt unless the answers are whole conversations;
    or prompt, first, second, preference, with `chooses` {first: values, second: values}; or prompt, response, rating, with
    `ratings` {value: number} or None. passages (column text) and instructions (prompt, perhaps reference): `languages`
    {language: what differs from config, split, files}, and `key`, columns that tell which rows belong together. Raises
    PolyrewardError that names every column that is not there or holds something else, and how to fix it."""
    path = Path(entry["id"])
    folder = path if path.is_dir() else fetched(entry["id"], DATASETS, entry["revision"])
    return HOLDS[entry["holds"]](entry, name, folder)


def _pairs(entry: Mapping, name: str, folder: Path) -> list[dict]:
    table = _checked_table(entry, name, folder)
    shape = next(shape for columns, shape in SHAPES.items() if columns in entry["columns"])
    pairs = list(shape(_records(table, entry["columns"]), entry))
    if entry.get("size") and len(pairs) != entry["size"]["rows"]:
        announce(f"dataset {name}: {len(pairs)} pairs, where the catalog has {entry['size']['rows']}")
    return [
        {"source": name, "subset": name, **pair, "id": str(pair.get("id", f"{name}-{number}"))}
        for number, pair in enumerate(pairs)
    ]


def _chosen_pairs(records: Sequence[dict], entry: Mapping) -> Iterator[dict]:
    for record in records:
        prompt = record["prompt"] if "prompt" in record else _before_last(record["chosen"])
        yield {**record, "prompt": prompt, "chosen": _last(record["chosen"]), "rejected": _last(record["rejected"])}


def _compared_pairs(records: Sequence[dict], entry: Mapping) -> Iterator[dict]:
    """Yield a pair for each record in which one of two answers is preferred; a tie makes none."""
    for record in records:
        first, second, preference = (record.pop(key) for key in ("first", "second", "preference"))
        if preference in entry["chooses"]["first"]:
            yield {**record, "chosen": _last(first), "rejected": _last(second)}
        elif preference in entry["chooses"]["second"]:
            yield {**record, "chosen": _last(second), "rejected": _last(first)}


def _rated_pairs(records: Sequence[dict], entry: Mapping) -> Iterator[dict]:
    """Yield a pair for each prompt that has exactly one response of its highest rating and one of its lowest."""
    ratings = entry["ratings"]
    of_prompt: dict[str, list[tuple[float, str]]] = {}
    for record in records:
        rating = record["rating"] if ratings is None else ratings.get(record["rating"])
        if rating is not None and record["response"]:
            of_prompt.setdefault(record["prompt"], []).append((rating, _last(record["response"])))
    for prompt, rated in of_prompt.items():
        counts = Counter(rating for rating, _ in rated)
        best, worst = max(counts), min(counts)
        if best > worst and counts[best] == counts[worst] == 1:
            yield {"prompt": prompt, "chosen": dict(rated)[best], "rejected": dict(rated)[worst]}


def _passages(entry: Mapping, name: str, folder: Path) -> list[dict]:
    found = _by_language(entry, name, folder)
    source = next(iter(found.values()))
    first = {record["text"]: key for key, record in reversed(source.items())}  # a passage stands once, however many ask about it
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
            **{role: {language: of_key[key][role] for language, of_key in found.items() if key in of_key} for role in roles},
        }
        for key in next(iter(found.values()))
    ]


def _by_language(entry: Mapping, name: str, folder: Path) -> dict[str, dict[str, dict]]:
    """Return {language: {key: record}}; a key that stands twice in a language is left out of all."""
    columns = {**{f"key {number}": column for number, column in enumerate(entry["key"])}, **entry["columns"]}
    found, twice = {}, set()
    for language, part in entry["languages"].items():
        table = _checked_table({**entry, **part, "columns": columns}, name, folder)
        keyed = [
            ("-".join(str(record[column]) for column in columns if column.startswith("key ")), record)
            for record in _records(table, columns)
        ]
        twice |= {key for key, count in Counter(key for key, _ in keyed).items() if count > 1}
        found[language] = dict(keyed)
    if twice:
        announce(f"dataset {name}: {len(twice)} keys stand twice in a language and are left out")
    return {language: {key: record for key, record in of_key.items() if key not in twice} for language, of_key in found.items()}


def _checked_table(entry: Mapping, name: str, folder: Path) -> datasets.Dataset:
    where = f"dataset {entry['id']}, config {entry['config']}, split {entry['split']}"
    try:
        table = datasets.load_dataset(str(folder), entry["config"], split=entry["split"], data_files=entry.get("files"))
    except (ValueError, OSError, DatasetGenerationError, DatasetNotFoundError) as error:
        raise PolyrewardError(
            f"{where}: does not load ({error}); correct `config`, `split` or `files` of {name} in {CATALOG}"
        ) from error
    raise_all(_column_problems(table, entry["columns"], name), where)
    if not len(table):
        raise PolyrewardError(f"{where}: holds no row; correct `split` of {name} in {CATALOG}")
    return table


def _column_problems(table: datasets.Dataset, columns: Mapping[str, str], name: str) -> Iterator[str]:
    fix = f"correct `columns` of {name} in {CATALOG}"
    missing = sorted(set(columns.values()) - set(table.column_names))
    if missing:
        yield f"no column {', '.join(missing)}; it has {', '.join(table.column_names)}: {fix}"
    for ours, theirs in columns.items():
        if ours in ALLOWED and theirs in table.column_names and _content(table.features[theirs]) not in ALLOWED[ours]:
            yield f"column {theirs} holds {_content(table.features[theirs])}, and `{ours}` {' or '.join(ALLOWED[ours])}: {fix}"


def _content(feature) -> str:
    """Return what a column holds, in words."""
    if isinstance(feature, datasets.Value):
        return TEXT if feature.dtype in ("string", "large_string") else NUMBER
    inner = getattr(feature, "feature", feature[0] if isinstance(feature, list) and feature else None)
    if isinstance(inner, Mapping) and {"role", "content"} <= inner.keys():
        return MESSAGES
    return str(feature)


def _records(table: datasets.Dataset, columns: Mapping[str, str]) -> list[dict]:
    kept = table.select_columns(list(dict.fromkeys(columns.values())))
    return [{ours: _plain(record[theirs]) for ours, theirs in columns.items()} for record in kept]


def _plain(value):
    """Return a value of a record; of messages only role and content, and one question alone as its text."""
    if not isinstance(value, list):
        return value
    messages = [{"role": turn["role"], "content": turn["content"]} for turn in value]
    return messages[0]["content"] if [turn["role"] for turn in messages] == ["user"] else messages


def _last(answer: str | list[dict]) -> str:
    return answer if isinstance(answer, str) or not answer else answer[-1]["content"]


def _before_last(conversation: list[dict]) -> str | list[dict]:
    return _plain(conversation[:-1])


SHAPES = {"chosen": _chosen_pairs, "preference": _compared_pairs, "rating": _rated_pairs}  # by a column that only one of them has
HOLDS = {"pairs": _pairs, "passages": _passages, "instructions": _instructions}
