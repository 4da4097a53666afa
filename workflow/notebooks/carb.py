# ---
# jupyter:
#   jupytext:
#     formats: ipynb,py:percent
#     notebook_metadata_filter: -jupytext.text_representation.jupytext_version
#     text_representation:
#       extension: .py
#       format_name: percent
#       format_version: '1.3'
#   kernelspec:
#     display_name: Python 3
#     language: python
#     name: python3
# ---

# %% [markdown]
# # What do reward models know of cultures?
#
# The analysis of CARB, the benchmark of *Evaluating and Improving Cultural Awareness of Reward Models for
# LLM Alignment* (arXiv 2509.21798) as it is built here, open to be changed: first leaderboard and figures
# as the pipeline makes them, then a step further. Every number comes from files of the pipeline;
# `results/notebooks/carb.html` is this notebook after a run.
#
# To change it, open this file in an editor that knows `# %%` cells, or in Jupyter as a notebook (jupytext).
# For a Jupyter without jupytext, `jupytext --sync workflow/notebooks/carb.py` writes carb.ipynb next to it,
# and brings back what you edit.

# %%
# %matplotlib inline
import os
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import seaborn
import yaml
from IPython.display import display

from polyreward.analysis.bootstrap import Interval, student_interval
from polyreward.artifacts.figures import paper_style
from polyreward.artifacts.fonts import fonts_for
from polyreward.carb.figures.figure1 import draw_figure1, own_names, texts_by_culture
from polyreward.carb.figures.figure2 import draw_figure2
from polyreward.carb.figures.figure3 import draw_figure3
from polyreward.carb.figures.figure5 import draw_rows
from polyreward.carb.leaderboard import COUNTS, Leaderboard, display_leaderboard
from polyreward.core.files import read_jsonl
from polyreward.core.kinds import REWARD_KINDS
from polyreward.core.naming import score_file, stage
from polyreward.core.sheet import read_sheet
from polyreward.core.tables import read_csv, read_scores

# Jupyter starts in the notebook's folder, the pipeline in the project's: on in the project's
os.chdir(next(folder for folder in (Path.cwd(), *Path.cwd().parents) if (folder / "config.yaml").exists()))
pd.set_option("display.max_colwidth", 200)  # characters of a text

# %% [markdown]
# ## Settings
#
# By hand: those of `config.yaml`. The pipeline puts those of its scale after them.

# %% tags=["parameters"]
SETTINGS = yaml.safe_load(Path("config.yaml").read_text())

# %%
RESULTS = SETTINGS["results"]
if not Path(f"{RESULTS}/carb_leaderboard.csv").exists():
    raise FileNotFoundError(
        f"{RESULTS}/carb_leaderboard.csv is not here: `make carb` makes what this notebook reads."
        " Of results that someone shared, name the folder above, as SETTINGS['results'] = 'shared'"
        " (docs/howto/move_results.md)"
    )
cultures, domains, rating = (SETTINGS["carb"][key] for key in ("cultures", "domains", "rating"))
interval = Interval(**SETTINGS["intervals"], seed=SETTINGS["seed"])
level = f"{100 * interval.confidence:g}%"


def show(figure, alternative):
    """Show a figure, with words for those who do not see it."""
    display(figure, metadata={"image/png": {"alt": alternative}})


def with_ends(value, draws, sign=""):
    """Return a number with the interval of its resamples, as text."""
    low, high = student_interval(np.append(value, draws), interval.confidence, board.freedom("carb"))
    return f"{value:{sign}.1f} [{low:{sign}.1f}, {high:{sign}.1f}]"


# %% [markdown]
# ## Leaderboard
#
# As the pipeline wrote it:

# %%
leaderboard = read_csv(f"{RESULTS}/carb_leaderboard.csv", dtype=dict.fromkeys(COUNTS, "Int64"))
display_leaderboard(leaderboard, [*cultures, *domains], level)

# %% [markdown]
# And from the scores again: `scores` are what each scorer gave the four answers of every item. A reward
# model is right where the chosen answer is strictly the highest; the bootstrap draws topics within domains.
# Both tables must be equal, or this notebook stops.

# %%
kinds = leaderboard.set_index("scorer")["kind"].drop("chance").to_dict()
scores = {
    scorer: pd.concat(
        [read_scores(score_file(RESULTS, "carb", scorer, culture)) for culture in cultures], ignore_index=True
    )
    for scorer in kinds
}
bases = dict(read_sheet(f"{RESULTS}/work/scorers.csv")["base"])
board = Leaderboard(scores, kinds, cultures, domains, interval, bases=bases)
pd.testing.assert_frame_equal(board.table(), leaderboard, atol=1e-6, check_dtype=False)

