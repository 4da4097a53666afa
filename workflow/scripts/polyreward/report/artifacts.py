"""The registry's artifacts on the page: files, printed numbers, and how to make each."""

import base64
import io
import re
from functools import cache
from pathlib import Path
from types import SimpleNamespace as Shown

import numpy as np
import pandas as pd
from babel import Locale
from PIL import Image, UnidentifiedImageError

from polyreward.carb.downstream.correlation import R2, P
from polyreward.core.errors import PolyrewardError
from polyreward.core.files import sha256_of
from polyreward.core.tables import read_csv
from polyreward.ops.scales import others_with
from polyreward.report.results import Results
from polyreward.report.tables import Table, read_csv_table, read_rendered, table_of
from polyreward.sheet.registry import CATEGORIES
from polyreward.transfer.tables import SECTION_NAMES, TRAINING_NAMES

COLOURS = 256  # of a picture in the page: a third of the bytes of its file, and nothing that the eye misses
PRINTED_HEADS = {
    **SECTION_NAMES,
    **dict.fromkeys(("rm_training", "rm_language"), "RM"),
    **dict.fromkeys(("carb", "carb_avg"), "CARB"),
    **{name: f"{name[:2].upper()}, %" for name in ("cc_percent", "rc_percent", "cl_percent", "rp_percent")},
    "eval_language": "RewardBench",
    "base_model": "Base",
    "avg": "Avg.",
    "m_rewardbench": "M-RewardBench",
    "r_squared": "R\u00b2",
    "p_value": "p",
    "ours_model": "Our model",
}
NUMBERS = {"ours": "", "printed": "", "difference": "+"}  # of a comparison, with their signs


def shown_artifacts(results: Results, root: Path) -> dict[str, list[Shown]]:
    """Return {category: its artifacts} in the registry's order; root: the checkout."""
    shown = [shown_artifact(results, name, root) for name in results.targets]
    if not any(one.made for one in shown):
        others = others_with("*.csv", results.folder, root)
        there = "".join(
            f"; or show {other}, which has tables: `make report RESULTS={other}`" for other in others
        )
        raise PolyrewardError(
            f"{results.folder}: no table, figure or notebook is here yet; make one, as by"
            f" `{results.command('table1.csv')}`, or everything by `{results.command_of_all}`{there}"
        )
    listed = {name: [one for one in shown if one.category == name] for name in CATEGORIES.values()}
    return {category: found for category, found in listed.items() if found}


def shown_artifact(results: Results, name: str, root: Path) -> Shown:
    """Return one artifact with its files, the one with its numbers (data), and the file of its rule
    (made_by)."""
    entry, target, files = results.registry.entry(name), results.targets[name], files_of(results, name)
    made, path = target in files, results.folder / target
    data = next((file for file in files if Path(file).suffix == ".csv"), "") if made else ""
    first, rest = sentences(results.registry.caption(name))
    table = None
    if made and target.endswith(".csv"):
        page = path.with_suffix(".html")
        table = read_rendered(page) if page.is_file() else read_csv_table(path)
    alt = f"{entry['number']} of this run. {first} Its numbers are in {Path(target).stem}.csv."
    return Shown(
        name=name,
        category=CATEGORIES[entry["paper"]],
        number=entry["number"],
        first=first,
        rest=rest,
        command=results.command(target),
        rule=entry["rule"],
        made_by=rule_files(root / "workflow/rules").get(entry["rule"], ""),
        made=made,
        files=files if made else [],
        data=data,
        sha256=sha256_of(results.folder / data) if data else "",
        table=table,
        figure=read_figure(path, alt) if made and target.endswith(".png") else None,
        comparison=_comparison(results, name, root) if made else None,
    )


def sentences(caption: str) -> tuple[str, str]:
    """Split a caption into its first sentence and the rest."""
    first, *rest = re.split(r"(?<=[.?])\s+(?=[A-Z])", caption, maxsplit=1)
    return first, "".join(rest)


def files_of(results: Results, name: str) -> list[str]:
    """Return an artifact's files: those whose name begins with its own, but for those of another artifact."""
    target = Path(results.targets[name])
    own, stems = target.stem, [Path(other).stem for other in results.targets.values()]
    longer = tuple(f"{other}_" for other in stems if other.startswith(f"{own}_"))
    found = [
        path.relative_to(results.folder).as_posix()
        for path in (results.folder / target.parent).glob(f"{own}*")
        if path.is_file() and f"{path.stem}_".startswith(f"{own}_") and not f"{path.stem}_".startswith(longer)
    ]
    return sorted(found, key=lambda file: (Path(file).stem, file))


def _comparison(results: Results, name: str, root: Path) -> Shown | None:
    """Return an artifact's comparison with the printed one; None where the paper prints none."""
    entry, compared = results.registry.entry(name), f"compare/{name}.csv"
    source = entry.get("published")
    if source is None:
        return None
    if (results.folder / compared).is_file():
        table = compared_table(results.folder / compared)
        return Shown(table=table, file=compared, printed=None, source=source, command="")
    printed = printed_table(root / source, entry.get("language"))
    command = results.command(compared) if name in results.registry.printed() else ""
    return Shown(table=None, file="", printed=printed, source=source, command=command)


def compared_table(path: Path) -> Table:
    """Lay out a comparison with signed differences: percent with one digit, fractions with three."""
    table = read_csv(path)
    fractions = table["row"].isin([R2, P])
    shown = table.astype(dict.fromkeys(NUMBERS, str)).fillna("")
    for name, sign in NUMBERS.items():
        digits = np.where(fractions, f"{sign}.3g", f"{sign}.1f")
        shown[name] = [f"{value:{form}}" for value, form in zip(table[name], digits, strict=True)]
    for name in ("row", "column"):
        shown[name] = shown[name].astype(str).map(_in_words)
    heads = [_printed_head(name) for name in shown.columns]
    return table_of([], heads, shown.astype(str).to_numpy().tolist())


def _in_words(cell: str) -> str:
    """Return a row or a column of a comparison, such as `es target`, in the words of our tables."""
    language, _, training = cell.partition(" ")
    if not re.fullmatch("[a-z]{2}", language):
        return PRINTED_HEADS.get(cell, cell)
    return _printed_head(language) + (f", {TRAINING_NAMES.get(training, training)}" if training else "")


def printed_table(path: Path, language: str | None) -> Table:
    """Lay out the printed numbers of a file with the words of our tables, restricted to the artifact's
    language."""
    table = pd.read_csv(path, dtype=str, keep_default_na=False)
    if language and "eval_language" in table:
        table = table[table["eval_language"] == language].drop(columns="eval_language")
    table = table.drop(columns="table", errors="ignore")  # its number, which is in the heading
    for name in {"eval_language", "rm_language"} & set(table):
        table[name] = [Locale.parse(code).get_language_name("en") if code else "" for code in table[name]]
    if "rm_training" in table:
        table["rm_training"] = table["rm_training"].replace(TRAINING_NAMES)
    return table_of([], list(map(_printed_head, table.columns)), table.to_numpy().tolist())


def _printed_head(name: str) -> str:
    if re.fullmatch("[a-z]{2}", name):  # a language
        return Locale.parse(name).get_language_name("en")
    return PRINTED_HEADS.get(name, name.replace("_", " ").capitalize())


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
    """Return a PNG file as a data URI with few colours."""
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
