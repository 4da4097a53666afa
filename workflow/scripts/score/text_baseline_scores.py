"""Score one benchmark and language by length, or by TF-IDF."""

from polyreward.core.draws import drawn
from polyreward.core.files import read_jsonl
from polyreward.ops.jobs import run
from polyreward.scoring.baselines import length_baseline, tfidf_baseline
from polyreward.scoring.pairs import write_row_scores


def main(snakemake):
    params, inputs = snakemake.params, snakemake.input
    name = snakemake.wildcards.scorer
    if name == "length":
        scorer = length_baseline()
    else:
        pairs, seed = params.fit["pairs"], params.fit["seed"]
        train = drawn(read_jsonl(inputs.train), [], pairs, seed, "tfidf")
        scorer = tfidf_baseline(train, name == "tfidf-prompt-answer", seed)
    write_row_scores(scorer, [inputs.rows], snakemake.output)


if __name__ == "__main__":
    run(main, globals().get("snakemake"))
