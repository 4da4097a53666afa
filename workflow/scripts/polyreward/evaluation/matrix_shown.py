"""What `polyreward matrix` prints, writes and draws."""

from pathlib import Path

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from polyreward.artifacts.figures import (
    BLACK,
    BLUE,
    GREY,
    ORANGE,
    TEXT_WIDTH,
    language_name,
    paper_style,
    reach,
    save_figure,
)
from polyreward.artifacts.renderings import with_interval
from polyreward.core.errors import PolyrewardError
from polyreward.core.files import unwritable
from polyreward.core.tables import as_markdown, as_written, p_text, write_table
from polyreward.evaluation.matrix import (
    COLUMNS,
    LENGTH,
    MODEL,
    PMI,
    PRINTED_COLUMNS,
    Matrix,
)

FILES = ("matrix.csv", "printed.csv", "matrix.png", "matrix.pdf", "matrix.html")
LOOKS = {MODEL: (BLACK, "o"), LENGTH: (GREY, "s"), PMI: (BLUE, "^")}


def summary(found: Matrix) -> str:
    """Return a matrix as text: each language, its sections, the printed models, and how to read them."""
    tables = [language_table(found), section_table(found), printed_table(found)]
    texts = [as_markdown(table) for table in tables if len(table)]
    return "\n\n".join([headline(found), *texts, "\n".join(remarks(found))])


def headline(found: Matrix) -> str:
    """Return what the numbers are of."""
    first = found.table.iloc[0]
    (n_items, n_clusters) = found.table.loc[found.table["section"] == "avg", ["n_items", "n_clusters"]].iloc[
        0
    ]
    return (
        f"{first['scorer']} in {len(found.languages)} languages, on {n_items} items in {n_clusters} clusters."
        f" Accuracy: {found.score}, in %."
    )


def language_table(found: Matrix) -> pd.DataFrame:
    """Return text cells, a row for each language: accuracies, and losses from English."""
    average = found.table[found.table["section"] == "avg"]
    tables = {scorer: own.set_index("language") for scorer, own in average.groupby("scorer", sort=False)}
    model = tables[found.model]
    shown = pd.DataFrame(
        {
            "language": [language_name(one) for one in model.index],
            "accuracy [95%]": _cells(model, "accuracy_pct", ".1f"),
            "lost from English [95%]": _cells(model, "loss_points", "+.1f"),
            "p, corrected": [p_text(p) for p in model["p_holm"]],
        }
    )
    for scorer, own in tables.items():
        if scorer != found.model:
            shown[scorer] = _cells(own, "accuracy_pct", ".1f")
            shown[f"{scorer}, lost"] = _cells(own, "loss_points", "+.1f")
    return shown


def section_table(found: Matrix) -> pd.DataFrame:
    """Return text cells, a row for each language: the model's sections, and what each loses from English."""
    own = found.table[found.table["scorer"] == found.model]
    records = []
    for language in found.languages if found.sections else ():
        rows = own[own["language"] == language].set_index("section").loc[found.sections]
        record = {"language": language_name(language)}
        record |= dict(zip(found.sections, _cells(rows, "accuracy_pct", ".0f"), strict=True))
        losses = _cells(rows, "loss_points", "+.0f")
        records.append(
            record | {f"{one}, lost": cell for one, cell in zip(found.sections, losses, strict=True)}
        )
    return pd.DataFrame(records)


def printed_table(found: Matrix) -> pd.DataFrame:
    """Return text cells, a row for each printed model: its accuracy in each language, and what it loses."""
    own = found.printed[found.printed["section"] == "avg"]
    records = []
    for (paper, model, trained), rows in own.groupby(["paper", "model", "trained_in"], sort=False):
        cells = {
            row.language: f"{row.accuracy_pct:.1f}"
            + ("" if pd.isna(row.loss_points) else f" ({row.loss_points:+.1f})")
            for row in rows.itertuples()
        }
        named = [one for one in found.languages if one in set(own["language"])]
        records.append(
            {"paper": paper, "model": model, "trained in": language_name(trained) if trained else ""}
            | {f"{language_name(one)} (lost)": cells.get(one, "") for one in named}
            | {"all languages": cells.get("all", "")}
        )
    return pd.DataFrame(records)


