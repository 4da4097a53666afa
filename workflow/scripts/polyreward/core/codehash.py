"""Which code a result depends on, found by following names from a script through the library.

A name stands for what its module gives it: a function, a class, a constant, or what it is imported from.
What a script uses is followed from name to name, so that an edit reruns the rules whose script can reach
it and no others. Comments, docstrings, annotations and the words of errors are left out, as no result
depends on them."""

import ast
import contextlib
import hashlib
import itertools
import json
from functools import cache
from pathlib import Path

from polyreward.core.errors import PolyrewardError
from polyreward.core.files import write_text

PACKAGE = Path(__file__).parents[1]
# They change messages and what a job leaves behind when it fails, never a result.
WITHOUT_EFFECT = {
    f"polyreward.core.{name}" for name in ("alone", "errors", "hardware", "logs", "jobs", "memory", "machine")
}

Place = tuple[str, str]  # a module and a name in it, or one of these in its place:
WHOLE = "*"  # everything in the module
ON_IMPORT = ""  # what its import does by itself
# What a file holds: {name: (a hash of the code that gives it, what that code uses)}; "" for a module is the
# file itself.
Summary = dict[str, tuple[str, list[Place]]]


class Library:
    """The package's modules as they are in a folder, each parsed once.

    cache: a file that spares a later run the parsing of what has not changed since; None for none."""

    def __init__(self, package: Path = PACKAGE, cache: Path | None = None):
        self.package, self.cache = package, cache
        self.modules = {self._name(path) for path in package.rglob("*.py")}
        self._known: dict[str, Summary] = {}  # {a hash of a file's text: what it holds}
        self._modules: dict[str, Summary] = {}
        self._at: dict[str, str] = {}
        if cache and cache.is_file():
            with contextlib.suppress(ValueError):  # damaged: it is made again
                self._known = json.loads(cache.read_text(encoding="utf-8"))
        self._before = set(self._known)

    def code(self, script: Path) -> str:
        """Return a hash of a script and of all that it can reach in the package."""
        found, needs = self._summary(script)[WHOLE]
        return _hashed([found, *self._reached(needs)])

    def code_at(self, place: str) -> str:
        """Return a hash of all that "module:name" can reach; for what a job looks up in a registry."""
        if place not in self._at:
            module, _, name = place.partition(":")
            self._at[place] = _hashed(self._reached([(module, name)]))
        return self._at[place]

    def file(self, module: str) -> Path:
        """Return the file of a module."""
        path = self.package.joinpath(*module.split(".")[1:])
        return path / "__init__.py" if path.is_dir() else path.with_suffix(".py")

    def forget(self, module: str) -> None:
        """Read a module again when it is next needed."""
        self._modules.pop(module, None)
        self._at.clear()

    def save(self) -> None:
        """Write the cache, where something new was parsed."""
        if self.cache and self._known.keys() - self._before:
            with contextlib.suppress(
                OSError, PolyrewardError
            ):  # a folder that is not ours to write: the next run parses again
                self.cache.parent.mkdir(exist_ok=True)
                write_text(json.dumps(self._known), self.cache)

    def _reached(self, places: list[Place]) -> list[str]:
        """Return a line for each of some places and of all that they need: where it is and its code's
        hash."""
        todo, seen, lines = (
            [(module, name) for module, name in places],
            set(),
            [],
        )  # a cache in JSON holds lists
        while todo:
            place = todo.pop()
            if place in seen or place[0] in WITHOUT_EFFECT:
                continue
            seen.add(place)
            module, name = place
            below = f"{module}.{name}"
            if below in self.modules:
                todo.append((below, WHOLE))  # `from package import module`
                continue
            found, needs = self._module(module).get(name, ("", []))
            lines.append(f"{module}:{name} {found}")
            packages = itertools.accumulate(module.split("."), "{}.{}".format)
            todo += [
                *((used or module, what) for used, what in needs),
                *((package, ON_IMPORT) for package in packages),
            ]
        return sorted(lines)

    def _name(self, path: Path) -> str:
        parts = path.relative_to(self.package.parent).with_suffix("").parts
        return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)

    def _module(self, name: str) -> Summary:
        if name not in self._modules:
            self._modules[name] = self._summary(self.file(name))
        return self._modules[name]

    def _summary(self, path: Path) -> Summary:
        text = path.read_text(encoding="utf-8")
        key = _hashed([text])
        if key not in self._known:
            self._known[key] = _summary(text)
        return self._known[key]


