"""Let every policy of a language answer the held-out instructions, in several runs."""

from pathlib import Path

from polyreward.alignment.sampling import answers_of_runs
from polyreward.core.files import read_jsonl, write_jsonl
from polyreward.ops.jobs import run


def main(snakemake):
    params, inputs, language = snakemake.params, snakemake.input, snakemake.wildcards.language
    policies = {"base": [inputs.start]}
    for folder in inputs.policies:  # dpo_<labeller>_<language>, and _seed<number> of further trainings
        policies.setdefault(Path(folder).name.split("_")[1], []).append(folder)
    instructions = read_jsonl(inputs.instructions)
    how = {"runs": params.runs, "seed": params.seed, "language": language, **params.sampling}
    write_jsonl(answers_of_runs(policies, instructions, **how), snakemake.output[0])


if __name__ == "__main__":
    run(main, globals().get("snakemake"))
