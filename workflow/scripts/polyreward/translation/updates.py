"""Bring a gettext catalog up to date in seconds: what changed is found by its item, not by likeness."""

from collections.abc import Sequence
from pathlib import Path

from babel.messages.pofile import read_po, write_po

from polyreward.core.files import whole_file
from polyreward.translation.catalog import catalog_of, read_translations, update_catalog


def bring_up_to_date(path: str | Path, items: Sequence[dict], language: str) -> bool:
    """Update a .po file to the items of `catalog_of`; return whether it changed.

    A changed text keeps the translation of its item and role, and becomes fuzzy.
    """
    before = Path(path).read_bytes() if Path(path).exists() else None
    if before is not None:
        _add_new_texts(path, items, language)
    update_catalog(path, items, language)
    return Path(path).read_bytes() != before


def _add_new_texts(path: str | Path, items: Sequence[dict], language: str) -> None:
    """Add the texts that a file lacks, so that Babel compares none with all others, which takes minutes."""
    read_translations(path, language, {})  # a broken file is an error in our words
    with open(path, "rb") as stream:
        catalog = read_po(stream, locale=language)
    fresh = catalog_of(items, language)
    gone = [entry for entry in catalog if entry.id and entry.string and entry.id not in fresh]
    by_place = {place: entry for entry in gone for place in entry.auto_comments}
    for entry in [entry for entry in fresh if entry.id and entry.id not in catalog]:
        before = next((by_place[place] for place in entry.auto_comments if place in by_place), None)
        if before is None:
            catalog.add(entry.id)
        else:
            catalog.add(entry.id, before.string, flags={"fuzzy"}, user_comments=before.user_comments)
    with whole_file(path) as temporary, open(temporary, "wb") as stream:
        write_po(stream, catalog)
