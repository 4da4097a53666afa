"""What the types of the settings cannot say: names must be known, files must be there, and sections must fit
each other.
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from operator import attrgetter
from pathlib import Path
from typing import Any

from babel import localedata

from polyreward.config.languages import folder_problems
from polyreward.config.settings.messages import Key, Problem, unknown_items, unknown_names
from polyreward.core.errors import PolyrewardError
from polyreward.core.naming import BASE_BASELINES, COMMIT, TEXT_BASELINES
from polyreward.core.yaml_files import read_yaml
from polyreward.prepare.pair_layouts import LAYOUTS
from polyreward.settings.model import Settings
from polyreward.settings.reward_models import Source


@dataclass(frozen=True)
class Known:
    """The catalogs, {name: entry} each; languages: those of resources/languages.yaml and of
    language_folders."""

    models: dict
    reward_models: dict
    datasets: dict
    benchmarks: dict
    languages: dict
    judge_questions: dict = field(default_factory=dict)


FILES = {
    "models": "workflow/catalog/models.yaml",
    "reward_models": "workflow/catalog/reward_models.yaml",
    "datasets": "workflow/catalog/datasets.yaml",
    "benchmarks": "workflow/catalog/benchmarks.yaml",
    "languages": "resources/languages.yaml",
    "judge_questions": "workflow/catalog/judge_questions.yaml",
}

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
    "carb.example_culture": "carb.cultures",
    "think_as_locals.base": "models",
    "think_as_locals.datasets": "datasets",
    "think_as_locals.easy.dataset": "datasets",
    "think_as_locals.criteria_language": "languages",
    "think_as_locals.cultures": "carb.cultures",
    "think_as_locals.evaluation.cultures": "carb.cultures",
}
PATHS = ("carb.culture_file", "think_as_locals.criteria")

CHECKS: list[Callable[[Settings, Known], Iterator[Problem]]] = []


def check(problems: Callable) -> Callable:
    """Add a function to CHECKS."""
    CHECKS.append(problems)
    return problems


def fit_problems(settings: Settings, known: Known, whole: bool) -> Iterator[Problem]:
    """Yield every problem that the types do not find.

    Args:
        whole: the types found none. Otherwise settings hold what is usable, and a check that needs more ends
            there.
    """
    for problems in CHECKS:
        try:
            yield from problems(settings, known)
        except AttributeError:
            if whole:
                raise


def no_file(key: Key, path: str) -> Iterator[Problem]:
    """Yield a problem where there is no such file."""
    if not Path(path).is_file():
        yield Problem(key, f"there is no file `{path}`; paths start at the project's folder")


def _unknown_setting(setting: str, settings: Settings, known: Known) -> Iterator[Problem]:
    value: Any = settings
    key, source = tuple(setting.split(".")), NAMES[setting]
    for part in key:  # a section may be null
        value = None if value is None else getattr(value, part)
    if source == "bases" and not settings.bases:  # nothing is trained, so that nothing of it is asked for
        return
    names = getattr(known, source) if source in FILES else attrgetter(source)(settings)
    catalog = FILES.get(source, source)
    if isinstance(value, list):
        yield from unknown_items(key, value, names, catalog)
    else:
        entries = value if isinstance(value, dict) else {} if value is None else {"": value}
        for name, one in entries.items():
            yield from unknown_names((*key, name) if name else key, [one], names, catalog)


def _path_setting(setting: str, settings: Settings, known: Known) -> Iterator[Problem]:
    yield from no_file(tuple(setting.split(".")), attrgetter(setting)(settings))


CHECKS += [partial(_unknown_setting, name) for name in NAMES]
CHECKS += [partial(_path_setting, name) for name in PATHS]


# Beside benchmarks in the folders of stages: see core/naming.py.
FOLDERS = (
    "train",
    "dev",
    "passages",
    "instructions",
    "prompts",
    "samples",
    "models",
    "locals",
    "frozen",
    "candidates",
    "grpo",
    "replies",
    "alignment",
)


@check
def _languages(settings: Settings, known: Known) -> Iterator[Problem]:
    for number, language in enumerate(settings.target_languages):
        if language == settings.source_language:
            yield Problem(("target_languages", number), f"`{language}` is the source language; leave it out")


@check
def _released(settings: Settings, known: Known) -> Iterator[Problem]:
    source = settings.source_language
    named = [(("pool", "datasets", number), name) for number, name in enumerate(settings.pool.datasets)]
    named += [
        (("benchmarks", use), known.benchmarks[name].get("dataset", ""))
        for use, name in (("main", settings.benchmarks.main), ("twins", settings.benchmarks.twins))
        if name in known.benchmarks
    ]
    for key, name in named:
        entry = known.datasets.get(name, {})
        if entry.get("holds") == "pairs" and source not in entry.get("languages", {source}):
            yield Problem(
                key, f"`{name}` has no pairs in `{source}`, the source language; name one that has them"
            )


@check
def _language_folders(settings: Settings, known: Known) -> Iterator[Problem]:
    for code, folder in settings.language_folders.items():
        engine = settings.translation.engines.get(_engine_name(settings, code))
        for text in folder_problems(
            code, Path(folder), by_catalog=engine is None or engine.kind == "gettext"
        ):
            yield Problem(("language_folders", code), text)


@check
def _twins(settings: Settings, known: Known) -> Iterator[Problem]:
    twins = settings.benchmarks.twins
    if twins in known.benchmarks and not known.benchmarks[twins]["twins"]:
        yield Problem(
            ("benchmarks", "twins"),
            f"`{twins}` holds no twins (twins: false in {FILES['benchmarks']}); name one that does",
        )


@check
def _own_benchmarks(settings: Settings, known: Known) -> Iterator[Problem]:
    for name, own in settings.own_benchmarks.items():
        key = ("own_benchmarks", name)
        if name == "carb":
            yield Problem(key, "there is a benchmark of that name; choose another")
        if name in FOLDERS:
            yield Problem(key, "a folder of the results is named so; choose another")
        if name in known.benchmarks:
            yield Problem(key, f"{FILES['benchmarks']} has a benchmark of that name; choose another")
        if own.language not in known.languages and not localedata.exists(own.language):
            yield Problem(
                (*key, "language"),
                f"`{own.language}` is no language of CLDR; give its ISO 639 code, such as pt",
            )
        if not Path(own.path).is_dir():  # which datasets may have saved
            yield from no_file((*key, "path"), own.path)
        if own.layout is not None:
            yield from unknown_names((*key, "layout"), [own.layout], LAYOUTS, "the list of layouts")


@check
def _engine_models(settings: Settings, known: Known) -> Iterator[Problem]:
    for name, engine in settings.translation.engines.items():
        key = ("translation", "engines", name, "model")
        if engine.kind == "gettext":
            continue
        if isinstance(engine.model, str):
            yield from unknown_names(key, [engine.model], known.models, FILES["models"])
        else:
            for language, model in engine.model.items():
                yield from unknown_names((*key, language), [model], known.models, FILES["models"])


def _engine_name(settings: Settings, language: str) -> str:
    engine = settings.translation.engine
    return engine if isinstance(engine, str) else engine.get(language, engine.get("default", ""))


@check
def _engine_keys(settings: Settings, known: Known) -> Iterator[Problem]:
    engine, key = settings.translation.engine, ("translation", "engine")
    if isinstance(engine, str):
        return
    yield from (
        Problem(
            (*key, language), f"`{language}` is not one of target_languages; name one of them, or `default`"
        )
        for language in engine
        if language not in ("default", *settings.target_languages)
    )
    for language in settings.target_languages:
        if not {language, "default"} & engine.keys():
            yield Problem(
                key, f"has no engine for `{language}`, one of target_languages; add it, or `default`"
            )


@check
def _engine_languages(settings: Settings, known: Known) -> Iterator[Problem]:
    translation = settings.translation
    used: dict[str, set[str]] = {name: set(settings.target_languages) for name in translation.quality_engines}
    for language in settings.target_languages:
        used.setdefault(_engine_name(settings, language), set()).add(language)
    for name, languages in used.items():
        engine = translation.engines.get(name)
        for number, language in enumerate(settings.target_languages):
            if engine is None or language not in languages:
                continue
            if engine.kind != "gettext" and isinstance(engine.model, dict) and language not in engine.model:
                key = ("translation", "engines", name, "model")
                yield Problem(key, f"has no model for `{language}`, one of target_languages; add it")
            catalog = Path(getattr(engine, "catalogs", "")) / f"{language}.po"
            by_folder = language in settings.language_folders or language == settings.source_language
            if (
                engine.kind == "gettext"
                and language in known.languages
                and not by_folder
                and not catalog.is_file()
            ):
                text = f"`{language}` has no texts: no catalog {catalog}, and no folder in language_folders"
                yield Problem(
                    ("target_languages", number), f"{text} (docs/languages.md); or name another engine for it"
                )
        if engine is not None and engine.kind == "seq2seq":
            for language in [
                settings.source_language,
                *(code for code in settings.target_languages if code in languages),
            ]:
                if language not in engine.codes:
                    key = ("translation", "engines", name, "codes")
                    yield Problem(key, f"has no code for `{language}`, one of the scale's languages; add it")


KNOCKOUT = "-knockout"
SNAPSHOT = re.compile(r"-(\d{4}-\d{2}-\d{2}|\d{8}|\d{6}|\d{4})$")  # how names of models end that are dated


@check
def _reward_model_names(settings: Settings, known: Known) -> Iterator[Problem]:
    for name in settings.reward_models:
        if name in settings.off_the_shelf:
            yield Problem(
                ("reward_models", name), "off_the_shelf has a reward model of that name; choose another"
            )
        if name in TEXT_BASELINES or name.split("-")[0] in BASE_BASELINES:
            yield Problem(("reward_models", name), "a baseline is named so; choose another name")
        if name.endswith(KNOCKOUT):
            yield Problem(("reward_models", name), "a judge in a knock-out is named so; choose another name")


@check
def _reward_models(settings: Settings, known: Known) -> Iterator[Problem]:
    for name, entry in settings.reward_models.items():
        yield from source_problems(("reward_models", name), entry, settings, known)


@check
def _judges(settings: Settings, known: Known) -> Iterator[Problem]:
    """Yield a problem for each question that is unknown or whose reply its judge cannot read, and server's
    name that moves."""
    names = [*settings.off_the_shelf, settings.alignment.judge, settings.alignment.reference]
    entries = {
        ("reward_models", name): entry.model_dump(exclude_unset=True)
        for name, entry in settings.reward_models.items()
    }
    listed = [(where, where[-1], entry) for where, entry in entries.items()]
    listed += [
        (("off_the_shelf",), name, known.reward_models[name])
        for name in dict.fromkeys(names)
        if name in known.reward_models
    ]
    questions = {**known.judge_questions, **settings.judge_questions}
    for where, name, entry in listed:
        yield from question_problems(where, name, entry, questions)
        model = entry.get("server", {}).get("model", "")
        if settings.pinned_judges and "server" in entry and not SNAPSHOT.search(model):
            yield Problem(
                where,
                f"`{name}` asks a server for `{model}`, a name that moves; give its `model` the date of a"
                f" snapshot, as in {model}-2024-08-06, or set pinned_judges: false",
            )
    for name, path in settings.judge_questions.items():
        if not Path(path).is_file():
            yield Problem(("judge_questions", name), f"{path}: no such file; correct it")


def question_problems(where: tuple, name: str, entry: dict, questions: dict) -> Iterator[Problem]:
    """Yield a problem where a judge's question is not among `questions`, or its verdict cannot be read."""
    if "question" in entry:
        yield from unknown_names(where, [entry["question"]], questions, FILES["judge_questions"])
        yield from _verdict_of_question(where, name, entry, questions.get(entry["question"]))


