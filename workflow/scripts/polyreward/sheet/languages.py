"""Languages that bring a folder of their own (language_folders of config.yaml): their facts and texts."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml
from babel import Locale, UnknownLocaleError
from babel.core import get_global

from polyreward.core.yaml_files import parsed_yaml, yaml_fault

FACTS, CATALOG = "language.yaml", "catalog.po"
ALL, PART = "all", "part"
# {key of language.yaml: what it holds}; the first four as resources/languages.yaml has them
KEYS = {
    "name": "its English name",
    "script": "its script, ISO 15924, such as Latn",
    "resource_class": "0 to 5, Joshi et al. 2020",
    "family": "the top level of Glottolog",
    "coverage": f"`{ALL}`, or `{PART}` where templates that are not translated whole are left out",
}


def with_folders(languages: dict[str, dict], folders: dict[str, str], root: Path) -> dict[str, dict]:
    """Return the facts of resources/languages.yaml with those of languages that bring a folder of their own.

    What is wrong with one is left out here; `folder_problems` names it.

    Args:
        folders: {language: folder below root}, as config.yaml has them.
    """
    read = {code: _facts(root / folder) for code, folder in folders.items()}
    return languages | {code: facts for code, facts in read.items() if isinstance(facts, dict)}


def folder_problems(code: str, folder: Path, by_catalog: bool = True) -> Iterator[str]:
    """Yield what is wrong with a language's folder, but for its texts (`preflight.check_languages`).

    Args:
        by_catalog: it needs a catalog, as no model translates into the language.
    """
    begin = f"`polyreward language update {code} --folder {folder}` begins one"
    try:
        Locale.parse(code)
    except (UnknownLocaleError, ValueError):
        yield f"`{code}` is no language of CLDR, which writes numbers and dates; give its ISO 639 code"
        return
    if not folder.is_dir():
        yield f"there is no folder `{folder}`; paths start at the project's folder, and {begin}"
        return
    yield from (f"{folder / FACTS}: {text}" for text in _fact_problems(_facts(folder)))
    if by_catalog and not (folder / CATALOG).is_file():
        yield f"there is no `{folder / CATALOG}`; {begin}"


def new_facts(code: str, folder: Path) -> Path:
    """Write a folder's language.yaml with what CLDR knows, where there is none yet; return its path.

    What people must fill in is left empty, with what it is as a comment.
    """
    path = folder / FACTS
    if not path.is_file():
        script = "".join(get_global("likely_subtags").get(code, "").split("_")[1:2])
        known = {"name": Locale.parse(code).get_language_name("en"), "script": script, "coverage": PART}
        with open(path, "w", encoding="utf-8") as stream:
            for key, what in KEYS.items():
                begin = f"{key}: {known.get(key) or ''}".rstrip()
                stream.write(f"{begin}  # {what}\n")
    return path


def _facts(folder: Path) -> Any:
    """Return what a folder's language.yaml holds, None where there is none, and text where it is no YAML."""
    try:
        return parsed_yaml((folder / FACTS).read_text(encoding="utf-8"))
    except OSError:
        return None
    except (yaml.YAMLError, ValueError) as error:
        return yaml_fault(error)


def _fact_problems(facts: Any) -> Iterator[str]:
    if isinstance(facts, str):
        yield facts
        return
    found = facts if isinstance(facts, dict) else {}
    for key, what in KEYS.items():
        if found.get(key) in (None, ""):
            yield f"`{key}` is missing; give {what}"
    for key, allowed in {"coverage": (ALL, PART), "resource_class": range(6)}.items():
        if found.get(key) not in (None, *allowed):
            yield f"`{key}` is `{found[key]}`; give {KEYS[key]}"
    for key in found.keys() - KEYS:
        yield f"`{key}` is unknown; there are {', '.join(KEYS)}"
