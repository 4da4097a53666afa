"""The sheet: a table that says what each scorer is, and one that says which tables read which scores."""

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import product

import pandas as pd

from polyreward.core.errors import raise_all
from polyreward.core.kinds import BASELINE
from polyreward.core.naming import OF_BASES, TEXT_BASELINES, UNTRAINED, ModelName, of_base, stage, taught
from polyreward.core.sheet import KNOCKOUT, SHEET_COLUMNS
from polyreward.settings.model import Settings
from polyreward.settings.reward_models import as_entry
from polyreward.settings.think_as_locals import WITHOUT_CRITERIA
from polyreward.sheet.catalogs import Catalog
from polyreward.sheet.data import paper_benchmarks, quartet_choices
from polyreward.sheet.entries import Models

SCORE_COLUMNS = ["table", "benchmark", "scorer", "language"]
CLASSIFIER, IMPLICIT, GENERATIVE = "classifier", "implicit", "generative"
CARB_TEXT = ("length", "script")  # baselines of CARB that only read an answer
QUARTET_TEXT = ("length", "shared")  # those of place quartets: leak tests
# Published reward models next to their printed numbers, and the same pairs in other languages
ANCHORS = ("rewardbench", "multilingual-rewardbench")
# Think-as-Locals' judges in the table of perturbations: {its name there: the judge}
PERTURBED_JUDGES = {
    "locals-base": "base",
    "locals-without-criteria": WITHOUT_CRITERIA,
    "locals-with-criteria": "full",
}
LOCALS = "locals"  # the benchmark of Think-as-Locals: parts of two others


@dataclass(frozen=True)
class Scorer:
    """A row of the sheet.

    kind: one of kinds.EVERY_KIND. base: the model of models.yaml that it starts from, or
    its own name where that is unknown. trained_in: the language of a reward model that is trained here. seed:
    of its training. ties: a tie is "wrong" or "half" right. entry: how it is loaded; None for texts only."""

    scorer: str
    kind: str
    base: str = ""
    trained_in: str = ""
    seed: int | None = None
    ties: str = "wrong"
    entry: dict | None = None


@dataclass(frozen=True)
class Sheet:
    """The scorers of a scale by name, and the score files that its tables read, in the order of their rows.

    cells: (table, benchmark, scorer, language); language is a culture's or a policy's name for CARB."""

    rows: dict[str, Scorer]
    cells: tuple[tuple[str, str, str, str], ...]

    @property
    def scorers(self) -> pd.DataFrame:
        """The table of scorers with SHEET_COLUMNS but `benchmarks` and `tables`, by scorer."""
        names = [name for name in SHEET_COLUMNS if name not in ("benchmarks", "tables")]
        records = [[getattr(row, name) for name in names] for row in self.rows.values()]
        return pd.DataFrame(records, columns=names, index=list(self.rows)).astype({"seed": "Int64"})

    @property
    def scores(self) -> pd.DataFrame:
        """The table of score files, SCORE_COLUMNS."""
        return pd.DataFrame(self.cells, columns=SCORE_COLUMNS)


def printed(sheet: Sheet) -> pd.DataFrame:
    """Return the sheet as people read it, with SHEET_COLUMNS in texts.

    benchmarks: such as `twins:ko+en`, or with `*` where it is scored in every language in which anybody is.
    tables: those that read a score of it."""
    scores, records = sheet.scores, []
    every = {name: len(set(own["language"])) for name, own in scores.groupby("benchmark")}
    seen = dict(iter(scores.groupby("scorer", sort=False)))
    for name, row in sheet.rows.items():
        own = seen.get(name, scores.head(0))
        parts = []
        for benchmark, cells in own.groupby("benchmark", sort=False):
            spoken = list(dict.fromkeys(cells["language"]))
            parts.append(f"{benchmark}:{'*' if 1 < len(spoken) == every[benchmark] else '+'.join(spoken)}")
        entry = (
            "" if row.entry is None or row.trained_in else json.dumps(row.entry, sort_keys=True, default=dict)
        )
        seed = "" if row.seed is None else str(row.seed)
        tables = " ".join(dict.fromkeys(own["table"]))
        records.append(
            [name, row.kind, row.base, row.trained_in, seed, row.ties, " ".join(parts), tables, entry]
        )
    return pd.DataFrame(records, columns=SHEET_COLUMNS)


