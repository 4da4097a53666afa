"""What is written from the settings' classes: JSON schemas for editors, and the reference page
docs/settings.md."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter

from polyreward.core.files import write_text
from polyreward.settings.model import Settings
from polyreward.settings.paper import FILES

SCHEMA, PAGE = Path("workflow/schemas/config.schema.json"), Path("docs/settings.md")
INTRODUCTION = """# Settings

Every setting and its default. To change some, write a file `mine.yaml` with only these. Name another folder for its results, to keep those that you
have:

```yaml
results: results/mine
reward_model: {epochs: 4}
```

Then train and score all reward models of Table 1 again with these settings. Mini takes longer than its Table 1 (README), since here it trains for more epochs:

```
source .venv/bin/activate
snakemake --cores all results/mine/table1.csv --configfile mine.yaml
```

A key without a default needs a value in `config.yaml` or an overlay, unless it is optional; then the text says what holds without it. An unknown key
is an error. `polyreward settings` writes this page and `workflow/schemas/config.schema.json` from the classes in
`workflow/scripts/polyreward/settings/`. "Paper" means arXiv 2509.21798 under `carb` and `think_as_locals`, and arXiv 2410.18027 elsewhere. `<name>` is a name of your
choice.
"""
# {file of a paper's folder: its schema}
SCHEMAS = {
    "paper.yaml": "paper.schema.json",
    "claims.yaml": "claims.schema.json",
    "claims.lock.yaml": "claims_lock.schema.json",
    "settings.yaml": "paper_settings.schema.json",
}
BOUNDS = {"minimum": ">=", "exclusiveMinimum": ">", "maximum": "<=", "exclusiveMaximum": "<"}


def write_reference(root: Path) -> list[Path]:
    """Write the schemas and the reference page of a checkout; returns their paths."""
    for path, text in reference().items():
        write_text(text, root / path)
    return [root / path for path in reference()]


def reference() -> dict[Path, str]:
    """Return {path in the checkout: text} of the schemas and the reference page."""
    schema = _tidied(Settings.model_json_schema())
    head = "| key | takes | default | meaning |\n| --- | --- | --- | --- |"
    parts, plain = [INTRODUCTION], []
    for name, field in schema["properties"].items():
        rows = list(_rows("", {name: field}, schema["required"], schema["$defs"]))
        if len(rows) == 1:
            plain += rows
        else:
            parts += [f"## `{name}`\n", f"{field.get('description', '')}\n", head, *rows[1:], ""]
    parts[1:1] = ["## Top level\n", head, *plain, ""]
    return {
        SCHEMA: _as_text(schema),
        **{
            SCHEMA.with_name(name): _as_text(_tidied(TypeAdapter(FILES[file]).json_schema()))
            for file, name in SCHEMAS.items()
        },
        PAGE: "\n".join(parts).rstrip() + "\n",
    }


def paper_files() -> str:
    """Return a table of the fields of each file of a paper's folder, in Markdown."""
    parts = []
    for file, annotation in FILES.items():
        schema = _tidied(TypeAdapter(annotation).json_schema())
        definitions, prefix, one = schema.get("$defs", {}), "", schema
        if "properties" not in schema:  # entries by name
            (section,) = _sections(_by_name(schema))
            prefix, one = "<name>.", definitions[section]
        head = "| field | takes | default | meaning |\n| --- | --- | --- | --- |"
        rows = _rows(prefix, one["properties"], one.get("required", []), definitions)
        parts += [f"### `{file}`\n", head, *rows, ""]
    return "\n".join(parts).rstrip()


def _as_text(schema: dict) -> str:
    dialect = {"$schema": "https://json-schema.org/draft/2020-12/schema", **schema}
    return json.dumps(dialect, indent=1, ensure_ascii=False) + "\n"


def _tidied(schema: Any) -> Any:
    """Return a schema without titles, and with each description on one line."""
    if isinstance(schema, list):
        return [_tidied(one) for one in schema]
    if not isinstance(schema, dict):
        return schema
    found = {key: _tidied(one) for key, one in schema.items() if key != "title" or not isinstance(one, str)}
    if isinstance(found.get("description"), str):
        found["description"] = " ".join(found["description"].split())
    return found


def _rows(prefix: str, properties: dict, required: list[str], definitions: dict) -> Iterator[str]:
    """Yield a row for each key, followed by those of the sections that it holds."""
    for name, field in properties.items():
        default = field.get("default", "")
        said = "below" if isinstance(default, dict) and default else json.dumps(default, ensure_ascii=False)
        shown = "" if name in required else f"`{said}`" if "default" in field else "optional"
        meaning = field.get("description", "").replace("|", "\\|").replace("<", "&lt;")
        yield f"| `{prefix}{name}` | {_takes(field)} | {shown} | {meaning} |"
        by_name = _by_name(field)
        inner = f"{prefix}{name}.<name>." if by_name else f"{prefix}{name}."
        sections = _sections(by_name or field)
        for section in sections:
            one = definitions[section]
            if len(sections) > 1:
                yield f"| **{inner.replace('<', '&lt;')}\\*** | {section} | | {one['description']} |"
            yield from _rows(inner, one.get("properties", {}), one.get("required", []), definitions)


def _by_name(field: dict) -> dict:
    """Return the type of entries that have names of the user's choice."""
    return {**field.get("patternProperties", {"": field.get("additionalProperties")})}.popitem()[1] or {}


def _sections(field: dict) -> list[str]:
    found = [field, *field.get("anyOf", []), *field.get("oneOf", [])]
    return [one["$ref"].rsplit("/", 1)[-1] for one in found if "$ref" in one]


def _takes(field: dict) -> str:
    if "enum" in field or "const" in field:
        return ", ".join(field.get("enum", [field.get("const")]))
    for several in ("anyOf", "oneOf"):
        if several in field:
            return " or ".join(dict.fromkeys(map(_takes, field[several])))
    if field.get("type") == "array":
        return f"list of {_takes(field['items'])}"
    if _by_name(field):
        return "entries by name"
    bounds = " and ".join(f"{sign} {field[key]:g}" for key, sign in BOUNDS.items() if key in field)
    return f"{field.get('type', 'section')} {bounds.replace('<', '&lt;')}".strip()
