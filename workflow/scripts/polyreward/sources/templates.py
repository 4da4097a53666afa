"""Item templates with slots, expanded to English preference rows."""

import string
from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from pathlib import Path

import jsonschema
import yaml
from simpleeval import InvalidExpression, SimpleEval

from polyreward.core.conversations import map_texts
from polyreward.core.errors import PolyrewardError, raise_all
from polyreward.core.yaml_files import parsed_yaml, read_yaml, yaml_fault
from polyreward.sources.slots import FORMATS, filled

FUNCTIONS = {"min": min, "max": max, "abs": abs, "round": round}
TEXTS = ("prompt", "chosen", "rejected")


def read_templates(files: Iterable[str | Path], schema: dict) -> list[dict]:
    """Read and check template files; raise PolyrewardError with every problem, its file and id."""
    templates, problems, seen = [], [], {}
    validator = jsonschema.Draft202012Validator(schema)
    for path in sorted(map(str, files)):
        try:
            items = parsed_yaml(Path(path).read_bytes())
        except (yaml.YAMLError, ValueError) as error:  # ValueError: a date that is none, or no UTF-8
            problems.append(f"{path}: {yaml_fault(error)}")
            continue
        wrong = [_schema_problem(error, items) for error in validator.iter_errors(items)]
        problems += [f"{path}: {text}" for text in wrong]
        for item in items if not wrong else []:
            if item["id"] in seen:
                problems.append(f"{path}: `{item['id']}` is also in {seen[item['id']]}; give it another id")
            seen[item["id"]] = path
            problems += [f"{path}: `{item['id']}`: {text}" for text in _item_problems(item)]
            templates.append(item)
    raise_all(problems, "templates")
    return templates


def template_texts(item: dict) -> Iterator[tuple[str, str]]:
    """Yield (role, English text with placeholders) of a template or family, its history first."""
    for number, turn in enumerate(item.get("history", []), start=1):
        yield f"history {number}, {turn['role']}", turn["content"]
    if "prompts" in item:
        for role in ("prompts", "answers"):
            for number, text in enumerate(item[role], start=1):
                yield f"{role[:-1]} {number}", text
    else:
        for role in TEXTS:
            yield role, item[role]


def stock_items(path: str | Path) -> list[dict]:
    """Return the sentences of a stock file, {kind: {part: sentences}}, as rows of texts to translate."""
    parts = [(kind, part, texts) for kind, of in read_yaml(path).items() for part, texts in of.items()]
    return [
        {"id": f"{kind}-{part}-{number}", "text": text}
        for kind, part, texts in parts
        for number, text in enumerate(texts, 1)
    ]


def resolved_slots(slots: dict, fill: dict) -> dict[str, list]:
    """Return {name: [type, value]}, with computed slots computed from a fill's numbers and literals."""
    names = {name: fill[name] for name, kind in slots.items() if kind == "number"}
    names |= {name: _number_or_text(fill[name]) for name, kind in slots.items() if kind == "literal"}
    evaluator = SimpleEval(names=names, functions=FUNCTIONS)
    resolved = {}
    for name, kind in slots.items():
        if isinstance(kind, str):
            resolved[name] = [kind, fill[name]]
            continue
        try:
            value = evaluator.eval(kind["value"])
        except (InvalidExpression, ArithmeticError, LookupError, SyntaxError, TypeError, ValueError) as error:
            raise PolyrewardError(
                f"slot `{name}`: cannot compute `{kind['value']}` ({error}); correct the expression"
            ) from error
        if isinstance(value, float):
            value = round(value, 6)
            value = int(value) if value.is_integer() else value
        resolved[name] = [kind["type"], [value, kind["unit"]] if "unit" in kind else value]
    return resolved


def _number_or_text(value):
    try:
        return int(value)
    except (TypeError, ValueError):
        return value


def expanded(templates: Iterable[dict], source: str) -> list[dict]:
    """Expand templates to rows: id, template, source, subset, prompt, chosen, rejected, messages, slots.

    `messages` holds each field in English with placeholders, whose texts are the keys into a catalog. `slots`
    holds {name: [type, value]} for each field. A family gives two rows with swapped answers."""
    rows, problems = [], []
    for item in templates:
        for number, fill in enumerate(item["fills"], start=1):
            names = {"template": item["id"], "source": source}
            try:
                resolved = resolved_slots(item["slots"], fill)
                for suffix, subset, messages in _messages(item):
                    slots = dict.fromkeys(messages, resolved)
                    row = {"id": f"{item['id']}-{suffix or number}", **names, "subset": subset}
                    row |= filled_fields(messages, slots, "en")
                    rows.append({**row, "messages": messages, "slots": slots})
            except PolyrewardError as error:
                problems.append(f"`{item['id']}`, fill {number}: {error}")
    raise_all(problems, source)
    return rows


