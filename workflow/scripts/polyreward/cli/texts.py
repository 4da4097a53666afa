"""Texts that we wrote: their catalogs, languages and cues."""

from pathlib import Path

import click

from polyreward.cli.shared import FIRST_PROBLEMS, OVERLAYS, ROOT, Listing, checkout, summary
from polyreward.core.errors import PolyrewardError

DATA = click.option(
    "--data",
    type=click.Path(path_type=Path),
    default=lambda: checkout() / "resources/mini",
    show_default="resources/mini of this checkout",
    help="Folder of pool/, pool_twins/, eval/, twins/ and catalogs/.",
)


@click.command()
@click.argument("action", type=click.Choice(["check", "update"]))
@click.argument("languages", nargs=-1, required=True)
@DATA
@click.option(
    "--all",
    "whole",
    is_flag=True,
    help=f"List every problem, not the first {FIRST_PROBLEMS} of each language.",
)
def catalog(action: str, languages: tuple[str, ...], data: Path, whole: bool) -> None:
    """Check or update the translation catalogs (.po files).

    `check` lists what is missing; `update` adds new texts. LANGUAGES are ISO 639-1 codes, such as es it ko
    zh."""
    from polyreward.core.yaml_files import read_yaml
    from polyreward.sources.templates import data_files, read_templates, stock_items
    from polyreward.translation.catalog import read_translations, texts_of_templates, update_catalog

    schema = read_yaml(ROOT / "workflow/schemas/templates.schema.yaml")
    files = [file for name in ("pool", "pool_twins", "eval", "twins") for file in data_files(data / name)]
    templates = read_templates(files, schema)
    stock = stock_items(data / "stock.yaml")
    texts = {**texts_of_templates(templates), **{item["text"]: item["id"] for item in stock}}
    paths = {language: data / "catalogs" / f"{language}.po" for language in languages}
    problems = []
    for language, path in paths.items():
        if action == "update":
            update_catalog(path, [*templates, *stock], language)
            print(f"{path}: written")
        try:
            print(f"{path}: {len(read_translations(path, language, texts))} texts, all translated")
        except PolyrewardError as error:
            problems.append(str(error) if whole else summary(str(error)))
    if problems:
        raise PolyrewardError("\n".join(problems))


@click.command(
    cls=Listing,
    short_help="Begin the folder of a new language, or check it.",
    epilog=(
        "Example: polyreward language check fr --configfile workflow/scales/tiny.yaml"
        " workflow/scales/french.yaml"
    ),
)
@click.argument("action", type=click.Choice(["check", "update"]))
@click.argument("language")
@click.option(
    "--folder",
    help=(
        "Folder with the language's facts and texts; by default the one in language_folders of the settings, "
        "or resources/languages/<language>."
    ),
)
@OVERLAYS
def language(action: str, language: str, folder: str | None, configfile: tuple[str, ...]) -> None:
    """Begin the folder of a new language, or list everything that is missing or broken in it.

    `update` writes all texts to translate, in the order in which scales draw them, and keeps translations.
    `check` lists the problems. LANGUAGE is an ISO 639 code, such as fr."""
    from polyreward.config.scale import read_scale
    from polyreward.ops.preflight import check_languages, update_folder

    root = Path.cwd() if (Path.cwd() / "config.yaml").is_file() else ROOT
    scale = read_scale(configfile, root)
    if folder is None:
        folder = scale.settings.language_folders.get(language, f"resources/languages/{language}")
    if action == "update":
        print("\n".join(map(str, update_folder(language, root / folder, scale, root))))
        return
    print("\n".join(check_languages(scale.with_language(language, folder, root), root)))


@click.command()
@click.argument("languages", nargs=-1, required=True)
@DATA
@click.option(
    "--folder",
    type=click.Path(path_type=Path),
    help=(
        "Folder of a language with its own texts. Give exactly one language. Templates that are not "
        "completely translated do not count."
    ),
)
@click.option(
    "--benchmark",
    default="mini-rewardbench",
    show_default=True,
    help="Benchmark whose sections count, in workflow/catalog/benchmarks.yaml.",
)
def cues(languages: tuple[str, ...], data: Path, folder: Path | None, benchmark: str) -> None:
    """Print the accuracy (%) on eval/ of classifiers that see only the answers.

    They are trained on pool/, and on the rest of each section. Far from 50, answers give away which one is
    right. LANGUAGES are ISO 639-1 codes, such as en es it ko zh; the source language is en."""
    import pandas as pd

    from polyreward.core.yaml_files import read_yaml
    from polyreward.prepare.cues import cue_table, worst_cues
    from polyreward.translation.catalog import translated_templates

    schema, benchmarks = (
        read_yaml(ROOT / path)
        for path in ("workflow/schemas/templates.schema.yaml", "workflow/catalog/benchmarks.yaml")
    )
    sections = {
        subset: section
        for section, subsets in benchmarks[benchmark]["sections"].items()
        for subset in subsets
    }
    tables = []
    for language in languages:
        catalog = (
            None
            if language == "en"
            else folder / "catalog.po"
            if folder
            else data / f"catalogs/{language}.po"
        )
        pool, rows = (
            [{**row, "category": sections[row["subset"]]} for row in found]
            for found in (
                translated_templates(data / name, schema, catalog, language, part=folder is not None)
                for name in ("pool", "eval")
            )
        )
        tables.append(cue_table(pool, rows, language))
    table = pd.concat(tables)
    print(
        f"Accuracy (%) of the classifier that is farthest from 50, of {len(table) // len(languages) // 4}, by"
        " section and language:\n"
    )
    print(worst_cues(table)[list(languages)].to_markdown(floatfmt=".1f"))
