"""Small comparisons, twins and their scores, for tests of the analysis and of the tables made of it."""

import pandas as pd
from support import script

from polyreward.analysis.bootstrap import Interval
from polyreward.analysis.comparison import Benchmark, Comparison

INTERVAL = Interval(samples=200, confidence=0.95, seed=1)
BENCHMARK = Benchmark("bench", {"chat": ["u", "w"], "safety": ["v"]}, {"w": 6})
INDEPENDENT = Benchmark("bench", {"chat": ["u"]}, {})  # the benchmark of `independent` pairs
# chat: u has 2 pairs, w 1 pair that weighs 6; safety: v has 2 pairs of one template
ROWS = [
    {"id": "1", "subset": "u", "template": "a", "chosen": "long", "rejected": "no"},
    {"id": "2", "subset": "u", "template": "b", "chosen": "no", "rejected": "long"},
    {"id": "3", "subset": "w", "template": "c", "chosen": "long", "rejected": "no"},
    {"id": "4", "subset": "v", "template": "d", "chosen": "no", "rejected": "long"},
    {"id": "5", "subset": "v", "template": "d", "chosen": "same", "rejected": "size"},
]


def scores(right, rows=ROWS):
    """Scores that are right (1), wrong (0) or tied (None) on each row."""
    margins = [0.0 if value is None else 2.0 * value - 1 for value in right]
    return pd.DataFrame({"id": [row["id"] for row in rows], "score_chosen": margins, "score_rejected": 0.0})


def together(tables, rows=ROWS, benchmark="bench", language="en"):
    """Return {scorer: scores} as one table with the subsets and templates of the rows, as read_scores gives
    it."""
    facts = pd.DataFrame([{"template": row["id"], **row} for row in rows])[["id", "subset", "template"]]
    parts = (
        facts.merge(table.drop(columns=["subset", "template"], errors="ignore"), on="id", how="right").assign(
            benchmark=benchmark, scorer=name, language=language
        )
        for name, table in tables.items()
    )
    return pd.concat(parts, ignore_index=True)


def comparison(rows=ROWS, ties="wrong", interval=INTERVAL, benchmark=BENCHMARK, a_slice=False, **tables):
    half_credit = tables if ties == "half" else ()
    return Comparison(together(tables, rows), benchmark, interval, half_credit, a_slice)


def independent(count):
    """One subset of pairs that are each their own template."""
    return [{"id": str(n), "subset": "u", "chosen": "a", "rejected": "b"} for n in range(count)]


def families(count):
    return [{"id": f"{n}-{side}", "template": str(n), "subset": "v"} for n in range(count) for side in "ab"]


def twins(chosen, ties="half", rejected=()):
    """Measure twins on families with the given two scores each; rejected answers have 0 by default."""
    rows = families(len(chosen))
    flat = [score for family in chosen for score in family]
    table = pd.DataFrame({"id": [row["id"] for row in rows], "score_chosen": flat, "score_rejected": 0.0})
    if rejected:
        table["score_rejected"] = [score for family in rejected for score in family]
    scores = together({"rm": table.sample(frac=1, random_state=0)}, rows)
    return script("analyse/twin_comparison").twin_row(scores, ties, INTERVAL)