def _verdict_of_question(
    where: tuple, name: str, entry: dict, question: dict | str | None
) -> Iterator[Problem]:
    """Yield a problem where a judge's verdict cannot be read from a reply to its question; a file (str) is
    read by the job."""
    verdict = entry.get("verdict", "labels")
    if verdict not in ("text", "labels"):
        yield Problem(
            where, f"`{name}` has a `question`, which has no place for {verdict}; set verdict: text or labels"
        )
    elif (
        verdict == "labels"
        and isinstance(question, dict)
        and any(re.findall(question["pattern"], one) != [one] for one in question["verdicts"])
    ):
        yield Problem(
            where,
            f"`{name}` goes by labels, and a reply to its question `{entry['question']}` is more than a"
            " label; set verdict: text",
        )


def source_problems(key: Key, entry: Any, settings: Settings, known: Known) -> Iterator[Problem]:
    """Yield what is wrong with where an entry, or its reference, comes from."""
    if not isinstance(entry, Source):
        return
    if entry.model is not None:
        yield from unknown_names((*key, "model"), [entry.model], known.models, FILES["models"])
    if entry.think_as_locals is not None:
        yield from unknown_names(
            (*key, "think_as_locals"),
            [entry.think_as_locals],
            ["warmup", *settings.think_as_locals.runs],
            "think_as_locals.runs",
        )
    if (
        entry.hub is not None
        and getattr(entry, "remote_code", False)
        and not COMMIT.fullmatch(entry.revision or "")
    ):
        text = (
            "remote_code runs what its authors wrote; pin it by `revision`, a commit of the hub (40"
            " hexadecimal digits)"
        )
        yield Problem(key, text)
    if entry.path is not None and not (Path(entry.path) / "config.json").is_file():
        text = f"`{entry.path}` is no model folder (no config.json in it); correct the path"
        yield Problem((*key, "path"), text)
    yield from source_problems((*key, "reference"), getattr(entry, "reference", None), settings, known)