def remarks(found: Matrix) -> list[str]:
    """Return how to read a matrix, a sentence or two each."""
    said = [
        "Intervals are 95%, each by itself, by bootstrap over clusters: items of one template, else of one"
        " English prompt, count together.",
        "Lost: English minus the language on the same items, in points, paired. p: McNemar's exact test over"
        " clusters, with Holm's correction for the other languages.",
        "A tie counts as wrong; half right for length and PMI. length scores an answer by its characters.",
    ]
    if PMI in set(found.table["kind"]):
        said.append("PMI: what the prompt adds to the log-likelihood of an answer, under the untrained base.")
    if found.table["low"].isna().any():
        said.append("Without an interval: a subset or all items are of one cluster, so that none can be had.")
    if found.left_out:
        said.append(f"Items left out, since a language lacks them: {found.left_out}.")
    on = "; ".join(f"{paper} on {where}" for paper, where in found.printed_on.items())
    said.append(f"Printed models, for orientation: other items, without intervals ({on}).")
    return said


def _cells(rows: pd.DataFrame, value: str, form: str) -> list[str]:
    ends = ("low", "high") if value == "accuracy_pct" else ("loss_low", "loss_high")
    return [with_interval(*row, form) for row in rows[[value, *ends]].itertuples(index=False)]


def check_folder(folder: Path) -> None:
    """Raise PolyrewardError where a folder's files cannot be written."""
    reason = "it is a file" if folder.is_file() else unwritable(folder / FILES[0])
    if reason:
        raise PolyrewardError(f"--out: {folder}: cannot be written ({reason}); name another folder")


def write_matrix(found: Matrix, folder: Path) -> None:
    """Write both tables and the figure; matrix.csv and printed.csv have what it shows."""
    write_table(found.table, folder / FILES[0], COLUMNS)
    write_table(found.printed, folder / FILES[1], PRINTED_COLUMNS)
    save_figure(draw_matrix(found), folder / FILES[2], folder / FILES[3])


@paper_style()
def draw_matrix(found: Matrix) -> Figure:
    """Draw accuracies in each language, and what is lost from English, of the model and its baselines."""
    average = as_written(found.table[found.table["section"] == "avg"])
    kinds = list(dict.fromkeys(average["kind"]))
    figure = Figure(figsize=(TEXT_WIDTH, 1.1 + 0.34 * len(found.languages)), layout="constrained")
    left, right = figure.subplots(1, 2, sharey=True)
    shifts = np.linspace(-0.22, 0.22, len(kinds)) if len(kinds) > 1 else [0.0]
    for (scorer, kind), own in average.groupby(["scorer", "kind"], sort=False):
        colour, marker = LOOKS[kind]
        places = [found.languages.index(one) + shifts[kinds.index(kind)] for one in own["language"]]
        look = {"color": colour, "marker": marker, "markersize": 3, "linewidth": 0.8, "linestyle": "none"}
        look |= {"elinewidth": 0.8, "label": scorer}
        left.errorbar(own["accuracy_pct"], places, xerr=_reach(own, "accuracy_pct", "low", "high"), **look)
        ends = _reach(own, "loss_points", "loss_low", "loss_high")
        right.errorbar(own["loss_points"], places, xerr=ends, **look)
    printed = found.printed[(found.printed["section"] == "avg") & found.printed["loss_points"].notna()]
    if len(printed):
        places = [found.languages.index(one) for one in printed["language"]]
        label = f"models of {', '.join(printed['paper'].unique())}, on other items"
        right.plot(printed["loss_points"], places, "|", color=ORANGE, markersize=9, label=label, zorder=0)
    left.set_yticks(range(len(found.languages)), map(language_name, found.languages))
    left.set_ylim(len(found.languages) - 0.5, -0.5)
    for axes, label, line in (
        (left, f"accuracy, {found.score}, % [95%]", 50),
        (right, "lost from English, points [95%]", 0),
    ):
        axes.axvline(line, color="0.7", linewidth=0.8, linestyle=":")
        axes.grid(axis="x", color="0.93", linewidth=0.5)
        axes.set_axisbelow(True)
        axes.tick_params(axis="y", length=0)
        axes.set_xlabel(label)
    handles = {
        text: handle
        for axes in (left, right)
        for handle, text in zip(*axes.get_legend_handles_labels(), strict=True)
    }
    figure.legend(handles.values(), handles.keys(), loc="outside upper center", ncols=2)
    return figure


def _reach(rows: pd.DataFrame, value: str, low: str, high: str) -> np.ndarray:
    return np.nan_to_num(reach(rows, value, low, high))