# %% [markdown]
# ## Figure 1
#
# One item with its answers' scores, and how many items there are.

# %%
glance, names = read_csv(f"{RESULTS}/carb_figure1.csv"), own_names(cultures)
with fonts_for(texts_by_culture(glance, names)) as families:
    show(draw_figure1(glance, names, families), "CARB's Figure 1, redrawn from carb_figure1.csv")

# %% [markdown]
# ## Figure 2
#
# Scores by what the cultures' languages have in common.

# %%
chance = board.chance("carb")
show(
    draw_figure2(read_csv(f"{RESULTS}/carb_figure2.csv"), chance, level),
    "CARB's Figure 2, redrawn from carb_figure2.csv",
)

# %% [markdown]
# ## Figure 3
#
# The best reward models of two kinds, by domain.

# %%
show(
    draw_figure3(read_csv(f"{RESULTS}/carb_figure3.csv"), chance, level),
    "CARB's Figure 3, redrawn from carb_figure3.csv",
)

# %% [markdown]
# ## Figure 5
#
# Does a benchmark tell how good the answers are that a reward model picks?

# %%
points, correlations = (read_csv(f"{RESULTS}/carb_{name}.csv") for name in ("figure5", "correlation"))
show(
    draw_rows(points, correlations, rating, interval.confidence),
    "CARB's Figure 5, redrawn from carb_figure5.csv",
)

# %% [markdown]
# # A step further
#
# ## Leave out a domain
#
# A leaderboard over four domains hangs together if its order survives without any one of them. Each reward
# model's rank over all items with its interval, and its rank without a domain, with the places gained (+)
# or lost (-). A move inside the interval is one that other items would have made, too. Last: Kendall's rank
# correlation with the order over all items.

# %%
models = board.reward_models()
ranks = {"all": board.ranks()["rank"]}
for left_out in domains:
    kept = [domain for domain in domains if domain != left_out]
    of_kept = {model: scores[model][scores[model]["domain"].isin(kept)] for model in models}
    ranks[f"without {left_out}"] = Leaderboard(of_kept, kinds, cultures, kept, interval).ranks()["rank"]
ranks = pd.DataFrame(ranks).loc[models].astype(int)

ends = board.ranks().loc[models]
moves = ranks.drop(columns="all").apply(
    lambda column: [f"{rank} ({ranks['all'][model] - rank:+d})" for model, rank in column.items()]
)
moves.insert(
    0, f"all [{level}]", [f"{row.rank} [{row.rank_low}, {row.rank_high}]" for row in ends.itertuples()]
)
moves.loc["Kendall's tau"] = [
    "",
    *(f"{ranks['all'].corr(ranks[name], method='kendall'):.2f}" for name in moves.columns[1:]),
]
moves.rename_axis("reward_model")

# %%
with paper_style():
    figure, axis = plt.subplots(figsize=(6.9, 0.6 + 0.2 * len(models)), layout="constrained")
    for model in models:
        look = {"color": REWARD_KINDS[kinds[model]].colour, "marker": REWARD_KINDS[kinds[model]].marker}
        axis.plot(ranks.columns, ranks.loc[model], **look, markersize=4, linewidth=0.8)
    last = ranks.iloc[:, -1]
    for rank, of_rank in last.groupby(last):
        text = ", ".join(of_rank.index)
        axis.annotate(text, (len(domains), rank), xytext=(8, 0), textcoords="offset points", va="center")
    axis.invert_yaxis()
    axis.set_ylabel("rank")
    plt.close(figure)
show(figure, "Rank of each reward model over all items and without each domain, a line for each")

# %% [markdown]
# And whether two domains order the reward models alike (Spearman's rank correlation of scores): near zero,
# they measure different things, or too little of either.

# %%
by_domain = pd.DataFrame({domain: [board.point([model], domain) for model in models] for domain in domains})
by_domain.corr(method="spearman").round(2)

# %% [markdown]
# ## Items that every reward model gets wrong
#
# How many there are, and how many there would be if reward models erred independently of each other,
# each as often as it does in that domain. Many more than that: what is hard is in the items, or in what
# these models have in common.

