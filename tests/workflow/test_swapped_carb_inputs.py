"""Two inputs of an analysis of CARB or of judges that change places give an error, or the same result."""

import dataclasses
from itertools import combinations
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from support import ROOT, script

from polyreward.analysis.tables import LANGUAGE_COLUMNS
from polyreward.carb.downstream.correlation import PICK_COLUMNS, POINT_COLUMNS
from polyreward.carb.leaderboard import leaderboard_columns
from polyreward.carb.perturbation.perturbations import PERTURBATIONS
from polyreward.core.files import write_jsonl
from polyreward.core.tables import write_exact, write_scores, write_table
from polyreward.core.yaml_files import read_yaml
from polyreward.scoring.criteria_layout import Reply
from polyreward.think_as_locals.replies import HELD_OUT_COLUMNS, REPLY_COLUMNS, reply_counts

CULTURES, DOMAINS, TOPICS = ["de", "ja"], ["values", "safety"], range(3)
KINDS = {"rm": "classifier", "judge": "generative"}
INTERVAL = {"samples": 20, "confidence": 0.95, "seed": 1}
CELLS = [(culture, domain, topic) for culture in CULTURES for domain in DOMAINS for topic in TOPICS]


@dataclasses.dataclass
class Job:
    """What a script's `main` takes; inputs: {name: its files}; one_file: names of those that are one file."""

    rule: str
    inputs: dict[str, list]
    params: dict
    outputs: list[str]
    one_file: list[str] = dataclasses.field(default_factory=list)

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
        return [path.read_bytes() for path in outputs]


class Files(list):
    """Snakemake's list of files, with names."""

    def __init__(self, named, one_file):
        super().__init__(path for files in named.values() for path in files)
        for name, files in named.items():
            setattr(self, name, files[0] if name in one_file else files)


def item(culture, domain, topic, **more):
    key = {
        "id": f"{domain}-{topic}_{culture}",
        "topic": f"{domain}-{topic}",
        "culture": culture,
        "domain": domain,
    }
    answers = [f"{culture} {domain} {topic} {number}" for number in range(4)]
    references = [{"culture": name} for name in ("de", "ja", "de", "ja")]
    return {**key, "prompt": "Q?", "answers": answers, "chosen": 0, "references": references, **more}


def write_items(folder, rows_of):
    """Write a file of items for each culture; returns the files."""
    paths = [folder / f"{culture}.jsonl" for culture in CULTURES]
    for path, culture in zip(paths, CULTURES, strict=True):
        write_jsonl([rows_of(*cell) for cell in CELLS if cell[0] == culture], path)
    return paths


def write_carb(folder, benchmark, scorers, count=4, cultures=CULTURES, by_culture=True):
    """Write scores, unlike for each scorer, culture and item; returns the files."""
    paths = []
    for number, scorer in enumerate(scorers):
        generator = np.random.default_rng(100 * number + count)
        table = pd.DataFrame(
            [
                {"id": f"{domain}-{topic}_{culture}", "template": f"{domain}-{topic}", "language": culture,
                 "domain": domain, "candidate": candidate, "is_chosen": candidate == 0, "score": generator.normal(),
                 "truncated": False, "within_noise": False}
                for culture, domain, topic in CELLS if culture in cultures for candidate in range(count)
            ]
        )  # fmt: skip
        for part in cultures if by_culture else ["all"]:
            paths.append(folder / f"{benchmark}_{scorer}_{part}.parquet")
            rows = table[table["language"] == part] if by_culture else table
            write_scores(rows, paths[-1], benchmark=benchmark, scorer=scorer)
    return paths


def write_replies(folder, scorers):
    paths = [folder / f"replies_{scorer}.csv" for scorer in scorers]
    for number, (path, scorer) in enumerate(zip(paths, scorers, strict=True), 1):
        write_table(reply_counts(scorer, [Reply(("x",), "A")] * number), path, REPLY_COLUMNS)
    return paths


def comparison(folder):
    board = {"kinds": KINDS, "cultures": CULTURES, "domains": DOMAINS, "interval": INTERVAL}
    facts = {"resource_class": 5, "family": "f", "script": "Latn"}
    return Job(
        "analyse/carb_comparison",
        {"item_files": write_items(folder, item), "scores": write_carb(folder, "carb", KINDS)},
        {"settings": board, "languages": dict.fromkeys(CULTURES, facts), "example_culture": "de"},
        ["leaderboard", "groups", "domains", "glance"],
    )


