"""Score one benchmark in every language by a base's log-likelihood, or what the request adds to it (PMI)."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from polyreward.core.files import read_jsonl
from polyreward.core.tables import parse_score_path, read_scores, write_scores
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
    inputs, lm = snakemake.input, load_causal_lm(snakemake.input.base, **snakemake.params.scoring)
    files = {Path(path).stem: path for path in inputs.rows}
    given = inputs.get("prompted")
    prompted = read_scores(given).set_index(["language", "id"]) if given else None
    for output in snakemake.output:
        named = parse_score_path(output)
        language, rows = named["language"], read_jsonl(files[named["language"]])
        label = f"{Path(inputs.base).name}, {language}"
        if prompted is None:
            scores = mean_logliks(lm, rows, label)
        else:
            own = prompted.loc[language].loc[[row["id"] for row in rows]]
            unprompted = mean_logliks(
                lm, [{**row, "prompt": ""} for row in rows], f"{label}, without requests"
            )
            scores = own[["score_chosen", "score_rejected"]].to_numpy() - unprompted
        write_scores(score_table(rows, *scores.T), output, **named)


if __name__ == "__main__":
    run(main, globals().get("snakemake"))
