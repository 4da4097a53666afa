"""What the tests' servers say in place of random text, where a pipeline of untrained models would stop
without it."""

import hashlib
import re

NAMES = re.compile(
    r"name of its model, (\w) or (\w)"
)  # of AlpacaEval's form, in workflow/catalog/judge_questions.yaml
REFERENCE = re.compile(r"whether or not you agree: (.+)")  # in scripts/prepare/carb_completions.py


def canned_reply(prompt: str) -> str | None:
    """Return a verdict for who asks for one, the reference for who asks to say it, and else None."""
    drawn = hashlib.sha256(prompt.encode()).digest()[0] % 2
    if names := NAMES.search(prompt):
        return names[1 + drawn]
    if "[[" in prompt:
        letter = "AB"[drawn]
        return f"Both are plain enough; one is nearer.\n[[{letter}]]"
    asked = REFERENCE.search(prompt)
    return asked[1] if asked else None