@check
def _frozen_layers(settings: Settings, known: Known) -> Iterator[Problem]:
    if settings.reward_model.cache_frozen_layers and not settings.reward_model.lora:
        yield Problem(
            ("reward_model", "cache_frozen_layers"), "without lora no layer is frozen; set it to false"
        )


@check
def _token_budget(settings: Settings, known: Known) -> Iterator[Problem]:
    if settings.reward_model.token_budget and settings.reward_model.gradient_checkpointing:
        yield Problem(
            ("reward_model", "token_budget"),
            "gradient_checkpointing runs a batch again, not in parts; set this to null or"
            " gradient_checkpointing to false",
        )


@check
def _alignment_roles(settings: Settings, known: Known) -> Iterator[Problem]:
    for role, what in (("judge", "no judge"), ("reference", "no model that writes")):
        name = getattr(settings.alignment, role)
        if known.reward_models.get(name, {"kind": "generative"})["kind"] != "generative":
            text = f"`{name}` is {what}; name one of kind generative in {FILES['reward_models']}"
            yield Problem(("alignment", role), text)


@check
def _alignment_reference(settings: Settings, known: Known) -> Iterator[Problem]:
    alignment = settings.alignment
    columns = known.datasets.get(alignment.instructions, {}).get("columns", {"reference": True})
    if "reference" not in columns and not alignment.reference:
        text = f"`{alignment.instructions}` brings no reference answers; name who writes them"
        yield Problem(("alignment", "reference"), text)


