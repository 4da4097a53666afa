"""Writing the page of errors: what reward models disagree on and what all of them miss, item by item."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from polyreward.carb.inputs import Carb
from polyreward.config.model_files import ModelFiles
from polyreward.core.codehash import Library
from polyreward.core.files import write_text
from polyreward.core.naming import Paths
from polyreward.report.disagreements import Pair, missing_scores, read_disagreements
from polyreward.report.missed_items import Missed, missing_carb_scores, read_missed_items
from polyreward.report.results import Results
from polyreward.report.template import rendered

ERRORS = "errors.html"  # beside the report
MOST_SHOWN = (
    60,
    40,
    25,
    15,
    8,
    4,
    2,
    1,
)  # pairs of a base, and items of a culture: the most with which the page is small enough
MOST_BYTES = 4_900_000  # a page of 5 MB still opens in a second

# What a list may be narrowed by: (its name, its attribute of an article, [(value, name)])
Filter = tuple[str, str, list[tuple[str, str]]]


def write_errors(results: Results, report: Path, root: Path) -> Path:
    """Write the page of errors beside the report, which it links to; returns its path.

    root: the checkout.

    The same folder gives the same bytes. Where scores are missing it says how to make them. Raises
    PolyrewardError where scores are damaged, or of other rows."""
    scale, paths = results.registry.scale, Paths(str(results.folder))
    carb = Carb(scale, ModelFiles(scale, Library(root / "workflow/scripts/polyreward")))
    names = {code: facts["name"] for code, facts in scale.known.languages.items()}
    bases, missed = read_disagreements(scale, paths), read_missed_items(carb, paths)
    absent, absent_carb = (
        [Path(path).relative_to(results.folder).as_posix() for path in found]
        for found in (missing_scores(scale, paths), missing_carb_scores(carb, paths))
    )
    text = ""
    for most in MOST_SHOWN:
        pairs = [pair for of in bases for pair in of.pairs[:most]]
        items = [item for listed in missed.by_culture.values() for item in listed[:most]] if missed else []
        text = rendered(
            root,
            "errors.html",
            ["style.css", "errors.css"],
            "errors.js",
            report=report.name,
            scale=scale,
            about=results.about,
            names=names,
            bases=bases,
            pairs=pairs,
            pair_filters=pair_filters(pairs, scale.targets, names),
            command=results.command(*absent) if absent else "",
            missed=missed,
            items=items,
            item_filters=item_filters(items, names),
            n_reward_models=len(carb.reward_models),
            carb_command=results.command(*absent_carb) if absent_carb else "",
            most=most,
            most_usual=MOST_SHOWN[0],
        )
        if len(text.encode()) <= MOST_BYTES:
            break
    out = report.parent / ERRORS
    write_text(text, out)
    return out


def pair_filters(pairs: Sequence[Pair], targets: Sequence[str], names: Mapping[str, str]) -> list[Filter]:
    """Return what pairs may be narrowed by; names: of languages."""
    apart = {column.language for pair in pairs for column in pair.apart}
    return [
        ("Base", "base", _same(pair.base for pair in pairs)),
        ("Section", "section", _same(pair.section for pair in pairs)),
        ("Subset", "subset", _same(sorted({pair.subset for pair in pairs}))),
        ("They disagree in", "languages", [(one, names[one]) for one in targets if one in apart]),
    ]


def item_filters(items: Sequence[Missed], names: Mapping[str, str]) -> list[Filter]:
    """Return what items of CARB may be narrowed by; names: of languages."""
    return [
        (
            "Culture",
            "culture",
            [(one, names.get(one, one)) for one in dict.fromkeys(item.culture for item in items)],
        ),
        ("Domain", "domain", _same(sorted({item.domain for item in items}))),
    ]


def _same(values: Iterable[str]) -> list[tuple[str, str]]:
    return [(value, value) for value in dict.fromkeys(values)]
