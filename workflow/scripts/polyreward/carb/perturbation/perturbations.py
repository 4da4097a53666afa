"""The rewrites of an item's right answer: one changes the concept, three keep it."""

import dataclasses
import difflib


@dataclasses.dataclass(frozen=True)
class Perturbation:
    """How an answer is rewritten. frame: of the file of cultures, which says whether the label, the place, is
    named.

    title: for figures. fact: "own", or "another" culture's. language: the item's "own", or "another".
    wording: the answer's "own", or "another" (wordings.py)."""

    title: str
    frame: str
    fact: str = "own"
    language: str = "own"
    wording: str = "own"

    @property
    def keeps_label(self) -> bool:
        """Whether the rewrite names the place."""
        return self.frame != "unlabelled"


BASE = Perturbation("base", "labelled")
# A new one is an entry here, with a frame in every language of resources/carb/cultures.yaml, and a test.
PERTURBATIONS = {
    "CC": Perturbation("another concept", "labelled", fact="another"),
    "RC": Perturbation("no label", "unlabelled"),
    "CL": Perturbation("other language", "labelled", language="another"),
    "RP": Perturbation("paraphrase", "labelled", wording="another"),
}


def changed_share(one: str, other: str) -> float:
    """Return the share of two texts' characters, 0 to 1, that the other does not have, in order (1 -
    difflib's ratio)."""
    return 1 - difflib.SequenceMatcher(None, one, other, autojunk=False).ratio()
