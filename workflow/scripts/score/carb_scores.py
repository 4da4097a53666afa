"""Score items of several answers by one reward model, loaded once; a judge also in a knock-out."""

from polyreward.carb.scores import loaded, scores_by_file
from polyreward.core.files import read_jsonl
from polyreward.core.tables import write_scores
from polyreward.core.unavailable import scores_or_reason
from polyreward.ops.jobs import run


def main(snakemake):
    params, inputs = snakemake.params, snakemake.input
    with scores_or_reason(snakemake):
        reward_models = loaded(params.entry, params.scoring, params.cache, inputs.frozen, params.knockout)
        tables = scores_by_file(
            reward_models, list(map(read_jsonl, inputs.item_files)), snakemake.wildcards[0]
        )
        for table, output in zip(tables, snakemake.output, strict=True):
            write_scores(table, output)


if __name__ == "__main__":
    run(main, globals().get("snakemake"))
