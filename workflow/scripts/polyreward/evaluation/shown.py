"""What `polyreward compare` prints, writes and draws."""

from pathlib import Path

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from polyreward.artifacts.figures import BLACK, TEXT_WIDTH, paper_style, reach, save_figure
from polyreward.artifacts.renderings import with_interval
from polyreward.core.errors import PolyrewardError
from polyreward.core.files import unwritable
from polyreward.core.tables import as_markdown, p_text, write_table
from polyreward.evaluation.compare import MODEL_COLUMNS, PAIR_COLUMNS, PART_COLUMNS, STUDENT, Found

SIDE_BY_SIDE = 4  # models in one table of parts
LISTED = 50  # pairs on the screen
FILES = ("models.csv", "parts.csv", "pairs.csv", "models.png", "models.pdf")
TIES = {
    "wrong": "A tie counts as wrong.",
    "shared": "A tie counts as one over the number of answers at the top.",
}


def summary(found: Found, ties: str) -> str:
    """Return a comparison as text: models, their accuracies in each part, pairs, and how to read them."""
    models = found.models
    n_items, n_clusters = models.loc[0, ["n_items", "n_clusters"]]
    head = f"{len(models)} models on {n_items} items in {n_clusters} clusters. Accuracy: {found.score}, in %."
    texts = [head, as_markdown(_models(models))]
    if (found.parts["level"] != "overall").any():
        names = list(models["model"])
        texts += [
            as_markdown(_parts(found.parts, names[start : start + SIDE_BY_SIDE]))
            for start in range(0, len(names), SIDE_BY_SIDE)
        ]
    if len(found.pairs):
        texts.append(as_markdown(_pairs(found.pairs)))
    return "\n\n".join([*texts, "\n".join(_remarks(found, ties))])


def _models(models: pd.DataFrame) -> pd.DataFrame:
    shown = pd.DataFrame(
        {
            "model": models["model"],
            "accuracy [95%]": _intervals(models, "accuracy_pct", ".1f"),
            "rank [95%]": _intervals(models, "rank", ".0f", "rank_low", "rank_high"),
            "group": models["group"],
        }
    )
    if (models["n_trainings"] > 1).any():
        for head, name in (("trainings", "n_trainings"), ("SD of trainings", "sd_trainings")):
            shown[head] = [f"{value:.3g}" if value == value else "" for value in models[name]]
        for head, name in (("SE from items", "se_items"), ("SE from trainings", "se_trainings")):
            shown[head] = [f"{value:.2f}" if value == value else "" for value in models[name]]
    return shown


def _parts(parts: pd.DataFrame, names: list[str]) -> pd.DataFrame:
    cells = parts.assign(cell=_intervals(parts, "accuracy_pct", ".1f"))
    keys = ["level", "part", "n_items", "n_clusters"]
    table = cells[cells["model"].isin(names)].pivot_table(
        index=keys, columns="model", values="cell", aggfunc="first", sort=False
    )
    return table[names].reset_index().rename(columns={"n_items": "items", "n_clusters": "clusters"})


def _pairs(pairs: pd.DataFrame) -> pd.DataFrame:
    rows = pairs.head(LISTED)
    return pd.DataFrame(
        {
            "part": rows["part"],
            "model": rows["model"],
            "against": rows["against"],
            "difference [95%]": _intervals(rows, "difference", "+.1f"),
            "only one right": [
                f"{wins} to {losses}" if test != STUDENT else ""
                for wins, losses, test in zip(rows["wins"], rows["losses"], rows["test"], strict=True)
            ],
            "p": rows["p"].map(p_text),
            "p, corrected": rows["p_holm"].map(p_text),
            "apart": np.where(rows["apart"].astype(bool), "yes", "no"),
            "items to decide": list(map(_about, rows["items_needed"])),
        }
    )


def _about(count: float) -> str:
    """Return a number with two digits that count, such as 7,800; nothing where it is missing."""
    return "" if pd.isna(count) else f"{float(f'{count:.2g}'):,.0f}"


def _intervals(table: pd.DataFrame, value: str, form: str, low: str = "low", high: str = "high") -> list[str]:
    return [with_interval(*row, form) for row in table[[value, low, high]].itertuples(index=False)]


