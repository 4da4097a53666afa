"""Judges that are asked about two answers as a published benchmark asks: once, in an order that is drawn."""

import dataclasses
import hashlib
import json
import re
from collections.abc import Sequence

import numpy as np

from polyreward.core.conversations import Messages, as_text
from polyreward.core.errors import PolyrewardError
from polyreward.scoring.generative import Backend, Judge, check_unread
from polyreward.scoring.interface import Conversations, Scores

PLACES = re.compile(r"\{(prompt|first|second)\}")


@dataclasses.dataclass(frozen=True)
class PairQuestion:
    """A question about two answers. text: with {prompt}, {first} and {second}; system: a message before it, or "".

    verdicts: how a reply names the first and the second answer; pattern: a regular expression whose one group is such a name.
    Raises PolyrewardError where the text shows not all, or the pattern finds no name."""

    system: str
    text: str
    verdicts: Sequence[str]
    pattern: str

    def __post_init__(self):
        """Check the question."""
        missing = {"prompt", "first", "second"} - set(PLACES.findall(self.text))
        if missing:
            raise PolyrewardError(f"judge question: the judge would not see {', '.join(sorted(missing))}; put them in as {{...}}")
        if len(set(self.verdicts)) != 2 or re.compile(self.pattern).groups != 1:
            raise PolyrewardError("judge question: it needs two verdicts, and a pattern with one group around them")

    def request(self, prompt: object, first: str, second: str) -> Messages:
        """Return what is asked of two answers, in their order."""
        texts = {"prompt": as_text(prompt), "first": first, "second": second}
        asked = PLACES.sub(lambda found: texts[found[1]], self.text)  # one pass, so that braces in the texts stay
        system = [{"role": "system", "content": self.system}] if self.system else []
        return [*system, {"role": "user", "content": asked}]

    def named(self, reply: str) -> int | None:
        """Return which answer a reply names, 0 or 1, by the pattern's last match; None where it names neither."""
        found = re.findall(self.pattern, reply)
        return list(self.verdicts).index(found[-1]) if found and found[-1] in self.verdicts else None


@dataclasses.dataclass(frozen=True)
class PairJudge:
    """A judge with a question of its own for two answers; of more than two it is asked as any other judge, in all orders.

    Of a pair the answer that is named gets 1 and the other 0; both get one half where the reply names neither."""

    judge: Judge
    question: PairQuestion

    @property
    def exact(self) -> bool:
        """Whether a score depends on its own requests alone."""
        return self.judge.exact

    @property
    def backend(self) -> Backend:
        """Who answers its requests."""
        return self.judge.backend

    def alone(self) -> "PairJudge":
        """Return the same judge that runs each request by itself."""
        return dataclasses.replace(self, judge=self.judge.alone())

    def score(self, conversations: Sequence[Conversations], label: str) -> Scores:
        """Score every answer; errors as in Judge.score."""
        pairs = [place for place, one in enumerate(conversations) if len(one.answers) == 2]
        others = [place for place, one in enumerate(conversations) if len(one.answers) != 2]
        found = dict(zip(pairs, self._of_pairs([conversations[place] for place in pairs], label), strict=True))
        if others:
            more = self.judge.score([conversations[place] for place in others], label)
            found |= dict(zip(others, zip(more.values, more.truncated, strict=True), strict=True))
        in_order = [found[place] for place in range(len(conversations))]
        return Scores([values for values, _ in in_order], [cut for _, cut in in_order])

    def _of_pairs(self, pairs: Sequence[Conversations], label: str) -> list[tuple[np.ndarray, np.ndarray]]:
        if not pairs:
            return []
        turned = [swapped(prompt, answers) for prompt, answers in pairs]
        requests = [
            self.question.request(prompt, *(answers[::-1] if turn else answers))
            for (prompt, answers), turn in zip(pairs, turned, strict=True)
        ]
        replies, cuts = self.backend.replies(requests, label), self.backend.cut(requests)
        named = [self.question.named(reply) for reply in replies]
        unread = [reply for reply, name in zip(replies, named, strict=True) if name is None]
        check_unread(unread, len(replies), "text", label)
        values = [
            np.array([0.5, 0.5]) if name is None else np.eye(2)[name ^ turn] for name, turn in zip(named, turned, strict=True)
        ]
        return [(value, np.full(2, cut)) for value, cut in zip(values, cuts, strict=True)]


def swapped(prompt: object, answers: Sequence[str]) -> bool:
    """Tell by a hash whether a pair is shown with its second answer first: as often as not, and always alike."""
    text = json.dumps([as_text(prompt), *answers])
    return bool(hashlib.sha256(text.encode()).digest()[0] & 1)


def asked_in_pairs(judge: Judge, entry: dict) -> Judge | PairJudge:
    """Return a judge with the question of its entry, {system, text, verdicts, pattern}, where it has one."""
    return PairJudge(judge, PairQuestion(**entry["question"])) if "question" in entry else judge
