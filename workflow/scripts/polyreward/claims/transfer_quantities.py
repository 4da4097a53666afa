"""Quantities of reward models trained in several languages, as functions of the evidence and of options."""

import dataclasses
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from itertools import product
from typing import Literal

import numpy as np
import pandas as pd

from polyreward.analysis.accuracies import split_cases
from polyreward.analysis.verdicts import (
    from_correlations,
    from_draws,
    from_ks,
    from_permutations,
    from_permuted_ks,
)
from polyreward.carb.downstream.correlation import FEWEST_BASES, correlations_with, permuted_by_base
from polyreward.claims.estimate import Estimate, Over, require
from polyreward.claims.transfer_evidence import Evidence

CHANCE_PCT = 50  # of a pair
Panel = Literal["all", "matched"]
Pretraining = Literal["multilingual", "english"]
SectionName = Literal["avg", "chat", "chat_hard", "safety", "reasoning"]


def english_lead(evidence: Evidence, section: SectionName, over: Over) -> Estimate:
    """English minus target reward model on the target language, over bases and target languages."""
    cells = product(evidence.setting.bases, evidence.setting.targets)
    return _of_templates(evidence, [_lead(evidence, *cell, section) for cell in cells], over)


def lead_over_other_sources(evidence: Evidence, section: SectionName = "avg") -> Estimate:
    """English minus each other foreign reward model, mean over bases and languages that neither learnt."""
    setting, training_draws = evidence.setting, evidence.accuracies.training_draws
    require(len(setting.targets) > 1, "it takes a third language; this run has one target language")

    def lead(other: str) -> np.ndarray:
        return _mean(
            training_draws(base, setting.source, language, section)
            - training_draws(base, other, language, section)
            for base, language in product(setting.bases, setting.targets)
            if language != other
        )

    return _of_templates(evidence, list(map(lead, setting.targets)))


def lead_of_section(evidence: Evidence, section: SectionName) -> Estimate:
    """Return English minus target in one section, minus the same in each other section, mean over cells."""
    targets = evidence.setting.targets
    others = [name for name in evidence.accuracies.sections if name != section]
    own, *rest = (_mean_lead(evidence, targets, name) for name in (section, *others))
    return _of_templates(evidence, [own - other for other in rest])


def lead_of_scripts(evidence: Evidence, section: SectionName) -> Estimate:
    """Return English minus target, mean over targets of other scripts minus the mean over Latin ones."""
    latin, others = by_latin(evidence.setting.targets, evidence.setting.scripts)
    require(
        latin and others,
        f"target languages of both kinds are needed; Latin: {latin or 'none'}, other: {others or 'none'}",
    )
    leads = [_mean_lead(evidence, languages, section) for languages in (others, latin)]
    return _of_templates(evidence, [leads[0] - leads[1]])


def gap_between_bases(
    evidence: Evidence, bases: Sequence[str], of: Literal["lead", "target"], over: Over
) -> Estimate:
    """Return one base minus another in the target languages: of the "lead" of English reward models, or of
    the "target" models' accuracy. Bases that Table 1 does not show count, too."""
    _require_here(bases, evidence.setting.all_bases, "bases")

    def value(base: str, language: str) -> np.ndarray:
        if of == "lead":
            return _lead(evidence, base, language, "avg")
        return evidence.accuracies.training_draws(base, language, language, "avg")

    gaps = [value(bases[0], language) - value(bases[1], language) for language in evidence.setting.targets]
    return _of_templates(evidence, gaps, over)


def loss_between_kinds(evidence: Evidence) -> Estimate:
    """How much more English reward models lose on English-centric bases, from the source to the targets."""
    setting, training_draws = evidence.setting, evidence.accuracies.training_draws
    losses: dict[str, list[np.ndarray]] = {"english": [], "multilingual": [], "none": []}
    for base in setting.bases:
        accuracy = partial(training_draws, base, setting.source, section="avg")
        losses[setting.pretraining[base]].append(_loss(evidence, accuracy))
    english, multilingual = losses["english"], losses["multilingual"]
    require(
        english and multilingual,
        f"it takes English-centric and multilingual bases; this run has {' and '.join(setting.bases)}",
    )
    found = _of_templates(evidence, [_mean(english) - _mean(multilingual)])
    # The claim is about kinds of bases, so they are what is counted
    counted = len(english) + len(multilingual)
    return dataclasses.replace(found, n=counted, n_of="bases", fewest=FEWEST_BASES)


