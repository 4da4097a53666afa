"""Before anything runs: which of a scale's texts a language that brings a folder of its own has, and which it
lacks."""

from collections import Counter
from collections.abc import Iterator
from itertools import chain, zip_longest
from pathlib import Path

from polyreward.config.languages import CATALOG, folder_problems, new_facts
from polyreward.config.scale import Scale
from polyreward.config.translation import engine_of
from polyreward.core.draws import drawn, in_draw_order
from polyreward.core.errors import PolyrewardError, raise_all
from polyreward.core.yaml_files import read_items, read_yaml
from polyreward.sources.templates import data_files, read_templates, subsets_of, template_texts
from polyreward.translation.catalog import read_translations, roles_of, update_catalog

FEWEST_PASSAGES, FEWEST_INSTRUCTIONS = (
    4,
    2,
)  # CKA of fewer passages is no number, nor an interval over one instruction


def check_languages(scale: Scale, root: Path) -> list[str]:
    """Return in words what each target language that brings a folder has of the scale's texts.

    Raises PolyrewardError with all that is wrong with any of them. A language that a model translates needs
    no text."""
    problems, told = [], []
    items = None
    for language in scale.settings.target_languages:
        folder = scale.settings.language_folders.get(language)
        if folder is None:
            continue
        by_catalog = not engine_of(scale, language).is_lm
        wrong = list(folder_problems(language, root / folder, by_catalog))
        if by_catalog and not wrong:
            items = items or items_to_translate(scale, root)
            told += _coverage(language, root / folder / CATALOG, scale, items, wrong)
        problems += wrong
    raise_all(problems, "languages")
    return told


def update_folder(language: str, folder: Path, scale: Scale, root: Path) -> list[Path]:
    """Begin a language's folder, or bring its catalog up to date with the scale's texts; returns the files in
    it.

    The catalog's texts are in the order in which they are drawn: whoever translates its first ones has what
    small scales use."""
    folder.mkdir(parents=True, exist_ok=True)
    ordered = _in_order(scale, items_to_translate(scale, root))
    update_catalog(folder / CATALOG, ordered, language)
    return [new_facts(language, folder), folder / CATALOG]


def items_to_translate(scale: Scale, root: Path) -> dict[str, list[dict]]:
    """Return {dataset: its templates, passages or instructions in English} of the scale's data that is not
    the hub's.

    The main benchmark comes first, then the pool, passages, instructions and twins."""
    settings, known = scale.settings, scale.known
    main, twins = (known.benchmarks[name]["dataset"] for name in scale.benchmarks)
    names = [
        main,
        *settings.pool.datasets,
        settings.passages,
        settings.alignment.instructions,
        twins,
    ]
    schema = read_yaml(root / "workflow/schemas/templates.schema.yaml")
    found = {}
    for name in dict.fromkeys(names):
        entry = known.datasets[name]
        if entry["kind"] == "templates":
            found[name] = read_templates(data_files(root / entry["path"]), schema)
        elif entry["kind"] != "hub":
            found[name] = [
                _in_source(item, settings.source_language) for item in read_items(root / entry["path"])
            ]
    return found


def _in_source(item: dict, source: str) -> dict:
    """Return a passage or an instruction as a row of one language."""
    if source in item:
        return {"id": item["id"], "text": item[source]}
    return {
        "id": item["id"],
        **{role: item[role][source] for role in ("prompt", "reference") if role in item},
    }


def _texts(item: dict) -> list[str]:
    return (
        [text for _, text in template_texts(item)]
        if "fills" in item
        else [item[role] for role in roles_of(item)]
    )


def _section(item: dict, categories: dict[str, str]) -> str | None:
    return categories.get(subsets_of(item)[-1]) if "fills" in item else None


def _in_order(scale: Scale, items: dict[str, list[dict]]) -> Iterator[dict]:
    """Yield the items of each dataset as they are drawn, templates by turns from each section."""
    main, twins = scale.benchmarks
    categories = scale.categories(main) | scale.categories(twins)
    for name, of_dataset in items.items():
        purpose = "instructions" if name == scale.settings.alignment.instructions else "template"
        drawn_first = (
            in_draw_order(of_dataset, scale.settings.seed, purpose) if _is_drawn(name, scale) else of_dataset
        )
        by_section: dict[str | None, list[dict]] = {}
        for item in drawn_first:
            by_section.setdefault(_section(item, categories), []).append(item)
        yield from filter(None, chain.from_iterable(zip_longest(*by_section.values())))


