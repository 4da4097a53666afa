"""Whether a judge that trains names an answer's own words, as its warm-up taught it.

A judge that names the wrong answer more often than not gains by naming none: its verdict is then even odds,
which pay more in the mean, and it has nothing left to learn from. So GRPO asks for a name."""

from polyreward.scoring.criteria_layout import FAULTS, LABELS, Reply

UNNAMED = "no answer named"  # a fault of a reply while such a judge trains, and of no reply that is scored
TRAINING_FAULTS = (*FAULTS, UNNAMED)
NAMED = 3  # characters at most that have to be an answer's last ones


def names_an_answer(reply: Reply, request: str, quote: int) -> bool:
    """Return whether a reply's last criterion ends in an answer's last characters and label, as the question
    has them.

    quote: characters that the warm-up's criteria have of an answer; of longer quotes the last NAMED
    decide."""
    asked = " ".join(request.split())  # the warm-up names an answer on one line
    last = reply.criteria[-1] if reply.criteria else ""
    labels = [f" ({label})" for label in LABELS if last.endswith(f" ({label})")]
    return any(last[-min(quote, NAMED) - len(label) :] in asked for label in labels)
