"""Reference answers that a model writes, where instructions bring none."""

from collections.abc import Sequence

from polyreward.core.errors import raise_all
from polyreward.scoring.generative import Backend


def answered(instructions: Sequence[dict], model: Backend, job: str) -> list[dict]:
    """Return the instructions with what a model says to each as its reference.

    Raises PolyrewardError that names every instruction to which it says nothing."""
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
