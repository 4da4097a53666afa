"""Two inputs of an analysis of CARB or of judges that change places give an error, or the same rows."""

import dataclasses
from functools import cache
from itertools import combinations, product
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from made_up_sheet import sheet_file
from support import ROOT, script

from polyreward.analysis.tables import LANGUAGE_COLUMNS
from polyreward.carb.culture.quartets import PLACED, UNPLACED, Quartet, Wording, quartet_rows, unplaced_row
from polyreward.carb.downstream.correlation import PICK_COLUMNS, POINT_COLUMNS
from polyreward.carb.leaderboard import leaderboard_columns
from polyreward.carb.perturbation.perturbations import PERTURBATIONS
from polyreward.core import tables
from polyreward.core.files import write_jsonl
from polyreward.core.tables import write_exact, write_scores, write_table
from polyreward.prepare.topics import FACT
from polyreward.scoring.criteria_layout import Reply
from polyreward.sheet.papers import read_paper
from polyreward.think_as_locals.replies import HELD_OUT_COLUMNS, REPLY_COLUMNS, reply_counts

CULTURES, DOMAINS = ["de", "ja"], ["values", "safety"]
CELLS = list(product(CULTURES, DOMAINS, range(3)))  # with the number of a topic
KINDS = {"rm": "classifier", "judge": "generative"}
INTERVAL = {"samples": 20, "confidence": 0.95, "seed": 1}
CELLS_OF = {"cultures": CULTURES, "domains": DOMAINS}
REWRITTEN = len(PERTURBATIONS) + 1
TABLE = ["csv", "md", "tex", "html"]


@pytest.fixture(autouse=True)
def _read_once(monkeypatch):
    """Read each Parquet file once for all pairs of its case."""
    read = cache(tables.read_sealed)
    monkeypatch.setattr(tables, "read_sealed", lambda path: read(str(path)).copy())


@dataclasses.dataclass
class Job:
    """What a script's `main` takes; inputs: {name: its files}; one_file: names of those that are one file."""

    rule: str
    inputs: dict[str, list]
    params: dict
    outputs: list[str]
    one_file: tuple[str, ...] = ()

    def result(self, swapped, folder):
        """Return what the job writes with two inputs in each other's places, or "error"."""
        given = {name: list(files) for name, files in self.inputs.items()}
        if swapped:
            (one, n), (other, m) = swapped
            given[one][n], given[other][m] = self.inputs[other][m], self.inputs[one][n]
        inputs = Files(given, self.one_file)
        outputs = Files({name: [folder / name] for name in self.outputs}, self.outputs)
        job = SimpleNamespace(input=inputs, output=outputs, params=SimpleNamespace(**self.params))
        try:
            script(self.rule).main(job)
        except Exception:
            return "error"
        return [rows_of(path) for path in outputs]


def rows_of(path):
    """Return the rows of an output as sorted texts: they come in the order of the rule's inputs."""
    data = path.read_bytes()
    text = (
        pd.read_parquet(path).to_csv(index=False, float_format="%.9g")
        if data.startswith(b"PAR1")
        else data.decode()
    )
    return sorted(text.splitlines())


class Files(list):
    """Snakemake's list of files, with names."""

    def __init__(self, named, one_file):
        super().__init__(path for files in named.values() for path in files)
        for name, files in named.items():
            setattr(self, name, files[0] if name in one_file else files)


def key_of(culture, domain, topic):
    return {
        "id": f"{domain}-{topic}_{culture}",
        "template": f"{domain}-{topic}",
        "language": culture,
        "domain": domain,
    }


def write_items(folder):
    """Write a file of items for each culture; returns the files."""
    paths = [folder / f"{culture}.jsonl" for culture in CULTURES]
    for path in paths:
        rows = []
        for cell in (cell for cell in CELLS if cell[0] == path.stem):
            key = key_of(*cell)
            answers = [f"{cell} {number}" for number in range(4)]
            references = [{"culture": name} for name in (*CULTURES, *CULTURES)]
            asked = {
                "id": key["id"],
                "topic": key["template"],
                "culture": cell[0],
                "domain": cell[1],
                "prompt": "Q?",
            }
            row = {**asked, "answers": answers, "chosen": 0, "references": references}
            rows.append({**row, "languages": sorted(CULTURES, key=lambda name, own=cell[0]: name != own)})
        write_jsonl(rows, path)
    return paths


