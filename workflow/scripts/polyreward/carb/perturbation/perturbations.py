"""The rewrites of an item's right answer: one changes the concept, three keep it."""

import dataclasses
import difflib


@dataclasses.dataclass(frozen=True)
class Perturbation:
    """How an answer is rewritten: its fact, language and wording are its "own" or "another".

    frame: a key of the file of cultures, which says whether the label, the place, is named."""

    frame: str
    fact: str = "own"
    language: str = "own"
    wording: str = "own"


BASE = Perturbation("labelled")
# A new one is an entry here, with a frame in every language of resources/carb/cultures.yaml, and a test.
PERTURBATIONS = {
    "CC": Perturbation("labelled", fact="another"),
    "RC": Perturbation("unlabelled"),
    "CL": Perturbation("labelled", language="another"),
    "RP": Perturbation("labelled", wording="another"),
}


def changed_share(one: str, other: str) -> float:
    """Return 1 - difflib's ratio: the share of two texts' characters that the other lacks, in order."""
    return 1 - difflib.SequenceMatcher(None, one, other, autojunk=False).ratio()