# %%
right = board.right[models].astype(bool)
all_wrong = ~right.any(axis=1)
of_domain = right.groupby(board.items["domain"])
pd.DataFrame(
    {
        "items": of_domain.size(),
        "all right": right.all(axis=1).groupby(board.items["domain"]).sum(),
        "all wrong": all_wrong.groupby(board.items["domain"]).sum(),
        "all wrong, if independent": (of_domain.size() * (1 - of_domain.mean()).prod(axis=1)).round(1),
    }
).loc[domains]

# %% [markdown]
# What they pick instead of the right answer. A pick is the answer with the highest score; where answers
# tie at the top, each is picked in part. For every domain two items on whose wrong answer most reward
# models agree:

# %%
items = pd.DataFrame(
    [item for culture in cultures for item in read_jsonl(stage(RESULTS, "prepared", f"carb/{culture}.jsonl"))]
)
picked_by = 0  # items by candidates: reward models that pick it
for model in models:
    by_candidate = scores[model].pivot(index="id", columns="candidate", values="score")
    at_top = by_candidate.eq(by_candidate.max(axis=1), axis=0)
    picked_by += at_top.div(at_top.sum(axis=1), axis=0)
answers = items.explode(["answers", "references"], ignore_index=True).rename(columns={"answers": "answer"})
answers["candidate"] = answers.groupby("id").cumcount()
answers["taken_from"] = [reference["culture"] for reference in answers["references"]]
answers = answers.merge(
    picked_by.stack().rename("picked_by").reset_index(), on=["id", "candidate"], validate="1:1"
)
is_chosen = answers["candidate"] == answers["chosen"]
wrong, chosen = answers[~is_chosen], answers.loc[is_chosen, ["id", "answer"]]

of_hard = wrong[wrong["id"].isin(all_wrong.index[all_wrong])].sort_values(
    "picked_by", ascending=False, kind="stable"
)
examples = of_hard.drop_duplicates("id").groupby("domain").head(2).sort_values("domain", kind="stable")
examples.merge(chosen, on="id", suffixes=("_picked", "_chosen"))[
    ["id", "domain", "prompt", "answer_chosen", "answer_picked", "taken_from", "picked_by"]
].round({"picked_by": 1})

# %% [markdown]
# And whose answers the wrong picks of all items are: the share of wrong answers that were taken from a
# culture, and the share that they have among wrong picks. In values, safety and sayings it is the item's own
# culture, whose answer to another question it is.

# %%
by_culture = wrong.groupby("taken_from")["picked_by"].agg(offered="size", picked="sum").loc[cultures]
shares = 100 * by_culture / by_culture.sum()
shares.round(1).add_suffix(" (%)").assign(
    picked_over_offered=(shares["picked"] / shares["offered"]).round(2)
).transpose()

# %% [markdown]
# ## Compared with the length of an answer
#
# The baseline `length` picks the longest answer. What each reward model is ahead of it, on the same draws
# of items; and its score where the right answer is the longest of the four, and where it is not. A reward
# model that does not look at length has the same score on both, but for chance.

# %%
longest = board.right["length"] == 1
shown = [*models, "length"]
on_longest, on_others = f"where longest (n={longest.sum()})", f"where not (n={(~longest).sum()})"
compared = pd.DataFrame(
    {
        "kind": {name: kinds[name] for name in shown},
        "carb": {name: board.point([name], "carb") for name in shown},
        on_longest: 100 * board.right.loc[longest, shown].mean(),
        on_others: 100 * board.right.loc[~longest, shown].mean(),
    }
)
of_length = board.draws(["length"], "carb")
ahead = [
    with_ends(
        compared["carb"][name] - compared["carb"]["length"], board.draws([name], "carb") - of_length, "+"
    )
    for name in models
]
compared.insert(2, f"ahead of length [{level}]", [*ahead, ""])
compared.round(1).rename_axis("scorer")

# %%
with paper_style():
    figure, axis = plt.subplots(figsize=(3.6, 3.4), layout="constrained")
    for kind, rows in compared.loc[models].groupby("kind", sort=False):
        look = {"color": REWARD_KINDS[kind].colour, "marker": REWARD_KINDS[kind].marker}
        seaborn.scatterplot(rows, x=on_others, y=on_longest, **look, s=25, label=kind, ax=axis)
    axis.axline((chance, chance), slope=1, color="black", linewidth=0.6)
    axis.set_xlabel("score where the right answer is not the longest (%)")
    axis.set_ylabel("score where it is (%)")
    plt.close(figure)
show(
    figure,
    "Scores of reward models where the right answer is the longest against where it is not; on the line,"
    " length is nothing",
)
