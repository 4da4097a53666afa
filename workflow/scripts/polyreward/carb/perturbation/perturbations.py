"""The rewrites of an item's right answer: one changes the concept, three keep it."""

import dataclasses
import difflib


@dataclasses.dataclass(frozen=True)
class Perturbation:
    """How an answer is rewritten. frame: a key of the file of cultures, which says whether the label, the
    place, is named. fact: "own", or "another" culture's. language: the item's "own", or "another". wording:
    the answer's "own", or "another" (wordings.py)."""

    frame: str
    fact: str = "own"
    language: str = "own"
    wording: str = "own"

    @property
    def keeps_label(self) -> bool:
        """Whether the rewrite names the place."""
        return self.frame != "unlabelled"


BASE = Perturbation("labelled")
# A new one is an entry here, with a frame in every language of resources/carb/cultures.yaml, and a test.
PERTURBATIONS = {
    "CC": Perturbation("labelled", fact="another"),
    "RC": Perturbation("unlabelled"),
    "CL": Perturbation("labelled", language="another"),
    "RP": Perturbation("labelled", wording="another"),
}


def changed_share(one: str, other: str) -> float:
    """Return the share of two texts' characters, 0 to 1, that the other does not have, in order (1 -
    difflib's ratio)."""
    return 1 - difflib.SequenceMatcher(None, one, other, autojunk=False).ratio()
