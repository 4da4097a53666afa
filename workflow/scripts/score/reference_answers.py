"""Let a model answer the held-out instructions, for the judge to compare with."""

from collections.abc import Sequence

from polyreward.core.conversations import as_turns
from polyreward.core.errors import raise_all
from polyreward.core.files import read_jsonl, write_jsonl
from polyreward.core.logs import announce
from polyreward.ops.jobs import run
from polyreward.scoring.families import load_reward_model
from polyreward.scoring.generative import Backend

EMPTY_SHARE = 0.02  # of a model's replies, that may be empty


def answered(instructions: Sequence[dict], model: Backend, job: str) -> list[dict]:
    """Return the instructions with a model's reply to each as its reference.

    One whose reply is empty, as those are that a server cut or kept back, is left out. Raises PolyrewardError
    that names them all where they are more than EMPTY_SHARE."""
    replies = model.replies([as_turns(row["prompt"]) for row in instructions], job)
    found = [{**row, "reference": reply.strip()} for row, reply in zip(instructions, replies, strict=True)]
    empty = [row["id"] for row in found if not row["reference"]]
    if len(empty) > EMPTY_SHARE * len(found):
        raise_all(
            (f"`{name}`: an empty reply; ask another model (alignment.reference)" for name in empty), job
        )
    if empty:
        announce(f"{job}: {len(empty)} of {len(found)} instructions are left out, as their reply is empty")
    return [row for row in found if row["reference"]]


def main(snakemake):
    params, language = snakemake.params, snakemake.wildcards.language
    model = load_reward_model(params.entry, params.scoring, params.cache).backend
    instructions = read_jsonl(snakemake.input.instructions)
    write_jsonl(answered(instructions, model, f"reference answers, {language}"), snakemake.output[0])


if __name__ == "__main__":
    run(main, globals().get("snakemake"))