def agreement(folder):
    def versions(culture, *cell):
        return item(culture, *cell, languages=[culture, *(name for name in CULTURES if name != culture)])

    return Job(
        "analyse/carb_agreement",
        {"item_files": write_items(folder, versions), "scores": write_carb(folder, "carb_consistency", KINDS, 2),
         "benchmark": write_carb(folder, "carb", KINDS)},
        {"kinds": KINDS, "languages": CULTURES, "k": 1.0},
        ["pairs"],
    )  # fmt: skip


def sensitivity(folder):
    def rewrites(*cell):
        row = item(*cell)
        return {**row, "answers": [row["prompt"], *(f"{row['prompt']} {name}" for name in PERTURBATIONS)]}

    judges = {"locals-base": "base", "locals-full": "full"}
    rewritten = len(PERTURBATIONS) + 1
    return Job(
        "analyse/carb_sensitivity",
        {"item_files": write_items(folder, rewrites),
         "scores": write_carb(folder, "carb_perturbation", KINDS, rewritten), "benchmark": write_carb(folder, "carb", KINDS),
         "judged": write_carb(folder, "carb_perturbation", judges, rewritten, ["de"]),
         "matches": write_carb(folder, "carb_matches", judges.values(), 2, ["de"], by_culture=False),
         "replies": write_replies(folder, ["judge", *judges])},
        {"kinds": KINDS, "judges": judges, "cultures": CULTURES, "zeros": {"locals-base": "log-odds"}, "interval": INTERVAL},
        ["table"],
    )  # fmt: skip


def picks(folder):
    inputs = {"candidates": [], "scores": [], "before": [], "trained": []}
    generator = np.random.default_rng(1)
    asked = [{"id": f"q{n}", "downstream": "ours", "prompt": "Q?", "accepted": [str(n)]} for n in range(4)]
    writers = {"candidates": "pq", "before": "p", "trained": ["grpo_rm", "grpo_judge"]}
    for name, policy in ((name, policy) for name, policies in writers.items() for policy in policies):
        answers = [
            [str(generator.integers(4)) for _ in range(3 if name == "candidates" else 1)] for _ in asked
        ]
        rows = [{**row, "policy": policy, "answers": of} for row, of in zip(asked, answers, strict=True)]
        inputs[name].append(folder / f"{name}_{policy}.jsonl")
        write_jsonl(rows, inputs[name][-1])
    for policy in "pq":
        for scorer in KINDS:
            table = pd.DataFrame(
                [{"id": row["id"], "language": "de", "policy": policy, "candidate": n, "score": generator.normal()}
                 for row in asked for n in range(3)]
            )  # fmt: skip
            inputs["scores"].append(folder / f"{policy}_{scorer}.parquet")
            write_scores(table, inputs["scores"][-1], benchmark="candidates", scorer=scorer)
    params = {"policies": ["p", "q"], "kinds": KINDS, "start": "p", "trained": list(KINDS)}
    return Job("analyse/carb_picks", inputs, params, ["picks"])


def judges(folder):
    names, paths = ["base", "full"], []
    for number, name in enumerate(names):
        generator = np.random.default_rng(number)
        table = pd.DataFrame(
            [{"id": f"t{n}", "template": f"t{n}", "language": language, "subset": f"s{n % 2}", "category": f"c{n % 2}",
              "score_chosen": generator.normal(), "score_rejected": 0.0} for language in ("en", "es") for n in range(8)]
        )  # fmt: skip
        paths.append(folder / f"rewardbench_{name}.parquet")
        write_scores(table, paths[-1], benchmark="rb", scorer=name)
    benchmark = {"name": "rb", "sections": {"c0": ["s0"], "c1": ["s1"]}, "weights": {"s0": 4, "s1": 4}}
    return Job(
        "analyse/locals_comparison",
        {"rewardbench": paths, "carb": write_carb(folder, "carb", names, by_culture=False),
         "replies": write_replies(folder, names)},
        {"judges": names, "contrasts": [("full", "base")], "benchmark": benchmark, "cultures": CULTURES, "domains": DOMAINS,
         "interval": INTERVAL, "half_credit": []},
        ["table"],
    )  # fmt: skip


def learning(folder):
    paths = []
    for number, name in enumerate(["warmup", "full", "full-2"]):
        share = np.random.default_rng(number).random(8)
        table = pd.DataFrame({"judge": name, "id": range(8), "item": [f"i{n // 2}" for n in range(8)], "in_form": True,
                              "p_right": share})  # fmt: skip
        paths.append(folder / f"{name}.parquet")
        write_exact(table, paths[-1], HELD_OUT_COLUMNS)
    seeds = {"warmup": ["warmup"], "full": ["full", "full-2"]}
    params = {"seeds": seeds, "contrasts": [("full", "warmup")], "interval": INTERVAL, "names": {name: name for name in seeds},
              "confidence": "95%", "caption": "c"}  # fmt: skip
    return Job("artifacts/carb_locals_learning", {"held_out": paths}, params, ["csv", "md", "tex", "html"])


