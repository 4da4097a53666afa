"""Score one benchmark by a base's log-likelihood, and by what the request adds (PMI)."""

from pathlib import Path

import numpy as np

from polyreward.core.files import read_jsonl
from polyreward.core.tables import parse_score_path, write_scores
from polyreward.ops.jobs import run
from polyreward.scoring.implicit import MutualInformation
from polyreward.scoring.interface import conversations_of
from polyreward.scoring.load import load_causal_lm
from polyreward.scoring.pairs import score_table


def main(snakemake):
    inputs, outputs = snakemake.input, snakemake.output
    scorer = MutualInformation(load_causal_lm(inputs.base, **snakemake.params.scoring))
    files, pmi = ({Path(path).stem: path for path in paths} for paths in (inputs.rows, outputs.pmi))
    for loglik in outputs.loglik:
        language = parse_score_path(loglik)["language"]
        rows, label = read_jsonl(files[language]), f"{Path(inputs.base).name}, {language}"
        both = scorer.with_loglik(conversations_of(rows), label)
        for output, scores in zip((loglik, pmi[language]), both, strict=True):
            table = score_table(rows, *np.array(scores.values).T)
            write_scores(table, output, **parse_score_path(output))


if __name__ == "__main__":
    run(main, globals().get("snakemake"))