QUESTION_FILES = (".yaml", ".jsonl")
ANSWERS = 4  # of an item that is built here, each right for another culture


@check
def _generators(settings: Settings, known: Known) -> Iterator[Problem]:
    for name, entry in settings.carb.generators.items():
        yield from source_problems(("carb", "generators", name), entry, settings, known)


@check
def _carb_filters(settings: Settings, known: Known) -> Iterator[Problem]:
    if settings.carb.filters.farthest >= settings.carb.filters.nearest:
        yield Problem(("carb", "filters"), "`farthest` is not below `nearest`; no answer lies between them")


@check
def _carb_sources(settings: Settings, known: Known) -> Iterator[Problem]:
    if not settings.carb.topics and not settings.carb.reference_files:
        yield Problem(("carb",), "has neither `topics` nor `reference_files`; name one")


@check
def _carb_items(settings: Settings, known: Known) -> Iterator[Problem]:
    carb = settings.carb
    for number, path in enumerate(carb.item_files):
        yield from no_file(("carb", "item_files", number), path)
    if not carb.item_files and len(carb.cultures) < ANSWERS:
        text = (
            f"has {len(carb.cultures)} cultures; an item's {ANSWERS} answers are of as many: name more, or"
            " `item_files`"
        )
        yield Problem(("carb", "cultures"), text)


