"""Sample responses of the policy to prompts that no reward model was trained on."""

from polyreward.alignment.sampling import distinct_prompts, loaded_policy
from polyreward.core.files import read_jsonl, write_jsonl
from polyreward.ops.jobs import run


def main(snakemake):
    files, params, language = snakemake.input, snakemake.params, snakemake.wildcards.language
    rows = distinct_prompts(read_jsonl(files.rows), params.prompts, f"prompts, {language}", params.alike)
    prompts = [row["prompt"] for row in rows]
    with loaded_policy(files.policy, **params.sampling) as policy:
        responses = policy.responses(prompts, params.responses, params.seed, f"responses, {language}")
    written = [{**row, "responses": texts} for row, texts in zip(rows, responses, strict=True)]
    write_jsonl(written, snakemake.output[0])


if __name__ == "__main__":
    run(main, globals().get("snakemake"))
