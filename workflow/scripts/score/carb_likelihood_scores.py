"""Score CARB's items by a base's log-likelihood, and by what the prompt adds (PMI)."""

from polyreward.carb.scores import asked_of, write_item_scores
from polyreward.core.files import read_jsonl
from polyreward.core.naming import of_base
from polyreward.ops.jobs import run
from polyreward.scoring.implicit import LogLikelihood, MutualInformation
from polyreward.scoring.load import load_causal_lm


def main(snakemake):
    inputs, base = snakemake.input, snakemake.wildcards.base
    lm = load_causal_lm(inputs.base, **snakemake.params.scoring)
    scorers = {"loglik": LogLikelihood(lm), "pmi": MutualInformation(lm)}
    both = scorers["pmi"].with_loglik(asked_of(read_jsonl(inputs.item_files)), base)
    named = {of_base(kind, base): scorer for kind, scorer in scorers.items()}
    known = dict(zip(named, both, strict=True))
    write_item_scores(named, inputs.item_files, snakemake.output, base, known)


if __name__ == "__main__":
    run(main, globals().get("snakemake"))