def sheet_text(models: Models, parts: Sequence[str], scores: bool = False, csv: bool = False) -> str:
    """Return what `polyreward sheet` prints.

    Args:
        parts: of the names to print; () for all.
        scores: the score files instead of the scorers.
        csv: all columns, for other programs; else a table to read, without entries.

    Raises:
        PolyrewardError: a part is in no scorer's name.
    """
    found = sheet_of(models.settings, models.catalog)
    unknown = [part for part in parts if not any(part in name for name in found.rows)]
    problems = (f"`{part}` is in no scorer's name; `polyreward sheet` lists all" for part in unknown)
    raise_all(problems, "sheet")
    table = found.scores if scores else printed(found)
    if parts:
        table = table[[any(part in name for part in parts) for name in table["scorer"]]]
    if csv:
        return table.to_csv(index=False).rstrip()
    shown = table.drop(columns="entry", errors="ignore")
    lines = [list(shown), *shown.itertuples(index=False)]
    widths = [max(len(line[place]) for line in lines) for place in range(shown.shape[1])]
    return "\n".join(
        "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip()
        for line in lines
    )


def sheet_of(settings: Settings, catalog: Catalog) -> Sheet:
    """Return a scale's sheet.

    Raises:
        PolyrewardError: scorers share a name, a scorer's base is in no catalog, or a benchmark has no scorer.
    """
    scorers = list(_scorers(settings, catalog))
    rows = {row.scorer: row for row in scorers}
    cells = tuple(dict.fromkeys(_cells(settings, rows)))
    raise_all(sheet_problems(settings, catalog, scorers, cells), "the sheet of scorers")
    return Sheet(rows, cells)


def sheet_problems(
    settings: Settings,
    catalog: Catalog,
    scorers: Sequence[Scorer],
    cells: Iterable[tuple[str, str, str, str]],
) -> Iterator[str]:
    """Yield what is wrong with a sheet."""
    for name, count in Counter(row.scorer for row in scorers).items():
        if count > 1:
            kinds = " and ".join(row.kind for row in scorers if row.scorer == name)
            text = "rename one in reward_models or in the catalog"
            yield f"{count} scorers are named `{name}` ({kinds}): {text}"
    for row in scorers:
        if row.base and row.base not in catalog.models and row.base != row.scorer:
            text = "is not in workflow/catalog/models.yaml; add it, or correct the name"
            yield f"{row.scorer}: its base `{row.base}` {text}"
    used = {scorer for _, _, scorer, _ in cells}
    for name in sorted(used - {row.scorer for row in scorers}):
        yield f"{name}: a table reads its scores, and there is no such scorer; correct the settings"
    scored = {benchmark for _, benchmark, _, _ in cells}
    for name in [*settings.own_benchmarks, *paper_benchmarks(settings)]:
        if name not in scored:
            yield f"{name}: no scorer scores this benchmark; name bases or reward_models, or leave it out"


def shown_off_the_shelf(settings: Settings, table: str) -> list[str]:
    """Return the catalogued rows of "table2" or of the "language_tables"; by default all."""
    named = getattr(settings.off_the_shelf_rows, table)
    return settings.off_the_shelf if named is None else named


def trained_models(settings: Settings, seeds: Sequence[int] = (1,)) -> list[str]:
    """Return the names of the reward models that are trained here: by base, then language, then seed."""
    return [str(ModelName(*parts)) for parts in product(settings.bases, settings.languages, seeds)]


def lesson_models(settings: Settings) -> list[str]:
    """Return the reward models that are trained here again, with lessons on place quartets."""
    bases, languages = settings.bases[: settings.carb.lessons.bases], quartet_choices(settings)["languages"]
    names = product(bases, languages, settings.reward_model_seeds)
    return [str(ModelName(*parts)) for parts in names if parts[1] in settings.languages]


def gate_models(settings: Settings) -> list[str]:
    """Return the reward models of the gate: one base in the source language, several seeds."""
    gate = settings.gate
    return [str(ModelName(gate.base, settings.source_language, seed)) for seed in range(1, gate.seeds + 1)]


def ties_of(entry: dict) -> str:
    """Return how ties of a reward model count: a judge without a verdict is half right in RewardBench."""
    return "half" if entry.get("verdict") == "text" or "question" in entry else "wrong"


def ready_made(settings: Settings, catalog: Catalog) -> dict[str, dict]:
    """Return {name: entry} of reward models not trained here: of config.yaml, then off_the_shelf."""
    configured = {name: as_entry(model) for name, model in settings.reward_models.items()}
    return {**configured, **{name: catalog.reward_models[name] for name in settings.off_the_shelf}}


def published(settings: Settings, catalog: Catalog) -> dict[str, dict]:
    """Return {name: entry} of the catalog's reward models in any table, which may be gone from the hub."""
    others = [name for name in settings.think_as_locals.others if name not in settings.reward_models]
    return {name: catalog.reward_models[name] for name in [*settings.off_the_shelf, *others]}


def without_question(entry: dict) -> dict:
    """Return an entry without its question about two answers."""
    return {key: value for key, value in entry.items() if key != "question"}


