"""Replies of the tests' servers where an untrained model's random text would stop a pipeline."""

import hashlib
import re

NAMES = re.compile(
    r"name of its model, (\w) or (\w)"
)  # of AlpacaEval's form, in workflow/catalog/judge_questions.yaml
REFERENCE = re.compile(r"whether or not you agree: (.+)")  # in scripts/prepare/carb_completions.py


def canned_reply(prompt: str) -> str | None:
    """Return a verdict where a prompt asks for one, the reference where it asks to repeat it, else None."""
    drawn = hashlib.sha256(prompt.encode()).digest()[0] % 2
    if names := NAMES.search(prompt):
        return names[1 + drawn]
    if "[[" in prompt:
        verdict = f"[[{'AB'[drawn]}]]"
        if "<answer>" in prompt:  # RM-R1's form
            verdict = f"<answer>{verdict}</answer>"
        return f"Both are plain enough; one is nearer.\n{verdict}"
    asked = REFERENCE.search(prompt)
    return asked[1] if asked else None
