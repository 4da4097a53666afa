"""Every figure, drawn from made-up tables of the size of scale mini: {name: a function without arguments that
draws it}."""

from itertools import combinations, product

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from support import script

from polyreward.analysis.bootstrap import Interval
from polyreward.analysis.embedding_norms import KS_COLUMNS, NORM_COLUMNS, ks_table, norm_table
from polyreward.analysis.geometry import COLUMNS as GEOMETRY_COLUMNS
from polyreward.analysis.verdicts import from_correlations
from polyreward.artifacts.fonts import fonts_for
from polyreward.carb.downstream.correlation import ERRORS
from polyreward.carb.figures import figure1 as carb1
from polyreward.carb.figures.figure2 import ALL, GROUP_COLUMNS
from polyreward.carb.figures.figure2 import draw_figure2 as draw_carb2
from polyreward.carb.figures.figure3 import DOMAIN_COLUMNS
from polyreward.carb.figures.figure3 import draw_figure3 as draw_carb3
from polyreward.carb.figures.figure5 import draw_rows, plotted
from polyreward.carb.perturbation.perturbations import PERTURBATIONS
from polyreward.carb.perturbation.sensitivity import PAIR_COLUMNS
from polyreward.transfer import figure3
from polyreward.transfer.figure1 import draw_figure1
from polyreward.transfer.figure2 import draw_figure2

correlation_table = script("analyse/carb_regressions").correlation_table
draw_consistency = script("artifacts/carb_consistency").draw_consistency
_carb_figure4 = script("artifacts/carb_figure4")
CORRELATIONS, draw_correlations = _carb_figure4.PLOTTED, _carb_figure4.draw_correlations
_carb_locals_curves = script("artifacts/carb_locals_curves")
CURVE_COLUMNS, draw_curves = _carb_locals_curves.COLUMNS, _carb_locals_curves.draw_curves
_carb_perturbation_figure = script("artifacts/carb_perturbation_figure")
PLOTTED, draw_perturbations = _carb_perturbation_figure.PLOTTED, _carb_perturbation_figure.draw_perturbations

LANGUAGES = ["en", "es", "it", "ko", "zh"]
TARGETS = LANGUAGES[1:]
BASES = ["gemma-3-270m", "smollm2-135m-instruct"]
CULTURES = ["ar", "zh", "en", "de", "ja", "ko", "ru", "es", "th", "vi"]
DOMAINS = ["commonsense", "values", "safety", "linguistics"]
SCORERS = {
    "gemma-3-270m_en": "classifier", "gemma-3-270m_ko": "classifier", "smollm2-135m-instruct_en": "classifier",
    "smollm2-135m-instruct_zh": "classifier", "gemma-3-270m-implicit": "implicit", "judge-smollm2": "generative",
    "judge-smollm2-knockout": "generative", "judge-gemma": "generative",
}  # fmt: skip
QUESTION = "في أي يوم يبدأ الأسبوع في مصر؟"


def generator() -> np.random.Generator:
    return np.random.default_rng(5)


def around(value: np.ndarray, half: float, lowest: float, highest: float) -> dict[str, np.ndarray]:
    return {"low": np.clip(value - half, lowest, highest), "high": np.clip(value + half, lowest, highest)}


def geometry() -> pd.DataFrame:
    """Figure 1's table. A reward model of each language keeps less of its base than the one before."""
    records = []
    for base, start in zip(BASES, (0.62, 0.55), strict=True):
        for place, training in enumerate(["base", *LANGUAGES]):
            first = start + 0.05 * place
            rest = (1 - first) * np.array([0.4, 0.3, 0.2, 0.1])
            shares = [first, *rest]
            records.append((base, training, "share", "", first, first - 0.02, min(first + 0.02, 1), 200))
            records += [
                (base, training, "spectrum", str(k + 1), s, s * 0.9, s * 1.1, 200)
                for k, s in enumerate(shares)
            ]
            if training != "base":
                for shift, language in enumerate(LANGUAGES):
                    cka = 0.97 - 0.07 * place - 0.02 * shift
                    records.append(
                        (base, training, "cka", language, cka, cka - 0.06, min(cka + 0.03, 0.995), 200)
                    )
    return pd.DataFrame(records, columns=GEOMETRY_COLUMNS)


