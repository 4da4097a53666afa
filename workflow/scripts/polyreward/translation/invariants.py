"""What every translation must keep: code blocks, line breaks, numbers and placeholders."""

import re
from collections import Counter
from collections.abc import Iterator

FENCE = re.compile(r"```.*?(?:```|\Z)", re.DOTALL)
PLACEHOLDER = re.compile(r"\{[A-Za-z_][A-Za-z0-9_]*\}")
# One number: digits with single separators between them, so that 1,250.5 and 1.250,5 are the same number.
NUMBER = re.compile(r"\d(?:[.,'\u2019\u00a0\u202f]?\d)*")


def code_blocks(text: str) -> list[str]:
    """Return the fenced code blocks of a text, fences included."""
    return FENCE.findall(text)


def prose(text: str) -> str:
    """Return the text without its fenced code blocks and placeholders."""
    return PLACEHOLDER.sub(" ", FENCE.sub(" ", text))


def numbers(text: str) -> Counter:
    """Count the numbers of a text outside code, each as its digits alone, whatever its separators."""
    return Counter(re.sub(r"\D", "", number) for number in NUMBER.findall(prose(text)))


def broken_invariants(source: str, target: str) -> Iterator[str]:
    """Yield what a translation lost, in words; nothing when all survived.

    A target may write out as a digit what the source says in words, but never drop a number."""
    if code_blocks(source) != code_blocks(target):
        yield "a code block was changed"
    if source.count("\n") != target.count("\n"):
        yield f"{source.count(chr(10))} line breaks became {target.count(chr(10))}"
    outside = [FENCE.sub(" ", text) for text in (source, target)]
    lost, gained = (set(PLACEHOLDER.findall(a)) - set(PLACEHOLDER.findall(b)) for a, b in (outside, outside[::-1]))
    if lost:
        yield f"lost {', '.join(sorted(lost))}"
    if gained:
        yield f"has {', '.join(sorted(gained))}, which the source has not"
    missing = numbers(source) - numbers(target)
    if missing:
        yield f"lost the number {', '.join(sorted(missing))}"
