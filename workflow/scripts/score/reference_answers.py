"""Let a model answer the held-out instructions, for the judge to compare with."""

from collections.abc import Sequence

from polyreward.core.errors import raise_all
from polyreward.core.files import read_jsonl, write_jsonl
from polyreward.ops.jobs import run
from polyreward.scoring.families import load_reward_model
from polyreward.scoring.generative import Backend


def answered(instructions: Sequence[dict], model: Backend, job: str) -> list[dict]:
    """Return the instructions with a model's reply to each as its reference.

    Raises:
        PolyrewardError: the model's reply to some instructions is empty; it names them all.
    """
    replies = model.replies([[{"role": "user", "content": row["prompt"]}] for row in instructions], job)
    found = [{**row, "reference": reply.strip()} for row, reply in zip(instructions, replies, strict=True)]
    raise_all(
        (
            f"`{row['id']}`: an empty reply; ask another model (alignment.reference)"
            for row in found
            if not row["reference"]
        ),
        job,
    )
    return found


def main(snakemake):
    params, language = snakemake.params, snakemake.wildcards.language
    model = load_reward_model(params.entry, params.scoring, params.cache).backend
    instructions = read_jsonl(snakemake.input.instructions)
    write_jsonl(answered(instructions, model, f"reference answers, {language}"), snakemake.output[0])


if __name__ == "__main__":
    run(main, globals().get("snakemake"))