def _messages(item: dict) -> Iterator[tuple[str, str, dict]]:
    """Yield (end of the id, subset, messages) of a template's row, or of a family's two."""

    def prompt(request: str) -> str | list[dict[str, str]]:
        return [*item["history"], {"role": "user", "content": request}] if "history" in item else request

    if "prompts" in item:
        (first, second), (a, b), kinds = item["prompts"], item["answers"], subsets_of(item)
        yield "a", kinds[0], {"prompt": prompt(first), "chosen": a, "rejected": b}
        yield "b", kinds[1], {"prompt": prompt(second), "chosen": b, "rejected": a}
    else:
        yield "", item["subset"], {role: item[role] for role in TEXTS} | {"prompt": prompt(item["prompt"])}


def filled_fields(
    messages: dict, slots: dict, language: str, translations: Mapping[str, str] | None = None
) -> dict:
    """Return a row's `messages` with the slots of each field filled; translations: {English text: text}."""

    def text(role: str, english: str) -> str:
        return filled(translations[english] if translations else english, slots[role], language)

    return {role: map_texts(field, partial(text, role)) for role, field in messages.items()}


def subsets_of(item: dict) -> list[str]:
    """Return the subset of each of a template's rows: two for a family, else one."""
    found = item["subset"]
    return found if isinstance(found, list) else [found] * (2 if "prompts" in item else 1)


def _schema_problem(error: jsonschema.ValidationError, items) -> str:
    path = list(error.absolute_path)
    item = items[path[0]] if path and isinstance(items, list) and isinstance(items[path[0]], dict) else {}
    name = f"`{item['id']}`" if "id" in item else f"item {path[0] + 1}" if path else "the file"
    what = error.message
    if error.validator == "oneOf":
        what = (
            "needs prompt, chosen and rejected; or prompts, answers and one fill, where subset and check may"
            " be lists of two"
        )
    return f"{name}{''.join(f' {part}' for part in path[1:])}: {what}"


def _item_problems(item: dict) -> Iterator[str]:
    roles = [turn["role"] for turn in item.get("history", [])]
    if roles != ["user", "assistant"] * (len(roles) // 2):
        yield f"the history's roles are {', '.join(roles)}; begin with user, take turns, end with assistant"
    used, slots = set(), item["slots"]
    checks = item.get("check", [])
    checks = [checks] if isinstance(checks, str) else checks
    for role, text in [*template_texts(item), *(("check", check) for check in checks)]:
        try:
            used |= {name for _, name, _, _ in string.Formatter().parse(text) if name is not None}
        except ValueError as error:
            yield f"{role}: {error}; double a literal brace"
    for name in sorted(used - set(slots)):
        yield f"`{{{name}}}` is used but not declared under slots"
    for name in sorted(set(slots) - used):
        yield f"slot `{name}` is declared but never used; delete it"
    for name, kind in slots.items():
        slot_type = kind if isinstance(kind, str) else kind["type"]
        if slot_type not in FORMATS:
            yield f"slot `{name}` has the unknown type `{slot_type}`; use one of {', '.join(FORMATS)}"
    given = {name for name, kind in slots.items() if isinstance(kind, str)}
    for number, fill in enumerate(item["fills"], start=1):
        if set(fill) != given:
            yield f"fill {number} has {sorted(fill)}, its slots are {sorted(given)}"


def data_files(folder: str | Path) -> list[Path]:
    """Return a template folder's YAML files, sorted; raise PolyrewardError if there are none."""
    found = sorted(Path(folder).glob("*.yaml"))
    if not found:
        raise PolyrewardError(
            f"{folder}: holds no .yaml file of templates; correct `path` in workflow/catalog/datasets.yaml"
        )
    return found


def template_rows(entry: dict, name: str, schema: dict) -> list[dict]:
    """Return the rows of a folder of templates (entry: its `path`), in which each file is a source."""
    files = data_files(entry["path"])
    read_templates(files, schema)  # all files together: ids must not repeat
    return [row for file in files for row in expanded(read_templates([file], schema), f"{name}/{file.stem}")]
