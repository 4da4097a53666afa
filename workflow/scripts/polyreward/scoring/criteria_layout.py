"""The one form in which a judge is asked about two answers and replies, and its reader, which never guesses."""

import dataclasses
import re
from collections.abc import Sequence

from polyreward.core.conversations import Messages, as_text

LABELS = ("A", "B")
MOST = 4  # criteria in a reply
# The form of the reply stands last, where truncation on the left does not reach it.
QUESTION = """{prompt}

Answer A: {first}
Answer B: {second}

Which answer would a local call right? First write what a local checks, one to {most} numbered criteria, \
one a line. Then end with a line that says Verdict: A or Verdict: B."""
HEAD = "Verdict:"
REPLY = re.compile(rf"((?:[1-{MOST}]\. [^\n]*\S[^\n]*\n)+){HEAD} ([{''.join(LABELS)}])")
NUMBERED = re.compile(r"([1-9])\. (.*)")
# What can be wrong with a reply, as curves and tables call it.
FAULTS = ("endless", "no verdict", "several verdicts", "no criteria", "form")


@dataclasses.dataclass(frozen=True)
class Reply:
    """A reply that was read. fault: one of FAULTS, and then it has no criteria and no verdict; else None."""

    criteria: tuple[str, ...] = ()
    verdict: str | None = None
    fault: str | None = None


def question(prompt: str | Messages, first: str, second: str) -> str:
    """Return what a judge is asked: which of two answers to a prompt is right."""
    texts = {"prompt": as_text(prompt), "first": first, "second": second, "most": str(MOST)}
    # One pass over the template alone, so that braces in the texts stay as they are.
    return re.sub(r"\{(\w+)\}", lambda found: texts[found[1]], QUESTION)


def written(criteria: Sequence[str], verdict: str) -> str:
    """Return a reply in form: its criteria, none for a verdict at once, and its verdict."""
    lines = [f"{number}. {criterion}" for number, criterion in enumerate(criteria, 1)]
    return "\n".join([*lines, f"{HEAD} {verdict}"])


def read_reply(text: str, ended: bool) -> Reply:
    """Read a reply; what is not exactly in form has a fault, whatever it seems to mean.

    ended: whether the model ended it; one that was cut off at its limit is endless, even after a verdict."""
    text = text.strip()
    verdicts = text.count(HEAD)
    if not ended:
        return Reply(fault="endless")
    if verdicts != 1:
        return Reply(fault="several verdicts" if verdicts else "no verdict")
    if text.startswith(HEAD):
        return Reply(fault="no criteria")
    found = REPLY.fullmatch(text)
    lines = [NUMBERED.fullmatch(line) for line in found[1].strip("\n").split("\n")] if found else []
    if not lines or [int(line[1]) for line in lines] != list(range(1, len(lines) + 1)):
        return Reply(fault="form")
    return Reply(tuple(line[2].strip() for line in lines), found[2])
