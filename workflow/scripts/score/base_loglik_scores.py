"""Score one benchmark in every language by a base's log-likelihood.

The probe's features come from the same pass; they are kept with the log-likelihoods.
"""

from pathlib import Path

from safetensors.numpy import save_file

from polyreward.core.files import read_jsonl
from polyreward.core.seals import METADATA, sealed_file
from polyreward.core.tables import score_file, write_scores
from polyreward.ops.jobs import run
from polyreward.scoring.baselines import answer_statistics
from polyreward.scoring.load import load_causal_lm
from polyreward.scoring.pairs import score_table


def main(snakemake):
    base, kept = snakemake.input.base, {}
    files = {Path(path).stem: path for path in snakemake.input.rows}
    lm = load_causal_lm(base, **snakemake.params.scoring)
    for output in snakemake.output.scores:
        named = score_file(output)
        rows = read_jsonl(files[named["language"]])
        found = answer_statistics(lm, rows, f"{Path(base).name}, {named['language']}")
        write_scores(score_table(rows, *found["loglik"].T), output, **named)
        kept |= {f"{kind}_{named['language']}": values for kind, values in found.items()}
    with sealed_file(snakemake.output.statistics) as temporary:
        save_file(kept, temporary, METADATA)


if __name__ == "__main__":
    run(main, globals().get("snakemake"))
