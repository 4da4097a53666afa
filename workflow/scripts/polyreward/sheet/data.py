"""Which data a scale reads: how much of benchmarks and the pool, in which languages, and CARB's sources."""

from pathlib import Path

from polyreward.core.naming import stage
from polyreward.core.yaml_files import read_yaml
from polyreward.settings.carb import Carb
from polyreward.settings.model import Settings
from polyreward.sheet.catalogs import Catalog

UNSEEN_TEMPLATES = 12  # of each section of the benchmark of unseen kinds; the papers have no such benchmark
PAPERS_B = 3  # billions of parameters of the transfer paper's bases


def paper_benchmarks(settings: Settings) -> list[str]:
    """Return the main benchmark, the twins, and that of unseen kinds where there is one."""
    named = settings.benchmarks
    return [name for name in (named.main, named.twins, named.unseen_kinds) if name]


def drawn_share(settings: Settings, use: str) -> dict[str, int | None]:
    """Return how much of the "pool" or of a benchmark is drawn, as prepare.pool.Share takes it.

    use: "pool", or the benchmark's name; one that settings.benchmarks does not name is drawn as the main
    one."""
    if use != "pool":
        use = next((key for key, name in settings.benchmarks if name == use), "main")
    named = {**dict(settings.templates_per_section), "unseen_kinds": UNSEEN_TEMPLATES}
    return {"templates": named[use], "rows": None if use == "twins" else settings.fills_per_template}


def judge_kinds(settings: Settings, catalog: Catalog) -> dict[str, list[str]]:
    """Return the kinds of rejected answers that Figure 3's judge is trained on.

    These are also the kinds that no other training sees, since a policy may repeat itself, be cut, or
    answer in another language."""
    main, unseen = settings.benchmarks.main, settings.benchmarks.unseen_kinds
    more = catalog.kinds(unseen) if unseen else {}
    categories = catalog.categories(main)
    return {
        group: [*kinds, *more.get(group, more.get(categories.get(group, ""), []))]
        for group, kinds in catalog.kinds(main).items()
    }


def dataset_entry(settings: Settings, catalog: Catalog, name: str) -> dict:
    """Return a dataset's catalog entry with the languages that the scale reads.

    Of pairs in several languages these are the scale's and those of the judges' own benchmark; of
    questions CARB's cultures."""
    entry, languages = catalog.datasets[name], settings.languages
    judged = settings.think_as_locals.evaluation
    if judged.benchmark and catalog.benchmarks[judged.benchmark]["dataset"] == name:
        languages = list(dict.fromkeys([*languages, *judged.cultures]))
    wanted = {"pairs": languages, "questions": settings.carb.cultures}.get(entry.get("holds"))
    if wanted is None or "languages" not in entry:
        return entry
    there = entry["languages"]
    return {**entry, "languages": {one: there[one] for one in wanted if one in there}}


def is_released(settings: Settings, catalog: Catalog, rowset: str, language: str) -> bool:
    """Tell whether all rows of a set (a benchmark, train, dev, judge or prompts) come in a language."""
    pool, prompts = settings.pool.datasets, settings.alignment.prompt_data
    named = {"train": pool, "dev": pool, "judge": pool, "prompts": [prompts] if prompts else pool}
    names = named.get(rowset) or [catalog.benchmarks[rowset]["dataset"]]
    entries = [dataset_entry(settings, catalog, name) for name in names]
    return all(one.get("holds") == "pairs" and language in one.get("languages", {}) for one in entries)


def dataset_file(settings: Settings, catalog: Catalog, dataset: str) -> str:
    """Return the file of a dataset's items: people's own, or what was fetched."""
    return catalog.datasets[dataset].get("path", stage(settings.results, "sources", f"data/{dataset}.jsonl"))


def own_benchmark_file(settings: Settings, name: str) -> str:
    """Return the file of pairs of a benchmark of the user's own, or of one that is made from a dataset."""
    own = settings.own_benchmarks[name]
    made = stage(settings.results, "prepared", f"solution_pairs/{own.dataset}_{own.language}.jsonl")
    return made if own.dataset else own.path


def carb_parts(carb: Carb) -> tuple[list[str], list[str]]:
    """Return the cultures and the domains that CARB's references are built for.

    Where items are the user's own, references only serve to train judges: all cultures, all topics."""
    if not carb.item_files:
        return carb.cultures, carb.domains
    topics = {path.stem.split("_")[0] for path in Path(carb.topics).glob("*.yaml")}
    return list(read_yaml(carb.culture_file)["cultures"]), sorted(topics)


def quartet_choices(settings: Settings) -> dict:
    """Return what place quartets are made of, as culture.quartets.scale_quartets takes it.

    Languages are the scale's in which CARB's topics are written: those of its cultures, or all of these where
    the scale has none of them. Of these, only the ones that settings name, if there is one."""
    carb = settings.carb
    cultures, domains = carb_parts(carb)
    languages = [language for language in settings.languages if language in cultures] or cultures
    asked = carb.quartets.languages or languages
    languages = [language for language in languages if language in asked] or languages
    return {
        "files": carb.quartets.files,
        "cultures": cultures,
        "domains": domains,
        "topics_per_domain": carb.topics_per_domain,
        "more_topics": carb.quartets.topics,
        "languages": list(carb.quartets.files) or languages,
        "max_topics": carb.quartets.max_topics,
        "per_topic": carb.quartets.per_topic,
        "open_books": carb.quartets.open_books,
    }


def instrument_check(settings: Settings, catalog: Catalog) -> str:
    """Return a sentence for captions where the bases are smaller than the papers'; else nothing."""
    entries = [catalog.models[base] for base in settings.bases]
    if any(entry["source"]["kind"] == "random" for entry in entries):
        return "Random models: the numbers mean nothing."
    largest = max((entry.get("parameters_b", 0) for entry in entries), default=0)
    if not 0 < largest < PAPERS_B:
        return ""
    size = f"{largest:g} billion" if largest >= 1 else f"{1000 * largest:.0f} million"
    return f"An instrument check on bases of at most {size} parameters, not a replication."
