"""Problems of settings in words: where a setting stands, what it allows, and what is wrong with it."""

import json
import re
import types
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Union, get_args, get_origin

import yaml
from pydantic import BaseModel, Discriminator, Tag, TypeAdapter, ValidationError

from polyreward.core.errors import nearest, unknown_name
from polyreward.settings.base import LANGUAGE, PLAIN, URL

Key = tuple[str | int, ...]


class Places:
    """The files of a configuration, with those first whose settings count over the others', and what --config
    set."""

    def __init__(self, files: Sequence[str | Path], command_line: Mapping | None = None):
        self.files, self.command_line = files, command_line or {}
        self._trees: dict[str, yaml.Node | None] = {}

    @classmethod
    def given(cls, workflow: Any) -> "Places":
        """Return the places of a Snakemake workflow's configuration: of several overlays the last one
        counts."""
        overlays = [str(path) for path in workflow.overwrite_configfiles]
        own = [str(path) for path in workflow.configfiles if str(path) not in overlays]
        return cls([*reversed(overlays), *reversed(own)], workflow.config_settings.config)

    def of(self, key: Key) -> str:
        """Return `file:line` of a setting, or of the section that should hold it; `--config` for the command
        line's."""
        file, line = self.rank(key)
        return (
            "--config"
            if file < 0
            else f"{_short(self.files[file])}:{line}"
            if line
            else _short(self.files[file])
        )

    def rank(self, key: Key) -> tuple[int, int]:
        """Return which of the files holds a setting, -1 for the command line, and its line, 0 where it has
        none."""
        if _in_values(self.command_line, key):
            return -1, 0
        for length in range(len(key), 0, -1):
            for number, path in enumerate(self.files):
                line = _line(self._tree(str(path)), key[:length])
                if line:
                    return number, line
        return len(self.files) - 1, 0

    def _tree(self, path: str) -> yaml.Node | None:
        if path not in self._trees:
            try:
                self._trees[path] = yaml.compose(Path(path).read_text(encoding="utf-8"), yaml.SafeLoader)
            except (OSError, yaml.YAMLError):
                self._trees[path] = None
        return self._trees[path]


def _short(path: str | Path) -> str:
    path = Path(path)
    return str(path.relative_to(Path.cwd()) if path.is_relative_to(Path.cwd()) else path)


def _in_values(values: Any, key: Key) -> bool:
    for part in key:
        if not isinstance(values, Mapping) or part not in values:
            return bool(isinstance(part, int) and isinstance(values, list))
        values = values[part]
    return True


def _line(node: yaml.Node | None, key: Key) -> int | None:
    """Return the line, from 1, of a key or of an item of a list; None where a file does not have it."""
    line = None
    for part in key:
        if isinstance(node, yaml.MappingNode):
            found = [(name, value) for name, value in node.value if name.value == str(part)]
            if not found:
                return None
            name, node = found[-1]
            line = name.start_mark.line + 1
        elif isinstance(node, yaml.SequenceNode) and isinstance(part, int) and part < len(node.value):
            node = node.value[part]
            line = node.start_mark.line + 1
        else:
            return None
    return line


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


ONE_PRECISION = (
    "there is one setting for all models, `precision` (float32, bfloat16 or auto); leave this one out"
)
RENAMED = {"locals": "think_as_locals"}  # keys of earlier versions, too unlike the new ones to be guessed
# Of an address: user and password, and what follows ? or #.
SECRET = re.compile(r"(?<=://)[^/@\s]*(?=@)|(?<=[?#])[^\s\"]+(?=$|\")")


@dataclass(frozen=True)
class Problem:
    """What is wrong with the setting at a key; numbers in the key are items of lists."""

    key: Key
    text: str

    def __str__(self) -> str:
        """Return key and text."""
        return f"{dotted(self.key)}: {self.text}" if self.key else self.text

    def placed(self, places: Places) -> str:
        """Return the problem with the file and line of its setting in front."""
        return f"{places.of(self.key)}: {self}"


def dotted(key: Key) -> str:
    """Return a key as people write it, without the numbers of items."""
    return ".".join(part for part in key if isinstance(part, str))


def unknown_names(
    key: Key, names: Collection[str], known: Collection[str], catalog: str
) -> Iterator[Problem]:
    """Yield a problem for each name that is not among the known ones; names: one, or the items of the list at
    the key."""
    for name in names:
        if name not in known:
            yield Problem(key, unknown_name(name, known, catalog))


def unknown_items(
    key: Key, names: Collection[str], known: Collection[str], catalog: str
) -> Iterator[Problem]:
    """Yield a problem for each item of the list at the key that is not among the known names."""
    for number, name in enumerate(names):
        yield from unknown_names((*key, number), [name], known, catalog)