def local_judges(settings: Settings) -> dict[str, dict]:
    """Return {judge: entry} of Think-as-Locals' judges: the base, the warm-up, and each training by GRPO."""
    judges = settings.think_as_locals
    warmed = ["warmup"] if judges.warmup else []
    asked = {"kind": GENERATIVE, **dict(judges.judge)}
    found = {
        "base": {**asked, "verdict": "no-criteria", "model": judges.base},
        "base-with-criteria": {**asked, "verdict": "criteria", "model": judges.base},
    }
    for name in [*warmed, *judges.runs, *judges.repeats]:
        verdict = "no-criteria" if name == WITHOUT_CRITERIA else "criteria"
        found[name] = {**asked, "verdict": verdict, "think_as_locals": name}
    return found


def _scorers(settings: Settings, catalog: Catalog) -> Iterator[Scorer]:
    seeds = {*settings.reward_model_seeds, 1}
    trained = [*trained_models(settings, sorted(seeds)), *(gate_models(settings) if settings.bases else [])]
    for name in dict.fromkeys(trained):
        parts = ModelName.parse(name)
        entry = {"kind": CLASSIFIER, "path": stage(settings.results, "models", name)}
        yield Scorer(name, CLASSIFIER, parts.base, parts.language, parts.seed, entry=entry)
    for name in lesson_models(settings):
        parts = ModelName.parse(name)
        entry = {"kind": CLASSIFIER, "path": stage(settings.results, "models", f"taught/{name}")}
        yield Scorer(taught(name), CLASSIFIER, parts.base, parts.language, parts.seed, entry=entry)
    others = ready_made(settings, catalog)
    for name, entry in others.items():
        yield Scorer(name, entry["kind"], _base_of(name, entry, settings), ties=ties_of(entry), entry=entry)
    for name in settings.carb.knockout:
        entry = others[name]
        yield Scorer(
            f"{name}{KNOCKOUT}", GENERATIVE, _base_of(name, entry, settings), ties=ties_of(entry), entry=entry
        )
    for name in dict.fromkeys([*TEXT_BASELINES, *CARB_TEXT, *QUARTET_TEXT]):
        yield Scorer(name, BASELINE, ties="half")
    for kind, base in product(OF_BASES, settings.bases):
        entry = {"kind": IMPLICIT, "model": base, **({"pmi": kind == "pmi"} if kind != "probe" else {})}
        yield Scorer(of_base(kind, base), BASELINE, base, ties="half", entry=entry)
    judges = settings.think_as_locals
    for name, entry in local_judges(settings).items():
        seed = int(name.rpartition("-")[2]) if name in judges.repeats else 1
        yield Scorer(
            name, GENERATIVE, judges.base, seed=seed if "think_as_locals" in entry else None, entry=entry
        )
    for name in judges.others:
        if name not in others:
            entry = catalog.reward_models[name]
            yield Scorer(
                name, entry["kind"], _base_of(name, entry, settings), ties=ties_of(entry), entry=entry
            )
    for name, judge in PERTURBED_JUDGES.items():
        entry = local_judges(settings)[judge]
        yield Scorer(name, GENERATIVE, judges.base, entry=entry)


def _base_of(name: str, entry: dict, settings: Settings) -> str:
    if "think_as_locals" in entry:
        return settings.think_as_locals.base
    return entry.get("model") or entry.get("reference", {}).get("model", name)