def points(folder):
    kinds = {**KINDS, "rm-knockout": "classifier"}
    picked = pd.DataFrame([{"downstream": "ours", "selection": "best-of-n", "policy": "all", "scorer": scorer, "kind": kind}
                           for scorer, kind in kinds.items()]).reindex(columns=PICK_COLUMNS, fill_value=1.0)  # fmt: skip
    board = pd.DataFrame({"scorer": [*KINDS, "length"], "carb": [60.0, 50, 25], "low": 20.0, "high": 70.0})
    write_table(picked, folder / "picks.csv", PICK_COLUMNS)
    write_exact(
        board.reindex(columns=(columns := leaderboard_columns(CULTURES, DOMAINS))),
        folder / "board.parquet",
        columns,
    )
    rewardbench = [folder / f"{language}.csv" for language in ("en", "es")]
    for number, path in enumerate(rewardbench):
        table = pd.DataFrame({"eval_language": path.stem, "reward_model": list(KINDS), "avg": [50.0 + number, 60],
                              "avg_low": 40.0, "avg_high": 70.0})  # fmt: skip
        write_table(table.reindex(columns=LANGUAGE_COLUMNS), path, LANGUAGE_COLUMNS)
    settings = {"of_model": {"rm-knockout": "rm"}, "bases": dict.fromkeys(kinds, "b"), "confidence": 0.95}
    inputs = {
        "picks": [folder / "picks.csv"],
        "leaderboard": [folder / "board.parquet"],
        "rewardbench": rewardbench,
    }
    return Job(
        "analyse/carb_points", inputs, {"settings": settings, "cultures": CULTURES, "domains": DOMAINS}, ["csv"],
        ["picks", "leaderboard"],
    )  # fmt: skip


def claims(folder):
    compared = judges(folder)
    kinds, count = {**KINDS, "length": "baseline"}, len(PERTURBATIONS) + 1
    picked = pd.DataFrame([{"downstream": "ours", "selection": "best-of-n", "policy": "all", "scorer": f"m{n}", "base": f"b{n}",
                            "kind": "classifier", "match": n + 0.1 * (n % 2), "carb": n, "rewardbench": -n % 5} for n in range(9)])  # fmt: skip
    write_table(picked.reindex(columns=POINT_COLUMNS, fill_value=0.1), folder / "points.csv", POINT_COLUMNS)
    inputs = {
        "scores": write_carb(folder, "carb", kinds, by_culture=False),
        "rewrites": write_carb(folder, "carb_perturbation", kinds, count, by_culture=False),
        "points": [folder / "points.csv"], "rewardbench": compared.inputs["rewardbench"], "judged": compared.inputs["carb"],
        "published": [ROOT / f"resources/published/carb_{name}.csv"
                      for name in ("leaderboard", "correlation", "perturbation", "think_as_locals")],
    }  # fmt: skip
    evidence = {
        "board": {"kinds": kinds, "cultures": CULTURES, "domains": DOMAINS, "interval": INTERVAL}, "perturbed": list(kinds),
        "judges": ["base", "full"], "cultures": CULTURES,
    }  # fmt: skip
    names = ["generative_beats_classifiers", "carb_predicts_alignment", "surface_moves_scores_more_than_culture",
             "think_as_locals_lifts_carb_over_a_verdict_at_once"]  # fmt: skip
    every = read_yaml(ROOT / "workflow/claims.yaml")
    params = {"claims": {name: every[name] for name in names}, "evidence": evidence, "benchmark": compared.params["benchmark"],
              "confidence": "95%", "caption": "c"}  # fmt: skip
    return Job("artifacts/carb_claims", inputs, params, ["csv", "md", "tex", "html"], ["points"])


MAKES = [comparison, agreement, sensitivity, picks, judges, learning, points, claims]


@pytest.mark.parametrize("make", MAKES)
def test_two_inputs_in_each_other_s_places_change_nothing_or_are_refused(make, tmp_path):
    (tmp_path / "files").mkdir()
    job = make(tmp_path / "files")
    right = job.result(None, tmp_path)
    assert right != "error"
    places = [(name, number) for name, files in job.inputs.items() for number in range(len(files))]
    for swapped in combinations(places, 2):
        assert job.result(swapped, tmp_path) in (right, "error"), swapped
