"""What types cannot say of settings: names must be known, and files be there."""

import re
from collections.abc import Iterator
from operator import attrgetter
from pathlib import Path
from typing import Any

from babel import localedata

from polyreward.core.errors import raise_all
from polyreward.core.naming import COMMIT, OF_BASES, TEXT_BASELINES
from polyreward.core.sheet import KNOCKOUT
from polyreward.settings.messages import Key, Places, Problem, raise_problems, type_problems, unknown_names
from polyreward.settings.model import Settings
from polyreward.settings.reward_models import RewardModels, Source, as_entry
from polyreward.settings.think_as_locals import WITHOUT_CRITERIA
from polyreward.sheet.catalogs import FILES, Catalog
from polyreward.sheet.languages import folder_problems
from polyreward.sheet.sections import section_problems

# {setting that holds a name or names: the catalog of FILES, or the setting, whose names they are}
NAMES = {
    "bases": "models",
    "figure2_models": "models",
    "table1_bases": "bases",
    "off_the_shelf": "reward_models",
    "off_the_shelf_rows.table2": "off_the_shelf",
    "off_the_shelf_rows.language_tables": "off_the_shelf",
    "source_language": "languages",
    "target_languages": "languages",
    "pool.datasets": "datasets",
    "benchmarks.main": "benchmarks",
    "benchmarks.twins": "benchmarks",
    "benchmarks.unseen_kinds": "benchmarks",
    "passages": "datasets",
    "translation.engine": "translation.engines",
    "translation.quality_engines": "translation.engines",
    "gate.base": "bases",
    "alignment.policy": "models",
    "alignment.reward_base": "bases",
    "alignment.languages": "target_languages",
    "alignment.prompt_data": "datasets",
    "alignment.instructions": "datasets",
    "alignment.judge": "reward_models",
    "alignment.reference": "reward_models",
    "carb.cultures": "languages",
    "carb.embedding.model": "models",
    "carb.policies": "models",
    "think_as_locals.base": "models",
    "think_as_locals.datasets": "datasets",
    "think_as_locals.easy.dataset": "datasets",
    "think_as_locals.criteria_language": "languages",
    "think_as_locals.cultures": "carb.cultures",
    "think_as_locals.evaluation.cultures": "carb.cultures",
    "think_as_locals.evaluation.benchmark": "benchmarks",
}

# Next to benchmarks in the folders of stages
FOLDERS = (
    *("train", "dev", "judge", "prompts", "passages", "instructions", "samples", "models"),
    *("locals", "frozen", "candidates", "grpo", "replies", "alignment", "carb", "quartets"),
)
QUESTION_FILES = (".yaml", ".jsonl")
JUDGES = re.compile(r"base|base-with-criteria|warmup|warmup-at-once|checkpoints|full-\d+")  # built here


def fit_problems(settings: Settings, catalog: Catalog) -> Iterator[Problem]:
    """Yield every problem that the types do not find."""
    parts = (
        _names,
        _languages,
        _translation,
        _benchmarks,
        _reward_models,
        _carb,
        _locals,
    )
    for problems in parts:
        yield from problems(settings, catalog)
    yield from section_problems(settings)


def check_fit(settings: Settings, catalog: Catalog, places: Places) -> None:
    """Raise PolyrewardError with all that does not fit together, in the order of the files."""
    raise_problems(fit_problems(settings, catalog), places)


def check_catalogs(catalog: Catalog) -> None:
    """Raise PolyrewardError that lists wrong entries of reward models, and benchmarks of unknown datasets."""
    entries, benchmarks = Places([FILES["reward_models"]]), Places([FILES["benchmarks"]])
    problems = [problem.placed(entries) for problem in type_problems(RewardModels, catalog.reward_models)]
    for name, one in catalog.benchmarks.items():
        unknown = unknown_names((name, "dataset"), [one["dataset"]], catalog.datasets, FILES["datasets"])
        problems += [problem.placed(benchmarks) for problem in unknown]
    raise_all(problems, "workflow/catalog")


