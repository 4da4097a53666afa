"""Code hashes: they follow logic and imports, and nothing else."""

import re
import shutil
from pathlib import Path

import pytest

from polyreward import codehash


@pytest.fixture
def package(tmp_path, monkeypatch):
    """A copy of the package that hashes are taken of."""
    copy = tmp_path / "polyreward"
    shutil.copytree(codehash.PACKAGE, copy, ignore=shutil.ignore_patterns("__pycache__"))
    monkeypatch.setattr(codehash, "PACKAGE", copy)
    codehash._parsed.cache_clear()
    yield copy
    codehash._parsed.cache_clear()


def edited(path: Path, old: str, new: str, *modules: str) -> bool:
    """Replace text in a file; returns whether that changed the modules' hash."""
    before = codehash.code(*modules)
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new, 1), encoding="utf-8")
    codehash._parsed.cache_clear()
    return codehash.code(*modules) != before


def test_a_comment_does_not_count(package):
    assert not edited(package / "seeds.py", "    digest =", "    # a comment\n\n    digest =", "seeds")


def test_a_docstring_of_module_class_or_function_does_not_count(package):
    assert not edited(package / "seeds.py", '"""Seeds', '"""Other seeds', "seeds")
    assert not edited(package / "seeds.py", '"""Return', '"""Give', "seeds")
    assert not edited(package / "frozen.py", '"""Memory', '"""The memory', "frozen")
    assert not edited(package / "frozen.py", '"""Write the memory', '"""Save the memory', "frozen")


def test_removing_a_docstring_does_not_count(package):
    line = next(line for line in (package / "seeds.py").read_text().splitlines(True) if '"""Return' in line)
    assert not edited(package / "seeds.py", line, "", "seeds")


def test_logic_counts(package):
    assert edited(package / "seeds.py", "digest[:4]", "digest[:5]", "seeds")


def test_a_text_that_is_no_docstring_counts(package):
    assert edited(package / "reward_model.py", "<|polyreward_pad|>", "<|pad|>", "reward_model")


def test_imports_are_followed_near_and_far(package):
    assert edited(package / "batches.py", "> budget:", ">= budget:", "frozen")  # frozen imports batches
    assert edited(package / "conversations.py", "-max_length:", "-max_length + 1:", "training")
    assert edited(package / "translation/invariants.py", "- numbers(target)", "- numbers(source)", "translation.run")


def test_imports_inside_functions_are_followed(package):
    assert edited(package / "translation/lm.py", "do_sample=False", "do_sample=True", "translation.run")


def test_modules_that_are_not_imported_do_not_count(package):
    assert not edited(package / "bootstrap.py", "import", "import sys\nimport", "training", "prepare")


def test_messages_do_not_count(package):
    assert not edited(package / "logs.py", "    print(", "    print('x')\n    print(", "training")


def test_the_order_of_modules_does_not_count(package):
    assert codehash.code("seeds", "files") == codehash.code("files", "seeds") != codehash.code("files")


def test_every_module_that_a_rule_names_can_be_hashed():
    rules = [path.read_text() for path in (Path(codehash.__file__).parents[2] / "rules").glob("*.smk")]
    calls = [re.findall(r'"([^"]+)"', call) for text in rules for call in re.findall(r"\bcode\(([^)]*)\)", text)]
    assert len({codehash.code(*modules) for modules in calls}) > 30  # raises FileNotFoundError where there is no such module
