"""A small results folder of scale tiny with made-up content, some of it hostile."""

from pathlib import Path

import pandas as pd
from PIL import Image
from tiny_models import ROOT

from polyreward.artifacts.renderings import write_html
from polyreward.claims.table import COLUMNS
from polyreward.core.tables import write_table
from polyreward.report.page import write_page
from polyreward.report.results import read_results

HOSTILE = "<script>alert('x')</script> & \"quoted\""
CLAIM = {
    "claim": "english_beats_target", "paper": "transfer", "number": 1, "where": "Table 1", "says": "English is better.",
    "quantity": "English minus target", "estimate": 2.0, "low": 1.0, "high": 3.0, "se": 0.5, "se_trainings": 0.0,
    "unit": "points", "n": 12, "n_of": "templates", "test": "bootstrap", "rule": "above 0", "null": 0.0, "null_low": None,
    "null_high": None, "null_of": "symmetry", "verdict": "suggested", "speaks_of": "these models only", "p": 0.01, "p_holm": 0.02,
    "rule_sha256": "0123456789ab", "printed_estimate": 4.0, "note": HOSTILE,
}  # fmt: skip
GAP = dict.fromkeys(("estimate", "low", "high", "se", "se_trainings", "n", "p", "p_holm"))
TEXTS = ("speaks_of", "n_of", "test")
CLAIMS = [
    CLAIM,
    {**CLAIM, "claim": "worse", "estimate": -1.0, "low": -2.0, "high": -0.5, "verdict": "fails"},
    {**CLAIM, "claim": "open", "paper": "carb", "low": -2.0, "high": 6.0, "verdict": "not decided"},
    {**CLAIM, **GAP, "claim": "silent", "paper": "carb", "verdict": "not tested", **dict.fromkeys(TEXTS, "")},
]


def write_made_up(folder: Path) -> Path:
    """Write Table 1 with its comparison, Figure 1, Table 2 only as data, and the claims; returns
    results/tiny below folder."""
    results = folder / "results/tiny"

    def write(name, columns):
        write_table(pd.DataFrame(columns), results / name, list(columns))

    write("table1.csv", {"model": [HOSTILE, "b", "c"], "avg": [10.5, 9.25, -3.0]})
    averages = ["10.5 [9, 12]", "9.2 [8, 10]", "-3.0 [-4, -2]"]
    display = pd.DataFrame({("", "Model"): [HOSTILE, "b", "c"], ("both", "Avg."): averages})
    write_html(display, HOSTILE, "table1", results / "table1.html")
    write("table2.csv", {"reward_model": ["judge"], "en": [50.0]})
    compared = {
        "row": ["es english", "es delta"], "column": ["avg"] * 2, "ours_model": ["a"] * 2, "printed_model": ["b"] * 2,
        "ours": [50.0, 1.0], "printed": [79.3, 4.3], "difference": [-29.3, -3.3], "pairing": ["models and scale differ"] * 2,
    }  # fmt: skip
    write("compare/table1.csv", compared)
    Image.linear_gradient("L").resize((200, 120)).convert("RGBA").save(results / "figure1.png")
    for name in ("figure1.csv", "figure1_words.csv", "figure1.pdf"):
        (results / name).write_text("x\n1\n", encoding="utf-8")
    write_claims_table(CLAIMS, results / "claims.csv")
    return results


def write_claims_table(rows: list[dict], path: Path) -> None:
    """Write rows as the claims' table."""
    write_table(pd.DataFrame(rows).astype({"n": "Int64"}), path, COLUMNS)


def page_of(results: Path, out: Path | None = None) -> str:
    """Write the page of a results folder of scale tiny and return its text."""
    path = out or results / "report.html"
    write_page(read_results(results, [], ROOT), path, ROOT)
    return path.read_text(encoding="utf-8")
