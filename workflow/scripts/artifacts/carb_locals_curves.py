"""Draw GRPO's course, step by step."""

import json
import re
from pathlib import Path

import pandas as pd
from matplotlib.figure import Figure

from polyreward.artifacts.figures import TEXT_WIDTH, looks_by_place, paper_style, save_figure, span
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

    `groups_equal` counts the questions whose replies all had the same reward, so that none has an advantage.
    `share_<fault>` is the share of replies with a fault, `valid_share` that of well-formed ones."""
    return pd.concat(
        [_of_run(run, json.loads(Path(path).read_text(encoding="utf-8"))) for run, path in records.items()]
    )


def _of_run(run: str, record: dict) -> pd.DataFrame:
    steps = pd.DataFrame([entry for entry in record["steps"] if "loss" in entry])
    table = pd.DataFrame(
        {name: steps.get(key) for name, key in ({"step": "step"} | REPLIES | UPDATES).items()}
    )
    groups, known = record["groups"], table["reward"].notna()
    table = table.assign(
        run=run, valid_share=(1 + table["layout"]) / 2, groups=pd.Series(groups, table.index).where(known)
    )
    tied = steps.get("tied_groups", float("nan"))  # which older trainings did not count
    return table.assign(groups_equal=tied * groups).round({"groups_equal": 0})[COLUMNS]


@paper_style()
def draw_curves(table: pd.DataFrame, names: dict[str, str]) -> Figure:
    """Draw every run's curves, one panel each.

    Args:
        table: rows of `curves`.
        names: {run: its legend}.
    """
    figure = Figure(figsize=(TEXT_WIDTH, 3.4), layout="constrained")
    axes = figure.subplots(2, 4).flat
    looks = looks_by_place(list(names))
    for axis, (column, label) in zip(axes, PANELS.items(), strict=True):
        for trained, name in names.items():
            rows = table[(table["run"] == trained) & table[column].notna()]
            values = 100 * rows[column] / rows["groups"] if column == "groups_equal" else rows[column]
            look = looks[trained]
            axis.plot(
                rows["step"],
                values,
                color=look.colour,
                linestyle=look.dashes,
                linewidth=1,
                marker=look.marker,
                markersize=2.5,
                label=re.sub(r"R_(\w+)", r"$R_{\1}$", name),  # as the axes have it
            )
        if table[column].isna().all():
            axis.text(
                0.5, 0.5, "not measured", transform=axis.transAxes, ha="center", va="center", color="0.4"
            )
            axis.set(xticks=[], yticks=[])
        if column == "groups_equal":
            axis.set_ylim(-5, 105)
        axis.set_ylabel(label)
        axis.set_xlabel("step")
    title = (
        f"n = {span(table['groups'].dropna())} questions at a step" if table["groups"].notna().any() else None
    )
    figure.legend(
        *axis.get_legend_handles_labels(),
        loc="outside lower center",
        ncols=len(names),
        handlelength=3.2,
        title=title,
    )
    return figure


def main(snakemake):
    names, output = snakemake.params.names, snakemake.output
    records = {Path(folder).name: f"{folder}/training.json" for folder in snakemake.input}
    records = {name: records[name] for name in names}
    table = curves(records)
    write_table(table, output.csv, COLUMNS)
    save_figure(draw_curves(table, names), output.png, output.pdf)


if __name__ == "__main__":
    run(main, globals().get("snakemake"))
