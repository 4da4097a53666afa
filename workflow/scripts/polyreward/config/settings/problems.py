"""Problems of settings in words: what the types of the sections find, and names that are unknown."""

import json
import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import Any

from pydantic import TypeAdapter, ValidationError

from polyreward.config.settings.places import Key, Places
from polyreward.config.settings.shape import allowed, at, bare, members
from polyreward.core.errors import nearest, unknown_name

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
    except ValidationError as error:
        found = [_Found(annotation, one) for one in error.errors(include_url=False)]
        # A mistyped key is unknown, and missing under its right name: one problem.
        corrected = {(*one.key[:-1], one.meant) for one in found if one.meant}
        for one in found:
            if one.kind != "missing" or one.key not in corrected:
                yield Problem(one.key, one.text())


class _Found:
    """One error of pydantic."""

    def __init__(self, root: Any, error: dict):
        self.root, self.location, self.kind, self.value = root, error["loc"], error["type"], error["input"]
        self.message = error["msg"]
        named = (
            len(self.location) - 1 if self.kind == "extra_forbidden" else -1
        )  # a key of the file's, whatever it is like
        tags = ("<", "[key]")  # what pydantic adds: which member of a union, and that a key is wrong
        self.key: Key = tuple(
            part
            for place, part in enumerate(self.location)
            if place == named or not str(part).startswith(tags)
        )
        if self.kind.startswith("union_tag") and isinstance(self.value, dict):
            self.key = (*self.key, "kind")
        self.is_name = self.kind == "invalid_key" or self.location[-1:] == ("[key]",)
        if self.is_name:
            self.key = (
                *self.key[:-1],
                json.dumps(self.value) if not isinstance(self.value, str) else self.value,
            )
        self.meant = self._meant(str(self.key[-1])) if self.kind == "extra_forbidden" else None

    def _keys(self) -> list[str]:
        return list(bare(at(self.root, self.location[:-1])).model_fields)

    def _meant(self, key: str) -> str | None:
        keys = self._keys()
        return RENAMED[key] if RENAMED.get(key) in keys else nearest(key, keys)

    def text(self) -> str:
        if self.kind == "extra_forbidden":
            if self.key[-1] in ("bf16", "dtype") and "dtype" not in self._keys():
                return ONE_PRECISION
            return (
                f"unknown key; did you mean `{self.meant}`?"
                if self.meant
                else f"unknown key; there are {', '.join(self._keys())}"
            )
        if self.kind == "missing":
            return f"is missing; give {allowed(at(self.root, self.location))}"
        if self.kind in ("place", "repeated"):
            return self.message
        if self.is_name:
            text = (
                "text" if self.kind == "invalid_key" else allowed(_names(at(self.root, self.location[:-2])))
            )
            quote = (
                ""
                if isinstance(self.value, str)
                else "; YAML reads it as another kind of value: put it in quotes"
            )
            return _wrong(self.value, text, []) + quote
        if self.kind.startswith("union_tag") and isinstance(self.value, dict):
            return self._kind_text()
        return self._value_text()

    def _kind_text(self) -> str:
        sections = members(at(self.root, self.location)).values()
        kinds = list(dict.fromkeys(allowed(bare(one).model_fields["kind"].annotation) for one in sections))
        there = f"one of {', '.join(kinds)}" if len(kinds) > 1 else kinds[0]
        return (
            _wrong(self.value["kind"], there, kinds) if "kind" in self.value else f"is missing; give {there}"
        )

    def _value_text(self) -> str:
        annotation = at(self.root, self.location)
        text = allowed(annotation)
        choices = text.removeprefix("one of ").split(", ") if self.kind == "literal_error" else []
        hint = ""
        if isinstance(self.value, str) and "number" in text and _is_number(self.value):
            hint = f"; YAML reads it as text: write {_as_number(self.value)}"
        elif isinstance(self.value, bool) and self.kind == "string_type":
            hint = "; YAML reads a bare yes, no, on or off as true or false: put it in quotes"
        return _wrong(self.value, text, choices) + hint


def _names(annotation: Any) -> Any:
    return bare(annotation).__args__[0]


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
