"""Which of a scale's texts a language with a folder of its own has, before anything runs."""

from collections.abc import Iterator
from itertools import chain, zip_longest
from pathlib import Path

from polyreward.core.draws import drawn, in_draw_order
from polyreward.core.errors import PolyrewardError, raise_all
from polyreward.core.yaml_files import read_items, read_yaml
from polyreward.sheet.data import paper_benchmarks
from polyreward.sheet.engines import engine_of
from polyreward.sheet.entries import Models
from polyreward.sheet.languages import CATALOG, folder_problems, new_facts
from polyreward.sources.templates import data_files, read_templates, stock_items, subsets_of, template_texts
from polyreward.translation.catalog import read_translations, roles_of, update_catalog

# CKA of fewer passages is no number, and one instruction has no interval
FEWEST_PASSAGES, FEWEST_INSTRUCTIONS = 4, 2
STOCK = "stock sentences"


def check_languages(models: Models, root: Path) -> list[str]:
    """Return in words what each target language with a folder has of the scale's texts.

    Raises PolyrewardError with all that is wrong. A language that a model translates needs no text.
    """
    problems, lines, items = [], [], None
    for language in models.settings.target_languages:
        folder = models.settings.language_folders.get(language)
        if folder is None:
            continue
        by_catalog = not engine_of(models, language).is_lm
        wrong = list(folder_problems(language, root / folder, by_catalog))
        problems += wrong
        if by_catalog and not wrong:
            items = items or items_to_translate(models, root)
            found, missing = _coverage(language, root / folder / CATALOG, models, items)
            lines += found
            problems += missing
    raise_all(problems, "languages")
    return lines


def update_folder(language: str, folder: Path, models: Models, root: Path) -> list[Path]:
    """Begin a language's folder, or bring its catalog up to date with the scale's texts; return its files.

    Texts are in the order in which they are drawn: the first ones are what small scales use.
    """
    folder.mkdir(parents=True, exist_ok=True)
    main, twins = map(models.catalog.categories, paper_benchmarks(models.settings)[:2])
    categories, ordered = main | twins, []
    for name, items in items_to_translate(models, root).items():
        if _is_drawn(name, models):
            purpose = "instructions" if name == models.settings.alignment.instructions else "template"
            items = in_draw_order(items, models.settings.seed, purpose)
        by_section: dict[str | None, list[dict]] = {}  # templates by turns from each section
        for item in items:
            by_section.setdefault(_section(item, categories), []).append(item)
        ordered += filter(None, chain.from_iterable(zip_longest(*by_section.values())))
    update_catalog(folder / CATALOG, ordered, language)
    return [new_facts(language, folder), folder / CATALOG]


def items_to_translate(models: Models, root: Path) -> dict[str, list[dict]]:
    """Return {dataset: its templates, passages or instructions in English}, except the hub's."""
    settings, catalog, found = models.settings, models.catalog, {}
    main, twins = (catalog.benchmarks[name]["dataset"] for name in paper_benchmarks(settings)[:2])
    names = [main, *settings.pool.datasets, settings.passages, settings.alignment.instructions, twins]
    schema = read_yaml(root / "workflow/schemas/templates.schema.yaml")
    for name in dict.fromkeys(names):
        entry = catalog.datasets[name]
        if entry["kind"] == "templates":
            found[name] = read_templates(data_files(root / entry["path"]), schema)
        elif entry["kind"] != "hub":
            items = read_items(root / entry["path"])
            found[name] = [_in_source(item, settings.source_language) for item in items]
    for path in models.catalog.stock(settings.benchmarks.main):
        found[STOCK] = stock_items(root / path)
    return found


def _in_source(item: dict, source: str) -> dict:
    if source in item:
        return {"id": item["id"], "text": item[source]}
    roles = [role for role in ("prompt", "reference") if role in item]
    return {"id": item["id"], **{role: item[role][source] for role in roles}}


def _texts(item: dict) -> list[str]:
    if "fills" in item:
        return [text for _, text in template_texts(item)]
    return [item[role] for role in roles_of(item)]


def _section(item: dict, categories: dict[str, str]) -> str | None:
    return categories.get(subsets_of(item)[-1]) if "fills" in item else None


def _coverage(language: str, catalog: Path, models: Models, items: dict) -> tuple[list[str], list[str]]:
    """Return in words what a catalog has of each dataset, and what is wrong."""
    owners = {}
    for item in chain.from_iterable(map(reversed, items.values())):
        owners |= dict.fromkeys(_texts(item), item["id"])
    try:
        translations = read_translations(catalog, language, owners, models.catalog.covers_part(language))
    except PolyrewardError as error:
        return [], [str(error)]
    lines, problems = [], []
    for name, all_items in items.items():
        used = _used(name, all_items, models)
        whole = {item["id"] for item in all_items if translations.keys() >= set(_texts(item))}
        there = [item for item in used if item["id"] in whole]
        problems += (f"{catalog}: {text}" for text in _too_few(language, name, used, there, models))
        counts = f"{len(whole)} of {len(all_items)} are translated"
        lines.append(f"{language}: {name}: {counts}; of the {len(used)} that this scale uses, {len(there)}")
    return lines, problems


def _is_drawn(name: str, models: Models) -> bool:
    """Return whether a scale may use a part of a dataset; passages, twins and stock are used in full."""
    twins = models.catalog.benchmarks[models.settings.benchmarks.twins]["dataset"]
    return name not in (STOCK, models.settings.passages, twins)


def _used(name: str, items: list[dict], models: Models) -> list[dict]:
    settings, seed = models.settings, models.settings.seed
    if name == settings.alignment.instructions:
        return drawn(items, [], settings.alignment.max_instructions, seed, "instructions")
    if not _is_drawn(name, models):
        return items
    categories = models.catalog.categories(settings.benchmarks.main)
    rows = [{"id": item["id"], "category": _section(item, categories)} for item in items]
    most = getattr(settings.templates_per_section, "pool" if name in settings.pool.datasets else "main")
    kept = {row["id"] for row in drawn(rows, ["category"], most, seed, "template")}
    return [item for item in items if item["id"] in kept]


def _too_few(language: str, name: str, used: list, there: list, models: Models) -> Iterator[str]:
    """Yield what is missing for a table or a figure to be made; there: what is translated of `used`."""
    settings, categories = models.settings, models.catalog.categories(models.settings.benchmarks.main)
    if name in {models.catalog.benchmarks[one]["dataset"] for one in paper_benchmarks(settings)}:
        what, parts = "subset", subsets_of
    elif name in settings.pool.datasets:
        what, parts = "section", lambda item: [_section(item, categories)]
    else:
        needed = {STOCK: len(used)}
        if language in settings.alignment.languages:
            needed[settings.alignment.instructions] = FEWEST_INSTRUCTIONS
        needed[settings.passages] = FEWEST_PASSAGES  # last: the larger number, should one file hold both
        if len(there) < needed.get(name, 0):
            counts = f"{len(there)} of the {len(used)} that this scale uses are translated"
            yield f"{name}: {counts}; translate {'all' if name == STOCK else f'{needed[name]} or more'}"
        return
    firsts: dict = {}
    for item in used:
        for part in parts(item):
            firsts.setdefault(part, item["id"])
    translated = {part for item in there for part in parts(item)}
    for part, first in firsts.items():
        if part not in translated:
            such = f"translate some, such as `{first}`"
            yield f"no template of {name}'s {what} {part} is translated whole; {such}"
