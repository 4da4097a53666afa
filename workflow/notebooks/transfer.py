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
# # Does an English reward model serve other languages?
#
# The analysis behind Table 1 and Figures 1 to 3 of *Cross-lingual Transfer of Reward Models in Multilingual
# Alignment* (arXiv 2410.18027), open to be changed: first as the pipeline makes them, then a step further.
# Every number comes from files of the pipeline; `results/notebooks/transfer.html` is this notebook after a
# run.
#
# To change it, open this file in an editor that knows `# %%` cells, or in Jupyter as a notebook (jupytext).
# For a Jupyter without jupytext, `jupytext --sync workflow/notebooks/transfer.py` writes transfer.ipynb
# next to it, and brings back what you edit.

# %%
# %matplotlib inline
import os
from itertools import product
from pathlib import Path

import matplotlib.pyplot as plt
import pandas as pd
import seaborn
import yaml
from IPython.display import display

from polyreward.analysis.bootstrap import Interval
from polyreward.analysis.comparison import Benchmark, Comparison
from polyreward.analysis.tables import hard_pairs, transfer_table
from polyreward.artifacts.figures import paper_style
from polyreward.core.conversations import as_text
from polyreward.core.files import read_jsonl
from polyreward.core.naming import ModelName, score_file, stage
from polyreward.core.sheet import read_sheet
from polyreward.core.tables import read_csv, read_scores
from polyreward.transfer.figure1 import draw_figure1
from polyreward.transfer.figure2 import draw_figure2
from polyreward.transfer.figure3 import draw_figure3
from polyreward.transfer.tables import display_table1

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
if not Path(f"{RESULTS}/table1.csv").exists():
    raise FileNotFoundError(
        f"{RESULTS}/table1.csv is not here: `make transfer` makes what this notebook reads. Of"
        " results that someone shared, name the folder above, as SETTINGS['results'] = 'shared'"
        " (docs/howto/move_results.md)"
    )
main, source, targets, bases, seeds = (
    SETTINGS["benchmarks"]["main"],
    SETTINGS["source_language"],
    SETTINGS["target_languages"],
    SETTINGS["bases"],
    SETTINGS["reward_model_seeds"],
)
facts = yaml.safe_load(Path("workflow/catalog/benchmarks.yaml").read_text())[main]
benchmark = Benchmark(main, facts["sections"], facts["weights"])
interval = Interval(**SETTINGS["intervals"], seed=SETTINGS["seed"])


def percent(confidence):
    """Return an interval's level as text."""
    return f"{100 * confidence:g}%"


def show(figure, alternative):
    """Show a figure, with words for those who do not see it."""
    display(figure, metadata={"image/png": {"alt": alternative}})


# %% [markdown]
# ## Table 1
#
# As the pipeline wrote it:

# %%
table1 = read_csv(f"{RESULTS}/table1.csv")
display_table1(table1, percent(interval.confidence))

# %% [markdown]
# And from the scores again. `scores` has a row for each pair, language and reward model: the English (source)
# ones and each target language's own. The bootstrap draws templates, not pairs. Both tables must be equal, or
# this notebook stops.

# %%
scores = read_scores(
    score_file(RESULTS, main, str(ModelName(base, training, seed)), language)
    for base in bases
    for language in targets
    for training in (source, language)
    for seed in seeds
)
sheet = read_sheet(f"{RESULTS}/work/scorers.csv")
translated = [stage(RESULTS, "translated", f"{main}/{language}.jsonl") for language in targets]
hard = hard_pairs(read_jsonl(translated))
transfer = transfer_table(scores, sheet, source, benchmark, interval, hard)
pd.testing.assert_frame_equal(
    transfer[list(table1)].reset_index(drop=True), table1, atol=1e-6, check_dtype=False
)

# %% [markdown]
# ## Figure 1
#
# Do the representations of one passage in all languages fall together, and how like the base do they stay?

# %%
show(
    draw_figure1(read_csv(f"{RESULTS}/figure1.csv"), percent(interval.confidence)),
    "Figure 1, redrawn from figure1.csv",
)

# %% [markdown]
# ## Figure 2
#
# Norms of token embeddings, here with a row for each language instead of two groups by script.

# %%
norms, ks = (read_csv(f"{RESULTS}/{name}") for name in ("figure2.csv", "figure2_ks.csv"))
show(
    draw_figure2(norms, ks, source, [[language] for language in targets]),
    "Figure 2, redrawn from figure2.csv",
)

# %% [markdown]
# ## Figure 3
#
# What a policy gains by DPO on pairs that the target or the English reward model labelled.

# %%
show(
    draw_figure3(
        read_csv(f"{RESULTS}/figure3.csv"),
        read_csv(f"{RESULTS}/figure3_judge.csv"),
        percent(interval.confidence),
    ),
    "Figure 3, redrawn from figure3.csv",
)

# %% [markdown]
# # A step further
#
# ## Drop a base
#
# English minus target, averaged over base models (and seeds, if there are several), and what is left when
# one base is dropped. All reward models of a language see the same draws of templates, so that the interval
# is that of the average, not an average of intervals.


