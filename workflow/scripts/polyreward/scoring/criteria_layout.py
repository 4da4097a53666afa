"""The form in which a judge is asked about two answers and replies, and its lenient reader."""

import dataclasses
import re
import unicodedata
from collections.abc import Sequence
from itertools import pairwise

from polyreward.core.conversations import Messages, as_text

LABELS = ("A", "B")
MOST = 4  # criteria that are asked for
# The form of the reply comes last, where truncation on the left does not reach it. Each answer has its label
# at both ends: a criterion that names an answer's own words is followed by its label, which a small model
# copies rather than works out.
QUESTION = """{prompt}

Answer A: {first} (A)
Answer B: {second} (B)

Which answer would a local call right? Write what a local checks, one to {most} numbered criteria, one a line. \
End with Verdict: A or Verdict: B."""
HEAD = "Verdict:"
# What can be wrong with a reply, as curves and tables call it.
FAULTS = ("endless", "no verdict", "several verdicts", "no criteria")

LABEL = rf"[\[({{\"'«“「【\s]*({'|'.join(LABELS)})[\])}}\"'»”」】\s]*"
WORD = r"(?:(?:my|the)\s+)?(?:final\s+)?verdict"
IS = r"(?:\s|is\b|[:=-])*"
# Where a verdict begins: at the start of a line, or after a sentence with a colon behind it.
BEGINS = re.compile(rf"^{WORD}\b|\b{WORD}\s*[:：=]", re.IGNORECASE)
HEADED = re.compile(rf"{WORD}\s*[:=-]?", re.IGNORECASE)
VERDICT = re.compile(
    rf"{WORD}{IS}(?:answer\s*)?{LABEL}(?:$|(?:[.,;:!。-]|because\b|since\b)(?P<why>.*))", re.IGNORECASE
)
# A last line that can mean nothing else.
BARE = re.compile(rf"(?:(?:the\s+)?(?:(?:final|best|right)\s+)?answer{IS})?{LABEL}[.!。]?", re.IGNORECASE)
# Of Markdown; a star before a space is a bullet.
MARKS = re.compile(r"(?<!\w)[*_`]+(?=\S)|(?<=\S)[*_`]+(?!\w)|^\s*[#>]+\s*", re.MULTILINE)
NUMBERED = re.compile(r"\s*(?:\(?\d{1,2}[.):：、]|[-*•·–])\s*(.*)")
HEADING = re.compile(r"[^.!?。！？]*[:：]|criteria", re.IGNORECASE)


@dataclasses.dataclass(frozen=True)
class Reply:
    """A reply that was read. criteria: what it says before its verdict, a line each.

    verdict: one of LABELS; None where there is a fault, one of FAULTS. A judge can be made to close a
    reply with a fault where its criteria end."""

    criteria: tuple[str, ...] = ()
    verdict: str | None = None
    fault: str | None = None


def question(prompt: str | Messages, first: str, second: str) -> str:
    """Return what a judge is asked: which of two answers to a prompt is right."""
    texts = {"prompt": as_text(prompt), "first": first, "second": second, "most": str(MOST)}
    # One pass over the template only, so that braces in the texts stay as they are.
    return re.sub(r"\{(\w+)\}", lambda found: texts[found[1]], QUESTION)


def written(criteria: Sequence[str], verdict: str) -> str:
    """Return a reply in form: its criteria, none for a verdict at once, and its verdict."""
    lines = [f"{number}. {criterion}" for number, criterion in enumerate(criteria, 1)]
    return "\n".join([*lines, f"{HEAD} {verdict}"])


def read_reply(text: str, ended: bool, criteria_wanted: bool = True) -> Reply:
    """Read a reply as a person would: blank lines, Markdown, headings, brackets, case and bullets do not
    matter.

    All its verdicts have to name the same label; words after it do not count. ended: whether the model
    ended it; else the fault is "endless". criteria_wanted: whether a reply without criteria has a fault."""
    lines = [line.strip() for line in MARKS.sub("", text).split("\n") if line.strip()]
    start = next((number for number, line in enumerate(lines) if BEGINS.search(line)), len(lines))
    bare = BARE.fullmatch(_plain(lines[-1])) if start == len(lines) > 0 else None
    verdicts = [bare[1].upper()] if bare else _verdicts(lines[start:])
    before = lines[:-1] if bare else [*lines[:start], *_before(lines[start:])]
    criteria = _criteria(before)
    if not ended:
        return Reply(criteria, fault="endless")
    if not verdicts or None in verdicts:
        return Reply(criteria, fault="no verdict")
    if len(set(verdicts)) > 1:
        return Reply(criteria, fault="several verdicts")
    return Reply(criteria, verdicts[0]) if criteria or not criteria_wanted else Reply(fault="no criteria")


def _plain(text: str) -> str:
    return unicodedata.normalize("NFKC", text)


def _verdicts(lines: Sequence[str]) -> list[str | None]:
    """Return the label of each verdict in some lines; None for one that names no single label."""
    found = []
    for number, line in enumerate(lines):
        starts = [begin.start() for begin in BEGINS.finditer(line)]
        for begin, end in pairwise([*starts, len(line)]):
            said = _plain(line[begin:end]).strip()
            label_is_below = end == len(line) and HEADED.fullmatch(said) and number + 1 < len(lines)
            if label_is_below:
                said = f"{HEAD} {_plain(lines[number + 1])}"
            verdict = VERDICT.fullmatch(said)
            label = verdict and verdict[1].upper()
            named = re.findall(r"\b[A-Z]\b", verdict["why"] or "") if verdict else []
            found.append(None if {*named} & {*LABELS} - {label} else label)
    return found


def _before(lines: Sequence[str]) -> list[str]:
    return [line[: begin.start()] for line in lines[:1] if (begin := BEGINS.search(line)) and begin.start()]


def _criteria(lines: Sequence[str]) -> tuple[str, ...]:
    """Return lines without their numbers, a heading before the first, and those that say nothing."""
    found: list[str] = []
    for line in lines:
        numbered = NUMBERED.fullmatch(line)
        criterion = (numbered[1] if numbered else line).strip()
        if not re.search(r"\w", criterion) or (not numbered and not found and HEADING.fullmatch(criterion)):
            continue
        found.append(criterion)
    return tuple(found)
