"""What every call of Snakemake imports: it must wait for no library of models."""

import ast
import importlib.util
import re
import subprocess
import sys

from support import ROOT

HEAVY = ["torch", "transformers", "trl", "peft", "datasets"]


def test_the_rules_import_no_library_of_models():
    text = "\n".join(path.read_text("utf-8") for path in (ROOT / "workflow/rules").glob("common*.smk"))
    imports = re.findall(r"^from polyreward[^\n(]*(?:\([^)]*\))?", text, re.MULTILINE)
    assert len(imports) > 5
    code = "\n".join([*imports, "import sys", f"print([name for name in {HEAVY} if name in sys.modules])"])
    said = subprocess.check_output([sys.executable, "-c", code], text=True, cwd=ROOT / "workflow/scripts")
    assert said == "[]\n"


def test_what_scripts_and_notebooks_import_from_the_library_is_there():
    """They run in jobs, minutes later; a name that has gone is found here."""
    scripts = (ROOT / "workflow/scripts").glob("*/*.py")
    files = [*scripts, *(ROOT / "workflow/notebooks").glob("*.py")]
    found = {
        (node.module, alias.name)
        for file in files for node in ast.walk(ast.parse(file.read_text(encoding="utf-8")))
        if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith("polyreward") for alias in node.names
    }  # fmt: skip
    gone = [
        f"{module}: {name}" for module, name in sorted(found)
        if not hasattr(importlib.import_module(module), name) and not importlib.util.find_spec(f"{module}.{name}")
    ]  # fmt: skip
    assert len(found) > 100
    assert gone == []