def type_problems(annotation: Any, data: Any) -> Iterator[Problem]:
    """Yield every key that is unknown or missing, and every value that is not of its type."""
    try:
        TypeAdapter(annotation).validate_python(data, strict=True)
        return
    except ValidationError as error:
        found = [(_key(one), one) for one in error.errors(include_url=False)]
    # A mistyped key is unknown, and missing under its right name: one problem.
    unknown = [(key, one) for key, one in found if one["type"] == "extra_forbidden"]
    corrected = {(*key[:-1], _meant(str(key[-1]), _keys(annotation, one))) for key, one in unknown}
    for key, one in found:
        if one["type"] != "missing" or key not in corrected:
            yield Problem(key, _text(key, annotation, one))


def _is_name(error: dict) -> bool:
    """Say whether pydantic's error is about a name, not about what stands under it."""
    return error["type"] == "invalid_key" or error["loc"][-1:] == ("[key]",)


def _key(error: dict) -> Key:
    """Return the key that pydantic's error is about."""
    location, value = error["loc"], error["input"]
    if error["type"] == "extra_forbidden":  # the last part is as the file has it
        return (*_without_tags(location[:-1]), location[-1])
    key = _without_tags(location)
    if _is_name(error):
        return (*key[:-1], value if isinstance(value, str) else json.dumps(value))
    return (*key, "kind") if error["type"].startswith("union_tag") and isinstance(value, dict) else key


def _without_tags(location: Key) -> Key:
    """Leave out what pydantic adds: which member of a union, and that a key is wrong."""
    return tuple(part for part in location if not str(part).startswith(("<", "[key]")))


def _keys(root: Any, error: dict) -> list[str]:
    return list(bare(at(root, error["loc"][:-1])).model_fields)


def _meant(key: str, keys: list[str]) -> str | None:
    return RENAMED[key] if RENAMED.get(key) in keys else nearest(key, keys)


def _text(key: Key, root: Any, error: dict) -> str:
    """Return pydantic's error in words: the value, what the setting takes, and what may help."""
    kind, value, location = error["type"], error["input"], error["loc"]
    if kind in ("place", "repeated"):
        return error["msg"]
    if kind == "extra_forbidden":
        keys = _keys(root, error)
        if key[-1] in ("bf16", "dtype") and "dtype" not in keys:
            return ONE_PRECISION
        meant = _meant(str(key[-1]), keys)
        return (
            f"unknown key; did you mean `{meant}`?" if meant else f"unknown key; there are {', '.join(keys)}"
        )
    if _is_name(error):
        names = str if kind == "invalid_key" else bare(at(root, location[:-2])).__args__[0]
        quote = "" if isinstance(value, str) else "; YAML reads it as another kind of value: put it in quotes"
        return _wrong(value, allowed(names), []) + quote
    annotation = at(root, location)
    if kind == "missing":
        return f"is missing; give {allowed(annotation)}"
    if kind.startswith("union_tag") and isinstance(value, dict):
        sections = map(bare, members(annotation).values())
        kinds = list(dict.fromkeys(allowed(one.model_fields["kind"].annotation) for one in sections))
        there = f"one of {', '.join(kinds)}" if len(kinds) > 1 else kinds[0]
        return _wrong(value["kind"], there, kinds) if "kind" in value else f"is missing; give {there}"
    text, hint = allowed(annotation), ""
    choices = text.removeprefix("one of ").split(", ") if kind == "literal_error" else []
    if isinstance(value, str) and "number" in text and _is_number(value):
        hint = f"; YAML reads it as text: write {_as_number(value)}"
    elif isinstance(value, bool) and kind == "string_type":
        hint = "; YAML reads a bare yes, no, on or off as true or false: put it in quotes"
    return _wrong(value, text, choices) + hint


def _wrong(value: Any, text: str, choices: list[str]) -> str:
    near = nearest(value, choices) if isinstance(value, str) else None
    return f"{shown(value)} is not {text}{f'; did you mean `{near}`?' if near else ''}"


def _is_number(text: str) -> bool:
    try:
        return float(text) == float(text)
    except ValueError:
        return False


def _as_number(text: str) -> str:
    """Return a number as YAML reads it: `1e-5` is text there, as it has no point."""
    mantissa, exponent, power = text.strip().lower().partition("e")
    return f"{mantissa}{'' if '.' in mantissa or not exponent else '.0'}{exponent}{power}"


def shown(value: Any) -> str:
    """Return a value as a message shows it: short, as YAML has it, and without what addresses keep secret."""
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
    text = SECRET.sub("***", text)
    return f"`{text if len(text) <= 60 else f'{text[:57]}...'}`"
