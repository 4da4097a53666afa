"""Which code a result depends on: modules hashed without comments and docstrings, imports followed.

A rule that lists a module as a param is rerun when its logic changes, and not when a comment does."""

import ast
import hashlib
from functools import cache
from pathlib import Path

PACKAGE = Path(__file__).parent
WITHOUT_EFFECT = {"errors", "logs", "jobs", "memory"}  # they change messages, never a result


def code(*modules: str) -> str:
    """Return a hash of the named modules ("translation.lm") and of all that they import from this package."""
    todo, found = list(modules), {}
    while todo:
        module = todo.pop()
        if module not in found and module not in WITHOUT_EFFECT:
            found[module], imports = _parsed(module)
            todo += imports
    text = "\n".join(f"{module} {found[module]}" for module in sorted(found))
    return hashlib.sha256(text.encode()).hexdigest()[:16]


@cache
def _parsed(module: str) -> tuple[str, list[str]]:
    path = PACKAGE / (module.replace(".", "/") + ".py")
    tree = ast.parse((path if path.exists() else path.with_suffix("") / "__init__.py").read_text(encoding="utf-8"))
    imports = [
        node.module.removeprefix("polyreward.")
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("polyreward.")
    ]
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef) and ast.get_docstring(node) is not None:
            node.body = node.body[1:] or [ast.Pass()]
    return hashlib.sha256(ast.dump(tree).encode()).hexdigest(), imports
