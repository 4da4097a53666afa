"""gettext catalogs (.po files, for Poedit), written from templates and read with Babel."""

import datetime
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import takewhile
from pathlib import Path

from babel.messages.catalog import Catalog
from babel.messages.pofile import PoFileError, denormalize, read_po, write_po

from polyreward.core.conversations import contents, map_texts
from polyreward.core.errors import PolyrewardError, raise_all
from polyreward.core.files import whole_file
from polyreward.sources.slots import filled
from polyreward.sources.templates import TEXTS, filled_fields, resolved_slots, template_texts
from polyreward.translation.invariants import broken_invariants

EPOCH = datetime.datetime(2000, 1, 1, tzinfo=datetime.UTC)  # a catalog carries no clock


def catalog_of(items: Iterable[dict], language: str) -> Catalog:
    """Return an untranslated catalog: a message per text, commented with its id, role and a filled example.

    Args:
        items: templates, or rows of short texts ({id, role: text}), in the messages' order.
    """
    catalog = Catalog(
        locale=language,
        project="polyreward",
        version="1",
        charset="utf-8",
        creation_date=EPOCH,
        revision_date=EPOCH,
        header_comment=f"# English to {language}: the item templates of polyreward's own data.",
        fuzzy=False,
        last_translator="polyreward",
        language_team=language,
        msgid_bugs_address="",
    )
    for item in items:
        if "fills" not in item:
            for role in roles_of(item):
                catalog.add(item[role], auto_comments=[f"{item['id']}: {role}"])
            continue
        slots = resolved_slots(item["slots"], item["fills"][0])
        for role, text in template_texts(item):
            example = filled(text, slots, "en")
            comments = [f"{item['id']}: {role}", *([example] if example != text else [])]
            catalog.add(text, auto_comments=comments)
    return catalog


def roles_of(row: dict) -> list[str]:
    """Return a row's fields to translate: a pair's, an instruction's, or a passage's."""
    return [role for role in (*TEXTS, "reference", "text") if role in row]


def update_catalog(path: str | Path, items: Iterable[dict], language: str) -> bool:
    """Update a .po file to the items of `catalog_of`; return whether it changed.

    A changed text keeps the translation of its item and role, and becomes fuzzy."""
    fresh = catalog_of(items, language)
    before = Path(path).read_bytes() if Path(path).exists() else None
    if before is not None:
        catalog = _read(path, language)
        _add_new_texts(catalog, fresh)
        catalog.update(fresh, update_creation_date=False)
        catalog.obsolete.clear()
    else:
        catalog = fresh
    catalog.creation_date = catalog.revision_date = EPOCH
    with whole_file(path) as temporary, open(temporary, "wb") as stream:
        write_po(stream, catalog, width=100, sort_output=False)
    return Path(path).read_bytes() != before


def _add_new_texts(catalog: Catalog, fresh: Catalog) -> None:
    """Add the texts that a catalog lacks; Babel would compare each with all others, for minutes."""
    gone = [entry for entry in catalog if entry.id and entry.string and entry.id not in fresh]
    by_place = {place: entry for entry in gone for place in entry.auto_comments}
    for entry in [entry for entry in fresh if entry.id and entry.id not in catalog]:
        before = next((by_place[place] for place in entry.auto_comments if place in by_place), None)
        if before is None:
            catalog.add(entry.id)
        else:
            catalog.add(entry.id, before.string, flags={"fuzzy"}, user_comments=before.user_comments)


def texts_of_templates(templates: Iterable[dict]) -> dict[str, str]:
    """Return {English text: id of the first template with it}."""
    found: dict[str, str] = {}
    for item in templates:
        for _, text in template_texts(item):
            found.setdefault(text, item["id"])
    return found


