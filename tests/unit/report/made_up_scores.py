"""Rows and scores of scale tiny whose disagreements are known, in a folder of results."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
from tiny_models import ROOT

from polyreward.core.naming import ModelName, Paths
from polyreward.core.tables import score_file, write_scores
from polyreward.report.errors import write_errors
from polyreward.report.results import read_results

HOSTILE = "<img src=x onerror=alert(1)> & \"quoted\" 'too'"
LANGUAGES = ["en", "es", "it", "ko", "zh"]
CULTURES = ["ar", "zh", "en", "de", "ja", "ko", "ru", "es", "th", "vi"]
N_PAIRS = 10
# {(base, training, evaluation): margins that are not 1}. Of tiny-gemma, pair 3 is apart in both languages, 5
# only in Korean.
MARGINS = {
    ("tiny-gemma", "es", "es"): {3: -1.0},
    ("tiny-gemma", "en", "ko"): {3: -4.0, 5: -1.0},
    ("tiny-gemma", "ko", "ko"): {},
    ("tiny-llama", "en", "es"): {0: 0.0},  # a tie, which is wrong
}
NOISY = {("tiny-gemma", "es", "es"): [3], ("tiny-llama", "en", "es"): [0]}


def write_pairs(results, long=1):
    """Write ten pairs in five languages with scores of both bases; long: how often a text is repeated."""
    paths = Paths(str(results))
    for language in LANGUAGES:
        _write_rows(paths.translated("mini-rewardbench", language), [
            {"id": f"pair-{n}", "subset": "advice" if n < 5 else "refuse", "category": "chat",
             "prompt": f"{language} {n} {HOSTILE}", "chosen": f"good {n} " * long, "rejected": f"bad {n} " * long}
            for n in range(N_PAIRS)
        ])  # fmt: skip
    for base in ("tiny-gemma", "tiny-llama"):
        for language in LANGUAGES:
            for training in {"en", language}:
                path = paths.scores("mini-rewardbench", str(ModelName(base, training)), language)
                _write_pair_scores(path, (base, training, language))


def _write_pair_scores(path, key):
    margins = np.array([MARGINS.get(key, {}).get(n, 1.0 + n / 100) for n in range(N_PAIRS)])
    table = pd.DataFrame({
        "id": [f"pair-{n}" for n in range(N_PAIRS)], "subset": "x", "category": "y",
        "score_chosen": margins, "score_rejected": 0.0, "truncated_share": 0.0,
        "within_noise": [n in NOISY.get(key, []) for n in range(N_PAIRS)],
    })  # fmt: skip
    write_scores(table, path, **score_file(path))


def write_carb(results):
    """Write two items of each culture: a-item is missed by every reward model, in Korean too by a tie; b-item
    by one."""
    paths, models = Paths(str(results)), carb_models(results)
    for culture in CULTURES:
        _write_rows(paths.carb_items(culture), [
            {"id": f"{name}_{culture}", "culture": culture, "domain": domain, "prompt": f"{culture} {HOSTILE}", "chosen": 1,
             "answers": [f"{name} {number} {HOSTILE}" for number in range(3)],
             "references": [{"culture": c} for c in ("ja", culture, "th")]}
            for name, domain in (("a", "values"), ("b", "safety"))
        ])  # fmt: skip
        for model in models:
            top_of_a = [1.0, 1.0, 0.0] if culture == "ko" else [0.0, 1.0, 3.0]
            top_of_b = [0.0, 1.0, 3.0] if model == models[0] else [0.0, 1.0, 0.5]
            table = pd.DataFrame({
                "id": [f"a_{culture}"] * 3 + [f"b_{culture}"] * 3, "template": ["a"] * 3 + ["b"] * 3, "language": culture,
                "domain": ["values"] * 3 + ["safety"] * 3,
                "candidate": [0, 1, 2] * 2, "is_chosen": [False, True, False] * 2,
                "score": top_of_a + top_of_b, "truncated": False,
                "within_noise": [culture == "ko"] * 3 + [False] * 3,
            })  # fmt: skip
            write_scores(table, paths.scores("carb", model, culture), benchmark="carb", scorer=model)


def carb_models(results):
    """Return CARB's reward models of scale tiny."""
    scale = read_results(results, [], ROOT).registry.scale
    return [*scale.trained_models(), *scale.ready_made, "tiny-judge-knockout"]


def errors_of(results, report=None):
    """Write the page of errors of a results folder and return its text."""
    path = write_errors(read_results(results, [], ROOT), report or results / "report.html", ROOT)
    return path.read_text(encoding="utf-8")


def _write_rows(path, rows):
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
