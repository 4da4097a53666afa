"""gettext catalogs (.po files, which Poedit opens), written from templates and read with Babel."""

import datetime
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from babel.messages.catalog import Catalog
from babel.messages.pofile import PoFileError, read_po, write_po

from polyreward.core.conversations import contents
from polyreward.core.errors import PolyrewardError, raise_all
from polyreward.core.files import whole_file
from polyreward.sources.slots import filled
from polyreward.sources.templates import data_files, expanded, filled_fields, read_templates, resolved_slots, template_texts
from polyreward.translation.invariants import broken_invariants

EPOCH = datetime.datetime(2000, 1, 1, tzinfo=datetime.UTC)  # a catalog carries no clock


def catalog_of(templates: Iterable[dict], language: str) -> Catalog:
    """Return an untranslated catalog: a message per text, with its id, role and one filled example as comment."""
    catalog = Catalog(
        locale=language, project="polyreward", version="1", charset="utf-8", creation_date=EPOCH, revision_date=EPOCH,
        header_comment=f"# English to {language}: the item templates of polyreward's own data.", fuzzy=False,
        last_translator="polyreward", language_team=language, msgid_bugs_address="",
    )  # fmt: skip
    for item in templates:
        slots = resolved_slots(item["slots"], item["fills"][0])
        for role, text in template_texts(item):
            example = [] if filled(text, slots, "en") == text else [filled(text, slots, "en")]
            catalog.add(text, auto_comments=[f"{item['id']}: {role}", *example])
    return catalog


def update_catalog(path: str | Path, templates: Iterable[dict], language: str) -> Catalog:
    """Bring a .po file up to date with the templates and return it; a text that changed is marked fuzzy."""
    fresh = catalog_of(templates, language)
    if Path(path).exists():
        catalog = _read(path, language)
        catalog.update(fresh, update_creation_date=False)
        catalog.obsolete.clear()
    else:
        catalog = fresh
    catalog.creation_date = catalog.revision_date = EPOCH
    with whole_file(path) as temporary, open(temporary, "wb") as stream:
        write_po(stream, catalog, width=100, sort_output=False)
    return catalog


def texts_of_templates(templates: Iterable[dict]) -> dict[str, str]:
    """Return {English text: id of the first template that has it}."""
    found: dict[str, str] = {}
    for item in templates:
        for _, text in template_texts(item):
            found.setdefault(text, item["id"])
    return found


def read_translations(path: str | Path, language: str, messages: Mapping[str, str]) -> dict[str, str]:
    """Return {English text: translation} for all `messages`: {English text: id of what it belongs to}.

    Raises PolyrewardError that lists every missing, fuzzy or broken entry."""
    catalog = _read(path, language)
    translations, problems = {}, []
    for text, owner in messages.items():
        entry = catalog.get(text)
        name = f"{path}: `{owner}`: \u201c{text if len(text) < 60 else text[:57] + '...'}\u201d"
        if entry is None:
            problems.append(f"{name} is not in the catalog; run `polyreward catalog update` and translate it")
        elif not entry.string:
            problems.append(f"{name} is not translated; fill in its msgstr")
        elif entry.fuzzy:
            problems.append(f"{name} is fuzzy; check its msgstr and delete the fuzzy flag")
        else:
            broken = list(broken_invariants(text, entry.string))
            problems += [f"{name}: the translation {what}; fix its msgstr" for what in broken]
            translations[text] = entry.string
    raise_all(problems, f"catalog {path}")
    return translations


def translated_templates(folder: str | Path, schema: dict, catalog: str | Path | None, language: str) -> list[dict]:
    """Return all rows of a folder of templates in a language, as `templates.expanded` has them. catalog: None for English."""
    rows = expanded(read_templates(data_files(folder), schema), Path(folder).name)
    if catalog is None:
        return rows
    return [{**row, **texts} for row, texts in zip(rows, translated_fields(rows, catalog, language), strict=True)]


def translated_fields(rows: Sequence[dict], catalog: str | Path, language: str) -> list[dict]:
    """Return the fields of each row that comes from a template (`templates.expanded`) in a language.

    Raises PolyrewardError for every missing, fuzzy or broken catalog entry."""
    owners: dict[str, str] = {}
    for row in rows:
        for text in (text for field in row["messages"].values() for text in contents(field)):
            owners.setdefault(text, row["template"])
    translations = read_translations(catalog, language, owners)
    return [filled_fields(row["messages"], row["slots"], language, translations) for row in rows]


def _read(path: str | Path, language: str) -> Catalog:
    try:
        with open(path, "rb") as stream:
            return read_po(stream, locale=language, abort_invalid=True)
    except FileNotFoundError as error:
        raise PolyrewardError(f"{path}: there is no catalog for `{language}`; run `polyreward catalog update`") from error
    except PoFileError as error:
        raise PolyrewardError(f"{path}: not a .po file ({error}); fix that line") from error