def _remarks(found: Found, ties: str) -> list[str]:
    pairs, parts, models = found.pairs, found.parts, found.models
    tied = [f"{row.model} {row.tied_pct:.1f}" for row in models.itertuples() if row.tied_pct]
    remarks = [
        "Intervals are 95%, each by itself, by bootstrap over clusters. Ranks hold all at once (Bonferroni).",
        f"{TIES[ties]} Tied items, in %: {', '.join(tied) or 'none'}.",
    ]
    if len(models) > 1:
        remarks.append("Models that share a letter in `group` are not apart.")
    if len(pairs):
        tests = "McNemar's exact test over clusters"
        if (pairs["test"] == STUDENT).any():
            tests += ", or Student's t with the variance of trainings where a model has several"
        remarks += [
            f"Difference: model minus against, in points, paired. p: {tests}.",
            f"Comparisons that Holm's correction covers: {len(pairs)}.",
            "Apart: corrected p is at most 0.05, and the interval excludes zero. Items to decide: that many"
            " would separate the two with a probability of 80%, if the difference is as seen.",
        ]
        if len(pairs) > LISTED:
            remarks.append(
                f"The table has the first {LISTED} comparisons. With --out, pairs.csv has all {len(pairs)}."
            )
    alone = parts[parts["low"].isna()]["part"].unique()
    if len(alone):
        remarks.append(f"No interval can be had, since a subset has one cluster: {', '.join(alone)}.")
    if found.missing:
        remarks.append(f"Subsets of the benchmark without items: {', '.join(found.missing)}.")
    return remarks


def check_folder(folder: Path) -> None:
    """Raise PolyrewardError where the files of a comparison cannot be written into a folder."""
    reason = "it is a file" if folder.is_file() else unwritable(folder / FILES[0])
    if reason:
        raise PolyrewardError(f"--out: {folder}: cannot be written ({reason}); name another folder")


def write_comparison(found: Found, folder: Path) -> None:
    """Write FILES; models.csv has what the figure shows."""
    columns = (MODEL_COLUMNS, PART_COLUMNS, PAIR_COLUMNS)
    for name, table, of_file in zip(FILES, found, columns, strict=False):
        if len(table):
            write_table(table, folder / name, of_file)
    save_figure(draw_models(found), folder / "models.png", folder / "models.pdf")


@paper_style()
def draw_models(found: Found) -> Figure:
    """Draw each model's accuracy with its interval, the best on top, and a line for each group."""
    models = found.models
    letters = sorted(
        {letter for group in models["group"] for letter in group.split()}, key=lambda x: (len(x), x)
    )
    figure = Figure(figsize=(TEXT_WIDTH, 0.7 + 0.2 * len(models)), layout="constrained")
    left, right = figure.subplots(1, 2, sharey=True, width_ratios=[6, max(1, 0.3 * len(letters))])
    places = np.arange(len(models))
    ends, look = reach(models, "accuracy_pct"), {"color": BLACK, "markersize": 3, "linewidth": 0.8}
    left.errorbar(models["accuracy_pct"], places, xerr=ends, fmt="o", **look)
    left.set_yticks(places, models["model"])
    left.set_ylim(len(models) - 0.5, -0.5)
    left.tick_params(axis="y", length=0)
    left.grid(axis="x", color="0.9", linewidth=0.5)
    left.set_axisbelow(True)
    n_items, n_clusters = models.loc[0, ["n_items", "n_clusters"]]
    left.set_xlabel(f"accuracy, {found.score}, % [95%], n = {n_items} items in {n_clusters} clusters")
    for column, letter in enumerate(letters):
        rows = [
            place for place, group in zip(places, models["group"], strict=True) if letter in group.split()
        ]
        right.plot([column] * 2, [rows[0] - 0.2, rows[-1] + 0.2], color="0.75", linewidth=1.2)
        right.plot([column] * len(rows), rows, "o", color=BLACK, markersize=3)
    right.set_xticks(range(len(letters)), letters)
    right.set_xlim(-0.5, len(letters) - 0.5)
    right.set_xlabel("not apart")
    right.tick_params(axis="both", length=0)
    right.spines[["left", "bottom"]].set_visible(False)
    return figure
