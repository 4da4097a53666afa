"""The hash of the code that a result depends on: a script, and all modules of this package that it imports.

Imports inside functions and indirect imports count. Comments, docstrings and layout do not. All other text
counts, since the words of an error may become a caption. What a job looks up by name (`families.LOADERS`) is
hashed by `code_at` and is a param of its rule. Each Python from 3.11 to 3.13 gives the same hash.
"""

import ast
import hashlib
import json
from collections.abc import Iterator
from contextlib import suppress
from functools import cache
from pathlib import Path

from polyreward.core.errors import PolyrewardError
from polyreward.core.files import write_text

PACKAGE = Path(__file__).parents[1]
# {hash of this module and of a file's text: [hash of its code, what it imports]}
PARSED = Path(".snakemake/polyreward_parsed.json")
_parsed: dict[str, list] = {}


def code_of(script: Path, package: Path = PACKAGE) -> str:
    """Return a hash of a script or module and of all modules of the package that it reaches."""
    lines, todo = {}, [script]
    while todo:
        path = todo.pop()
        if path not in lines:
            code, imports = _summary(path.read_text(encoding="utf-8"))
            name = path.relative_to(package).as_posix() if path.is_relative_to(package) else "script"
            lines[path] = f"{name} {code}"
            todo += [module for name in imports for module in _modules(name, package)]
    return _hashed("\n".join(sorted(lines.values())))


@cache
def code_at(place: str) -> str:
    """Return the hash of what "module:name" reaches."""
    *_, module = _modules(place.partition(":")[0], PACKAGE)
    return code_of(module)


def save_parsed() -> None:
    """Save what was parsed for the next run of Snakemake."""
    with suppress(OSError, PolyrewardError):  # a folder that is not ours to write
        if _parsed and _parsed != _known():
            PARSED.parent.mkdir(exist_ok=True)
            write_text(json.dumps(_parsed), PARSED)


@cache
def _modules(name: str, package: Path) -> tuple[Path, ...]:
    """Return the files of a dotted name: its packages and its module; a function has none."""
    folder, files = package, [package / "__init__.py"]
    for part in name.split(".")[1:]:
        module = folder / f"{part}.py"
        folder = folder / part
        files.append(module if module.is_file() else folder / "__init__.py")
    return tuple(path for path in files if path.is_file())


@cache
def _summary(text: str) -> list:
    """Return [hash of a file's code, dotted names that it imports from the package]."""
    key = _hashed(_own_text() + text)  # another way to hash makes the file of hashes useless
    if key not in _parsed:
        _parsed[key] = _known().get(key) or _parse(text)
    return _parsed[key]


@cache
def _own_text() -> str:
    return Path(__file__).read_text(encoding="utf-8")


def _parse(text: str) -> list:
    tree = ast.parse(text)
    documented = ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef
    for node in ast.walk(tree):
        if isinstance(node, documented) and ast.get_docstring(node, clean=False) is not None:
            node.body = node.body[1:]
    return [_hashed(" ".join(_words(tree, []))), sorted(set(_imports(tree)))]


def _words(node: object, words: list[str]) -> list[str]:
    """Add a syntax tree to a list of words, the same ones in each Python from 3.11 to 3.13; return the list.

    ast.dump differs between them in which empty fields it shows. Only Python 3.12 ends some formats of
    f-strings with an empty text, which is left out. `repr` depends on Python's Unicode tables; `ascii` does
    not.
    """
    if isinstance(node, ast.AST):
        words.append(type(node).__name__)
        for name in node._fields:
            value = getattr(node, name, None)
            if name == "values" and isinstance(node, ast.JoinedStr):
                value = [part for part in value if not (isinstance(part, ast.Constant) and part.value == "")]
            if value is not None and value != [] and name != "ctx":
                words.append(name)
                _words(value, words)
        words.append(")")
    elif isinstance(node, list):
        words.append("[")
        for part in node:
            _words(part, words)
        words.append("]")
    else:
        words.append(ascii(node))
    return words


def _imports(tree: ast.Module) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            if node.level:
                raise PolyrewardError(
                    f"`{ast.unparse(node)}`: a relative import; write it from `polyreward` on"
                )
            names = [f"{node.module}.{alias.name}" for alias in node.names]
        else:
            continue
        yield from (name for name in names if name.partition(".")[0] == "polyreward")


@cache
def _known() -> dict[str, list]:
    with suppress(OSError, ValueError):  # none yet, or a damaged one
        return json.loads(PARSED.read_text(encoding="utf-8"))
    return {}


def _hashed(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:16]
