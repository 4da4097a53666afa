"""Score items of several answers by one reward model, loaded once; a judge also in a knock-out."""

from polyreward.carb.scores import load_scorers, write_item_scores
from polyreward.core.tables import parse_score_path
from polyreward.core.unavailable import scores_or_reason
from polyreward.ops.jobs import run


def main(snakemake):
    params, inputs, name = snakemake.params, snakemake.input, snakemake.wildcards.scorer
    files = {path: parse_score_path(path) for path in snakemake.output}
    with scores_or_reason(files, name, params.may_be_missing):
        scorers = load_scorers(
            name, params.entry, params.scoring, params.cache, inputs.frozen, params.knockout
        )
        write_item_scores(scorers, inputs.item_files, files, name)


if __name__ == "__main__":
    run(main, globals().get("snakemake"))
