"""The transfer paper's quantities in workflow/claims.yaml, each a function of the evidence and of its options
there."""

from collections.abc import Callable, Sequence

import numpy as np
import pandas as pd
from scipy.stats import ks_2samp, kstwobign

from polyreward.analysis.verdicts import Contrasts, from_correlations, from_draws, from_permutations
from polyreward.carb.downstream.correlation import FEWEST_BASES, correlations_with, permuted_by_base
from polyreward.claims.estimate import Estimate, need
from polyreward.claims.transfer_evidence import Evidence

CHANCE_PCT = 50  # of a pair


def english_lead(evidence: Evidence, section: str, over: str) -> Estimate:
    """English minus target reward model on the target language.

    over: "mean" or "each" of bases and target languages."""
    setting = evidence.setting
    leads = [
        _lead(evidence, base, language, section) for base in setting.bases for language in setting.targets
    ]
    return _of_templates(evidence, _mean_or_each(leads, over))


def lead_over_other_sources(evidence: Evidence, section: str = "avg") -> Estimate:
    """English minus another foreign language's reward model, mean over bases and languages that neither was
    trained in."""
    setting, accuracies = evidence.setting, evidence.accuracies
    need(len(setting.targets) > 1, "a third language is needed; here is one target language")
    contrasts = [
        np.mean(
            [
                accuracies.of_model(base, setting.source, language, section)
                - accuracies.of_model(base, other, language, section)
                for base in setting.bases
                for language in setting.targets
                if language != other
            ],
            axis=0,
        )
        for other in setting.targets
    ]
    return _of_templates(evidence, contrasts)


def lead_of_section(evidence: Evidence, section: str) -> Estimate:
    """English minus target in one section, less the same in each other section, mean over bases and target
    languages."""
    others = [name for name in evidence.accuracies.sections if name != section]
    return _of_templates(
        evidence, [_mean_lead(evidence, evidence.setting.targets, section, other) for other in others]
    )


def lead_of_scripts(evidence: Evidence, section: str) -> Estimate:
    """English minus target, mean over bases and the target languages of other scripts, less that over the
    Latin one's."""
    latin, others = by_latin(evidence.setting.targets, evidence.setting.scripts)
    need(
        latin and others,
        f"target languages of both kinds are needed; Latin: {latin or 'none'}, other: {others or 'none'}",
    )
    return _of_templates(
        evidence, [_mean_lead(evidence, others, section) - _mean_lead(evidence, latin, section)]
    )


def gap_between_bases(evidence: Evidence, bases: Sequence[str], of: str, over: str) -> Estimate:
    """One base less another in a target language, average of all sections.

    of: the "lead" of the English reward model over the target one, or the "target" reward model's accuracy.
    over: "mean" or "each" of the target languages."""
    _need_bases(evidence, bases)

    def value(base: str, language: str) -> np.ndarray:
        if of == "lead":
            return _lead(evidence, base, language, "avg")
        return evidence.accuracies.of_model(base, language, language, "avg")

    gaps = [value(bases[0], language) - value(bases[1], language) for language in evidence.setting.targets]
    return _of_templates(evidence, _mean_or_each(gaps, over))


def loss_between_kinds(evidence: Evidence) -> Estimate:
    """How much more an English reward model loses from the source to the target languages on English-centric
    bases.

    A loss is the accuracy in the source language less the mean over target languages, average of all
    sections."""
    setting, of_model = evidence.setting, evidence.accuracies.of_model
    kinds = {
        kind: [base for base in setting.bases if setting.pretraining[base] == kind]
        for kind in ("english", "multilingual")
    }
    need(
        all(kinds.values()),
        f"English-centric and multilingual bases are needed, both; here are {_listed(setting.bases)}",
    )

    def loss(base: str) -> np.ndarray:
        away = [of_model(base, setting.source, language, "avg") for language in setting.targets]
        return of_model(base, setting.source, setting.source, "avg") - np.mean(away, axis=0)

    losses = {kind: np.mean([loss(base) for base in bases], axis=0) for kind, bases in kinds.items()}
    return _of_templates(evidence, [losses["english"] - losses["multilingual"]])


def english_against_scorer(evidence: Evidence, bases: Sequence[str], scorer: str) -> Estimate:
    """English reward models of some bases less an off-the-shelf one, mean over bases and all languages."""
    _need_bases(evidence, bases)
    _need_scorers(evidence, [scorer])
    setting, accuracies = evidence.setting, evidence.accuracies
    leads = [
        accuracies.of_model(base, setting.source, language, "avg")
        - accuracies.of(scorer, language, "avg")[:, None]
        for base in bases
        for language in [setting.source, *setting.targets]
    ]
    return _of_templates(evidence, _mean_or_each(leads, "mean"))


