"""Filter the preference pool and split it into train and dev."""

from polyreward.core.files import read_jsonl, write_jsonl
from polyreward.core.tables import read_table, write_table
from polyreward.ops.jobs import run
from polyreward.prepare.kinds import pairs_by
from polyreward.prepare.pool import COUNT_COLUMNS, Share, prepared_pool


def main(snakemake):
    files, params = snakemake.input, snakemake.params
    pool, evaluation = read_jsonl(files.pool), read_jsonl(files.evaluation)
    train, dev, counts = prepared_pool(
        pool,
        evaluation,
        params.categories,
        params.dev_share,
        params.max_pairs,
        Share(**params.share),
        params.seed,
        params.filters,
        pairs_by(params, files.stock, "training"),
    )
    write_jsonl(train, snakemake.output.train)
    write_jsonl(dev, snakemake.output.dev)
    printed = read_table(files.printed, ["source", "pairs"]).set_index("source")["pairs"]
    counts["printed"] = counts["source"].map(printed).astype("Int64")
    write_table(counts, snakemake.output.counts, COUNT_COLUMNS)


if __name__ == "__main__":
    run(main, globals().get("snakemake"))
