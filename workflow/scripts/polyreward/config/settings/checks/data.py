"""Languages, their translations, and benchmarks."""

from collections.abc import Iterator
from pathlib import Path

from babel import localedata

from polyreward.config.languages import folder_problems
from polyreward.config.settings.checks.known import FILES, Check, Known, no_file
from polyreward.config.settings.problems import Problem, unknown_names
from polyreward.settings.model import Settings

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


def _languages(settings: Settings, known: Known) -> Iterator[Problem]:
    for number, language in enumerate(settings.target_languages):
        if language == settings.source_language:
            yield Problem(("target_languages", number), f"`{language}` is the source language; leave it out")


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


def _language_folders(settings: Settings, known: Known) -> Iterator[Problem]:
    for code, folder in settings.language_folders.items():
        engine = settings.translation.engines.get(_engine_name(settings, code))
        for text in folder_problems(
            code, Path(folder), by_catalog=engine is None or engine.kind == "gettext"
        ):
            yield Problem(("language_folders", code), text)


def _twins(settings: Settings, known: Known) -> Iterator[Problem]:
    twins = settings.benchmarks.twins
    if twins in known.benchmarks and not known.benchmarks[twins]["twins"]:
        yield Problem(
            ("benchmarks", "twins"),
            f"`{twins}` holds no twins (twins: false in {FILES['benchmarks']}); name one that does",
        )


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
        yield from no_file((*key, "path"), own.path)


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


CHECKS: tuple[Check, ...] = (
    _languages,
    _released,
    _language_folders,
    _twins,
    _own_benchmarks,
    _engine_models,
    _engine_keys,
    _engine_languages,
)