def lead_of_scorer(evidence: Evidence, scorer: str, among: Sequence[str]) -> Estimate:
    """An off-the-shelf reward model less each other of some, in each target language."""
    _need_scorers(evidence, [scorer, *among])
    of, targets = evidence.accuracies.of, evidence.setting.targets
    return _of_scorers(
        evidence,
        [of(scorer, language, "avg") - of(other, language, "avg") for other in among for language in targets],
    )


def least_loss(evidence: Evidence, scorer: str, among: Sequence[str]) -> Estimate:
    """How much more others of some off-the-shelf reward models lose from the source to the target languages
    than one of them."""
    _need_scorers(evidence, [scorer, *among])
    of, setting = evidence.accuracies.of, evidence.setting

    def loss(name: str) -> np.ndarray:
        return of(name, setting.source, "avg") - np.mean(
            [of(name, language, "avg") for language in setting.targets], axis=0
        )

    return _of_scorers(evidence, [loss(other) - loss(scorer) for other in among])


def correlation_with_preservation(evidence: Evidence) -> Estimate:
    """Correlation within bases, over training languages, of nearness to the base's share and accuracy in the
    target languages.

    Both are taken less their mean over the reward models of a base, which costs a degree of freedom for each.
    Its null deals the shares out anew within bases."""
    setting, shares, of_model = evidence.setting, evidence.shares, evidence.accuracies.of_model
    trainings = [setting.source, *setting.targets]

    def nearness(base: str, training: str) -> float:
        return -abs(shares.of(base, training)[0] - shares.of(base, "base")[0])

    def accuracy(base: str, training: str) -> float:
        return np.mean([of_model(base, training, language, "avg")[0, 0] for language in setting.targets])

    near, right = (
        np.array([[of(base, training) for training in trainings] for base in setting.bases])
        for of in (nearness, accuracy)
    )
    near, right = (values - values.mean(axis=1, keepdims=True) for values in (near, right))
    need(
        near.size - len(near) > 2,
        f"{len(trainings)} training languages of {len(near)} bases are too few for a correlation",
    )
    need(
        min(np.ptp(near), np.ptp(right)) > 1e-9,
        "all reward models of a base are alike in accuracy or in their share",
    )
    contrasts = from_correlations([np.corrcoef(near.ravel(), right.ravel())[0, 1]], near.size - len(near) + 1)
    bases = np.repeat(setting.bases, len(trainings))
    permuted = permuted_by_base(near.ravel(), bases, evidence.seed, "claims", "preservation")
    null = from_permutations(correlations_with(permuted, pd.DataFrame({"accuracy": right.ravel()})))
    decides = len(near) >= FEWEST_BASES
    few = (
        ""
        if decides
        else (
            f"Fewer than {FEWEST_BASES} bases decide nothing: reward models of a base or of a language are"
            " kin."
        )
    )
    return Estimate(
        contrasts,
        near.size,
        "trained reward models",
        "Fisher's interval of a correlation within bases",
        few,
        decides,
        permuted=null,
    )


def closeness_to_base(evidence: Evidence, language: str, over: str) -> Estimate:
    """How much farther from the base's each other language's share of the largest singular value is than this
    one's.

    over: "mean" of the bases, or "each"."""
    shares = evidence.shares

    def gap(base: str, other: str) -> np.ndarray:
        farther, nearer = (
            np.abs(shares.of(base, name) - shares.of(base, "base")) for name in (other, language)
        )
        return farther - nearer

    others = [name for name in _trainings(evidence, language) if name != language]
    return _of_passages(evidence, _of_bases(evidence, gap, others, over))


def most_collapsed(evidence: Evidence, language: str, over: str) -> Estimate:
    """The share of the largest singular value under one language's reward model less that under the base, and
    each other.

    over: "mean" of the bases, or "each"."""
    shares = evidence.shares

    def gap(base: str, other: str) -> np.ndarray:
        return shares.of(base, language) - shares.of(base, other)

    others = ["base", *(name for name in _trainings(evidence, language) if name != language)]
    return _of_passages(evidence, _of_bases(evidence, gap, others, over))


def collapse_between_bases(evidence: Evidence, bases: Sequence[str]) -> Estimate:
    """How much more training in the target languages raises the largest singular value's share in one base
    than in another."""
    setting, shares = evidence.setting, evidence.shares
    _need_bases(evidence, bases)
    rises = [
        np.mean([shares.of(base, training) - shares.of(base, "base") for training in setting.targets], axis=0)
        for base in bases
    ]
    return _of_passages(evidence, [rises[0] - rises[1]])


