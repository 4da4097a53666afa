"""Generative reward models: a judge LM reads a prompt with all its answers and says which is the best."""

import dataclasses
import math
import re
import string
from collections.abc import Sequence
from typing import Protocol

import numpy as np
from scipy.special import log_softmax

from polyreward.core.conversations import Messages, as_text, as_turns
from polyreward.core.errors import PolyrewardError
from polyreward.core.logs import announce
from polyreward.scoring.interface import Composite, Conversations, Scores

LABELS = string.ascii_uppercase
NEW_TOKENS = 512  # of a reply in words, where an entry says nothing else
VERDICT = r"\[\[\s*(?:[Aa]nswer\s+)?([A-Za-z])\s*\]\]"
# A verdict out of form: a last line that is only the letter, or with a few words that can mean nothing else.
BARE = re.compile(
    r"^\W*(?i:(?:my |the )?(?:final |best )?(?:verdict|answer|choice|best)?(?: is)?(?:"
    r" answer)?)\W*([A-Z])\W*$"
)
# What questions about an item share comes first, so that it is computed once for all of them. The form of
# the reply comes last, where truncation on the left does not reach it.
TEMPLATE = """Which answer to a prompt serves its writer best? Weigh whether it does what was asked, whether what it says is \
true, whether it could do harm, and whether it is clear. Neither its length nor its place among the answers counts.

<prompt>
{prompt}
</prompt>
{answers}

{form}"""
FORMS = {
    "labels": "Reply with the letter of the best answer ({labels}) and nothing else.",
    "text": (
        "First compare the answers in a few sentences. Then end with one more line that holds only the letter"
        " of the best one ({labels}), between [[ and ]]."
    ),
}  # by verdict


class Backend(Protocol):
    """Who answers a judge's requests, each a message list. exact: as in interface.RewardModel; job: its name."""

    exact: bool

    def label_logprobs(self, requests: Sequence[Messages], labels: Sequence[str], job: str) -> np.ndarray:
        """Return log-probabilities (nats) of the labels as the first token (requests, labels); nan if unknown."""
        ...

    def replies(self, requests: Sequence[Messages], job: str) -> list[str]:
        """Return what is said to each request."""
        ...

    def cut(self, requests: Sequence[Messages]) -> list[bool]:
        """Return which requests are truncated."""
        ...


@dataclasses.dataclass(frozen=True)
class Judge(Composite):
    """A reward model that asks which of a prompt's N answers is best, N times, each once at each position.

    verdict: "labels", the mean over the replies of the log-probability (nats) of an answer's label,
    normalised over the labels; or "text", the share of the replies that name it. A reply without a verdict
    counts for all answers alike. template: a question with {prompt}, the answers ({answers}, between tags,
    or {lettered}, "A. " before each), and perhaps {labels} and {form}, which FORMS has."""

    backend: Backend
    verdict: str
    template: str = TEMPLATE

    def score(self, conversations: Sequence[Conversations], label: str) -> Scores:
        """Score every answer; a request that several items share is asked once.

        Raises PolyrewardError where an item has fewer than 2 or more than 26 answers, and where no reply
        has a verdict."""
        template = self.template.replace("{form}", FORMS[self.verdict])
        asked = [rotated_requests(template, conversation) for conversation in conversations]
        distinct = list(dict.fromkeys(text for texts in asked for text in texts))
        requests = [as_turns(text) for text in distinct]
        if self.verdict == "labels":
            replies = self.backend.label_logprobs(requests, LABELS[: max(map(len, asked), default=0)], label)
        else:
            replies = self.backend.replies(requests, label)
        replied = dict(zip(distinct, replies, strict=True))
        cut = dict(zip(distinct, self.backend.cut(requests), strict=True))
        verdicts = {
            (text, len(texts)): self._verdict(replied[text], len(texts)) for texts in asked for text in texts
        }
        unread = [replied[text] for (text, _), verdict in verdicts.items() if verdict is None]
        check_unread(unread, len(verdicts), self.verdict, label)
        values = [self._means([verdicts[text, len(texts)] for text in texts]) for texts in asked]
        return Scores(values, [np.full(len(texts), any(cut[text] for text in texts)) for texts in asked])

    def _verdict(self, reply: np.ndarray | str, size: int) -> np.ndarray | None:
        if self.verdict == "labels":
            return None if np.isnan(reply).any() else log_softmax(reply[:size])
        named = named_label(reply, LABELS[:size])
        return named and np.array([float(label == named) for label in LABELS[:size]])

    def _means(self, verdicts: Sequence[np.ndarray | None]) -> np.ndarray:
        size = len(verdicts)
        even = np.full(size, -math.log(size) if self.verdict == "labels" else 1 / size)
        rows = [even if verdict is None else verdict for verdict in verdicts]
        # In rotation r answer a is at place a - r. A plain sum depends on the order, and answers that are the
        # same must tie.
        return np.array([math.fsum(rows[r][(a - r) % size] for r in range(size)) / size for a in range(size)])


def check_unread(unread: Sequence, total: int, verdict: str, label: str) -> None:
    """Report how many of `total` replies have no verdict (`unread`); raise PolyrewardError where none has."""
    if 0 < len(unread) < total:
        announce(
            f"{label}: {len(unread)} of {total} replies had no verdict; each counts as one for all answers"
            " alike"
        )
    elif unread and verdict == "labels":
        raise PolyrewardError(
            f"{label}: no reply of {total} begins with a label; set verdict: text, or fix the template"
        )
    elif unread:
        raise PolyrewardError(
            f"{label}: no reply of {total} has a verdict; one ends with {unread[0][-300:]!r}; raise"
            " max_new_tokens if replies are cut short, fix the template if they have another form, or set"
            " verdict: labels"
        )


def rotated_requests(template: str, conversation: Conversations) -> list[str]:
    """Return a judge's N questions about an item; in question r answer (p + r) mod N is at position p."""
    prompt, answers = conversation
    if not 2 <= len(answers) <= len(LABELS):
        raise PolyrewardError(
            f"prompt {str(prompt)[:60]!r}: has {len(answers)} answers; a judge compares 2 to {len(LABELS)}"
        )
    *labels, last = LABELS[: len(answers)]
    texts = {"prompt": as_text(prompt), "labels": f"{', '.join(labels)} or {last}"}
    requests = []
    for r in range(len(answers)):
        shown = list(zip([*labels, last], [*answers[r:], *answers[:r]], strict=True))
        texts["answers"] = "\n".join(f"<{label}>\n{answer}\n</{label}>" for label, answer in shown)
        texts["lettered"] = "\n".join(f"{label}. {answer}" for label, answer in shown)
        # One pass over the template only, so that braces in the texts stay as they are.
        requests.append(
            re.sub(r"\{(prompt|answers|lettered|labels)\}", lambda found: texts[found[1]], template)
        )
    return requests


def named_label(reply: str, labels: str) -> str | None:
    """Return the label that a reply names: the last match of VERDICT, else a last line with little else;
    or None."""
    found = re.findall(VERDICT, reply) or BARE.findall(reply.rstrip().rpartition("\n")[2])
    return found[-1].upper() if found and found[-1].upper() in list(labels) else None
