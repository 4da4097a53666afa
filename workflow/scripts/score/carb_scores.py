"""Score items of several answers by one reward model, loaded once; or by a judge in a knock-out."""

from polyreward.carb.scores import load_scorer, write_item_scores
from polyreward.core.tables import parse_score_path
from polyreward.core.unavailable import scores_or_reason
from polyreward.ops.jobs import run
from polyreward.scoring.knockout import Knockout


def main(snakemake):
    params, inputs, name = snakemake.params, snakemake.input, snakemake.wildcards.scorer
    files = {path: parse_score_path(path) for path in snakemake.output}
    with scores_or_reason(files, name, params.may_be_missing):
        scorer = load_scorer(params.entry, params.scoring, params.cache, inputs.frozen)
        if params.knockout is not None:
            scorer = Knockout(scorer, params.knockout)
        write_item_scores({name: scorer}, inputs.item_files, files, name)


if __name__ == "__main__":
    run(main, globals().get("snakemake"))