def norm_distance(evidence: Evidence, panel: str, pretraining: str) -> Estimate:
    """The KS statistic of each language's embedding norms against the source language's, in bases of one
    kind.

    Bases whose norms are constant over the vocabulary are left out, where there are others: they are alike by
    construction."""
    asked = evidence.setting.figure2_models
    of_kind = [base for base in asked if evidence.setting.pretraining[base] == pretraining]
    need(of_kind, f"it is about bases with {pretraining} pretraining; there is none among {', '.join(asked)}")
    varied = [base for base in of_kind if not evidence.constant[base]]
    constant = " ".join(base for base in of_kind if base not in varied)
    norms = evidence.norms[evidence.norms["panel"] == panel]
    sets = [
        norm_sets(norms[norms["base_model"] == base], language, evidence.setting.source)
        for base in varied or of_kind
        for language in evidence.setting.targets
    ]
    return Estimate(
        ks_contrasts(sets),
        min(len(one) for pair in sets for one in pair),
        "tokens (smallest set)",
        "KS statistic with Dvoretzky-Kiefer-Wolfowitz bounds over tokens",
        (
            f"{'Left out' if varied else 'Says nothing'}: norms constant over the vocabulary ({constant})."
            if constant
            else ""
        ),
        bool(varied),
        permuted=ks_permuted(sets),
    )


def win_rate_lead(evidence: Evidence, against: str, over: str) -> Estimate:
    """Win rate of the policy from English labels less another's.

    over: "mean" or "each" of the languages."""
    wins = evidence.win_rates
    languages = [language for language in evidence.setting.targets if language in wins.languages]
    need(languages, f"it is about target languages; judged were answers in {', '.join(wins.languages)}")
    leads = [wins.of("english", language) - wins.of(against, language) for language in languages]
    left_out = f" Left out: {wins.n_dropped} instructions without all judgements." if wins.n_dropped else ""
    return Estimate(
        from_draws(_mean_or_each(leads, over), wins.n_instructions - 1),
        wins.n_instructions,
        "instructions",
        "paired bootstrap over instructions",
        f"Languages: {' '.join(languages)}. Answers per instruction: {wins.n_runs}.{left_out}",
        trainings=1,
    )


def above_chance(evidence: Evidence, over: str) -> Estimate:
    """Accuracy less chance, mean over target languages.

    over: "mean" or "each" of the off-the-shelf reward models.

    Those whose base is known not to be multilingual are left out: the claim is not about them."""
    setting = evidence.setting
    tested = [
        scorer
        for scorer, pretraining in setting.off_the_shelf.items()
        if pretraining in ("multilingual", "unknown")
    ]
    others = [scorer for scorer in setting.off_the_shelf if scorer not in tested]
    need(
        tested,
        f"no off-the-shelf reward model on a multilingual base was scored, but {', '.join(others) or 'none'}",
    )
    leads = [
        np.mean([evidence.accuracies.of(scorer, language, "avg") for language in setting.targets], axis=0)
        - CHANCE_PCT
        for scorer in tested
    ]
    left_out = f" Left out, as their bases are not multilingual: {', '.join(others)}." if others else ""
    return _of_scorers(evidence, leads, f"Tested: {', '.join(tested)}.{left_out}", over)


def by_latin(languages: Sequence[str], scripts: dict[str, str]) -> tuple[list[str], list[str]]:
    """Return the languages that are written in Latin letters, and the others."""
    latin = [language for language in languages if scripts[language] == "Latn"]
    return latin, [language for language in languages if language not in latin]


def norm_sets(norms: pd.DataFrame, language: str, source: str) -> tuple[np.ndarray, np.ndarray]:
    """Return a language's norms and those to hold them against.

    norms: one base and panel's rows.

    Where each token has a match the source's side stands under the language, else under the source language
    once."""
    own = norms[norms["eval_language"] == language]
    matches = own.loc[own["side"] == "source", "norm"]
    whole = norms.loc[norms["eval_language"] == source, "norm"]
    return (
        own.loc[own["side"] == "language", "norm"].to_numpy(),
        (whole if len(whole) else matches).to_numpy(),
    )


def ks_contrasts(sets: Sequence[tuple[np.ndarray, np.ndarray]]) -> Contrasts:
    """Return two-sample KS statistics with intervals that hold for any two distributions and any n; no number
    without tokens.

    Source: the Dvoretzky-Kiefer-Wolfowitz inequality with Massart's constant, for both samples at once (union
    bound)."""
    points = np.array(
        [
            ks_2samp(one, other, method="asymp").statistic if len(one) and len(other) else np.nan
            for one, other in sets
        ]
    )

    def ends(confidence: float) -> tuple[np.ndarray, np.ndarray]:
        error = np.log(4 / (1 - confidence)) / 2
        reach = np.array([sum(np.sqrt(error / max(len(values), 1)) for values in pair) for pair in sets])
        return np.clip(points - reach, 0, 1), np.clip(points + reach, 0, 1)

    return Contrasts(points, ends)


