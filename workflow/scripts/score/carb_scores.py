"""Score items of several answers by one reward model, loaded once; or by a judge in a knock-out."""

from polyreward.carb.scores import load_scorer, write_item_scores
from polyreward.core.unavailable import scores_or_reason
from polyreward.ops.jobs import run
from polyreward.scoring.knockout import Knockout


def main(snakemake):
    params, inputs = snakemake.params, snakemake.input
    name = snakemake.wildcards.scorer
    with scores_or_reason(snakemake, name):
        scorer = load_scorer(params.entry, params.scoring, params.cache, inputs.frozen)
        if params.knockout is not None:
            scorer = Knockout(scorer, params.knockout)
        write_item_scores({name: scorer}, inputs.item_files, snakemake.output, name)


if __name__ == "__main__":
    run(main, globals().get("snakemake"))
