"""Texts that we wrote: their catalogs and languages."""

from pathlib import Path

import click

from polyreward.cli.shared import OF_SCALE, OVERLAYS, Listing, checkout, scale_overlays
from polyreward.core.errors import PolyrewardError
from polyreward.core.project import ROOT


@click.command(short_help="Check or update our translation catalogs (.po files).")
@click.argument("action", type=click.Choice(["check", "update"]))
@click.argument("languages", nargs=-1, required=True)
def catalog(action: str, languages: tuple[str, ...]) -> None:
    """Check or update the translation catalogs (.po files) of resources/mini.

    `check` lists what is missing; `update` adds new texts. LANGUAGES are ISO 639-1 codes, such as es it ko
    zh."""
    from polyreward.core.yaml_files import read_yaml
    from polyreward.sources.templates import data_files, read_templates, stock_items
    from polyreward.translation.catalog import read_translations, texts_of_templates, update_catalog

    data = checkout() / "resources/mini"
    schema = read_yaml(ROOT / "workflow/schemas/templates.schema.yaml")
    files = [file for name in ("pool", "pool_twins", "eval", "twins") for file in data_files(data / name)]
    templates, stock = read_templates(files, schema), stock_items(data / "stock.yaml")
    texts = {**texts_of_templates(templates), **{item["text"]: item["id"] for item in stock}}
    problems = []
    for language in languages:
        path = data / "catalogs" / f"{language}.po"
        if action == "update":
            changed = update_catalog(path, [*templates, *stock], language)
            print(f"{path}: {'written' if changed else 'unchanged'}")
        try:
            print(f"{path}: {len(read_translations(path, language, texts))} texts, all translated")
        except PolyrewardError as error:
            problems.append(str(error))
    if problems:
        raise PolyrewardError("\n".join(problems))


@click.command(
    cls=Listing,
    short_help="Begin the folder of a new language, or check it.",
    epilog="Example: polyreward language check fr results/french",
)
@click.argument("action", type=click.Choice(["check", "update"]))
@click.argument("language")
@OF_SCALE
@click.option(
    "--folder",
    help="Folder of the language; by default language_folders has it, or resources/languages/<language>.",
)
@OVERLAYS
def language(
    action: str, language: str, results: Path | None, folder: str | None, configfile: tuple[str, ...]
) -> None:
    """Begin the folder of a new language, or list everything that is missing or broken in it.

    `update` writes all texts to translate, in the order in which scales draw them, and keeps translations.
    `check` lists the problems. LANGUAGE is an ISO 639 code, such as fr. RESULTS is a scale's results folder,
    which need not exist, such as results/french."""
    from polyreward.ops.preflight import check_languages, update_folder
    from polyreward.sheet.entries import read_models, with_language

    root = checkout()
    models = read_models(scale_overlays(results, configfile, root), root)
    options = [str(results)] if results else []
    options += [f"--configfile {' '.join(configfile)}"] if configfile else []
    if folder is None:
        folder = models.settings.language_folders.get(language, f"resources/languages/{language}")
    else:
        options.append(f"--folder {folder}")
    if action == "update":
        print("\n".join(map(str, update_folder(language, root / folder, models, root))))
        print(f"Fill in both files. Then: {' '.join(['polyreward language check', language, *options])}")
        return
    print("\n".join(check_languages(with_language(models, language, folder, root), root)))
    print(f"{language}: nothing is missing")
