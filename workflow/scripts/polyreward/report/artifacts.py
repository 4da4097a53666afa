"""The registry's artifacts on the page: files, printed numbers, and how to make each."""

import base64
import io
import re
from functools import cache
from pathlib import Path
from types import SimpleNamespace as Shown

import numpy as np
import pandas as pd
from PIL import Image, UnidentifiedImageError

from polyreward.carb.downstream.correlation import R2, P
from polyreward.config.registry import CATEGORIES
from polyreward.core.errors import PolyrewardError
from polyreward.core.files import sha256_of
from polyreward.report.results import Results
from polyreward.report.tables import Table, read_csv_table, read_rendered, table_of

COLOURS = 256  # of a picture in the page: a third of the bytes of its file, and nothing that the eye misses
NUMBERS = {"ours": "", "printed": "", "difference": "+"}  # of a comparison, with their signs


def shown_artifacts(results: Results, root: Path) -> dict[str, list[Shown]]:
    """Return {category: its artifacts} in the registry's order; root: the checkout.

    Raises:
        PolyrewardError: there is no artifact.
    """
    found: dict[str, list[Shown]] = {category: [] for category in CATEGORIES.values()}
    for name in results.targets:
        shown = shown_artifact(results, name, root)
        found[shown.category].append(shown)
    if not any(shown.made for listed in found.values() for shown in listed):
        raise PolyrewardError(
            f"{results.folder}: no table, figure or notebook is here yet; make one, as by"
            f" `{results.command('table1.csv')}`, or everything by `{results.command_of_all}`"
        )
    return {category: listed for category, listed in found.items() if listed}


def shown_artifact(results: Results, name: str, root: Path) -> Shown:
    """Return one artifact with all of its existing files; root: the checkout.

    data is the file with its numbers, sha256 that of data, and made_by the file with its rule.
    """
    entry, target = results.registry.entry(name), results.targets[name]
    files = files_of(results, name)
    made = target in files
    data = next((file for file in files if Path(file).suffix == ".csv"), "") if made else ""
    first, rest = sentences(results.registry.caption(name))
    rule = entry["rule"]
    picture = Path(target).with_suffix(".png")
    alt = f"{entry['number']} of this run. {first} Its numbers are in {Path(target).stem}.csv."
    return Shown(
        name=name,
        category=CATEGORIES[entry["paper"]],
        number=entry["number"],
        first=first,
        rest=rest,
        command=results.command(target),
        rule=rule,
        made_by=rule_files(root / "workflow/rules").get(rule, ""),
        made=made,
        files=files if made else [],
        data=data,
        sha256=sha256_of(results.folder / data) if data else "",
        table=_table(results.folder, target) if made and target.endswith(".csv") else None,
        figure=read_figure(results.folder / picture, alt) if made and target.endswith(".png") else None,
        comparison=_comparison(results, name, root) if made else None,
    )


def sentences(caption: str) -> tuple[str, str]:
    """Split a caption into its first sentence and the rest."""
    first, *rest = re.split(r"(?<=[.?])\s+(?=[A-Z])", caption, maxsplit=1)
    return first, "".join(rest)


def files_of(results: Results, name: str) -> list[str]:
    """Return the existing files of an artifact: with its name, or its name and one more word.

    A file with the name of another artifact belongs to that one.
    """
    target = Path(results.targets[name])
    own = target.stem
    stems = [Path(other).stem for other in results.targets.values()]
    longer = tuple(f"{other}_" for other in stems if other.startswith(f"{own}_"))
    found = [
        path.relative_to(results.folder).as_posix()
        for path in (results.folder / target.parent).glob(f"{own}*")
        if path.is_file() and f"{path.stem}_".startswith(f"{own}_") and not f"{path.stem}_".startswith(longer)
    ]
    return sorted(found, key=lambda file: (Path(file).stem, file))


def _table(folder: Path, target: str) -> Table:
    rendered = (folder / target).with_suffix(".html")
    return read_rendered(rendered) if rendered.is_file() else read_csv_table(folder / target)


def _comparison(results: Results, name: str, root: Path) -> Shown | None:
    """Return an artifact's comparison with the printed one; None where the paper prints none."""
    entry = results.registry.entry(name)
    source = entry.get("published")
    if source is None:
        return None
    compared = f"compare/{name}.csv"
    if (results.folder / compared).is_file():
        table = compared_table(results.folder / compared)
        return Shown(table=table, file=compared, printed=None, source=source, command="")
    can_be = results.registry.scale.paths.artifact(compared) in results.registry.compared_targets()
    printed = printed_table(root / source, entry.get("language"))
    command = results.command(compared) if can_be else ""
    return Shown(table=None, file="", printed=printed, source=source, command=command)


def compared_table(path: Path) -> Table:
    """Lay out a comparison with signed differences: percent with one digit, fractions with three."""
    table = pd.read_csv(path)
    fractions = table["row"].isin([R2, P])
    shown = table.astype(dict.fromkeys(NUMBERS, str)).fillna("")
    for name, sign in NUMBERS.items():
        digits = np.where(fractions, f"{sign}.3g", f"{sign}.1f")
        shown[name] = [f"{value:{form}}" for value, form in zip(table[name], digits, strict=True)]
    heads = [name.replace("_", " ") for name in shown.columns]
    return table_of([], heads, shown.astype(str).to_numpy().tolist())


def printed_table(path: Path, language: str | None) -> Table:
    """Lay out the printed numbers as in their file, restricted to the artifact's language."""
    table = pd.read_csv(path, dtype=str, keep_default_na=False)
    if language and "eval_language" in table:
        table = table[table["eval_language"] == language]
    return table_of([], [name.replace("_", " ") for name in table.columns], table.to_numpy().tolist())


@cache
def rule_files(folder: Path) -> dict[str, str]:
    """Return {rule: its file} of a folder of .smk files."""
    found = {}
    for path in sorted(folder.glob("*.smk")):
        text = path.read_text(encoding="utf-8")
        for old, new in re.findall(r"^(?:use )?rule (\w+)(?: as (\w+))?", text, re.MULTILINE):
            found[new or old] = f"workflow/rules/{path.name}"
    return found


def read_figure(path: Path, alt: str) -> Shown:
    """Return a PNG file as a data URI with few colours; raise PolyrewardError where it is none."""
    try:
        with Image.open(path, formats=["PNG"]) as file:
            whole = file.convert("RGBA")
    except (UnidentifiedImageError, OSError) as error:
        raise PolyrewardError(f"{path}: not a whole PNG file; remove it and make it again") from error
    picture = Image.alpha_composite(Image.new("RGBA", whole.size, "white"), whole).convert("RGB")
    stream = io.BytesIO()
    picture.quantize(COLOURS, dither=Image.Dither.NONE).save(stream, "PNG", compress_level=9)
    content = base64.b64encode(stream.getvalue()).decode("ascii")
    width, height = picture.size
    return Shown(source=f"data:image/png;base64,{content}", width=width, height=height, alt=alt)