LIBRARY = Library(cache=Path(".snakemake/polyreward_code.json"))


def follow_code(rules, portable: bool) -> None:
    """Give each of Snakemake's rules that runs a script a param `code`: the hash of all code that the script
    can reach.

    portable: also give each a param of that name, by which jobs start (ops/jobs.py). Snakemake reruns a job
    whose params changed."""
    for rule in rules:
        if rule.script:
            code = _code_of(Path(rule.basedir.get_path_or_uri(secret_free=True), rule.script))
            rule.set_params(code=code, **({"portable": True} if portable else {}))
    LIBRARY.save()


@cache
def _code_of(script: Path) -> str:
    return LIBRARY.code(script)


def _hashed(lines: list[str]) -> str:
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()[:16]


def _summary(text: str) -> Summary:
    """Return what a file holds."""
    statements: dict[str, list[ast.stmt]] = {WHOLE: [], ON_IMPORT: []}
    imports: dict[str, Place] = {}
    for statement in _Plain().visit(ast.parse(text)).body:
        if isinstance(statement, ast.Import | ast.ImportFrom):
            imports.update(_imported(statement))
            continue
        statements[WHOLE].append(statement)
        for given in sorted(_given(statement)) or [ON_IMPORT]:
            statements.setdefault(given, []).append(statement)
    summary = {name: ("", [place]) for name, place in imports.items()}
    for name, giving in statements.items():
        used = set(imports.values()) if name == WHOLE else set()
        for node in (node for statement in giving for node in ast.walk(statement)):
            if isinstance(node, ast.Import | ast.ImportFrom):
                used |= set(_imported(node).values())
            elif isinstance(node, ast.Name) and node.id in imports:
                used.add(imports[node.id])
            elif isinstance(node, ast.Name) and node.id in statements and name != WHOLE:
                used.add(("", node.id))
        summary[name] = (_hashed([ast.dump(statement) for statement in giving]), sorted(used))
    return summary


def _given(statement: ast.stmt) -> set[str]:
    """Return the names that a statement at a module's top gives: a definition, an assignment, or an `if`
    around some."""
    if isinstance(statement, ast.FunctionDef | ast.ClassDef | ast.AsyncFunctionDef):
        return {statement.name}
    if isinstance(statement, ast.Assign | ast.AnnAssign | ast.If | ast.Try):
        return {
            node.id
            for node in ast.walk(statement)
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
        }
    return set()


def _imported(statement: ast.Import | ast.ImportFrom) -> dict[str, Place]:
    """Return {name: place} of what an import takes from this package."""
    found = {}
    if isinstance(statement, ast.Import):
        return {
            alias.asname or alias.name: (alias.name, WHOLE)
            for alias in statement.names
            if alias.name.startswith("polyreward.")
        }
    if (statement.module or "").split(".")[0] == "polyreward":
        found = {alias.asname or alias.name: (statement.module, alias.name) for alias in statement.names}
    return found


class _Plain(ast.NodeTransformer):
    """Takes out of a syntax tree what no result depends on."""

    def visit_Module(self, node):  # noqa: N802 - ast's name
        return self._without_docstring(node)

    def visit_ClassDef(self, node):  # noqa: N802
        return self._without_docstring(node)

    def visit_FunctionDef(self, node):  # noqa: N802
        for argument in [
            *node.args.posonlyargs,
            *node.args.args,
            *node.args.kwonlyargs,
            node.args.vararg,
            node.args.kwarg,
        ]:
            if argument:
                argument.annotation = None
        node.returns = None
        return self._without_docstring(node)

    def visit_AnnAssign(self, node):  # noqa: N802
        # A dataclass has its fields by their annotations, whose text is kept and whose names lead nowhere.
        node.annotation = ast.Constant(ast.unparse(node.annotation))
        return self.generic_visit(node)

    def visit_Raise(self, node):  # noqa: N802
        if isinstance(node.exc, ast.Call):
            node.exc = node.exc.func
        return self.generic_visit(node)

    def _without_docstring(self, node):
        self.generic_visit(node)
        if ast.get_docstring(node) is not None:
            node.body = node.body[1:] or [ast.Pass()]
        return node
