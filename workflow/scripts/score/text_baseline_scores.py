"""Score one benchmark and language by length, or by TF-IDF."""

from polyreward.core.draws import drawn
from polyreward.core.files import read_jsonl
from polyreward.core.tables import parse_score_path
from polyreward.ops.jobs import run
from polyreward.scoring.baselines import length_baseline, tfidf_baseline
from polyreward.scoring.pairs import write_row_scores


def main(snakemake):
    params, inputs = snakemake.params, snakemake.input
    for output in snakemake.output:
        name = parse_score_path(output)["scorer"]
        if name == "length":
            scorer = length_baseline()
        else:
            train = drawn(read_jsonl(inputs.train), [], params.pairs, params.seed, "tfidf")
            scorer = tfidf_baseline(train, name == "tfidf-prompt-answer", params.seed)
        write_row_scores(scorer, [inputs.rows], [output])


if __name__ == "__main__":
    run(main, globals().get("snakemake"))