def norms() -> tuple[pd.DataFrame, pd.DataFrame]:
    """Figure 2's tables: one base whose languages are alike, one whose are not."""
    random, norms, tests = generator(), [], []
    for base, apart in (("gemma-3-270m", 0.05), ("smollm2-135m-instruct", 0.5)):
        values = random.normal(3, 0.4, 400 * len(LANGUAGES))
        sets = {
            language: list(range(place, len(values), len(LANGUAGES)))
            for place, language in enumerate(LANGUAGES)
        }
        for place, ids in enumerate(sets.values()):
            values[ids] -= apart * place
        table = norm_table(np.stack([0.6 * values, 0.8 * values], axis=1), sets, "en")
        norms.append(table.assign(base_model=base)[NORM_COLUMNS])
        facts = {
            "constant_norms": False,
            "vocabulary_norm_mean": values.mean(),
            "vocabulary_norm_sd": values.std(),
        }
        tests.append(ks_table(table, "en").assign(base_model=base, **facts)[KS_COLUMNS])
    return pd.concat(norms), pd.concat(tests)


def win_rates() -> pd.DataFrame:
    """Figure 3's table."""
    records = []
    for place, language in enumerate(TARGETS):
        rates = {"base": 38.0 + 2 * place, "target": 44.0 + 3 * place, "english": 49.0 + place}
        for policy, rate in rates.items():
            records.append((language, policy, "win rate", rate, rate - 7, rate + 7, 100, 3))
            records.append((language, policy, "length-controlled", rate - 2.5, np.nan, np.nan, 100, 3))
            records += [
                (language, policy, f"run {n}", rate + 1.5 * (n - 2), np.nan, np.nan, 100, 3)
                for n in (1, 2, 3)
            ]
        lead = rates["english"] - rates["target"]
        records.append((language, "english - target", "win rate", lead, lead - 6, lead + 6, 100, 3))
        records.append((language, "english - target", "length-controlled", lead + 1, np.nan, np.nan, 100, 3))
    return pd.DataFrame(records, columns=figure3.COLUMNS)


def glance() -> pd.DataFrame:
    """CARB's Figure 1."""
    item = {"item": "week-start_ar", "culture": "ar", "domain": "commonsense"}
    records, random = [{"panel": "prompt", **item, "text": QUESTION}], generator()
    answers = [f"يبدأ الأسبوع في مصر يوم {day}." for day in ("السبت", "الاثنين", "الأحد", "الجمعة")]
    for number, (text, whose) in enumerate(zip(answers, ("ar", "de", "ja", None), strict=True)):
        for name in ("gemma-3-270m_en", "smollm2-135m-instruct_zh", "judge-smollm2", "judge-gemma"):
            answer = {"candidate": number, "is_chosen": number == 0, "text": text, "from_culture": whose}
            records.append({"panel": "score", **item, **answer, "scorer": name, "score": random.normal()})
    records += [
        {"panel": "count", "culture": c, "domain": d, "n_items": 7 + n % 4}
        for n, (c, d) in enumerate(product(CULTURES, DOMAINS))
    ]
    return pd.DataFrame(records).reindex(columns=carb1.COLUMNS)


def draw_glance() -> Figure:
    table, names = glance(), carb1.own_names(CULTURES)
    with fonts_for(carb1.texts_by_culture(table, names)) as families:
        figure = carb1.draw_figure1(table, names, families)
        figure.draw_without_rendering()  # while the fonts are there
    return figure


def groups() -> pd.DataFrame:
    """CARB's Figure 2."""
    panels = {
        "resource_class": {"5": "ar zh en de ja es", "4": "ko ru vi", "3": "th"},
        "family": {"Indo-European": "en de ru es", "Afro-Asiatic": "ar", "Austroasiatic": "vi", "Japonic": "ja", "Koreanic": "ko",
                   "Sino-Tibetan": "zh", "Tai-Kadai": "th"},
        "script": {"Latn": "en de es vi", "Arab": "ar", "Cyrl": "ru", "Hans": "zh", "Jpan": "ja", "Kore": "ko", "Thai": "th"},
    }  # fmt: skip
    random, records = generator(), []
    for panel, of_panel in panels.items():
        for group, cultures in of_panel.items():
            n = 40 * len(cultures.split())
            for scorer, kind in {ALL: ALL, **SCORERS}.items():
                score, half = 28 + 4 * random.normal(), 60 / np.sqrt(n)
                records.append(
                    (panel, group, cultures, scorer, kind, score, max(score - half, 0), score + half, n)
                )
    return pd.DataFrame(records, columns=GROUP_COLUMNS)


def domains() -> pd.DataFrame:
    """CARB's Figure 3."""
    random, records = generator(), []
    for kind in ("classifier", "generative"):
        names = [name for name, of in SCORERS.items() if of == kind][:3]
        for place, scorer in enumerate(names, 1):
            for domain in DOMAINS:
                score = 30 + 5 * random.normal() + (4 if domain == "safety" else 0)
                records.append((kind, place, scorer, domain, score, score - 6, score + 6, 100))
    return pd.DataFrame(records, columns=DOMAIN_COLUMNS)