def ks_permuted(sets: Sequence[tuple[np.ndarray, np.ndarray]]) -> Contrasts:
    """Return what KS statistics come to where both sets' values are dealt out anew: their limit for many
    values, Kolmogorov's.

    No permuting is needed, as it is the same for all continuous distributions; equal values only make it
    less."""
    scale = np.array([np.sqrt(1 / max(len(one), 1) + 1 / max(len(other), 1)) for one, other in sets])

    def ends(confidence: float) -> tuple[np.ndarray, np.ndarray]:
        low, high = kstwobign.ppf([(1 - confidence) / 2, (1 + confidence) / 2])
        return np.clip(low * scale, 0, 1), np.clip(high * scale, 0, 1)

    return Contrasts(np.clip(kstwobign.mean() * scale, 0, 1), ends)


def _lead(evidence: Evidence, base: str, language: str, section: str) -> np.ndarray:
    of_model, source = evidence.accuracies.of_model, evidence.setting.source
    return of_model(base, source, language, section) - of_model(base, language, language, section)


def _mean_lead(
    evidence: Evidence, languages: Sequence[str], section: str, less: str | None = None
) -> np.ndarray:
    """Return the mean lead over bases and some languages in a section, less that in another section where one
    is named."""
    places = [(base, language) for base in evidence.setting.bases for language in languages]
    mean = np.mean([_lead(evidence, *place, section) for place in places], axis=0)
    return (
        mean if less is None else mean - np.mean([_lead(evidence, *place, less) for place in places], axis=0)
    )


def _trainings(evidence: Evidence, language: str) -> list[str]:
    trainings = [evidence.setting.source, *evidence.setting.targets]
    need(language in trainings, f"it is about training in `{language}`; here are {', '.join(trainings)}")
    need(len(trainings) > 1, "another training language is needed")
    return trainings


def _of_bases(
    evidence: Evidence, gap: Callable[[str, str], np.ndarray], others: Sequence[str], over: str
) -> list[np.ndarray]:
    """Return the gaps to all others, of each base or in the mean of the bases."""
    bases = evidence.setting.bases
    if over == "each":
        return [gap(base, other) for base in bases for other in others]
    return [np.mean([gap(base, other) for base in bases], axis=0) for other in others]


def _mean_or_each(leads: Sequence[np.ndarray], over: str) -> np.ndarray:
    stacked = np.stack(leads, axis=1)
    return stacked.mean(axis=1, keepdims=True) if over == "mean" else stacked


def _of_templates(evidence: Evidence, contrasts: Sequence[np.ndarray] | np.ndarray) -> Estimate:
    """Return an estimate of reward models that were trained here."""
    values = contrasts if isinstance(contrasts, np.ndarray) else np.stack(contrasts, axis=1)
    accuracies, trainings = evidence.accuracies, evidence.accuracies.n_seeds
    of_means, of_each = accuracies.cases(values)
    drawn = from_draws(of_means, accuracies.freedom, of_each)
    test = "paired bootstrap over templates" + (" and variance between trainings" if trainings > 1 else "")
    return Estimate(drawn, accuracies.n_templates, "templates", test, trainings=trainings)


def _of_scorers(
    evidence: Evidence, leads: Sequence[np.ndarray], note: str = "", over: str = "each"
) -> Estimate:
    """Return an estimate of reward models that were not trained here."""
    contrasts = from_draws(_mean_or_each(leads, over), evidence.accuracies.freedom)
    return Estimate(
        contrasts, evidence.accuracies.n_templates, "templates", "paired bootstrap over templates", note
    )


def _need_bases(evidence: Evidence, bases: Sequence[str]) -> None:
    here = evidence.setting.bases
    need(set(bases) <= set(here), f"it is about {_listed(bases)}; the bases here are {_listed(here)}")


def _need_scorers(evidence: Evidence, scorers: Sequence[str]) -> None:
    here = list(evidence.setting.off_the_shelf)
    need(
        set(scorers) <= set(here),
        f"it is about {_listed(scorers)}; off the shelf are here {_listed(here) or 'none'}",
    )


def _listed(names: Sequence[str]) -> str:
    return " and ".join(names)


def _of_passages(evidence: Evidence, contrasts: Sequence[np.ndarray]) -> Estimate:
    values = np.stack(contrasts, axis=1)
    n = evidence.shares.n_passages
    return Estimate(from_draws(values, n - 1), n, "passages", "paired bootstrap over passages", trainings=1)


QUANTITIES = {
    function.__name__: function
    for function in (
        english_lead,
        lead_over_other_sources,
        lead_of_section,
        lead_of_scripts,
        closeness_to_base,
        most_collapsed,
        collapse_between_bases,
        norm_distance,
        win_rate_lead,
        above_chance,
        gap_between_bases,
        loss_between_kinds,
        english_against_scorer,
        lead_of_scorer,
        least_loss,
        correlation_with_preservation,
    )
}