def _names(settings: Settings, catalog: Catalog) -> Iterator[Problem]:
    for setting, source in NAMES.items():
        if source == "bases" and not settings.bases:  # nothing is trained, so that nothing of it is asked for
            continue
        value: Any = settings
        key = tuple(setting.split("."))
        for part in key:  # a section may be null
            value = None if value is None else getattr(value, part)
        names = getattr(catalog, source) if source in FILES else attrgetter(source)(settings)
        where = FILES.get(source, source)
        if isinstance(value, list | dict):
            for place, name in value.items() if isinstance(value, dict) else enumerate(value):
                yield from unknown_names((*key, place), [name], names, where)
        elif value is not None:
            yield from unknown_names(key, [value], names, where)


def _languages(settings: Settings, catalog: Catalog) -> Iterator[Problem]:
    source, used = settings.source_language, settings.benchmarks
    if source in settings.target_languages:
        yield Problem(("target_languages",), f"`{source}` is the source language; leave it out")
    named = {("pool", "datasets", number): name for number, name in enumerate(settings.pool.datasets)}
    for use in ("main", "twins"):
        named["benchmarks", use] = catalog.benchmarks.get(getattr(used, use), {}).get("dataset", "")
    for key, name in named.items():
        entry = catalog.datasets.get(name, {})
        if entry.get("holds") == "pairs" and source not in entry.get("languages", {source}):
            text = f"`{name}` has no pairs in `{source}`, the source language; name one with them"
            yield Problem(key, text)
    for code, folder in settings.language_folders.items():
        engine = settings.translation.engines.get(_engine_name(settings, code))
        by_catalog = engine is None or engine.kind == "gettext"
        for text in folder_problems(code, Path(folder), by_catalog=by_catalog):
            yield Problem(("language_folders", code), text)


def _engine_name(settings: Settings, language: str) -> str:
    engine = settings.translation.engine
    return engine if isinstance(engine, str) else engine.get(language, engine.get("default", ""))


def _translation(settings: Settings, catalog: Catalog) -> Iterator[Problem]:
    translation, targets = settings.translation, settings.target_languages
    if not isinstance(translation.engine, str):
        for language in translation.engine.keys() - {"default", *targets}:
            text = f"`{language}` is not one of target_languages; name one of them, or `default`"
            yield Problem(("translation", "engine", language), text)
    used = {name: set(targets) for name in translation.quality_engines}
    for language in targets:
        if not (name := _engine_name(settings, language)):
            yield Problem(("translation", "engine"), f"has no engine for `{language}`; add it, or `default`")
        used.setdefault(name, set()).add(language)
    for name, engine in translation.engines.items():
        key, languages = ("translation", "engines", name), sorted(used.get(name, ()))
        if engine.kind == "gettext":
            continue
        models = engine.model if isinstance(engine.model, dict) else dict.fromkeys(languages, engine.model)
        for language in languages:
            if language not in models:
                yield Problem((*key, "model"), f"has no model for `{language}`, a target language; add it")
        for model in dict.fromkeys(models.values()):
            yield from unknown_names((*key, "model"), [model], catalog.models, FILES["models"])
        for language in [settings.source_language, *languages] if engine.kind == "seq2seq" else []:
            if languages and language not in engine.codes:
                yield Problem((*key, "codes"), f"has no code for `{language}`, one of the languages; add it")


def _benchmarks(settings: Settings, catalog: Catalog) -> Iterator[Problem]:
    twins = settings.benchmarks.twins
    if twins in catalog.benchmarks and not catalog.benchmarks[twins]["twins"]:
        text = f"`{twins}` holds no twins (twins: false in {FILES['benchmarks']}); name one that does"
        yield Problem(("benchmarks", "twins"), text)
    for name, own in settings.own_benchmarks.items():
        if name in FOLDERS or name in catalog.benchmarks:
            text = "a folder of the results, or a benchmark of the catalog, is named so; choose another name"
            yield Problem(("own_benchmarks", name), text)
        if own.language not in catalog.languages and not localedata.exists(own.language):
            text = f"`{own.language}` is no language of CLDR; give its ISO 639 code, such as pt"
            yield Problem(("own_benchmarks", name, "language"), text)
        if own.dataset is not None:
            yield from _of_solutions(("own_benchmarks", name), own.dataset, own.language, catalog)
        if own.layout is not None:
            from polyreward.prepare.pair_layouts import (
                LAYOUTS,  # brings pandas, for which the Snakefile does not wait
            )

            key = ("own_benchmarks", name, "layout")
            yield from unknown_names(key, [own.layout], LAYOUTS, "the list of layouts")


