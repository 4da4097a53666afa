"""What is written from the settings' classes: a JSON schema for editors, and the reference page
docs/settings.md."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, get_args, get_origin

import yaml
from pydantic import BaseModel, TypeAdapter
from pydantic.fields import FieldInfo

from polyreward.config.settings.messages import bare, is_section, members
from polyreward.core.files import write_text
from polyreward.core.yaml_files import read_yaml
from polyreward.settings.model import Settings

SCHEMA, PAGE = Path("workflow/schemas/config.schema.json"), Path("docs/settings.md")
INTRODUCTION = """# Settings

Every setting, with its default and its value in `config.yaml` (scale mini). `polyreward settings` writes this page and
`workflow/schemas/config.schema.json` from the classes in `workflow/scripts/polyreward/settings/`.

An overlay (`--configfile`) names only what it changes. Where there is no default, `config.yaml` or an overlay must give a value. An
unknown key is an error. "Paper" means arXiv 2509.21798 under `carb` and `think_as_locals`, and arXiv 2410.18027 elsewhere. `<name>` stands for a
name of your choice.
"""


def write_reference(root: Path) -> list[Path]:
    """Write the schema and the reference page of a checkout; returns their paths."""
    texts = reference(read_yaml(root / "config.yaml"))
    for path, text in texts.items():
        write_text(text, root / path)
    return [root / path for path in texts]


def reference(config: dict) -> dict[Path, str]:
    """Return {path in the checkout: text} of the schema and the reference page; config: config.yaml, whose
    values are shown."""
    return {SCHEMA: schema_text(), PAGE: page_text(config)}


def schema_text() -> str:
    """Return the JSON schema of config.yaml."""
    schema = {"$schema": "https://json-schema.org/draft/2020-12/schema", **Settings.model_json_schema()}
    return json.dumps(_without_titles(schema), indent=1, ensure_ascii=False) + "\n"


def _without_titles(schema: Any) -> Any:
    """Return a schema without the titles that only repeat a key."""
    if isinstance(schema, dict):
        return {
            key: _without_titles(one)
            for key, one in schema.items()
            if key != "title" or not isinstance(one, str)
        }
    return [_without_titles(one) for one in schema] if isinstance(schema, list) else schema


def page_text(config: dict) -> str:
    """Return the reference page."""
    fields = Settings.model_fields.items()
    plain = {name: field for name, field in fields if not _sections(field.annotation)}
    parts = [INTRODUCTION, "## Top level\n", _table("", plain, config)]
    for name, field in fields:
        if name not in plain:
            parts += [
                f"## `{name}`\n",
                f"{field.description}\n",
                *_section_parts(name, field.rebuild_annotation(), config.get(name)),
            ]
    return "\n".join(parts)


def _section_parts(key: str, annotation: Any, value: Any) -> Iterator[str]:
    """Yield the table of a section, then those of the sections in it."""
    for title, section in _sections(annotation):
        name = f"{key}.<name>" if get_origin(bare(annotation)) is dict else key
        if title:
            yield f"`{name}` of kind {title}:\n"
        shown = value if name == key and isinstance(value, dict) else {}
        yield _table(f"{name}.", section.model_fields, shown)
        for inner_name, field in section.model_fields.items():
            if _sections(field.annotation):
                yield f"### `{name}.{inner_name}`\n" if "<" not in name else f"#### `{name}.{inner_name}`\n"
                yield from _section_parts(
                    f"{name}.{inner_name}", field.rebuild_annotation(), shown.get(inner_name)
                )


def _sections(annotation: Any) -> list[tuple[str, type[BaseModel]]]:
    """Return the sections that a type is or holds by name, each with what tells it from the others."""
    plain = bare(annotation)
    if get_origin(plain) is dict:
        plain = get_args(plain)[1]
    if is_section(bare(plain)):
        return [("", bare(plain))]
    return [(tag.strip("<>"), bare(one)) for tag, one in members(plain).items() if is_section(bare(one))]


def _table(prefix: str, fields: dict, values: dict) -> str:
    lines = ["| key | takes | default | mini | meaning |", "| --- | --- | --- | --- | --- |"]
    for name, field in fields.items():
        takes = (
            "entries by name"
            if get_origin(bare(field.annotation)) is dict
            else allowed(TypeAdapter(field.rebuild_annotation()).json_schema())
        )
        value = _shown(values[name]) if name in values else ""
        default = "" if field.is_required() or _is_optional(field) else _shown(field.default)
        meaning = f"Optional. {field.description}" if _is_optional(field) else field.description
        cells = " | ".join(map(_cell, (takes, default, value, meaning)))
        lines.append(f"| `{prefix}{name}` | {cells} |")
    return "\n".join(lines) + "\n"


def allowed(schema: dict) -> str:
    """Return in words what a type takes, by its JSON schema."""
    if "enum" in schema or "const" in schema:
        return ", ".join(schema.get("enum", [schema.get("const")]))
    if "anyOf" in schema or "oneOf" in schema:
        return " or ".join(dict.fromkeys(map(allowed, schema.get("anyOf") or schema["oneOf"])))
    if schema.get("type") == "array":
        return f"list of {allowed(schema['items'])}"
    ranges = {"minimum": ">=", "exclusiveMinimum": ">", "maximum": "<=", "exclusiveMaximum": "<"}
    bounds = " and ".join(f"{sign} {schema[key]:g}" for key, sign in ranges.items() if key in schema)
    return " ".join(
        filter(None, [{"object": "section"}.get(schema.get("type"), schema.get("type", "section")), bounds])
    )


def _is_optional(field: FieldInfo) -> bool:
    """Say whether a key may be left out but never be null: see settings.base.optional."""
    return callable(field.json_schema_extra)


def _shown(value: Any) -> str:
    """Return a value as config.yaml has it; a section's is in its own table."""
    if isinstance(value, BaseModel) or (isinstance(value, dict) and value):
        return "below"
    return (
        f"`{'null' if value is None else str(value).lower() if isinstance(value, bool) else _compact(value)}`"
    )


def _compact(value: Any) -> str:
    if isinstance(value, str):
        return value
    return (
        yaml.safe_dump(value, default_flow_style=True, width=10_000, allow_unicode=True)
        .removesuffix("...\n")
        .strip()
    )


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("<", "&lt;") if "`" not in text else text.replace("|", "\\|")