def _coverage(language: str, catalog: Path, scale: Scale, items: dict, problems: list[str]) -> Iterator[str]:
    """Yield in words what a catalog has of each dataset; what is wrong is added to problems."""
    part, categories = scale.covers_part(language), scale.categories(scale.settings.benchmarks.main)
    owners = {
        text: item["id"]
        for of_dataset in items.values()
        for item in reversed(of_dataset)
        for text in _texts(item)
    }
    try:
        translations = read_translations(catalog, language, owners, part)
    except PolyrewardError as error:
        problems.append(str(error))
        return
    for name, of_dataset in items.items():
        whole = {item["id"] for item in of_dataset if translations.keys() >= set(_texts(item))}
        problems += (f"{catalog}: {text}" for text in _too_few(language, name, of_dataset, whole, scale))
        used = _used(name, of_dataset, scale)
        sections = Counter(_section(item, categories) for item in of_dataset if item["id"] in whole)
        each = ", ".join(f"{section} {count}" for section, count in sections.items() if section)
        there = (
            f"{language}: {name}: {len(whole)} of {len(of_dataset)} are"
            f" translated{f' ({each})' if each else ''}"
        )
        yield (
            f"{there}; of the {len(used)} that this scale uses, {len(whole & {item['id'] for item in used})}"
        )


def _is_drawn(name: str, scale: Scale) -> bool:
    """Say whether a scale may use a part of a dataset: passages and twins are used in full."""
    settings = scale.settings
    return name not in (settings.passages, scale.known.benchmarks[settings.benchmarks.twins]["dataset"])


def _used(name: str, items: list[dict], scale: Scale) -> list[dict]:
    """Return the items of a dataset that the scale draws."""
    settings, seed = scale.settings, scale.settings.seed
    if name == settings.alignment.instructions:
        return drawn(items, [], settings.alignment.max_instructions, seed, "instructions")
    if not _is_drawn(name, scale):
        return items
    use = "pool" if name in settings.pool.datasets else "main"
    categories = scale.categories(scale.settings.benchmarks.main)
    rows = [{"id": item["id"], "category": _section(item, categories)} for item in items]
    kept = {
        row["id"]
        for row in drawn(rows, ["category"], getattr(settings.templates_per_section, use), seed, "template")
    }
    return [item for item in items if item["id"] in kept]


def _too_few(language: str, name: str, items: list[dict], whole: set[str], scale: Scale) -> Iterator[str]:
    """Yield what is missing for a table or a figure of the scale to be made at all."""
    settings = scale.settings
    used = _used(name, items, scale)
    there = [item for item in used if item["id"] in whole]
    if name in {scale.known.benchmarks[one]["dataset"] for one in scale.benchmarks}:
        for subset in dict.fromkeys(subset for item in used for subset in subsets_of(item)):
            if not any(subset in subsets_of(item) for item in there):
                first = next(item["id"] for item in used if subset in subsets_of(item))
                yield (
                    f"no template of {name}'s subset {subset} is translated whole; translate one, such as"
                    f" `{first}`"
                )
    elif name in settings.pool.datasets:
        categories = scale.categories(settings.benchmarks.main)
        for section in dict.fromkeys(_section(item, categories) for item in used):
            if not any(_section(item, categories) == section for item in there):
                yield (
                    f"no template of {name}'s section {section} is translated whole; translate some to"
                    " train on"
                )
    elif name == settings.passages and len(there) < FEWEST_PASSAGES:
        yield f"{len(there)} of {name} are translated; translate {FEWEST_PASSAGES} or more"
    elif name == settings.alignment.instructions:
        judged = language in settings.alignment.languages
        if judged and len(there) < FEWEST_INSTRUCTIONS:
            yield (
                f"{len(there)} of {name} that this scale uses are translated; translate {FEWEST_INSTRUCTIONS}"
                " or more"
            )
