"""The kinds of scorers: what the code asks of a kind, and its look in figures."""

from typing import NamedTuple

from polyreward.core.errors import PolyrewardError, unknown_name


class Kind(NamedTuple):
    """One kind of scorer.

    Attributes:
        score: what its score is, in the words of the command line.
        writes: whether it writes a reply token by token. A card then holds a cache of the tokens before.
        has_zero: whether a score of 0 means something. A change is then also given in percent of a score.
        colour, marker: its look in figures. Colours are Okabe and Ito's.
        shades: dark, middle and light, for its best reward models in Figure 3 of the CARB paper. Without
            shades it has no part in that figure.
        filled: whether its marks in that figure are filled.
    """

    score: str
    writes: bool
    has_zero: bool
    colour: str
    marker: str
    shades: tuple[str, ...] = ()
    filled: bool = False


# Of reward models. No scorer of another kind is one.
REWARD_KINDS = {
    "classifier": Kind(
        score="its output is the reward",
        writes=False,
        has_zero=False,
        colour="#0072B2",
        marker="o",
        shades=("#08306b", "#2f79b5", "#9ac8e0"),
        filled=True,
    ),
    "implicit": Kind(
        score="log-likelihood, or with --reference the log-ratio of a DPO policy",
        writes=False,
        has_zero=True,
        colour="#009E73",
        marker="^",
    ),
    "generative": Kind(
        score="a judge",
        writes=True,
        has_zero=True,
        colour="#E69F00",
        marker="s",
        shades=("#7f2704", "#e1640e", "#fdae6b"),
    ),
}
BASELINE = "baseline"  # what reward models are compared with; its ties are half right
EVERY_KIND = (*REWARD_KINDS, BASELINE)


def is_baseline(kind: str) -> bool:
    """Return whether a kind is the baseline.

    Raises:
        PolyrewardError: it is neither that nor one of REWARD_KINDS.
    """
    if kind not in EVERY_KIND:
        raise PolyrewardError(f"kind of a scorer: {unknown_name(kind, EVERY_KIND, 'core/kinds.py')}")
    return kind == BASELINE