@check
def _carb_knockout(settings: Settings, known: Known) -> Iterator[Problem]:
    own = {name: entry.kind for name, entry in settings.reward_models.items()}
    shelf = {name: known.reward_models.get(name, {}).get("kind") for name in settings.off_the_shelf}
    judges = [name for name, kind in {**own, **shelf}.items() if kind == "generative"]
    where = "generative ones of off_the_shelf and reward_models"
    yield from unknown_items(("carb", "knockout"), settings.carb.knockout, judges, where)


@check
def _carb_questions(settings: Settings, known: Known) -> Iterator[Problem]:
    carb, stems = settings.carb, [Path(name).stem for name in settings.carb.questions]
    for number, name in enumerate(carb.questions):
        key, entry = ("carb", "questions", number), known.datasets.get(name)
        if stems.index(Path(name).stem) < number:
            yield Problem(
                key, f"`{name}` has the name of another set; rename the file, as tables tell sets by it"
            )
        elif entry is None and Path(name).suffix in QUESTION_FILES:
            yield from no_file(key, name)
        elif entry is None:
            yield Problem(
                key,
                f"`{name}` is no dataset of {FILES['datasets']}, nor a file that ends in"
                f" {' or '.join(QUESTION_FILES)}",
            )
        elif entry.get("holds") != "questions":
            yield Problem(
                key, f"`{name}` holds no questions; name one of {', '.join(_sets(known))}, or a file"
            )
        elif not set(entry["languages"]) & set(carb.cultures):
            yield Problem(
                key,
                f"`{name}` has questions in {', '.join(entry['languages'])}, none of carb.cultures; leave"
                " it out",
            )


@check
def _carb_grpo(settings: Settings, known: Known) -> Iterator[Problem]:
    grpo, key = settings.carb.grpo, ("carb", "grpo")
    if grpo is None:
        return
    languages = [settings.source_language, *settings.target_languages]
    trained = [f"{base}_{language}" for base in settings.bases for language in languages]
    there = [*trained, *settings.off_the_shelf, *settings.reward_models]
    yield from unknown_names((*key, "policy"), [grpo.policy], known.models, FILES["models"])
    if settings.bases:  # else nothing is trained, and Figure 5 not asked for
        where = "bases with their languages, off_the_shelf and reward_models"
        yield from unknown_items((*key, "reward_models"), grpo.reward_models or [], there, where)
    replies = grpo.batch_size * grpo.gradient_accumulation
    if replies % grpo.generations:
        text = (
            f"times gradient_accumulation is {replies}, no multiple of generations ({grpo.generations}); an"
            " update holds all"
        )
        yield Problem((*key, "batch_size"), f"{text} replies to each of its prompts")
    if grpo.save_every % grpo.iterations:
        yield Problem(
            (*key, "save_every"), "is no multiple of iterations; a run that resumes would use other replies"
        )


def _sets(known: Known) -> list[str]:
    return [name for name, entry in known.datasets.items() if entry.get("holds") == "questions"]


LOCALS_RESERVED = ("base", "base-with-criteria", "warmup", "warmup-at-once", "checkpoints")


@check
def _locals_runs(settings: Settings, known: Known) -> Iterator[Problem]:
    for run in settings.think_as_locals.runs:
        if run in LOCALS_RESERVED or re.fullmatch(r"full-\d+", run):
            yield Problem(
                ("think_as_locals", "runs", run), "a judge of another kind is named so; choose another name"
            )
    if "full" not in settings.think_as_locals.runs:
        yield Problem(
            ("think_as_locals", "runs"),
            "has no `full`, the judge trained with all rewards, to which the tables compare the others;"
            " add it",
        )


