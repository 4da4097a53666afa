"""Problems of settings: where a setting is in the files, and what pydantic says about it."""

import re
import types
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any, Union, get_args, get_origin

import yaml
from pydantic import BaseModel, Tag, TypeAdapter, ValidationError

from polyreward.core.errors import nearest, raise_all, unknown_name
from polyreward.settings.base import PLAIN, URL
from polyreward.settings.model import Settings
from polyreward.settings.reward_models import HUB_ID

Key = tuple[str | int, ...]


class Places:
    """The files of a configuration, those first whose settings count, and what --config set."""

    def __init__(self, files: Sequence[str | Path], command_line: Mapping | None = None):
        self.files, self.command_line = files, command_line or {}

    @classmethod
    def given(cls, workflow: Any) -> "Places":
        """Return the places of a Snakemake workflow's configuration, in which the last overlay counts."""
        overlays = [str(path) for path in workflow.overwrite_configfiles]
        own = [str(path) for path in workflow.configfiles if str(path) not in overlays]
        return cls([*reversed(overlays), *reversed(own)], workflow.config_settings.config)

    def of(self, key: Key) -> str:
        """Return `file:line` of a setting or of the section that should hold it, or `--config`."""
        file, line = self.rank(key)
        if file < 0:
            return "--config"
        path = Path(self.files[file])
        short = path.relative_to(Path.cwd()) if path.is_relative_to(Path.cwd()) else path
        return f"{short}:{line}" if line else str(short)

    def rank(self, key: Key) -> tuple[int, int]:
        """Return the number of the file that holds a setting (-1: the command line), and its line or 0."""
        if key and key[0] in self.command_line:
            return -1, 0
        for length in range(len(key), 0, -1):
            for number, tree in enumerate(self._trees):
                if line := _line(tree, key[:length]):
                    return number, line
        return len(self.files) - 1, 0

    @cached_property
    def _trees(self) -> list[yaml.Node | None]:
        return list(map(_tree, self.files))


def _tree(path: str | Path) -> yaml.Node | None:
    try:
        return yaml.compose(Path(path).read_text(encoding="utf-8"), yaml.SafeLoader)
    except (OSError, yaml.YAMLError):
        return None


def _line(node: yaml.Node | None, key: Key) -> int | None:
    """Return the line, from 1, of a key or of an item of a list; None where a file does not have it."""
    line = None
    for part in key:
        if isinstance(node, yaml.MappingNode):
            found = [pair for pair in node.value if pair[0].value == str(part)]
            if not found:
                return None
            place, node = found[-1]
        elif isinstance(node, yaml.SequenceNode) and isinstance(part, int) and part < len(node.value):
            place = node = node.value[part]
        else:
            return None
        line = place.start_mark.line + 1
    return line


@dataclass(frozen=True)
class Problem:
    """What is wrong with the setting at a key; numbers in the key are items of lists."""

    key: Key
    text: str

    def __str__(self) -> str:
        """Return the key, as people write it, and the text."""
        dotted = ".".join(part for part in self.key if isinstance(part, str))
        return f"{dotted}: {self.text}" if dotted else self.text

    def placed(self, places: Places) -> str:
        """Return the problem with the file and line of its setting in front."""
        return f"{places.of(self.key)}: {self}"


def unknown_names(
    key: Key, names: Collection[str], known: Collection[str], catalog: str
) -> Iterator[Problem]:
    """Yield a problem for each name at a key that is not among the known ones."""
    for name in names:
        if name not in known:
            yield Problem(key, unknown_name(name, known, catalog))


def bare(annotation: Any) -> Any:
    """Return a type without its constraints, and without None next to it."""
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


def _keys(annotation: Any, location: Sequence[str | int]) -> list[str]:
    """Return the keys of the section at a location, as pydantic names it in errors."""
    for key in location:
        plain = bare(annotation)
        if is_section(plain):
            annotation = plain.model_fields[key].rebuild_annotation()
        else:
            annotation = members(annotation).get(key) or get_args(plain)[-1]
    return list(bare(annotation).model_fields)


NUMBER = re.compile(r"[-+]?[\d.]+(e[-+]?\d+)?")
# In an address: user and password, and what follows ? or #
SECRET = re.compile(r"(?<=://)[^/@\s]*(?=@)|(?<=[?#])[^\s'\"]+")

# {pattern that a value does not match: what to write}
HINTS = {
    URL: "; it holds no user, password, ?query or #fragment: an environment variable holds a key",
    PLAIN: "; a name also names files: write it in letters from A to Z, digits, `.` and `-`",
    HUB_ID: "; write `organisation/name`, without an address in front",
}


def type_problems(annotation: Any, data: Any) -> Iterator[Problem]:
    """Yield every unknown or missing key and every value of a wrong type, in pydantic's words."""
    try:
        TypeAdapter(annotation).validate_python(data, strict=True)
    except ValidationError as error:
        for one in error.errors(include_url=False):
            # Pydantic adds which member of a union it means, and that a name is wrong.
            key = tuple(part for part in one["loc"] if not str(part).startswith(("<", "[key]")))
            yield Problem(key, _text(annotation, one))


def _text(root: Any, error: dict) -> str:
    kind, value, location = error["type"], error["input"], error["loc"]
    if kind == "extra_forbidden":
        keys = _keys(root, location[:-1])
        near = nearest(str(location[-1]), keys)
        return f"unknown key; did you mean `{near}`?" if near else f"unknown key; there are {', '.join(keys)}"
    if kind in ("missing", "kind", "place", "repeated"):
        return error["msg"]
    text, hint = error["msg"], HINTS.get(error.get("ctx", {}).get("pattern"), "")
    if isinstance(value, str) and NUMBER.fullmatch(value) and re.search("number|integer", text):
        hint = "; YAML reads it as text: write it without quotes, and with a point, as in 1.0e-5"
    elif isinstance(value, bool) and kind == "string_type":
        hint = "; YAML reads a bare yes, no, on or off as true or false: put it in quotes"
    elif isinstance(value, int | float) and kind == "string_type":
        hint = "; YAML reads it as a number: put it in quotes"
    shown = SECRET.sub("***", repr(value))
    return f"{text}, not {shown if len(shown) <= 60 else f'{shown[:57]}...'}{hint}"


def raise_problems(problems: Iterable[Problem], places: Places) -> None:
    """Raise PolyrewardError where there are problems, with their places, in the order of the files."""
    ordered = sorted(problems, key=lambda problem: places.rank(problem.key))
    raise_all((problem.placed(places) for problem in ordered), "configuration")


def parsed_settings(config: dict, places: Places) -> Settings:
    """Return a configuration's settings; raise PolyrewardError with the place of each wrong key and type."""
    raise_problems(type_problems(Settings, config), places)
    return Settings.model_validate(config)
