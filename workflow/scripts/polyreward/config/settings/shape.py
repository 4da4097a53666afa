"""The shape of the settings: which type stands at a key, what it allows in words, and what of a faulty file
can be used."""

import types
from collections.abc import Iterator, Sequence
from typing import Annotated, Any, Union, get_args, get_origin

from pydantic import BaseModel, Discriminator, Tag, TypeAdapter, ValidationError

from polyreward.settings.base import LANGUAGE, PLAIN, URL

PATTERNS = {
    LANGUAGE: "a language code of two or three small letters",
    PLAIN: "a name of letters, digits, dots and hyphens that begins with a letter or digit",
    "^[A-Za-z0-9._/-]+$": "a path of letters, digits, dots, hyphens, underscores and slashes",
    r"\{text\}": "text with {text} in it",
    r"\{(answers|lettered)\}": "text with {answers} or {lettered} in it",
    URL: (
        "an address that starts with http:// or https:// and holds no user, password, ?query or #fragment;"
        " put a key in an environment variable and name that as api_key_variable"
    ),
}


class UnusableError(Exception):
    """A value that is not of its type, so that nothing else can be said about it."""


def bare(annotation: Any) -> Any:
    """Return a type without its constraints, and without None beside it."""
    while get_origin(annotation) is Annotated:
        annotation = get_args(annotation)[0]
    if get_origin(annotation) in (Union, types.UnionType):
        others = [one for one in get_args(annotation) if one is not types.NoneType]
        return bare(others[0]) if len(others) == 1 else annotation
    return annotation


def is_section(annotation: Any) -> bool:
    """Say whether a type is a section of keys."""
    return isinstance(annotation, type) and issubclass(annotation, BaseModel)


def members(annotation: Any) -> dict[str, Any]:
    """Return {tag: type} of a type that is one of several; {} for any other."""
    named = [(one, extra) for one in get_args(bare(annotation)) for extra in getattr(one, "__metadata__", ())]
    return {extra.tag: one for one, extra in named if isinstance(extra, Tag)}


def inner(annotation: Any, key: str | int) -> Any:
    """Return the type of an entry: of a section's key, of a name, of an item of a list, or of a tag."""
    plain = bare(annotation)
    if is_section(plain):
        return plain.model_fields[key].rebuild_annotation()
    return members(annotation).get(key) or get_args(plain)[-1]


def at(annotation: Any, location: Sequence[str | int]) -> Any:
    """Return the type at a location, as pydantic names it in errors."""
    for key in location:
        annotation = inner(annotation, key)
    return annotation


def usable(annotation: Any, value: Any) -> Any:
    """Return a value parsed, and where a section has faults what of it can be used; asking for the rest is an
    AttributeError.

    Raises UnusableError for a value that is no section and not of its type."""
    try:
        return TypeAdapter(annotation).validate_python(value, strict=True)
    except ValidationError:
        if not isinstance(value, dict):
            raise UnusableError from None
    if members(annotation):
        return usable(members(annotation).get(_tag(annotation, value)), value)
    plain = bare(annotation)
    if is_section(plain):
        return plain.model_construct(**dict(_usable_keys(plain, value)))
    if get_origin(plain) is dict and value:
        return {name: usable(get_args(plain)[1], one) for name, one in value.items()}
    raise UnusableError


def _tag(annotation: Any, value: dict) -> str | None:
    while get_origin(annotation) is Annotated:
        annotation, *extras = get_args(annotation)
        for extra in extras:
            if isinstance(extra, Discriminator):
                return extra.discriminator(value)
    return None


def _usable_keys(section: type[BaseModel], value: dict) -> Iterator[tuple[str, Any]]:
    for name, field in section.model_fields.items():
        if name in value:
            try:
                yield name, usable(field.rebuild_annotation(), value[name])
            except UnusableError:
                continue


def allowed(annotation: Any) -> str:
    """Return in words what a type takes."""
    return _in_words(TypeAdapter(annotation).json_schema())


def _in_words(schema: dict) -> str:
    if "enum" in schema:
        return f"one of {', '.join(schema['enum'])}"
    if "const" in schema:
        return str(schema["const"])
    for several in ("anyOf", "oneOf"):
        if several in schema:
            return " or ".join(dict.fromkeys(_in_words(one) for one in schema[several]))
    if schema.get("type") in ("integer", "number"):
        return f"a {'whole ' if schema['type'] == 'integer' else ''}number{_range(schema)}"
    if schema.get("type") == "string" and "pattern" in schema:
        return PATTERNS.get(schema["pattern"], f"text that matches {schema['pattern']}")
    if schema.get("type") == "array":
        items = _in_words(schema["items"])
        least = f" of {schema['minItems']} or more" if "minItems" in schema else ""
        return f"a list{least}, each {items}{', none twice' if schema.get('uniqueItems') else ''}"
    if schema.get("type") == "object" and "properties" not in schema:
        return "entries by name"
    return {"string": "text", "boolean": "true or false", "null": "null"}.get(
        schema.get("type", ""), "a section of keys"
    )


def _range(schema: dict) -> str:
    words = {
        "minimum": "{:g} or more",
        "exclusiveMinimum": "above {:g}",
        "maximum": "at most {:g}",
        "exclusiveMaximum": "below {:g}",
    }
    said = [text.format(schema[key]) for key, text in words.items() if key in schema]
    return f"{' of' if 'minimum' in schema else ''} {' and '.join(said)}" if said else ""
