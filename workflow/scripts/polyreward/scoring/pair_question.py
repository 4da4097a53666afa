"""Judges that are asked about two answers as a published benchmark asks: once, in an order that is drawn.

The reply's name of an answer counts, as in RewardBench, or the probabilities of both, as in AlpacaEval 2
(weighted_alpaca_eval_gpt4_turbo in tatsu-lab/alpaca_eval)."""

import dataclasses
import hashlib
import json
import re
from collections.abc import Sequence

import numpy as np
from scipy.special import softmax

from polyreward.core.conversations import Messages, as_text
from polyreward.core.errors import PolyrewardError
from polyreward.core.yaml_files import read_yaml
from polyreward.scoring.generative import TEMPLATE, Backend, Judge, check_unread
from polyreward.scoring.interface import Composite, Conversations, Scores

PLACES = re.compile(r"\{(prompt|first|second)\}")


@dataclasses.dataclass(frozen=True)
class PairQuestion:
    """A question about two answers. text: with {prompt}, {first} and {second}; system: a message before,
    or "".

    verdicts: how a reply names the first and the second answer; pattern: a regular expression whose one
    group is such a name. Raises PolyrewardError where they lack one of these."""

    system: str
    text: str
    verdicts: Sequence[str]
    pattern: str

    def __post_init__(self):
        """Check the question, which may be a file of the user's."""
        missing = {"prompt", "first", "second"} - set(PLACES.findall(self.text))
        if missing:
            raise PolyrewardError(
                f"judge question: it lacks {', '.join(sorted(missing))}. Add them in braces, as in {{prompt}}"
            )
        if len(set(self.verdicts)) != 2 or re.compile(self.pattern).groups != 1:
            raise PolyrewardError(
                "judge question: it needs two verdicts, and a pattern with one group around them"
            )

    def request(self, prompt: object, first: str, second: str) -> Messages:
        """Return what is asked of two answers, in their order."""
        texts = {"prompt": as_text(prompt), "first": first, "second": second}
        # One pass, so that braces in the texts stay.
        asked = PLACES.sub(lambda found: texts[found[1]], self.text)
        system = [{"role": "system", "content": self.system}] if self.system else []
        return [*system, {"role": "user", "content": asked}]

    def named(self, reply: str) -> int | None:
        """Return which answer the pattern's last match names, 0 or 1; None where it names neither."""
        found = re.findall(self.pattern, reply)
        return list(self.verdicts).index(found[-1]) if found and found[-1] in self.verdicts else None


@dataclasses.dataclass(frozen=True)
class PairJudge(Composite):
    """A judge with a question of its own for two answers; of more it is asked as any other judge.

    The answer that is named gets 1 and the other 0. By labels, each gets the probability of its name as
    the reply's first token, normalised over the two. Both get one half where the reply names neither."""

    judge: Judge
    question: PairQuestion

    def __post_init__(self):
        """Check that a reply is just a name where its first token has to say which."""
        names = self.question.verdicts
        if self.weighs and [self.question.named(name) for name in names] != [0, 1]:
            raise PolyrewardError(
                f"judge question: a reply to it is not just {' or '.join(names)}, so its first token is no"
                " label; set verdict: text"
            )

    @property
    def weighs(self) -> bool:
        """Whether scores of pairs are probabilities, not verdicts."""
        return self.judge.verdict == "labels"

    @property
    def backend(self) -> Backend:
        """Who answers its requests."""
        return self.judge.backend

    def score(self, conversations: Sequence[Conversations], label: str) -> Scores:
        """Score every answer; errors as in Judge.score."""
        pairs = [one for one in conversations if len(one.answers) == 2]
        others = [one for one in conversations if len(one.answers) != 2]
        of_pairs = iter(self._of_pairs(pairs, label) if pairs else [])
        more = self.judge.score(others, label) if others else Scores([], [])
        of_others = zip(more.values, more.truncated, strict=True)
        found = [next(of_pairs if len(one.answers) == 2 else of_others) for one in conversations]
        return Scores([values for values, _ in found], [cut for _, cut in found])

    def _of_pairs(self, pairs: Sequence[Conversations], label: str) -> list[tuple[np.ndarray, np.ndarray]]:
        turned = [swapped(prompt, answers) for prompt, answers in pairs]
        requests = [
            self.question.request(prompt, *(answers[::-1] if turn else answers))
            for (prompt, answers), turn in zip(pairs, turned, strict=True)
        ]
        # In the order shown: the probabilities of both names, or 1 and 0; None where neither is named
        if self.weighs:
            replies = self.backend.label_logprobs(requests, list(self.question.verdicts), label)
            shown = [None if np.isnan(row).any() else softmax(row) for row in replies]
        else:
            replies = self.backend.replies(requests, label)
            named = map(self.question.named, replies)
            shown = [None if name is None else np.eye(2)[name] for name in named]
        unread = [reply for reply, value in zip(replies, shown, strict=True) if value is None]
        check_unread(unread, len(replies), self.judge.verdict, label)
        values = [np.array([0.5, 0.5]) if value is None else value for value in shown]
        values = [value[::-1] if turn else value for value, turn in zip(values, turned, strict=True)]
        return [
            (value, np.full(2, cut)) for value, cut in zip(values, self.backend.cut(requests), strict=True)
        ]


def swapped(prompt: object, answers: Sequence[str]) -> bool:
    """Return by a hash whether a pair is shown with its second answer first: as often as not."""
    text = json.dumps([as_text(prompt), *answers])
    return bool(hashlib.sha256(text.encode()).digest()[0] & 1)


def judge_of(entry: dict, backend: Backend) -> Judge | PairJudge:
    """Return the judge of an entry of kind `generative`, whose requests a backend answers.

    Its `question` is {system, text, verdicts, pattern}, or a file of these."""
    asked = Judge(backend, entry.get("verdict", "labels"), entry.get("template", TEMPLATE))
    if "question" not in entry:
        return asked
    question = entry["question"]
    return PairJudge(asked, PairQuestion(**(read_yaml(question) if isinstance(question, str) else question)))