def read_translations(
    path: str | Path, language: str, messages: Mapping[str, str], part: bool = False
) -> dict[str, str]:
    """Return {English text: translation}; messages: {English text: id of its item}.

    Raises:
        PolyrewardError: lists every fuzzy or broken entry, and without `part` every missing one.
    """
    catalog = _read(path, language)
    translations, problems = {}, []
    for text, owner in messages.items():
        entry = catalog.get(text)
        name = f"{path}: `{owner}`: \u201c{text if len(text) < 60 else text[:57] + '...'}\u201d"
        if entry is None or not entry.string:
            if not part:
                missing = "is not in the catalog; run `polyreward catalog update` and translate it"
                problems.append(
                    f"{name} {missing if entry is None else 'is not translated; fill in its msgstr'}"
                )
        elif entry.fuzzy:
            problems.append(f"{name} is fuzzy; check its msgstr and delete the fuzzy flag")
        else:
            broken = list(broken_invariants(text, entry.string))
            problems += [f"{name}: the translation {what}; fix its msgstr" for what in broken]
            translations[text] = entry.string
    raise_all(problems, f"catalog {path}")
    return translations


def translated_rows(
    rows: Sequence[dict], catalog: str | Path, language: str, part: bool = False
) -> list[dict]:
    """Return rows of templates (`templates.expanded`) or short texts in a language.

    Args:
        part: leave out templates with an untranslated text; of pairs of kinds, which may hold another
            template's text, only such pairs.

    Raises:
        PolyrewardError: as read_translations; or `part` leaves no row.
    """

    def texts(row: dict) -> list[str]:
        fields = row["messages"].values() if "messages" in row else (row[role] for role in roles_of(row))
        return [text for field in fields for text in contents(field)]

    def owner(row: dict) -> str:
        return row.get("template") or row["id"]

    def unit(row: dict) -> str:
        return row["id"] if "kind" in row else owner(row)

    owners: dict[str, str] = {}
    for row in rows:
        for text in texts(row):
            owners.setdefault(text, owner(row))
    translations = read_translations(catalog, language, owners, part)
    left_out = {unit(row) for row in rows if not translations.keys() >= set(texts(row))}
    kept = [row for row in rows if unit(row) not in left_out]
    if rows and not kept:
        raise PolyrewardError(
            f"{catalog}: of {len(rows)} rows such as `{rows[0]['id']}` none is translated whole; translate"
            " some"
        )
    found = []
    for row in kept:
        if "messages" in row:
            fields = filled_fields(row["messages"], row["slots"], language, translations)
        else:
            fields = {role: map_texts(row[role], translations.__getitem__) for role in roles_of(row)}
        found.append({**row, **fields})
    return found


def _read(path: str | Path, language: str) -> Catalog:
    try:
        with open(path, "rb") as stream:
            catalog = read_po(stream, locale=language, abort_invalid=True)
    except FileNotFoundError as error:
        raise PolyrewardError(
            f"{path}: there is no catalog for `{language}`; run `polyreward catalog update`"
        ) from error
    except UnicodeDecodeError as error:
        raise PolyrewardError(f"{path}: not UTF-8 (byte {error.start}); save the file in UTF-8") from error
    except (
        PoFileError,
        ValueError,
        LookupError,
    ) as error:  # the last two: a header or an escape that is none
        raise PolyrewardError(f"{path}: not a .po file ({error}); fix that line") from error
    raise_all(_twice(Path(path).read_text(encoding="utf-8")), f"catalog {path}")
    return catalog


def _twice(text: str) -> Iterator[str]:
    """Yield each text with two entries in a .po file, of which Babel silently takes the first."""
    lines, first = text.splitlines(), {}
    for number, line in enumerate(lines, start=1):
        if line.startswith("msgid ") and not lines[number - 2].startswith("msgctxt "):
            rest = takewhile(lambda one: one.startswith('"'), lines[number:])
            message = denormalize("\n".join([line.removeprefix("msgid "), *rest]))
            if message in first:
                yield (
                    f"line {number}: \u201c{message[:60]}\u201d is also in line {first[message]}; delete"
                    " one entry"
                )
            first.setdefault(message, number)
