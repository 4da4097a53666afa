"""Score rewritten answers, and the same answers in all languages, by one reward model."""

from polyreward.carb.scores import loaded, scores_by_file
from polyreward.core.files import read_jsonl
from polyreward.core.tables import write_scores, write_table
from polyreward.core.unavailable import scores_or_reason
from polyreward.ops.jobs import run
from polyreward.scoring.against_first import comparable
from polyreward.think_as_locals.replies import REPLY_COLUMNS, replies_of, reply_counts


def main(snakemake):
    params, inputs, files = snakemake.params, snakemake.input, snakemake.output
    said = []
    with scores_or_reason(snakemake):
        (reward_model,) = loaded(params.entry, params.scoring, params.cache, inputs.frozen, None)
        reward_models = [comparable(reward_model, params.entry["kind"])]
        tables = scores_by_file(
            reward_models, list(map(read_jsonl, inputs.item_files)), snakemake.wildcards[0]
        )
        for table, output in zip(tables, files.scores, strict=True):
            write_scores(table, output)
        said = replies_of(reward_model)
    write_table(reply_counts(said), files.replies, REPLY_COLUMNS)


if __name__ == "__main__":
    run(main, globals().get("snakemake"))