@check
def _locals_others(settings: Settings, known: Known) -> Iterator[Problem]:
    """Yield a problem for each judge from elsewhere that is unknown, is none, cannot be asked, or has a name
    that is taken."""
    judges, questions = settings.think_as_locals, {**known.judge_questions, **settings.judge_questions}
    own = {name: entry.model_dump(exclude_unset=True) for name, entry in settings.reward_models.items()}
    entries = {**known.reward_models, **own}
    for number, name in enumerate(judges.others):
        where = ("think_as_locals", "others", number)
        if name not in entries:
            yield from unknown_names(where, [name], entries, f"{FILES['reward_models']}, with reward_models,")
            continue
        if entries[name]["kind"] != "generative":
            yield Problem(
                where,
                f"`{name}` is of kind {entries[name]['kind']}; only judges (generative) stand beside ours",
            )
        if name in (*LOCALS_RESERVED, *judges.runs) or re.fullmatch(r"full-\d+", name):
            yield Problem(where, f"a judge of ours is named `{name}`, too; give this one another name")
        if name not in own and name not in settings.off_the_shelf:  # else _judges checks it
            yield from question_problems(where, name, entries[name], questions)


@check
def _locals_beside(settings: Settings, known: Known) -> Iterator[Problem]:
    judges, key = settings.think_as_locals, ("think_as_locals", "beside")
    for name, folder in judges.beside.items():
        if name == judges.base:
            yield Problem(
                (*key, name), "is this scale's own base, which is in the table anyway; name another scale's"
            )
        if Path(folder) == Path(settings.results):
            yield Problem((*key, name), f"`{folder}` is this scale's own `results`; name another scale's")


@check
def _data_shares(settings: Settings, known: Known) -> Iterator[Problem]:
    judge, key = settings.think_as_locals, ("think_as_locals", "data_shares")
    yield from unknown_names(
        key, list(judge.data_shares), ["own", *judge.datasets], "think_as_locals.datasets, and own"
    )
    if sum(judge.data_shares.values()) > 1 + 1e-9:
        yield Problem(key, f"sums to {sum(judge.data_shares.values()):g}, more than 1; lower some")


@check
def _locals_topics(settings: Settings, known: Known) -> Iterator[Problem]:
    if not settings.carb.training_share:
        yield Problem(
            ("carb", "training_share"),
            "is 0, so that `think_as_locals` has no topic left to train on; raise it",
        )


@check
def _grpo_batch(settings: Settings, known: Known) -> Iterator[Problem]:
    grpo = settings.think_as_locals.grpo
    if grpo.batch_size * grpo.gradient_accumulation % (2 * grpo.generations):
        yield Problem(
            ("think_as_locals", "grpo", "batch_size"),
            f"times gradient_accumulation is {grpo.batch_size * grpo.gradient_accumulation}, no multiple of"
            f" twice generations ({2 * grpo.generations}); half of an update's questions have the right"
            " answer first, and each has all its replies",
        )


@check
def _grpo_checkpoints(settings: Settings, known: Known) -> Iterator[Problem]:
    if settings.think_as_locals.grpo.save_every % settings.think_as_locals.grpo.iterations:
        yield Problem(
            ("think_as_locals", "grpo", "save_every"),
            "is no multiple of iterations; a run that resumes would use other replies",
        )


@check
def _launch(settings: Settings, known: Known) -> Iterator[Problem]:
    yield from launch_problems(settings.devices.launch)


def launch_problems(path: str | None) -> Iterator[Problem]:
    """Yield what is wrong with a configuration of accelerate; None is no configuration."""
    key, launch = ("devices", "launch"), None
    if path is None:
        return
    if not Path(path).is_file():
        yield from no_file(key, path)
        return
    try:
        launch = read_yaml(path)
    except PolyrewardError as error:
        yield Problem(key, str(error))
        return
    processes = launch.get("num_processes") if isinstance(launch, dict) else None
    if not (isinstance(processes, int) and processes > 1) or "distributed_type" not in launch:
        yield Problem(
            key,
            f"{path} is no configuration of accelerate for several processes (distributed_type, and"
            " num_processes of 2 or more); `accelerate config --config_file FILE` writes one",
        )
    elif launch.get("num_machines", 1) != 1:
        yield Problem(
            key, f"{path} has num_machines: {launch['num_machines']}; a job runs on one machine: set it to 1"
        )


@check
def _serve(settings: Settings, known: Known) -> Iterator[Problem]:
    serve = settings.devices.serve
    words = " ".join(serve.command) if serve else "{model} {port}"
    for name, what in (("{model}", "which folder to serve"), ("{port}", "where to listen")):
        if name not in words:
            yield Problem(
                ("devices", "serve", "command"), f"has no {name}, from which the server learns {what}; add it"
            )
