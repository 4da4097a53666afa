"""Analyses know their inputs by what these say: two files that change places change no result."""

from itertools import combinations
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from support import script

from polyreward.core.files import write_jsonl
from polyreward.core.tables import write_scores

SECTIONS = ["chat", "chat_hard", "safety", "reasoning"]
BENCHMARK = {"name": "bench", "sections": {name: [name] for name in SECTIONS}, "weights": {}}
INTERVAL = {"samples": 20, "confidence": 0.95, "seed": 1}
BASES, TARGETS = ["one", "two"], ["es", "ko"]
TRAINED = [f"{base}_{language}" for base in BASES for language in ["en", *TARGETS]]
ROWS = [
    {"id": f"{section}-{n}-{side}", "template": f"{section}-{n}", "subset": section, "category": section,
     "prompt": "p", "chosen": "long" if n % 2 else "no", "rejected": "same"}
    for section in SECTIONS for n in range(4) for side in "ab"
]  # fmt: skip


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """Score files of made-up scorers, {(scorer, language): path}: each has scores of its own."""
    folder, paths = tmp_path_factory.mktemp("scores"), {}
    for number, scorer in enumerate([*TRAINED, "length", "shelf"]):
        for language in ["en", *TARGETS]:
            draws = np.random.default_rng([number, ord(language[0])]).normal(size=len(ROWS))
            table = pd.DataFrame(ROWS)[["id", "template", "subset", "category"]].assign(
                score_chosen=draws, score_rejected=0.0, truncated_share=0.0, within_noise=False
            )
            paths[scorer, language] = str(folder / f"bench/{scorer}/{language}.parquet")
            write_scores(table, paths[scorer, language], benchmark="bench", scorer=scorer, language=language)
    write_jsonl(ROWS, folder / "bench/es.jsonl")
    return paths | {"rows": str(folder / "bench/es.jsonl")}


def transfer(files):
    trained = [f"{base}_{training}" for base in BASES for training in ("en", "{}")]
    paths = [files[name.format(language), language] for language in TARGETS for name in trained]
    return paths, {"source": "en", "benchmark": BENCHMARK, "interval": INTERVAL}


def language(files):
    paths = [files[name, "es"] for name in [*TRAINED, "shelf"]]
    return paths, {"benchmark": BENCHMARK, "interval": INTERVAL, "halves": []}


def ready_made(files):
    kinds = {"shelf": "classifier", "length": "baseline"}
    paths = [files[name, language] for language in ("en", *TARGETS) for name in kinds]
    return paths, {"kinds": kinds, "benchmark": BENCHMARK, "interval": INTERVAL, "halves": []}


def gap(files):
    paths = [files[f"{base}_en", language] for base in BASES for language in ("en", *TARGETS)]
    return paths, {
        "bases": BASES,
        "languages": ["en", *TARGETS],
        "benchmark": BENCHMARK,
        "interval": INTERVAL,
    }


def of_es(files):
    paths = [files[name, "es"] for name in [*TRAINED, "length", "shelf"]]
    return paths, {"baselines": ["length"], "benchmark": BENCHMARK, "interval": INTERVAL, "halves": []}


RULES = {
    "transfer_comparison": transfer,
    "transfer_gap": gap,
    "language_comparison": language,
    "ready_made_comparison": ready_made,
    "scorer_comparison": of_es,
    "twin_comparison": of_es,
}


class Inputs(list):
    """What Snakemake passes: a list, or by names."""

    def __init__(self, paths, rows):
        super().__init__(paths)
        self.scores, self.rows = paths, rows


def made(rule, paths, params, rows, folder):
    """Return what a rule's script writes from score files in this order, by file, sorted."""
    outputs = {name: folder / f"{name}.csv" for name in ("scorers", "subsets", "kinds")}
    first = outputs if rule == "scorer_comparison" else {"table": folder / "table.csv"}
    output = type("Output", (list,), outputs)(first.values())
    inputs = Inputs(paths, rows)
    script(f"analyse/{rule}").main(
        SimpleNamespace(input=inputs, output=output, params=SimpleNamespace(**params))
    )
    return {name: sorted(path.read_text().splitlines()) for name, path in first.items()}


@pytest.mark.parametrize("rule", RULES)
def test_score_files_that_change_places_change_no_result(rule, files, tmp_path):
    paths, params = RULES[rule](files)
    expected = made(rule, paths, params, files["rows"], tmp_path)
    for one, other in list(combinations(range(len(paths)), 2))[::3]:
        swapped = list(paths)
        swapped[one], swapped[other] = paths[other], paths[one]
        assert made(rule, swapped, params, files["rows"], tmp_path) == expected, (paths[one], paths[other])