def _of_solutions(key: Key, dataset: str, language: str, catalog: Catalog) -> Iterator[Problem]:
    solved = {name: one for name, one in catalog.datasets.items() if one.get("kind") == "pypi"}
    yield from unknown_names((*key, "dataset"), [dataset], solved, f"{FILES['datasets']}, of kind pypi,")
    there = solved.get(dataset, {}).get("languages", {language})
    if language not in there:
        text = f"`{dataset}` has no `{language}` that people checked; it has {', '.join(there)}"
        yield Problem((*key, "language"), text)


def _reward_models(settings: Settings, catalog: Catalog) -> Iterator[Problem]:
    alignment, questions = settings.alignment, {**catalog.judge_questions, **settings.judge_questions}
    depth = settings.reward_model.depth or {}
    yield from unknown_names(("reward_model", "depth"), depth, catalog.models, FILES["models"])
    for name, path in settings.judge_questions.items():
        if not Path(path).is_file():
            yield Problem(("judge_questions", name), f"there is no file `{path}`; correct it")
    for name, entry in settings.reward_models.items():
        key = ("reward_models", name)
        yield from _source_problems(key, entry, settings, catalog)
        yield from _judge_problems(key, name, as_entry(entry), questions)
        is_baseline = name in TEXT_BASELINES or name.split("-")[0] in OF_BASES
        if name in settings.off_the_shelf or is_baseline or name.endswith(KNOCKOUT):
            text = "one of off_the_shelf, a baseline or a judge in a knock-out is named so"
            yield Problem(key, f"{text}; choose another name")
    for key, names, writes in (
        (("off_the_shelf",), settings.off_the_shelf, False),
        (("alignment", "judge"), [alignment.judge], False),
        (("alignment", "reference"), [alignment.reference], True),
        (("think_as_locals", "others"), settings.think_as_locals.others, True),
    ):
        for name in names:
            entry = catalog.reward_models.get(name, {})
            yield from _judge_problems(key, name, entry, questions)
            if writes and entry.get("kind", "generative") != "generative":
                yield Problem(key, f"`{name}` is no judge that writes; name one of kind generative")
    columns = catalog.datasets.get(alignment.instructions, {}).get("columns", {"reference": True})
    if "reference" not in columns and not alignment.reference:
        text = f"`{alignment.instructions}` brings no reference answers; name who writes them"
        yield Problem(("alignment", "reference"), text)


def _judge_problems(key: Key, name: str, entry: dict, questions: dict) -> Iterator[Problem]:
    verdict, asked = entry.get("verdict", "labels"), entry.get("question")
    if asked is None:
        return
    question = questions.get(asked)
    yield from unknown_names(key, [asked], questions, FILES["judge_questions"])
    if verdict not in ("text", "labels"):
        yield Problem(key, f"`{name}` has a `question`: set verdict: text or labels")
    # A question of the user's own is a file's path here, which the job reads.
    by_label = verdict == "labels" and isinstance(question, dict)
    if by_label and any(re.findall(question["pattern"], one) != [one] for one in question["verdicts"]):
        yield Problem(key, f"`{name}`: a reply to `{asked}` is more than a label; set verdict: text")


def _source_problems(key: Key, entry: Any, settings: Settings, catalog: Catalog) -> Iterator[Problem]:
    if not isinstance(entry, Source):
        return
    if entry.model is not None:
        yield from unknown_names((*key, "model"), [entry.model], catalog.models, FILES["models"])
    if (judge := entry.think_as_locals) is not None:
        runs = ["warmup", *settings.think_as_locals.runs]
        yield from unknown_names((*key, "think_as_locals"), [judge], runs, "think_as_locals.runs")
    is_pinned = COMMIT.fullmatch(entry.revision or "")
    if entry.hub is not None and getattr(entry, "remote_code", False) and not is_pinned:
        pin = "pin it by `revision`, a commit of the hub (40 hexadecimal digits)"
        yield Problem(key, f"remote_code runs what its authors wrote; {pin}")
    if entry.path is not None and not (Path(entry.path) / "config.json").is_file():
        text = f"`{entry.path}` is no model folder (no config.json in it); correct the path"
        if Path(entry.path).parent == Path(settings.results) / "work/4_models":
            table = f"{settings.results}/table1.csv"
            text += f", or train it first, without this entry: `make {table}`"
        yield Problem((*key, "path"), text)
    yield from _source_problems((*key, "reference"), getattr(entry, "reference", None), settings, catalog)


