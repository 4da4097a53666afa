"""Read YAML from elsewhere: only plain data, and no repeated key."""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import yaml

from polyreward.core.errors import PolyrewardError, raise_all
from polyreward.core.files import parsed_json, read_jsonl

Loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)  # the loader in C is six times as fast
DEEPEST = 100
TEMPLATE = "__use_yte__"  # turns a file of settings into a template of Snakemake's


def parsed_yaml(text: str | bytes) -> Any:
    """Parse YAML.

    Raises yaml.YAMLError where it is none, has a custom tag, is nested deeper than DEEPEST, or repeats a key,
    of which other readers silently take the last; ValueError where a date is invalid."""
    if _depth(text) > DEEPEST:  # the loader in C goes by its stack, whose end is the process's, too
        raise yaml.YAMLError(f"nested more than {DEEPEST} deep")
    loader = Loader(text)
    try:
        root = loader.get_single_node()
        twice = list(_twice(root))
        if twice:
            raise yaml.YAMLError("; ".join(twice))
        return None if root is None else loader.construct_document(root)
    finally:
        loader.dispose()


def read_yaml(path: str | Path) -> Any:
    """Read a YAML file in UTF-8; raise PolyrewardError where that fails."""
    try:
        return parsed_yaml(Path(path).read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise PolyrewardError(f"{path}: no such file; correct the path") from None
    except UnicodeDecodeError as error:
        raise PolyrewardError(f"{path}: not UTF-8 (byte {error.start}); save the file in UTF-8") from None
    except (yaml.YAMLError, ValueError) as error:
        raise PolyrewardError(f"{path}: {yaml_fault(error)}") from None


def read_items(path: str | Path) -> list[dict]:
    """Read a list of items from JSON Lines or YAML, by the file's suffix."""
    return read_jsonl(path) if Path(path).suffix == ".jsonl" else read_yaml(path)


def check_settings_files(paths: Iterable[str | Path]) -> None:
    """Raise PolyrewardError with every fault in the form of settings files.

    Snakemake reads them itself. It takes the last of a repeated key and runs the code of a template."""
    problems = []
    for path in map(Path, dict.fromkeys(map(str, paths))):
        try:
            found = _settings(path)
        except PolyrewardError as error:
            problems.append(str(error))
            continue
        if isinstance(found, dict) and TEMPLATE in found:
            problems.append(f"{path}: `{TEMPLATE}` makes Snakemake run code from it; delete that key")
    raise_all(problems, "settings")


def _settings(path: Path) -> Any:
    if path.suffix != ".json":
        return read_yaml(path)
    try:
        return parsed_json(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise PolyrewardError(f"{path}: {error}; correct it") from None


def yaml_fault(error: Exception) -> str:
    """Say on one line what parsed_yaml found, and what to do."""
    text = " ".join(
        str(error).replace('in "<unicode string>", ', "").replace('in "<byte string>", ', "").split()
    )
    return f"{text}; keep one" if "appears twice" in text else f"not YAML ({text}); fix that line"


def _depth(text: str | bytes) -> int:
    depth = deepest = 0
    for event in yaml.parse(text, Loader=Loader):
        depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
        deepest = max(depth, deepest)
        if deepest > DEEPEST:
            break
    return deepest


def _twice(node: yaml.Node | None) -> Iterator[str]:
    """Yield each repeated key of a mapping, with its lines."""
    todo, seen = [node], set()
    while todo:
        one = todo.pop()
        if id(one) in seen:  # an anchor's
            continue
        seen.add(id(one))
        if isinstance(one, yaml.SequenceNode):
            todo += reversed(one.value)
        elif isinstance(one, yaml.MappingNode):
            lines: dict[tuple[str, str], int] = {}
            for key, _ in one.value:
                if isinstance(key, yaml.ScalarNode):
                    line, name = key.start_mark.line + 1, (key.tag, key.value)
                    if name in lines:
                        yield f"line {line}: `{key.value[:60]}` appears twice, first in line {lines[name]}"
                    lines.setdefault(name, line)
            todo += [part for pair in reversed(one.value) for part in reversed(pair)]
