"""Analyses know their inputs by what these say: two files that change places change no result."""

from itertools import combinations
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
import tiny_models
from made_up_sheet import sheet_file
from support import script

from polyreward.core.files import write_jsonl
from polyreward.core.tables import write_scores
from polyreward.sources.base_models import fetch_base_model

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
    for number, scorer in enumerate([*TRAINED, *KINDS, *UNTRAINED]):
        for language in ["en", *TARGETS]:
            draws = np.random.default_rng([number, ord(language[0])]).normal(size=len(ROWS))
            table = pd.DataFrame(ROWS)[["id", "template", "subset", "category"]].assign(
                score_chosen=draws, score_rejected=0.0, truncated_share=0.0, within_noise=False
            )
            paths[scorer, language] = str(folder / f"bench/{scorer}/{language}.parquet")
            write_scores(table, paths[scorer, language], benchmark="bench", scorer=scorer, language=language)
    write_jsonl(ROWS, folder / "bench/es.jsonl")
    sheet = sheet_file(
        folder, {**dict.fromkeys(TRAINED, "classifier"), **KINDS, **dict.fromkeys(UNTRAINED, "baseline")}
    )
    return paths | {"rows": str(folder / "bench/es.jsonl"), "sheet": sheet}


ALL, KINDS = ["en", *TARGETS], {"shelf": "classifier", "length": "baseline"}
UNTRAINED = [f"{kind}-{base}" for kind in ("probe", "pmi") for base in BASES]
OF_ES = [(name, "es") for name in [*TRAINED, "length", "shelf"]], {}
# Rule: the (scorer, language) of its inputs, and params of its own
RULES = {
    "transfer_comparison": (
        [(f"{base}_{name}", language) for language in TARGETS for base in BASES for name in ("en", language)],
        {"source": "en"},
    ),
    "seed_differences": (
        [(f"{base}_{name}", language) for language in TARGETS for base in BASES for name in ALL],
        {},
    ),
    "transfer_gap": (
        [(f"{base}_en", language) for base in BASES for language in ALL],
        {"bases": BASES, "languages": ALL},
    ),
    "training_added": (
        [(name, language) for name in [*TRAINED, *UNTRAINED] for language in ALL],
        {"bases": BASES, "languages": ALL},
    ),
    "language_comparison": ([(name, "es") for name in [*TRAINED, "shelf"]], {}),
    "ready_made_comparison": ([(name, language) for language in ALL for name in KINDS], {}),
    "scorer_comparison": OF_ES,
    "twin_comparison": OF_ES,
}


def judgements(folder):
    generator, paths = np.random.default_rng(1), {"judgements": [], "known": [], "labels": []}
    for language in TARGETS:
        judged = [
            {"language": language, "policy": policy, "run": run, "id": f"i{n}", "win": float(generator.random() < 0.5),
             "margin": 0.0, "length_response": int(generator.integers(40, 60)), "length_reference": 50}
            for policy in ("base", "target", "english") for run in (1, 2) for n in range(6)
        ]  # fmt: skip
        known = [
            {"language": language, "id": f"i{n}", "kind": "cut", "right": float(generator.random() < 0.5)}
            for n in range(6)
        ]
        labels = [
            {"language": language, "id": f"i{n}", "labeller": labeller, "same": float(generator.random() < 0.5)}
            for labeller in ("target", "english") for n in range(6)
        ]  # fmt: skip
        for name, rows in (("judgements", judged), ("known", known), ("labels", labels)):
            paths[name].append(str(folder / f"{name}_{language}.csv"))
            pd.DataFrame(rows).to_csv(paths[name][-1], index=False)
    return paths, {"trainings": 1, "interval": INTERVAL}


def translations(folder):
    paths = {"references": [], "samples": [], "source": str(folder / "en.jsonl")}
    texts = [f"text {n} of a page" for n in range(4)]

    def write(name, words):
        path = folder / f"{name}.jsonl"
        write_jsonl([{"id": f"t{n}", "text": text} for n, text in enumerate(words)], path)
        return str(path)

    write("en", texts)
    for language in TARGETS:
        paths["references"].append(write(language, [f"{text} {language}" for text in texts]))
        for engine in ("one", "two"):
            paths["samples"].append(
                write(f"samples/{engine}/{language}", [f"{engine} {text} {language}" for text in texts])
            )
    return paths, {}


def texts_of_a_base(folder):
    words = {"en": "the dog", "es": "un gato", "ko": "@ % *"}
    fetch_base_model(tiny_models.catalog_entry("tiny-gemma"), 7, list(words.values()), folder / "base")
    paths = {"base": str(folder / "base"), "rows": [], "passages": []}
    for language, word in words.items():
        for kind, row in (
            ("rows", {"prompt": word, "chosen": word, "rejected": language}),
            ("passages", {"text": f"{word} {language}"}),
        ):
            path = folder / f"{kind}/{language}.jsonl"
            write_jsonl([{"id": "a", **row}], path)
            paths[kind].append(str(path))
    return paths, {"languages": ["en", *TARGETS], "source": "en", "share": 1.0}


# Rule: what makes its inputs and params, its inputs that are lists, and its outputs
FILES_BY_NAME = {
    "win_rates": (
        judgements,
        ["judgements", "known", "labels"],
        ["judgements", "judge", "agreement", "win_rates"],
    ),
    "translation_quality": (translations, ["references", "samples"], ["quality"]),
    "embedding_norms": (texts_of_a_base, ["rows", "passages"], ["norms", "ks"]),
}


class Named(list):
    """Files as Snakemake passes them: a list, and by name."""

    def __init__(self, files, unnamed=()):
        super().__init__(unnamed or files.values())
        vars(self).update(files)


def made(rule, paths, params, files, folder):
    """Return what a rule's script writes from score files in this order, by file, sorted."""
    outputs = {name: folder / f"{name}.csv" for name in ("scorers", "subsets", "kinds")}
    first = outputs if rule == "scorer_comparison" else {"table": folder / "table.csv"}
    inputs = Named({"scores": paths, "rows": files["rows"], "sheet": files["sheet"]}, paths)
    script(f"analyse/{rule}").main(
        SimpleNamespace(input=inputs, output=Named(first), params=SimpleNamespace(**params))
    )
    return {name: sorted(path.read_text().splitlines()) for name, path in first.items()}


@pytest.mark.parametrize("rule", RULES)
def test_score_files_that_change_places_change_no_result(rule, files, tmp_path):
    keys, params = RULES[rule]
    params = {**params, "benchmark": BENCHMARK, "interval": INTERVAL}
    paths = [files[key] for key in keys]
    expected = made(rule, paths, params, files, tmp_path)
    for one, other in list(combinations(range(len(paths)), 2))[::3]:
        swapped = list(paths)
        swapped[one], swapped[other] = paths[other], paths[one]
        assert made(rule, swapped, params, files, tmp_path) == expected, (paths[one], paths[other])


@pytest.mark.parametrize("rule", FILES_BY_NAME)
def test_files_of_languages_that_change_places_change_no_result(rule, tmp_path):
    prepare, lists, outputs = FILES_BY_NAME[rule]
    paths, params = prepare(tmp_path)

    def made_of(inputs):
        output = Named({name: tmp_path / f"out/{name}.csv" for name in outputs})
        script(f"analyse/{rule}").main(
            SimpleNamespace(input=Named(inputs), output=output, params=SimpleNamespace(**params))
        )
        return [sorted(path.read_text().splitlines()) for path in output]

    expected = made_of(paths)
    for name in lists:
        assert made_of({**paths, name: paths[name][::-1]}) == expected, name