def english_against_scorer(evidence: Evidence, bases: Sequence[str], scorer: str) -> Estimate:
    """Return English reward models of some bases minus an off-the-shelf one, mean over bases, languages."""
    setting, accuracies = evidence.setting, evidence.accuracies
    _require_here(bases, setting.bases, "bases")
    _require_here([scorer], setting.off_the_shelf, "models")
    leads = [
        accuracies.training_draws(base, setting.source, language, "avg")
        - accuracies.draws(scorer, language, "avg")[:, None]
        for base, language in product(bases, [setting.source, *setting.targets])
    ]
    return _of_templates(evidence, leads, "mean")


def lead_of_scorer(evidence: Evidence, scorer: str, among: Sequence[str]) -> Estimate:
    """Return an off-the-shelf reward model minus each of some others, in each target language."""
    _require_here([scorer, *among], evidence.setting.off_the_shelf, "models")
    draws, cells = evidence.accuracies.draws, product(among, evidence.setting.targets)
    leads = [draws(scorer, language, "avg") - draws(other, language, "avg") for other, language in cells]
    return _of_templates(evidence, leads, trained=False)


def least_loss(evidence: Evidence, scorer: str, among: Sequence[str]) -> Estimate:
    """How much more other off-the-shelf reward models lose, from the source to the targets, than one."""
    _require_here([scorer, *among], evidence.setting.off_the_shelf, "models")
    draws = evidence.accuracies.draws
    own, *others = (_loss(evidence, partial(draws, name, section="avg")) for name in (scorer, *among))
    return _of_templates(evidence, [other - own for other in others], trained=False)


def correlation_with_preservation(evidence: Evidence) -> Estimate:
    """Correlate, over training languages, nearness to the base's share with accuracy in the targets.

    Both are centred within each base. The null permutes the shares within bases."""
    setting, shares, training_draws = evidence.setting, evidence.shares, evidence.accuracies.training_draws
    trainings = [setting.source, *setting.targets]
    near = np.array([
        [-abs(shares.draws(base, name)[0] - shares.draws(base, "base")[0]) for name in trainings]
        for base in setting.bases
    ])  # fmt: skip
    right = np.array([
        [np.mean([training_draws(base, name, language, "avg")[0, 0] for language in setting.targets])
         for name in trainings]
        for base in setting.bases
    ])  # fmt: skip
    near, right = (values - values.mean(axis=1, keepdims=True) for values in (near, right))
    require(
        near.size - len(near) > 2,
        f"{len(trainings)} training languages of {len(near)} bases are too few for a correlation",
    )
    require(
        min(np.ptp(near), np.ptp(right)) > 1e-9,
        "all reward models of a base are alike in accuracy or in their share",
    )
    counted = near.size - len(near) + 1  # each base costs one
    near, right, bases = near.ravel(), right.ravel(), np.repeat(setting.bases, len(trainings))
    permuted = permuted_by_base(near, bases, evidence.seed, "claims", "preservation")
    decides = len(setting.bases) >= FEWEST_BASES
    few = f"Fewer than {FEWEST_BASES} bases decide nothing, as reward models of one base are alike."
    return Estimate(
        from_correlations([np.corrcoef(near, right)[0, 1]], counted),
        near.size,
        "trained reward models",
        "Fisher's interval of a correlation within bases",
        "" if decides else few,
        decides,
        permuted=from_permutations(correlations_with(permuted, pd.DataFrame({"accuracy": right}))),
    )


def closeness_to_base(evidence: Evidence, language: str, over: Over) -> Estimate:
    """How much farther from the base's share other training languages' are than this one's."""
    draws = evidence.shares.draws

    def distance(base: str, training: str) -> np.ndarray:
        return np.abs(draws(base, training) - draws(base, "base"))

    others = _other_trainings(evidence, language)
    gaps = _gaps(evidence, lambda base, other: distance(base, other) - distance(base, language), others, over)
    return _of_passages(evidence, gaps)