def write_carb(folder, benchmark, scorers, count=4, cultures=CULTURES, by_culture=True):
    """Write scores, unlike for each scorer, culture and item; returns the files."""
    paths = []
    for number, scorer in enumerate(scorers):
        generator = np.random.default_rng(100 * number + count)
        table = pd.DataFrame(
            {**key_of(*cell), "candidate": candidate, "is_chosen": candidate == 0, "score": generator.normal(),
             "truncated": False, "within_noise": False}
            for cell in CELLS if cell[0] in cultures for candidate in range(count)
        )  # fmt: skip
        for part in cultures if by_culture else ["all"]:
            paths.append(folder / f"{benchmark}/{scorer}/{part}.parquet")
            rows = table[table["language"] == part] if by_culture else table
            write_scores(rows, paths[-1], benchmark=benchmark, scorer=scorer)
    return paths


def write_replies(folder, scorers):
    paths = [folder / f"replies_{scorer}.csv" for scorer in scorers]
    for number, (path, scorer) in enumerate(zip(paths, scorers, strict=True), 1):
        write_table(reply_counts(scorer, [Reply(("x",), "A")] * number), path, REPLY_COLUMNS)
    return paths


def comparison(folder):
    facts = {"resource_class": 5, "family": "f", "script": "Latn"}
    inputs = {"item_files": write_items(folder), "scores": write_carb(folder, "carb", KINDS),
              "sheet": [sheet_file(folder, KINDS)]}  # fmt: skip
    params = {"cells": CELLS_OF, "interval": INTERVAL, "languages": dict.fromkeys(CULTURES, facts)}
    outputs = ["leaderboard", "groups", "domains", "glance"]
    return Job("analyse/carb_comparison", inputs, params, outputs, ("sheet",))


def write_quartets(folder, scorers, itemset=PLACED):
    """Write place quartets in two languages and their scores; returns the files of both."""
    items, paths = [folder / f"{itemset}_items/{language}.jsonl" for language in ("en", "es")], []
    items[0].parent.mkdir()
    for path in items:
        wording = Wording(f"{path.stem} {{place}}?", list("ABCD"), list("abcd"))
        made = [Quartet(f"t{n}", f"t{n}", "d", FACT, list("ABCD"), {path.stem: wording}) for n in range(10)]
        placed = [row for quartet in made for row in quartet_rows(quartet, path.stem)]
        rows = placed if itemset == PLACED else [unplaced_row(quartet, path.stem) for quartet in made]
        write_jsonl(rows, path)
        for scorer in scorers:
            generator = np.random.default_rng(len(paths))
            table = pd.DataFrame(
                {"id": row["id"], "candidate": n, "score": generator.normal(), "truncated": False}
                for row in rows
                for n in range(4)
            )
            paths.append(folder / f"{itemset}/{scorer}/{path.stem}.parquet")
            names = {"benchmark": itemset, "scorer": scorer, "language": path.stem}
            write_scores(table, paths[-1], **names)
    return items, paths


QUARTET_KINDS = {"b_en": "classifier", "loglik-b": "baseline", "pmi-b": "baseline"}
QUARTET_BASES = {"loglik-b": "b", "pmi-b": "b"}


def culture(folder):
    items, scores = write_quartets(folder, ["b_en", "loglik-b"])
    sheet = sheet_file(folder, QUARTET_KINDS, bases=QUARTET_BASES)
    params = {"languages": ["en", "es"], "source": "en", "interval": INTERVAL}
    unplaced, log_likelihoods = write_quartets(folder, ["loglik-b"], UNPLACED)
    inputs = {"item_files": items, "scores": scores, "sheet": [sheet],
              "unplaced": unplaced, "unplaced_scores": log_likelihoods}  # fmt: skip
    return Job("analyse/culture_comparison", inputs, params, ["table", "differences"], ("sheet",))


def agreement(folder):
    inputs = {"item_files": write_items(folder), "scores": write_carb(folder, "carb_consistency", KINDS, 2),
              "benchmark": write_carb(folder, "carb", KINDS), "sheet": [sheet_file(folder, KINDS)]}  # fmt: skip
    return Job("analyse/carb_agreement", inputs, {"languages": CULTURES, "k": 1.0}, ["pairs"], ("sheet",))


