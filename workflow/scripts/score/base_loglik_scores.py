"""Score one benchmark in every language by a base's log-likelihood, and by what the prompt adds to it."""

from pathlib import Path

from polyreward.core.files import read_jsonl
from polyreward.core.tables import score_file, write_scores
from polyreward.ops.jobs import run
from polyreward.scoring.baselines import answer_loglik
from polyreward.scoring.load import load_causal_lm
from polyreward.scoring.pairs import score_table


def main(snakemake):
    base, found = snakemake.input.base, {}
    lm = load_causal_lm(base, **snakemake.params.scoring)
    for path in snakemake.input.rows:
        rows, label = read_jsonl(path), f"{Path(base).name}, {Path(path).stem}"
        loglik = answer_loglik(lm, rows, label)
        unprompted = answer_loglik(lm, rows, f"{label} without prompts", with_prompt=False)
        for kind, values in (("loglik", loglik), ("pmi", loglik - unprompted)):
            found[kind, Path(path).stem] = score_table(rows, *values.T)
    for output in snakemake.output:
        named = score_file(output)
        write_scores(found[named["scorer"].partition("-")[0], named["language"]], output, **named)


if __name__ == "__main__":
    run(main, globals().get("snakemake"))
