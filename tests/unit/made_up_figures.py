"""Figures 1 to 3 and the printed leads, from made-up tables of the size of scale mini: {name: a function}."""

from itertools import product

import numpy as np
import pandas as pd

from polyreward.alignment.win_rates import JUDGE_COLUMNS
from polyreward.analysis.embedding_norms import KS_COLUMNS, NORM_COLUMNS, ks_table, norm_table
from polyreward.analysis.geometry import COLUMNS as GEOMETRY_COLUMNS
from polyreward.transfer import figure3
from polyreward.transfer.figure1 import draw_figure1
from polyreward.transfer.figure2 import draw_figure2
from polyreward.transfer.printed_leads import COLUMNS, MEAN, draw_printed_leads

LANGUAGES = ["en", "es", "it", "ko", "zh"]
TARGETS = LANGUAGES[1:]
BASES = ["gemma-3-270m", "smollm2-135m-instruct"]


def geometry() -> pd.DataFrame:
    """Figure 1's table. A reward model of each language keeps less of its base than the one before."""
    records = []
    for (base, start), (place, training) in product(
        zip(BASES, (0.62, 0.55), strict=True), enumerate(["base", *LANGUAGES])
    ):
        key, first = (base, training), start + 0.05 * place
        shares = [first, *((1 - first) * np.array([0.4, 0.3, 0.2, 0.1]))]
        records.append((*key, "share", "", first, first - 0.02, min(first + 0.02, 1), 200))
        records += [(*key, "spectrum", str(k + 1), s, s * 0.9, s * 1.1, 200) for k, s in enumerate(shares)]
        for shift, language in enumerate(LANGUAGES if training != "base" else ()):
            cka = 0.97 - 0.07 * place - 0.02 * shift
            records.append((*key, "cka", language, cka, cka - 0.06, min(cka + 0.03, 0.995), 200))
    return pd.DataFrame(records, columns=GEOMETRY_COLUMNS)


def norms() -> tuple[pd.DataFrame, pd.DataFrame]:
    """Figure 2's tables: one base whose languages are alike, one whose are not."""
    random, norms, tests = np.random.default_rng(5), [], []
    for base, apart in zip(BASES, (0.05, 0.5), strict=True):
        values, sets = random.normal(3, 0.4, 400 * len(LANGUAGES)), {}
        for place, language in enumerate(LANGUAGES):
            sets[language] = list(range(place, len(values), len(LANGUAGES)))
            values[sets[language]] -= apart * place
        table = norm_table(values, sets, "en")
        norms.append(table.assign(base_model=base)[NORM_COLUMNS])
        facts = {"constant_norms": False, "vocabulary_norm_mean": 3.0, "vocabulary_norm_sd": 0.4}
        tests.append(ks_table(table, "en").assign(base_model=base, **facts)[KS_COLUMNS])
    return pd.concat(norms), pd.concat(tests)


def win_rates() -> pd.DataFrame:
    """Figure 3's table."""
    records = []
    for place, language in enumerate(TARGETS):
        rates = {"base": 38.0 + 2 * place, "target": 44.0 + 3 * place, "english": 49.0 + place}
        found = [(policy, "win rate", rate, rate - 7, rate + 7) for policy, rate in rates.items()]
        lead = rates["english"] - rates["target"]
        found.append(("english - target", "win rate", lead, lead - 6, lead + 6))
        points = [(policy, "length-controlled", rate - 2.5) for policy, rate in rates.items()]
        points.append(("english - target", "length-controlled", lead + 1))
        points += [(name, f"run {n}", rates[name] + 1.5 * (n - 2)) for name in rates for n in (1, 2, 3)]
        found += [(*point, np.nan, np.nan) for point in points]
        records += [(language, *one, 100, 3) for one in found]
    return pd.DataFrame(records, columns=figure3.COLUMNS)


def judged() -> pd.DataFrame:
    """What Figure 3's judge gets of known pairs."""
    records = [(language, "all", 78.0 + place, 72.0, 84.0, 300, 50) for place, language in enumerate(TARGETS)]
    return pd.DataFrame(records, columns=JUDGE_COLUMNS)


def leads() -> pd.DataFrame:
    """The table of the printed leads: a lead that shrinks from base to base."""
    records = [
        (base, language, lead, lead - 2.5, lead + 2.5, 2985)
        for base, lead in zip(BASES, (4.0, 1.0), strict=True)
        for language in [*TARGETS, MEAN]
    ]
    return pd.DataFrame(records, columns=COLUMNS)


FIGURES = {
    "figure1": lambda: draw_figure1(geometry(), "95%"),
    "figure2": lambda: draw_figure2(*norms(), "en", [["ko", "zh"], ["es", "it"]]),
    "figure3": lambda: figure3.draw_figure3(win_rates(), judged(), "95%"),
    "printed_leads": lambda: draw_printed_leads(leads(), "95%"),
}