def sensitivity(folder):
    judges = {"locals-base": "base", "locals-full": "full"}
    inputs = {
        "scores": write_carb(folder, "carb_perturbation", KINDS, REWRITTEN),
        "benchmark": write_carb(folder, "carb", KINDS),
        "judged": write_carb(folder, "carb_perturbation", judges, REWRITTEN, ["de"]),
        "matches": write_carb(folder, "carb_matches", judges.values(), 2, ["de"], by_culture=False),
        "replies": write_replies(folder, ["judge", *judges]),
        "sheet": [sheet_file(folder, {**KINDS, **dict.fromkeys(judges, "generative")})],
    }
    params = {"judges": judges, "cultures": CULTURES, "interval": INTERVAL}
    return Job("analyse/carb_sensitivity", inputs, params, ["table"], ("sheet",))


def picks(folder):
    inputs = {"candidates": [], "scores": [], "before": [], "trained": []}
    generator = np.random.default_rng(1)
    asked = [{"id": f"q{n}", "downstream": "ours", "prompt": "Q?", "accepted": [str(n)]} for n in range(4)]
    writers = [("candidates", "p", 3), ("candidates", "q", 3), ("before", "p", 1), ("trained", "grpo_rm", 1),
               ("trained", "grpo_judge", 1)]  # fmt: skip
    for name, policy, count in writers:
        answers = [[str(generator.integers(4)) for _ in range(count)] for _ in asked]
        rows = [{**row, "policy": policy, "answers": of} for row, of in zip(asked, answers, strict=True)]
        inputs[name].append(folder / f"{name}_{policy}.jsonl")
        write_jsonl(rows, inputs[name][-1])
    for policy, scorer in product("pq", KINDS):
        rows = [{"id": row["id"], "language": "de", "policy": policy, "candidate": n, "score": generator.normal()}
                for row in asked for n in range(3)]  # fmt: skip
        inputs["scores"].append(folder / f"candidates/{scorer}/{policy}.parquet")
        write_scores(pd.DataFrame(rows), inputs["scores"][-1], benchmark="candidates", scorer=scorer)
    inputs["sheet"] = [sheet_file(folder, KINDS)]
    params = {"policies": ["p", "q"], "start": "p", "trained": list(KINDS)}
    return Job("analyse/carb_picks", inputs, params, ["picks"], ("sheet",))


def judges(folder):
    names, paths = ["base", "full"], []
    for number, name in enumerate(names):
        generator = np.random.default_rng(number)
        rows = [{"id": f"t{n}", "template": f"t{n}", "language": language, "subset": f"s{n % 2}", "category": f"c{n % 2}",
                 "score_chosen": generator.normal(), "score_rejected": 0.0} for language in ("en", "es") for n in range(8)]  # fmt: skip
        paths.append(folder / f"locals/{name}/rewardbench.parquet")
        write_scores(pd.DataFrame(rows), paths[-1], benchmark="rb", scorer=name)
    inputs = {"rewardbench": paths, "carb": write_carb(folder, "carb", names, by_culture=False),
              "replies": write_replies(folder, names),
              "sheet": [sheet_file(folder, dict.fromkeys(names, "generative"))]}  # fmt: skip
    benchmark = {"name": "rb", "sections": {"c0": ["s0"], "c1": ["s1"]}, "weights": {"s0": 4, "s1": 4}}
    params = {"benchmark": benchmark, "interval": INTERVAL, **CELLS_OF}
    return Job("analyse/locals_comparison", inputs, params, ["table"], ("sheet",))


def learning(folder):
    paths = []
    for number, name in enumerate(["warmup", "full", "full-2"]):
        share = np.random.default_rng(number).random(8)
        items = {
            "id": [f"i{n // 2}_{'AB'[n % 2]}" for n in range(8)],
            "item": [f"i{n // 2}" for n in range(8)],
        }
        table = pd.DataFrame({"judge": name, **items, "in_form": True, "p_right": share})
        paths.append(folder / f"locals/{name}/held_out.parquet")
        write_exact(table, paths[-1], HELD_OUT_COLUMNS)
    params = {"repeats": ["full-2"], "interval": INTERVAL, "names": {name: name for name in ["warmup", "full"]},
              "confidence": "95%", "caption": "c"}  # fmt: skip
    return Job("artifacts/carb_locals_learning", {"held_out": paths}, params, TABLE)