def _carb(settings: Settings, catalog: Catalog) -> Iterator[Problem]:
    carb, stems = settings.carb, [Path(name).stem for name in settings.carb.questions]
    if settings.bases and carb.lessons.bases > len(settings.bases):
        there = len(settings.bases)
        text = f"{carb.lessons.bases} bases are to be taught, and `bases` names {there}; set that or less"
        yield Problem(("carb", "lessons", "bases"), text)
    asked = carb.quartets.languages or []
    yield from unknown_names(("carb", "quartets", "languages"), asked, catalog.languages, FILES["languages"])
    for name, entry in carb.generators.items():
        yield from _source_problems(("carb", "generators", name), entry, settings, catalog)
    kinds = {name: entry.kind for name, entry in settings.reward_models.items()}
    kinds |= {name: catalog.reward_models.get(name, {}).get("kind") for name in settings.off_the_shelf}
    judges = [name for name, kind in kinds.items() if kind == "generative"]
    where = "generative ones of off_the_shelf and reward_models"
    yield from unknown_names(("carb", "knockout"), carb.knockout, judges, where)
    sets = [name for name, entry in catalog.datasets.items() if entry.get("holds") == "questions"]
    for number, name in enumerate(carb.questions):
        key, entry = ("carb", "questions", number), catalog.datasets.get(name)
        if stems.index(Path(name).stem) < number:
            text = f"`{name}` has the name of another set, and tables have one row per name"
            yield Problem(key, f"{text}; rename the file")
        elif Path(name).suffix in QUESTION_FILES:
            continue
        elif name not in sets:
            text = f"`{name}` is no set of questions; name one of {', '.join(sets)}, or a file"
            yield Problem(key, f"{text} that ends in {' or '.join(QUESTION_FILES)}")
        elif not set(entry["languages"]) & set(carb.cultures):
            yield Problem(key, f"`{name}` has questions in none of carb.cultures; leave it out")
    if not carb.grpo:
        return
    key = ("carb", "grpo")
    yield from unknown_names((*key, "policy"), [carb.grpo.policy], catalog.models, FILES["models"])
    if settings.bases:  # else nothing is trained, and Figure 5 not asked for
        languages = [settings.source_language, *settings.target_languages]
        trained = [f"{base}_{language}" for base in settings.bases for language in languages]
        there = [*trained, *settings.off_the_shelf, *settings.reward_models]
        where = "bases with their languages, off_the_shelf and reward_models"
        yield from unknown_names((*key, "reward_models"), carb.grpo.reward_models or [], there, where)


def _locals(settings: Settings, catalog: Catalog) -> Iterator[Problem]:
    judges, key = settings.think_as_locals, ("think_as_locals",)
    for name in judges.runs:
        if JUDGES.fullmatch(name):
            yield Problem((*key, "runs", name), "a judge of another kind is named so; choose another name")
    for name, what in {"full": "with all rewards", WITHOUT_CRITERIA: "that says its verdict at once"}.items():
        if name not in judges.runs:
            text = f"has no `{name}`, the judge {what}, to which the tables compare the others; add it"
            yield Problem((*key, "runs"), text)
    entries = {
        **catalog.reward_models,
        **{name: as_entry(one) for name, one in settings.reward_models.items()},
    }
    where = f"{FILES['reward_models']}, with reward_models,"
    yield from unknown_names((*key, "others"), judges.others, entries, where)
    for name in judges.others:
        if name in judges.runs or JUDGES.fullmatch(name):
            yield Problem((*key, "others"), f"a judge of ours is named `{name}`, too; choose another name")
    shares, where = judges.data_shares, "think_as_locals.datasets, and own"
    yield from unknown_names((*key, "data_shares"), list(shares), ["own", *judges.datasets], where)
    if sum(shares.values()) > 1 + 1e-9:
        yield Problem((*key, "data_shares"), f"sums to {sum(shares.values()):g}, more than 1; lower some")
