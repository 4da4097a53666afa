"""What the tests' servers say in place of random text, where a pipeline of untrained models would stop without it."""

import hashlib
import re

REFERENCE = re.compile(r"whether or not you agree: (.+)")  # in carb/completions.py


def canned_reply(prompt: str) -> str | None:
    """Return a verdict for who asks for one in double brackets, the reference for who asks to say it, and else None."""
    if "[[" in prompt:
        letter = "AB"[hashlib.sha256(prompt.encode()).digest()[0] % 2]
        return f"Both are plain enough; one is nearer.\n[[{letter}]]"
    asked = REFERENCE.search(prompt)
    return asked[1] if asked else None