def points(folder):
    kinds = {**KINDS, "rm-knockout": "classifier"}
    picked = pd.DataFrame({"scorer": kinds.keys(), "kind": kinds.values()}).assign(
        downstream="ours", selection="best-of-n", policy="all"
    )
    write_table(picked.reindex(columns=PICK_COLUMNS, fill_value=1.0), folder / "picks.csv", PICK_COLUMNS)
    board = pd.DataFrame({"scorer": [*KINDS, "length"], "carb": [60.0, 50, 25], "low": 20.0, "high": 70.0})
    columns = leaderboard_columns(CULTURES, DOMAINS)
    write_exact(board.reindex(columns=columns), folder / "board.parquet", columns)
    inputs = {"picks": [folder / "picks.csv"], "leaderboard": [folder / "board.parquet"], "rewardbench": []}
    for number, language in enumerate(("en", "es")):
        inputs["rewardbench"].append(folder / f"{language}.csv")
        table = pd.DataFrame({"eval_language": language, "reward_model": list(KINDS), "avg": [50.0 + number, 60],
                              "avg_low": 40.0, "avg_high": 70.0})  # fmt: skip
        write_table(table.reindex(columns=LANGUAGE_COLUMNS), inputs["rewardbench"][-1], LANGUAGE_COLUMNS)
    inputs["sheet"] = [sheet_file(folder, kinds, bases=dict.fromkeys(kinds, "b"))]
    params = {"confidence": 0.95, **CELLS_OF}
    return Job("analyse/carb_points", inputs, params, ["csv"], ("picks", "leaderboard", "sheet"))


def claims(folder):
    compared, kinds = judges(folder), {**KINDS, "length": "baseline"}
    picked = pd.DataFrame([{"downstream": "ours", "selection": "best-of-n", "policy": "all", "scorer": f"m{n}", "base": f"b{n}",
                            "kind": "classifier", "match": n + 0.1 * (n % 2), "carb": n, "rewardbench": -n % 5} for n in range(9)])  # fmt: skip
    write_table(picked.reindex(columns=POINT_COLUMNS, fill_value=0.1), folder / "points.csv", POINT_COLUMNS)
    items, of_quartets = write_quartets(folder, ["b_en", "loglik-b"])
    kinds_of_all = {**kinds, **dict.fromkeys(["base", "full"], "generative"), **QUARTET_KINDS}
    published = ("leaderboard", "correlation", "perturbation", "think_as_locals")
    inputs = {
        "scores": write_carb(folder, "carb", kinds, by_culture=False),
        "rewrites": write_carb(folder, "carb_perturbation", kinds, REWRITTEN, by_culture=False),
        "points": [folder / "points.csv"],
        "rewardbench": compared.inputs["rewardbench"],
        "judged": compared.inputs["carb"],
        "quartets": items,
        "culture": of_quartets,
        "taught": [],
        "sheet": [sheet_file(folder, kinds_of_all, bases=QUARTET_BASES)],
        "published": [ROOT / f"workflow/papers/carb/printed/{name}.csv" for name in published],
    }
    names = ["generative_beats_classifiers", "carb_predicts_alignment", "surface_moves_scores_more_than_culture",
             "think_as_locals_lifts_carb_over_a_verdict_at_once", "english_reward_models_keep_places"]  # fmt: skip
    paper = read_paper(ROOT / "workflow/papers/carb")
    params = {"claims": {name: paper.claims[name] for name in names}, "cells": CELLS_OF, "judged_cultures": CULTURES,
              "source": "en", "interval": INTERVAL, "benchmark": compared.params["benchmark"],
              "confidence": "95%", "caption": "c", "paper": paper.facts, "shorts": {"carb": "CARB"}}  # fmt: skip
    return Job("artifacts/carb_claims", inputs, params, TABLE, ("points", "sheet"))


MAKES = [comparison, culture, agreement, sensitivity, picks, judges, learning, points, claims]


@pytest.mark.parametrize("make", MAKES)
def test_two_inputs_in_each_other_s_places_change_nothing_or_are_refused(make, tmp_path):
    (tmp_path / "files").mkdir()
    job = make(tmp_path / "files")
    right = job.result(None, tmp_path)
    assert right != "error"
    places = [(name, number) for name, files in job.inputs.items() for number in range(len(files))]
    for swapped in combinations(places, 2):
        assert job.result(swapped, tmp_path) in (right, "error"), swapped