def _cells(settings: Settings, rows: dict[str, Scorer]) -> Iterator[tuple[str, str, str, str]]:
    """Yield which table reads which scores, in the order in which it does."""
    main, source, targets = settings.benchmarks.main, settings.source_language, settings.target_languages
    languages, seeds = settings.languages, settings.reward_model_seeds
    first, every = trained_models(settings), trained_models(settings, seeds)
    configured = list(settings.reward_models)
    shelf = [*configured, *settings.off_the_shelf]
    baselines = [*TEXT_BASELINES, *(of_base(kind, base) for base in settings.bases for kind in OF_BASES)]

    for base, language in product(settings.shown_bases, targets):
        for training, seed in product((source, language), seeds):
            yield "table1", main, str(ModelName(base, training, seed)), language
    for base, seed, language in product(settings.shown_bases, seeds, languages):
        yield "transfer_gap", main, str(ModelName(base, source, seed)), language
        yield "training_added", main, str(ModelName(base, source, seed)), language
    for base, language, seed in product(settings.shown_bases, targets, seeds):
        yield "training_added", main, str(ModelName(base, language, seed)), language
    for base, kind, language in product(settings.shown_bases, UNTRAINED, languages):
        yield "training_added", main, of_base(kind, base), language
    for language, name in product(languages, [*shelf, *every]):
        yield "language_comparison", main, name, language
    for language, name in product(
        languages, [*configured, *shown_off_the_shelf(settings, "language_tables"), *first]
    ):
        yield "language_tables", main, name, language
    of_bases = [of_base("loglik", base) for base in settings.bases]
    for language, name in product(
        languages, [*shown_off_the_shelf(settings, "table2"), *configured, *of_bases]
    ):
        yield "table2", main, name, language
    for benchmark, language in product(paper_benchmarks(settings), languages):
        trained = [name for name in first if rows[name].trained_in in (source, language)]
        models = [*shelf, *first] if benchmark == main else [*configured, *trained]
        # To read twins and unseen kinds in all languages would cost a base as much as the main benchmark.
        shown = baselines if benchmark == main or language == source else TEXT_BASELINES
        for name in [*models, *shown]:
            yield "baselines", benchmark, name, language
            if benchmark == settings.benchmarks.twins:
                yield "twins", benchmark, name, language
    if settings.bases:
        untrained = [of_base(kind, settings.gate.base) for kind in UNTRAINED]
        for name in [*gate_models(settings), *TEXT_BASELINES, *untrained]:
            yield "gate", main, name, source
    for name, language in product([*every, *shelf, "length"], languages):
        yield "transfer_claims", main, name, language
    for name, own in settings.own_benchmarks.items():
        text = TEXT_BASELINES if own.language in languages else []
        kinds = ("loglik", "pmi") if own.dataset else ()
        untrained = [of_base(kind, base) for base, kind in product(settings.bases, kinds)]
        spoken = (source, own.language) if own.dataset else languages  # a dataset is large
        trained = [name for name in first if rows[name].trained_in in spoken]
        for scorer in [*configured, *trained, *text, *untrained]:
            yield f"benchmark_{name}", name, scorer, own.language
    for name in settings.off_the_shelf:
        yield "anchor", ANCHORS[0], name, source
    for name, language in product(settings.off_the_shelf, targets):
        yield "anchor", ANCHORS[1], name, language
    yield from _carb_cells(settings, [*first, *shelf])
    judged = [name for name in shelf if settings.carb.quartets.judges or rows[name].kind != GENERATIVE]
    untrained = [of_base("loglik", base) for base in settings.bases]
    scorers = [*untrained, *every, *judged, *QUARTET_TEXT]
    for name, language in product(scorers, quartet_choices(settings)["languages"]):
        yield "carb_culture", "quartets", name, language
    for name, language in product(untrained, quartet_choices(settings)["languages"]):  # for PMI
        yield "carb_culture", "unplaced_quartets", name, language
    for name, language in product(lesson_models(settings), quartet_choices(settings)["languages"]):
        for model in (name, taught(name)):
            yield "carb_taught", "quartets", model, language
    for name in lesson_models(settings):
        for model in (name, taught(name)):
            yield "carb_taught_cost", main, model, ModelName.parse(name).language


def _carb_cells(settings: Settings, models: Sequence[str]) -> Iterator[tuple[str, str, str, str]]:
    carb, judges = settings.carb, settings.think_as_locals
    knockouts = [f"{name}{KNOCKOUT}" for name in carb.knockout]
    untrained = [of_base(kind, base) for kind in ("loglik", "pmi") for base in settings.bases]
    for scorer, culture in product([*models, *knockouts, *CARB_TEXT, *untrained], carb.cultures):
        yield "carb_leaderboard", "carb", scorer, culture
    for scorer, culture in product([*models, *knockouts, "length"], carb.cultures):
        yield "carb_claims", "carb", scorer, culture
    for scorer, culture in product([*models, "length"], carb.cultures):
        yield "carb_perturbation", "carb", scorer, culture
        yield "carb_perturbation", "carb_perturbation", scorer, culture
        yield "carb_claims", "carb_perturbation", scorer, culture
    for scorer, culture in product(models, carb.cultures):
        yield "carb_consistency", "carb", scorer, culture
        yield "carb_consistency", "carb_consistency", scorer, culture
    for policy, scorer in product(carb.policies, [*models, *knockouts]):
        yield "carb_correlation", "candidates", scorer, policy
    for scorer, culture in product(PERTURBED_JUDGES, judges.evaluation.cultures):
        yield "carb_perturbation", "carb_perturbation", scorer, culture
    ours = local_judges(settings)
    writing = [name for name in ours if name in ("warmup", *judges.runs) and name != WITHOUT_CRITERIA]
    main = [
        name for name in ("base", "base-with-criteria", "warmup", "full", WITHOUT_CRITERIA) if name in ours
    ]
    tables = {
        "carb_think_as_locals": [*main, *judges.others],
        "carb_reward_ablation": writing,
        "carb_judge_claims": ["base", "base-with-criteria", *writing],
        "carb_locals_learning": ["base-with-criteria", *writing, *judges.repeats],
    }
    for table, names in tables.items():
        parts = ["held_out"] if table == "carb_locals_learning" else ["rewardbench", "carb"]
        for scorer, part in product(names, parts):
            yield table, LOCALS, scorer, part
