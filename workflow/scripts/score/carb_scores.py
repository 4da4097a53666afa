"""Score items of several answers by one reward model, loaded once; a judge also in a knock-out."""

from polyreward.carb.scores import load_scorers, write_item_scores
from polyreward.core.unavailable import scores_or_reason
from polyreward.ops.jobs import run


def main(snakemake):
    params, inputs = snakemake.params, snakemake.input
    name = snakemake.wildcards.scorer
    with scores_or_reason(snakemake, name):
        scorers = load_scorers(
            name, params.entry, params.scoring, params.cache, inputs.frozen, params.knockout
        )
        write_item_scores(scorers, inputs.item_files, snakemake.output, name)


if __name__ == "__main__":
    run(main, globals().get("snakemake"))
