"""What every call of Snakemake imports: it must wait for no library of models or tables."""

import re
import subprocess
import sys

from support import ROOT

HEAVY = ["torch", "transformers", "numpy", "pandas"]


def test_the_rules_import_neither_models_nor_tables():
    texts = [path.read_text(encoding="utf-8") for path in sorted((ROOT / "workflow/rules").glob("common*.smk"))]
    imports = [line for text in texts for line in re.findall(r"^from polyreward.*$", text, re.MULTILINE)]
    assert len(imports) > 15
    code = "\n".join([*imports, "import sys", f"print([name for name in {HEAVY} if name in sys.modules])"])
    ran = subprocess.run([sys.executable, "-c", code], text=True, capture_output=True, cwd=ROOT / "workflow/scripts")
    assert ran.stdout == "[]\n", ran.stderr
