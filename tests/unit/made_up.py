"""Made-up evidence for the claims, whose answer is known."""

from functools import cache
from itertools import product

import numpy as np
import pandas as pd

from polyreward.analysis.accuracies import Accuracies
from polyreward.analysis.bootstrap import Interval
from polyreward.analysis.comparison import Benchmark
from polyreward.analysis.embedding_norms import NORM_COLUMNS
from polyreward.analysis.verdicts import UNDECIDED, Rule, extreme, verdict
from polyreward.claims.quantities import QUANTITIES
from polyreward.claims.transfer_evidence import Evidence, Setting, Shares, WinRates
from polyreward.core.naming import ModelName

ABOVE = Rule("above", 0, 0)
INTERVAL = Interval(samples=400, confidence=0.95, seed=1)
SECTIONS = ["chat", "chat_hard", "safety", "reasoning"]
BENCHMARK = Benchmark("made-up", {section: [section] for section in SECTIONS}, {})
TARGETS = ["es", "it", "ko", "zh"]
LANGUAGES = ["en", *TARGETS]
SCRIPTS = {"en": "Latn", "es": "Latn", "it": "Latn", "ko": "Kore", "zh": "Hans"}
TEMPLATES = 30  # of each section
ROWS = [
    {"id": f"{section}-{n}", "template": f"{section}-{n}", "subset": section}
    for section in SECTIONS
    for n in range(TEMPLATES)
]
BASE = "base"


def setting(bases=(BASE,), pretraining="multilingual", off_the_shelf=None):
    kinds = dict.fromkeys(bases, pretraining)
    bases = list(bases)
    return Setting(bases, bases, bases, "en", TARGETS, SCRIPTS, kinds, [1], off_the_shelf or {})


def scores(right):
    """A score table from {section: the share of templates that are right}; a negative share counts from the
    last one."""
    chosen = [
        float(n < share * TEMPLATES if share >= 0 else n >= (1 + share) * TEMPLATES)
        for share in (right[section] for section in SECTIONS)
        for n in range(TEMPLATES)
    ]
    return pd.DataFrame(ROWS).assign(score_chosen=chosen, score_rejected=0.5)


def together(tables):
    """Return {(scorer, language): scores} as one table, as read_scores gives it."""
    parts = (
        table.assign(benchmark=BENCHMARK.name, scorer=scorer, language=language)
        for (scorer, language), table in tables.items()
    )
    return pd.concat(parts, ignore_index=True)


def accuracies(rights, scorers=tuple(f"{BASE}_{language}" for language in LANGUAGES), seeds=(1,)):
    """Accuracies of scorers, and of `length`; rights: {(scorer, language): share, or {section: share}}.

    Where none is named: a third, and half of `length`."""
    tables = {}
    for key in product((*scorers, "length"), LANGUAGES):
        right = rights.get(key, 0.5 if key[0] == "length" else 0.3)
        tables[key] = scores(right if isinstance(right, dict) else dict.fromkeys(SECTIONS, right))
    models = [ModelName.parse(name) for name in scorers if "_" in name]  # no other scorer's name has one
    trainings = {
        (one.base, one.language): [str(ModelName(one.base, one.language, seed)) for seed in seeds]
        for one in models
    }
    return Accuracies(together(tables), trainings, BENCHMARK, INTERVAL)


def everywhere(scorer, share):
    return {(scorer, language): share for language in TARGETS}


def transfer(english, target):
    """Accuracies where the English reward model and each target one get these shares in every target
    language."""
    rights = {(f"{BASE}_en", language): english for language in TARGETS}
    return accuracies({**rights, **{(f"{BASE}_{language}", language): target for language in TARGETS}})


def states(share, noise=0.0, passages=24):
    """Hidden states (languages, passages, d_model) of two languages whose largest singular value has about
    this share."""
    shares = share + noise * np.where(np.arange(passages) % 2, 1, -1)
    return np.stack([np.outer(shares, [1, 0]), np.outer(1 - shares, [0, 1])]).astype("float32")


def shares(of_training, noise=0.0, base=BASE):
    """Shares of one base and its reward models. of_training: {"base" or language: share}, 0.6 where none is
    named. Noise differs between languages, so that each difference has some."""
    names = ["base", *LANGUAGES]
    found = {name: states(of_training.get(name, 0.6), 0.0 if name == "base" else noise * (-1) ** place * (1 + place / 10))
             for place, name in enumerate(names)}  # fmt: skip
    return Shares({base: found}, INTERVAL)


def norms(shifts, n=2000, spread=1.0, base=BASE):
    """Norms of n tokens a language, evenly spread normal quantiles, shifted by {language: shift}."""
    quantiles = np.sort(np.random.default_rng(0).normal(size=n))
    source = 10 + spread * quantiles
    parts = [("all", "en", "source", source)]
    for language in TARGETS:
        own = source + spread * shifts.get(language, 0)
        parts += [("all", language, "language", own), ("matched", language, "language", own[: n // 2])]
        parts.append(("matched", language, "source", source[: n // 2]))
    names = ["panel", "eval_language", "side", "norm"]
    tables = [pd.DataFrame(dict(zip(names, part, strict=True))) for part in parts]
    return pd.concat(tables).assign(base_model=base, token_id=0)[NORM_COLUMNS]


def judgements(won, runs=2, n=60, languages=TARGETS):
    """Judgements from {policy: share of instructions won}; a negative share counts from the last one."""
    keys = product(languages, won.items(), range(runs), range(n))
    return pd.DataFrame([
        {"language": language, "policy": policy, "run": run, "id": f"i{k:02}",
         "win": float(k < share * n if share >= 0 else k >= (1 + share) * n)}
        for language, (policy, share), run, k in keys
    ])  # fmt: skip


@cache
def neutral():
    """What is not given to `evidence`."""
    return {
        "setting": setting(), "accuracies": transfer(0.5, 0.5), "shares": shares({}), "norms": norms({}),
        "constant": {BASE: False}, "win_rates": wins({"base": 0.5, "target": 0.5, "english": 0.5}), "seed": 42,
    }  # fmt: skip


def evidence(**parts):
    """Evidence with neutral parts for those that are not given."""
    return Evidence(**{**neutral(), **parts})


def wins(*args, **options):
    return WinRates(judgements(*args, **options), INTERVAL)


def quantity(name, made_up, **options):
    """Return the estimate of a quantity of either paper's claims."""
    return QUANTITIES[name].compute(made_up, **options)


def found(name, made_up, rule=ABOVE, **options):
    """Return the verdict on a quantity, not decided where it says nothing, and its value."""
    estimate = quantity(name, made_up, **options)
    value, _, _ = extreme(estimate.contrasts, rule.side, INTERVAL.confidence)
    return verdict(estimate.contrasts, rule, INTERVAL.confidence) if estimate.decides else UNDECIDED, value
