"""Draw GRPO's course, step by step."""

import json
import re
from pathlib import Path

import pandas as pd
from matplotlib.figure import Figure

from polyreward.artifacts.figures import TEXT_WIDTH, at_least, looks_by_place, paper_style, save_figure, span
from polyreward.core.tables import write_table
from polyreward.ops.jobs import run
from polyreward.think_as_locals.replies import TRAINING_FAULTS

# {column: its name in a step's log}. Those of REPLIES are only known at steps with new replies.
REPLIES = {
    "reward": "reward",
    "reward_sd": "reward_std",
    "correctness": "rewards/correctness/mean",
    "appropriateness": "rewards/appropriateness/mean",
    "layout": "rewards/layout/mean",
    "tokens": "completions/mean_length",
    **{f"share_{fault.replace(' ', '_')}": f"faults/{fault}" for fault in TRAINING_FAULTS},
}
UPDATES = {
    "kl": "kl",
    "entropy": "entropy",
    "clipped_share": "clip_ratio/region_mean",
    "loss": "loss",
    "lr": "learning_rate",
}
COLUMNS = ["run", "step", *REPLIES, "valid_share", "groups", "groups_equal", *UPDATES]
# Panels: {column: what its axis says}
PANELS = {
    "reward": "reward",
    "correctness": "$R_{corr}$",
    "appropriateness": "$R_{appr}$, nats",
    "valid_share": "share in form",
    "kl": "KL to the start, nats",
    "tokens": "tokens of a reply",
    "entropy": "entropy, nats a token",
    "groups_equal": "tied groups, %",
}


def curves(records: dict[str, str | Path]) -> pd.DataFrame:
    """Return a row per run and step; records: {run: its training.json}.

    groups_equal: questions whose replies all had the same reward, so that none has an advantage.
    share_<fault>, valid_share: the shares of replies with a fault, and of well-formed ones."""
    tables, keys = [], {"step": "step"} | REPLIES | UPDATES
    for name, path in records.items():
        record = json.loads(Path(path).read_text(encoding="utf-8"))
        groups = record["groups"]
        steps = pd.DataFrame([entry for entry in record["steps"] if "loss" in entry])
        table = pd.DataFrame({column: steps.get(key) for column, key in keys.items()})
        at_replies = pd.Series(groups, table.index).where(table["reward"].notna())
        tied = pd.Series(steps.get("tied_groups"), steps.index, dtype=float)  # older trainings have none
        equal = (tied * groups).round()
        shares = {"valid_share": (1 + table["layout"]) / 2, "groups": at_replies, "groups_equal": equal}
        tables.append(table.assign(run=name, **shares)[COLUMNS])
    return pd.concat(tables)


NARROWEST = 0.02  # of an axis


@paper_style()
def draw_curves(table: pd.DataFrame, names: dict[str, str]) -> Figure:
    """Draw every run's curves, a panel for each of PANELS. names: {run: its legend}.

    Runs may be equal at many steps, so each line is thinner than those below it and hides none."""
    figure = Figure(figsize=(TEXT_WIDTH, 3.4), layout="constrained")
    axes = figure.subplots(2, 4).flat
    looks = looks_by_place(list(names))
    for axis, (column, label) in zip(axes, PANELS.items(), strict=True):
        for above, (trained, name) in zip(reversed(range(len(names))), names.items(), strict=True):
            rows = table[(table["run"] == trained) & table[column].notna()]
            values = 100 * rows[column] / rows["groups"] if column == "groups_equal" else rows[column]
            colour, marker, dashes = looks[trained]
            line = {"color": colour, "linestyle": dashes, "linewidth": 1 + 0.6 * above}
            mark = {"marker": marker, "markersize": 2.5 + 1.2 * above}
            label_of = re.sub(r"R_(\w+)", r"$R_{\1}$", name)  # as the axes have it
            axis.plot(rows["step"], values, **line, **mark, label=label_of)
        if table[column].isna().all():
            middle = {"transform": axis.transAxes, "ha": "center", "va": "center"}
            axis.text(0.5, 0.5, "not measured", **middle, color="0.4")
            axis.set(xticks=[], yticks=[])
        if column == "groups_equal":
            axis.set_ylim(-5, 105)
        axis.set_ylim(at_least(axis.get_ylim(), NARROWEST))
        axis.set(xlabel="step", ylabel=label)
    groups = table["groups"].dropna()
    title = f"n = {span(groups)} questions at a step" if len(groups) else None
    look = {"loc": "outside lower center", "ncols": len(names), "handlelength": 3.2, "title": title}
    figure.legend(*axis.get_legend_handles_labels(), **look)
    return figure


def main(snakemake):
    names, output = snakemake.params.names, snakemake.output
    records = {Path(folder).name: f"{folder}/training.json" for folder in snakemake.input}
    table = curves({name: records[name] for name in names})
    write_table(table, output.csv, COLUMNS)
    save_figure(draw_curves(table, names), output.png, output.pdf)


if __name__ == "__main__":
    run(main, globals().get("snakemake"))