def correlations(policies: tuple[str, ...] = (*BASES, "all"), n_bases: int = 9) -> pd.DataFrame:
    """CARB's Figure 4: one benchmark correlates with the rating, the other does not, and some are unknown."""
    records = []
    for place, policy in enumerate(policies):
        for benchmark, r in (("carb", 0.82 - 0.1 * place), ("rewardbench", -0.2 + 0.15 * place)):
            low, high = (end[0] for end in from_correlations([r], n_bases).ends(0.95))
            verdict = "correlate" if low > 0 else "not decided"
            records.append(("questions", policy, benchmark, "chrf", r, low, high, 0.03, 15, n_bases, verdict))
    return pd.DataFrame(records, columns=CORRELATIONS)


def downstream() -> Figure:
    """CARB's Figure 5 of two sets, one of which is open, and of policies that reward models trained."""
    random, tables, n = generator(), [], np.arange(len(SCORERS))
    sets = [("blend", "best-of-n", PICKS), ("omgeval", "best-of-n", PICKS), ("blend", "grpo", TRAINED)]
    for name, selection, bounds in sets:
        rows = pd.DataFrame({"scorer": list(SCORERS), "kind": list(SCORERS.values()), "carb": 24.0 + n})
        rows = rows.assign(
            base=[f"b{i % 4}" for i in n],
            chrf=14 + 0.5 * n + random.normal(size=len(n)),
            rewardbench=50 + random.normal(size=len(n)),
        )
        of_bounds = pd.DataFrame([{"scorer": b, "kind": "bound", "chrf": y} for b, y in bounds.items()])
        table = pd.concat([rows, of_bounds])
        table["match"] = np.nan if name == "omgeval" else 2 * table["chrf"]
        tables.append(
            table.assign(downstream=name, selection=selection, policy="all", n_questions=500, n_candidates=16)
        )
    points = pd.concat(tables).assign(**dict.fromkeys(ERRORS, 0.1))
    correlations = correlation_table(points[points["kind"] != "bound"], Interval(100, 0.95, 1))
    return draw_rows(plotted(points, "match")[0], correlations, "match", 0.95)


PICKS, TRAINED = {"oracle": 24.0, "random": 12.0}, {"before GRPO": 13.0}


def perturbations() -> pd.DataFrame:
    """The figure of the perturbations."""
    random, records = generator(), []
    for scorer, kind in {**SCORERS, "length": "baseline", "chance (permuted)": "chance"}.items():
        index = np.clip(random.normal(-0.2, 0.2), -0.9, 0.9)
        for perturbation in PERTURBATIONS:
            change = random.normal(0, 0.3)
            interval = (change, change - 0.15, change + 0.15, abs(change) + 0.3)
            records.append((scorer, kind, perturbation, *interval, 120, index, index - 0.1, index + 0.1))
    return pd.DataFrame(records, columns=PLOTTED)


def consistency() -> pd.DataFrame:
    """The figure of the consistency."""
    random, records = generator(), []
    for scorer, kind in SCORERS.items():
        for one, two in combinations(CULTURES, 2):
            records.append((scorer, kind, one, two, float(np.clip(random.normal(0.4, 0.12), 0, 1)), 40))
    return pd.DataFrame(records, columns=PAIR_COLUMNS)


def curve_table() -> tuple[pd.DataFrame, dict[str, str]]:
    """The training curves."""
    random, steps, parts = generator(), np.arange(1, 25), []
    names = {"full": "both rewards", "no-corr": "without R_corr", "no-appr": "without R_appr"}
    facts = {"step": steps, "groups": 8.0, "groups_equal": np.clip(4 - steps // 6, 0, 8), "kl": 0.001 * steps}
    for place, run in enumerate(names):
        rising = np.tanh(steps / 12) * (1 - 0.2 * place)
        columns = {name: rising + 0.08 * random.normal(size=24) for name in CURVE_COLUMNS[2:]}
        parts.append(pd.DataFrame(columns).assign(run=run, **facts))
    return pd.concat(parts)[CURVE_COLUMNS], names


FIGURES = {
    "figure1": lambda: draw_figure1(geometry(), "95%"),
    "figure2": lambda: draw_figure2(*norms(), "en", [["ko", "zh"], ["es", "it"]]),
    "figure3": lambda: figure3.draw_figure3(win_rates(), "95%"),
    "carb_figure1": draw_glance,
    "carb_figure2": lambda: draw_carb2(groups(), 25, "95%"),
    "carb_figure3": lambda: draw_carb3(domains(), 25, "95%"),
    "carb_figure4": lambda: draw_correlations(correlations(), "95%"),
    "carb_figure5": downstream,
    "carb_perturbation_figure": lambda: draw_perturbations(perturbations(), "95%"),
    "carb_consistency": lambda: draw_consistency(consistency()),
    "carb_locals_curves": lambda: draw_curves(*curve_table()),
}