def most_collapsed(evidence: Evidence, language: str, over: Over) -> Estimate:
    """Return the largest singular value's share under one reward model minus the base's and each other's."""
    draws = evidence.shares.draws
    others = ["base", *_other_trainings(evidence, language)]
    gaps = _gaps(evidence, lambda base, other: draws(base, language) - draws(base, other), others, over)
    return _of_passages(evidence, gaps)


def collapse_between_bases(evidence: Evidence, bases: Sequence[str]) -> Estimate:
    """How much more training in the targets raises the largest singular value's share in one base."""
    _require_here(bases, evidence.setting.bases, "bases")
    draws, targets = evidence.shares.draws, evidence.setting.targets
    rises = [_mean(draws(base, training) - draws(base, "base") for training in targets) for base in bases]
    return _of_passages(evidence, [rises[0] - rises[1]])


def norm_distance(evidence: Evidence, panel: Panel, pretraining: Pretraining) -> Estimate:
    """Return the KS statistic of each language's embedding norms against the source's, in bases of one kind.

    Bases of constant norms are alike by construction; they are left out if there are others."""
    setting = evidence.setting
    of_kind = [base for base in setting.figure2_models if setting.pretraining[base] == pretraining]
    require(
        of_kind,
        f"the claim is about bases with {pretraining} pretraining; there is none among"
        f" {', '.join(setting.figure2_models)}",
    )
    varied = [base for base in of_kind if not evidence.constant[base]]
    constant = " ".join(base for base in of_kind if base not in varied)
    norms = evidence.norms[evidence.norms["panel"] == panel]
    sets = [
        norm_sets(norms[norms["base_model"] == base], language, setting.source)
        for base, language in product(varied or of_kind, setting.targets)
    ]
    what = "Left out" if varied else "Says nothing"
    return Estimate(
        from_ks(sets),
        min(len(one) for pair in sets for one in pair),
        "tokens (smallest set)",
        "KS statistic with Dvoretzky-Kiefer-Wolfowitz bounds over tokens",
        f"{what}: norms constant over the vocabulary ({constant})." if constant else "",
        bool(varied),
        permuted=from_permuted_ks(sets),
    )


def win_rate_lead(evidence: Evidence, against: Literal["base", "target"], over: Over) -> Estimate:
    """Return the win rate of the policy from English labels minus another's, over languages."""
    wins = evidence.win_rates
    languages = [language for language in evidence.setting.targets if language in wins.languages]
    require(
        languages,
        f"the claim is about target languages; this run judged answers in {', '.join(wins.languages)}",
    )
    leads = [wins.draws("english", language) - wins.draws(against, language) for language in languages]
    left_out = f" Left out: {wins.n_dropped} instructions without all judgements." if wins.n_dropped else ""
    of_means, of_each = split_cases(_mean_or_each(leads, over), wins.n_trainings)
    return Estimate(
        from_draws(of_means, wins.n_instructions - 1, of_each),
        wins.n_instructions,
        "instructions",
        _bootstrap_over("instructions", of_each),
        f"Languages: {' '.join(languages)}. Answers per instruction: {wins.n_runs}.{left_out}",
        trainings=wins.n_trainings,
    )


def above_chance(evidence: Evidence, over: Over) -> Estimate:
    """Return accuracy minus chance, mean over target languages, of off-the-shelf reward models; the claim is
    about multilingual bases."""
    shelf, draws = evidence.setting.off_the_shelf, evidence.accuracies.draws
    tested = [scorer for scorer, kind in shelf.items() if kind in ("multilingual", "unknown")]
    others = ", ".join(scorer for scorer in shelf if scorer not in tested)
    require(
        tested, f"no off-the-shelf reward model on a multilingual base was scored, but {others or 'none'}"
    )
    targets = evidence.setting.targets
    leads = [_mean(draws(scorer, language, "avg") for language in targets) - CHANCE_PCT for scorer in tested]
    left_out = f" Left out, as their bases are not multilingual: {others}." if others else ""
    return _of_templates(evidence, leads, over, f"Tested: {', '.join(tested)}.{left_out}", trained=False)


