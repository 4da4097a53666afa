"""Score one benchmark and language by length and by TF-IDF."""

from polyreward.core.files import read_jsonl
from polyreward.core.tables import score_file
from polyreward.ops.jobs import run
from polyreward.scoring.baselines import length_baseline, tfidf_baseline
from polyreward.scoring.pairs import write_row_scores


def main(snakemake):
    train, seed = read_jsonl(snakemake.input.train), snakemake.params.seed
    scorers = {
        "length": length_baseline(),
        "tfidf-answer": tfidf_baseline(train, False, seed),
        "tfidf-prompt-answer": tfidf_baseline(train, True, seed),
    }
    for output in snakemake.output:
        write_row_scores(scorers[score_file(output)["scorer"]], [snakemake.input.rows], [output])


if __name__ == "__main__":
    run(main, globals().get("snakemake"))
