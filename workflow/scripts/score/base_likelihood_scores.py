"""Score one benchmark by a base's log-likelihood, and by what the request adds (PMI)."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from polyreward.core.files import read_jsonl
from polyreward.core.tables import parse_score_path, write_scores
from polyreward.ops.jobs import run
from polyreward.scoring.implicit import LogLikelihood
from polyreward.scoring.interface import conversations_of
from polyreward.scoring.load import load_causal_lm
from polyreward.scoring.loglik import CausalLM
from polyreward.scoring.pairs import score_table


def mean_logliks(lm: CausalLM, rows: Sequence[dict], label: str) -> np.ndarray:
    """Return the mean log-likelihood (nats) of both answers' tokens, (rows, 2)."""
    return np.array(LogLikelihood(lm).score(conversations_of(rows), label).values)


def main(snakemake):
    inputs, outputs = snakemake.input, snakemake.output
    lm = load_causal_lm(inputs.base, **snakemake.params.scoring)
    files, pmi = ({Path(path).stem: path for path in paths} for paths in (inputs.rows, outputs.pmi))
    for loglik in outputs.loglik:
        language = parse_score_path(loglik)["language"]
        rows, label = read_jsonl(files[language]), f"{Path(inputs.base).name}, {language}"
        prompted = mean_logliks(lm, rows, label)
        bare = mean_logliks(lm, [{**row, "prompt": ""} for row in rows], f"{label}, without requests")
        for output, scores in ((loglik, prompted), (pmi[language], prompted - bare)):
            write_scores(score_table(rows, *scores.T), output, **parse_score_path(output))


if __name__ == "__main__":
    run(main, globals().get("snakemake"))