def by_latin(languages: Sequence[str], scripts: dict[str, str]) -> tuple[list[str], list[str]]:
    """Return the languages in Latin letters, and the others."""
    latin = [language for language in languages if scripts[language] == "Latn"]
    return latin, [language for language in languages if language not in latin]


def norm_sets(norms: pd.DataFrame, language: str, source: str) -> tuple[np.ndarray, np.ndarray]:
    """Return a language's norms and the source's to compare with, from one base and panel's rows.

    A matched panel has the source's tokens under the language."""
    own = norms[norms["eval_language"] == language]
    whole, sides = norms.loc[norms["eval_language"] == source, "norm"], own.set_index("side")["norm"]
    return sides[sides.index == "language"].to_numpy(), (
        whole if len(whole) else sides[sides.index == "source"]
    ).to_numpy()


def _mean(values: Iterable[np.ndarray]) -> np.ndarray:
    return np.mean(list(values), axis=0)


def _lead(evidence: Evidence, base: str, language: str, section: str) -> np.ndarray:
    training_draws, source = evidence.accuracies.training_draws, evidence.setting.source
    return training_draws(base, source, language, section) - training_draws(base, language, language, section)


def _mean_lead(evidence: Evidence, languages: Sequence[str], section: str) -> np.ndarray:
    cells = product(evidence.setting.bases, languages)
    return _mean(_lead(evidence, *cell, section) for cell in cells)


def _loss(evidence: Evidence, accuracy: Callable[[str], np.ndarray]) -> np.ndarray:
    """Return the accuracy in the source language minus the mean over the target languages."""
    return accuracy(evidence.setting.source) - _mean(map(accuracy, evidence.setting.targets))


def _other_trainings(evidence: Evidence, language: str) -> list[str]:
    trainings = [evidence.setting.source, *evidence.setting.targets]
    require(
        language in trainings,
        f"the claim is about training in `{language}`; this run has {', '.join(trainings)}",
    )
    require(len(trainings) > 1, "another training language is needed")
    return [name for name in trainings if name != language]


def _gaps(
    evidence: Evidence, gap: Callable[[str, str], np.ndarray], others: Sequence[str], over: str
) -> list[np.ndarray]:
    bases = evidence.setting.bases
    if over == "each":
        return [gap(base, other) for base, other in product(bases, others)]
    return [_mean(gap(base, other) for base in bases) for other in others]


def _mean_or_each(leads: Sequence[np.ndarray], over: str) -> np.ndarray:
    stacked = np.stack(leads, axis=1)
    return stacked.mean(axis=1, keepdims=True) if over == "mean" else stacked


def _bootstrap_over(units: str, of_each: np.ndarray | None) -> str:
    return f"paired bootstrap over {units}{'' if of_each is None else ' and variance between trainings'}"


def _of_templates(
    evidence: Evidence, leads: Sequence[np.ndarray], over: str = "each", note: str = "", trained: bool = True
) -> Estimate:
    """Return an estimate from accuracies: (1 + resamples, cases) of trained reward models, else (1 +
    resamples,)."""
    accuracies, values, of_each = evidence.accuracies, _mean_or_each(leads, over), None
    if trained:
        values, of_each = split_cases(values, accuracies.n_seeds)
    drawn, test = from_draws(values, accuracies.freedom, of_each), _bootstrap_over("templates", of_each)
    trainings = accuracies.n_seeds if trained else None
    return Estimate(drawn, accuracies.n_templates, "templates", test, note, trainings=trainings)


def _of_passages(evidence: Evidence, contrasts: Sequence[np.ndarray]) -> Estimate:
    n, drawn = evidence.shares.n_passages, np.stack(contrasts, axis=1)
    return Estimate(from_draws(drawn, n - 1), n, "passages", _bootstrap_over("passages", None), trainings=1)


def _require_here(names: Sequence[str], here: Iterable[str], what: str) -> None:
    require(
        set(names) <= set(here),
        f"the claim is about {' and '.join(names)}; this run's {what} are {' and '.join(here) or 'none'}",
    )