# %%
def average_difference(language, kept):
    """Return the mean of English minus target over the kept bases on one language, with its interval, as
    text."""
    english = [str(ModelName(base, source, seed)) for base in kept for seed in seeds]
    target = [str(ModelName(base, language, seed)) for base in kept for seed in seeds]
    these = scores[(scores["language"] == language) & scores["scorer"].isin(english + target)]
    weights = dict.fromkeys(english, 1 / len(english)) | dict.fromkeys(target, -1 / len(target))
    row = Comparison(these, benchmark, interval).contrast(weights)
    return f"{row['avg']:+.1f} [{row['avg_low']:+.1f}, {row['avg_high']:+.1f}]"


choices = {"all bases": bases}
if len(bases) > 1:
    choices |= {f"without {dropped}": [base for base in bases if base != dropped] for dropped in bases}
pd.DataFrame(
    {
        name: {language: average_difference(language, kept) for language in targets}
        for name, kept in choices.items()
    }
).rename_axis("eval_language")

# %% [markdown]
# ## Change the interval
#
# How many of the differences have an interval on one side of zero depends on its level, and on what is
# drawn again: templates, or pairs, as if those of one template were independent.

# %%
LEVELS = [0.5, 0.8, 0.9, 0.95, 0.99]
records = []
for drawn in ("templates", "pairs"):
    of_draw = scores.assign(template=scores["id"]) if drawn == "pairs" else scores
    for level in LEVELS:
        at_level = transfer_table(
            of_draw, sheet, source, benchmark, Interval(interval.samples, level, interval.seed)
        )
        delta = at_level[at_level["rm_training"] == "delta"]
        decided = (delta["avg_low"] > 0) | (delta["avg_high"] < 0)
        width = (delta["avg_high"] - delta["avg_low"]).mean()
        records.append(
            {
                "drawn": drawn,
                "level": percent(level),
                "mean_width": width,
                "decided": decided.sum(),
                "of": len(delta),
            }
        )
pd.DataFrame(records).round({"mean_width": 1})

# %% [markdown]
# ## Where English and target reward models disagree
#
# An accuracy hides which pairs are right. Margins (chosen minus rejected) are in units of each model's own
# standard deviation, since two reward models share no scale. Upper left: only English right; lower
# right: only target right. Of several seeds, the first.

# %%
margins = []
for base, language in product(bases, targets):
    english, target = (
        scores.query("scorer == @name and language == @language")
        for name in (str(ModelName(base, training, seeds[0])) for training in (source, language))
    )
    both = english.merge(
        target, on=["id", "subset", "category"], suffixes=("_english", "_target"), validate="1:1"
    )
    for name in ("english", "target"):
        margin = both[f"score_chosen_{name}"] - both[f"score_rejected_{name}"]
        both[f"right_{name}"] = margin > 0
        both[f"margin_{name}"] = margin / margin.std()
    rows = read_jsonl(stage(RESULTS, "translated", f"{main}/{language}.jsonl"))
    texts = pd.DataFrame(rows)[["id", "prompt", "chosen", "rejected"]]
    texts["prompt"] = texts["prompt"].map(as_text)
    margins.append(both.merge(texts, on="id", validate="1:1").assign(base_model=base, eval_language=language))
margins = pd.concat(margins, ignore_index=True)
OUTCOMES = {
    (True, True): "both right",
    (True, False): "only English right",
    (False, True): "only target right",
    (False, False): "neither",
}
margins["outcome"] = [
    OUTCOMES[pair] for pair in zip(margins["right_english"], margins["right_target"], strict=True)
]

with paper_style():
    grid = seaborn.relplot(
        margins,
        x="margin_target",
        y="margin_english",
        row="base_model",
        col="eval_language",
        hue="outcome",
        style="outcome",
        hue_order=OUTCOMES.values(),
        style_order=OUTCOMES.values(),
        palette="colorblind",
        s=14,
        linewidth=0,
        height=1.8,
        facet_kws={"margin_titles": True},
    )
    grid.set_titles(row_template="{row_name}", col_template="{col_name}")
    grid.refline(x=0, y=0, color="black", linewidth=0.6).set_axis_labels(
        "target margin (sd)", "English margin (sd)"
    )
    seaborn.move_legend(grid, "upper center", bbox_to_anchor=(0.5, 0), ncols=len(OUTCOMES), title=None)
    grid.tight_layout()
    plt.close(grid.figure)
show(grid.figure, "Margins of the English against those of the target reward model, a point for each pair")

# %% [markdown]
# Pairs of each kind, and the share (%) of those that only one model got right in which the chosen answer is
# the longer one: far from 50, the two models differ about length.

# %%
counts = margins.groupby(["base_model", "eval_language"])["outcome"].value_counts().unstack(fill_value=0)
margins["chosen_longer"] = margins["chosen"].str.len() > margins["rejected"].str.len()
longer = 100 * margins.groupby(["base_model", "eval_language", "outcome"])["chosen_longer"].mean().unstack()
counts.reindex(columns=OUTCOMES.values(), fill_value=0).join(
    longer.reindex(columns=["only English right", "only target right"])
    .round()
    .astype("Int64")
    .add_suffix(", chosen longer (%)")
)

# %% [markdown]
# And those where they are furthest apart, one of each kind for each base and language:

# %%
margins["apart"] = (margins["margin_english"] - margins["margin_target"]).abs()
kind = ["base_model", "eval_language", "outcome"]
alone = margins[margins["outcome"].isin(["only English right", "only target right"])].sort_values(
    "apart", ascending=False, kind="stable"
)
furthest = alone.groupby(kind).head(1).sort_values(kind, ignore_index=True)
furthest[[*kind, "subset", "prompt", "chosen", "rejected", "margin_english", "margin_target"]].round(2)
