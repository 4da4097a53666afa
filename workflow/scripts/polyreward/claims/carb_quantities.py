"""Quantities of cultural awareness, as functions of the evidence and of options."""

import dataclasses
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Literal

import numpy as np
import pandas as pd

from polyreward.analysis.accuracies import split_cases
from polyreward.analysis.verdicts import (
    Contrasts,
    from_correlations,
    from_draws,
    from_normal,
    from_permutations,
    from_shares,
)
from polyreward.carb.culture.comparison import Culture
from polyreward.carb.culture.statistics import CHANCE
from polyreward.carb.downstream.correlation import (
    BENCHMARKS,
    FEWEST,
    FEWEST_BASES,
    correlations_with,
    fisher_difference,
    over_sets,
    permuted_by_base,
    reliability,
)
from polyreward.carb.perturbation.sensitivity import NO_REWRITES
from polyreward.claims.carb_evidence import CarbEvidence, Facts, Places
from polyreward.claims.estimate import Estimate, Over, require

# Of each reward model and judge on CARB's items, whatever the setting reward_model_seeds
TRAININGS = 1

Rating = Literal["match", "chrf"]
Trained = Literal["base", "reward_model"]
Domain = Literal["commonsense", "values", "safety", "linguistics"]
Measure = Literal["carb", "rewardbench", "mean"]


def lead_of_generative(evidence: CarbEvidence, of: Literal["mean", "best"]) -> Estimate:
    """Return the CARB score of generative models minus classifiers; of: each kind's "mean" or "best"."""
    kinds = evidence.scores.kinds
    generative = [name for name, kind in kinds.items() if kind == "generative"]
    classifiers = [name for name, kind in kinds.items() if kind == "classifier"]
    require(
        generative and classifiers, "reward models of both kinds are needed, generative ones and classifiers"
    )
    if of == "best":
        leads = evidence.scores.lead_of_best("generative", "classifier")
    else:
        means = [evidence.scores.draws(kind, "carb").mean(axis=1) for kind in ("generative", "classifier")]
        leads = means[0] - means[1]
    chosen = (
        " The best are chosen on one half of the topics and compared on the other, both ways."
        if of == "best"
        else ""
    )
    return _of_topics(
        evidence,
        leads[:, None],
        f"Generative: {', '.join(sorted(generative))}; classifiers: {len(classifiers)}.{chosen}",
    )


def lead_of_domain(evidence: CarbEvidence, domain: Domain) -> Estimate:
    """Return the score on one domain minus each other one, mean over reward models."""
    scores = evidence.scores
    require(
        domain in scores.domains and len(scores.domains) > 1,
        f"it is about {domain}; the domains are {', '.join(scores.domains)}",
    )
    means = {name: scores.draws(None, name).mean(axis=1) for name in scores.domains}
    leads = [means[domain] - means[other] for other in scores.domains if other != domain]
    return _of_topics(evidence, np.stack(leads, axis=1), f"Reward models: {len(scores.kinds)}.")


def correlation_with_alignment(
    evidence: CarbEvidence, benchmark: Literal["carb", "rewardbench"], rating: Rating, either_sign: bool
) -> Estimate:
    """Correlate reward models' score on a benchmark with the rating of the answers that they pick.

    rating: of correlation.RATINGS; a set of questions without it is rated by chrf. either_sign: add the
    negative, to claim that it is small."""
    points = over_sets(evidence.points, rating)
    r = _correlations(points, rating).loc[rating, benchmark]
    contrasts = from_correlations([r, -r] if either_sign else [r], points["base"].nunique())
    permuted = correlations_with(_permuted_ratings(points, rating, evidence.seed), points[[benchmark]])
    null = from_permutations(np.hstack([permuted, -permuted]) if either_sign else permuted)
    note = _reliabilities(points, rating, [benchmark])
    return _over_bases(contrasts, null, points["base"], "Fisher's interval of a correlation", note)


def lead_in_correlation(evidence: CarbEvidence, rating: Rating) -> Estimate:
    """Return Fisher's z of CARB's correlation with the rating minus translated RewardBench's (Steiger's
    test)."""
    points = over_sets(evidence.points, rating)
    r, n = _correlations(points, rating), points["base"].nunique()
    first, second, between = (
        r.loc[rating, "carb"],
        r.loc[rating, "rewardbench"],
        r.loc["carb", "rewardbench"],
    )
    require(max(abs(first), abs(second), abs(between)) < 1 - 1e-12, "a perfect correlation has no Fisher's z")
    contrast = from_normal(*fisher_difference(first, second, between, n))
    drawn = _permuted_ratings(points, rating, evidence.seed)
    permuted = np.arctanh(correlations_with(drawn, points[BENCHMARKS]))
    null = from_permutations(permuted[:, [0]] - permuted[:, [1]])
    note = _reliabilities(points, rating, BENCHMARKS)
    return _over_bases(contrast, null, points["base"], "Steiger's z of dependent correlations", note)


def sensitivity(evidence: CarbEvidence, over: Over) -> Estimate:
    """Return the index of perturbations, mean over reward models that a rewrite moves; over: CC against the
    "mean" of the others, or against "each"."""
    found = evidence.sensitivity
    require(found.n_rewritten, NO_REWRITES)
    require(found.names, "no rewrite changes the score of any reward model")
    indices = {"mean": found.indices[..., None], "each": found.each}[over]
    left_out = (
        f" Left out, as no rewrite changes their scores: {', '.join(found.still)}." if found.still else ""
    )
    return Estimate(
        from_draws(np.nanmean(indices, axis=1), found.freedom),
        found.n_topics,
        "topics",
        "paired bootstrap over topics",
        f"Reward models: {len(found.names)}.{left_out}",
        trainings=TRAININGS,
    )


def correlation_with_sensitivity(evidence: CarbEvidence) -> Estimate:
    """Correlate reward models' CARB score with their index of perturbations."""
    found, scores = evidence.sensitivity, evidence.scores
    require(found.n_rewritten, NO_REWRITES)
    # One that could not be run on the other benchmark, or on candidates, has no point and no base.
    places = [place for place, name in enumerate(found.names) if name in evidence.bases]
    names, indices = [found.names[place] for place in places], found.indices[:, places]
    require(
        len(names) >= FEWEST,
        f"it needs {FEWEST} reward models whose scores rewrites change; this run has {len(names)}",
    )
    points = dict(zip(scores.kinds, scores.draws(None, "carb")[0], strict=True))
    pairs = pd.DataFrame({"carb": [points[name] for name in names], "index": indices[0]})
    require((pairs.nunique() > 1).all(), "all reward models have the same score or the same index")
    bases = [evidence.bases[name] for name in names]
    contrast = from_correlations([pairs.corr().loc["carb", "index"]], len(set(bases)))
    permuted = permuted_by_base(pairs["index"].to_numpy(), bases, evidence.seed, "claims", "sensitivity")
    null = from_permutations(correlations_with(permuted, pairs[["carb"]]))
    draws = {"CARB score": scores.draws(None, "carb"), "index": indices}
    reliable = {name: reliability(values[0], np.nanstd(values[1:], axis=0)) for name, values in draws.items()}
    return _over_bases(contrast, null, bases, "Fisher's interval of a correlation", _as_text(reliable))


def lead_of_locals(evidence: CarbEvidence, over: Sequence[str], measure: Measure) -> Estimate:
    """Return the score of the judge trained with all rewards minus some others'; measure: of
    comparison.MEASURES."""
    judges = evidence.judges
    here = judges.draws.values
    missing = [name for name in over if name not in here]
    require(
        not missing, f"the claim is about the judges {', '.join(missing)}; this run trained {', '.join(here)}"
    )
    leads, units = zip(*(judges.draws.lead("full", name, measure) for name in over), strict=True)
    counts = {"rewardbench": (judges.n_templates, "templates"), "carb": (judges.n_topics, "topics")}
    n, n_of = counts.get(measure, (judges.n_topics, f"topics; {judges.n_templates} templates"))
    differences = [judges.draws.differences("full", name, measure) for name in over]
    contrasts = from_shares(np.stack(leads, axis=1), judges.draws.freedom[measure], units, differences)
    return Estimate(contrasts, n, n_of, f"paired bootstrap over {n_of.split('; ')[0]}", trainings=TRAININGS)


def knowledge_of_places(evidence: CarbEvidence, of: Trained) -> Estimate:
    """Return swaps in the source language above chance, mean over bases; of: a "base" by log-likelihood, or
    its "reward_model" trained in the source language."""
    places = _with_places(evidence)
    values = np.mean([_swaps(places, of, base, places.source) for base in places.bases], axis=0)
    return _of_places(places, [values - CHANCE["swaps"]], of)


def reading(evidence: CarbEvidence, of: Trained) -> Estimate:
    """Return swaps in the source language above chance where the prompt holds the four answers, mean over
    bases; of: as in knowledge_of_places."""
    books = evidence.places.with_books()
    require(books.culture is not None, "no open book; set carb.quartets.open_books")
    return knowledge_of_places(dataclasses.replace(evidence, places=books), of)


def places_kept(evidence: CarbEvidence) -> Estimate:
    """Return swaps in the source language, reward model minus its base, mean over bases."""
    places = _with_places(evidence)
    leads = [
        places.of_reward_model(base, places.source) - places.of_base(base, places.source)
        for base in places.bases
    ]
    return _of_places(places, [np.mean(leads, axis=0)], "reward_model")


def places_by_language(evidence: CarbEvidence, of: Trained) -> Estimate:
    """Return swaps in the source language minus each other language, mean over bases; of: as in
    knowledge_of_places."""
    places = _with_places(evidence)
    others = [language for language in places.languages if language != places.source]
    require(others, f"place quartets are in {places.source} only; add a language in which CARB has texts")
    leads = [
        np.mean(
            [
                _swaps(places, of, base, places.source) - _swaps(places, of, base, language)
                for base in places.bases
            ],
            axis=0,
        )
        for language in others
    ]
    return _of_places(places, leads, of)


def facts_found(evidence: CarbEvidence) -> Estimate:
    """Return best of four of facts taught in the source language, asked in each other one, minus that of the
    same reward models without lessons; mean over bases."""
    facts = _with_lessons(evidence)

    def gain(base: str, language: str) -> np.ndarray:
        return facts.draws(base, language) - facts.draws(base, language, lessons=False)

    return _of_facts(facts, gain)


def facts_found_by_language(evidence: CarbEvidence) -> Estimate:
    """Return best of four of facts taught in the source language, asked in it minus in each other one, mean
    over bases."""
    facts = _with_lessons(evidence)

    def lead(base: str, language: str) -> np.ndarray:
        return facts.draws(base, facts.source) - facts.draws(base, language)

    return _of_facts(facts, lead)


def _with_places(evidence: CarbEvidence) -> Places:
    places = evidence.places
    require(places.culture is not None, "no place quartet asks about facts")
    require(places.bases, "no reward model is trained here")
    there = ", ".join(places.languages)
    require(places.source in places.languages, f"place quartets are not in {places.source}, but in {there}")
    return places


def _swaps(places: Places, of: str, base: str, language: str) -> np.ndarray:
    return {"base": places.of_base, "reward_model": places.of_reward_model}[of](base, language)


def _of_places(places: Places, leads: Sequence[np.ndarray], of: str) -> Estimate:
    """Return an estimate from (1 + resamples, cases) of each contrast; of: as in knowledge_of_places."""
    trainings = places.n_trainings if of == "reward_model" else None
    return _of_quartets(places.culture, places.bases, leads, trainings)


def _of_quartets(
    culture: Culture, bases: Collection[str], leads: Sequence[np.ndarray], trainings: int | None
) -> Estimate:
    """Return an estimate from (1 + resamples, cases) of each contrast; trainings: None for bases."""
    values, of_each = split_cases(np.stack(leads, axis=1), trainings or 1)
    return Estimate(
        from_draws(values, culture.freedom, of_each),
        culture.n_topics,
        "topics",
        f"paired bootstrap over topics{'' if of_each is None else ' and variance between trainings'}",
        f"Bases: {len(bases)}; place quartets: {culture.n_quartets}.",
        trainings=trainings,
    )


def _with_lessons(evidence: CarbEvidence) -> Facts:
    facts = evidence.facts
    require(facts.models, f"no reward model had lessons in {facts.source}; set carb.lessons.bases")
    require(facts.culture is not None, "no place quartet asks about facts")
    require(len(facts.languages) > 1, f"place quartets are in {facts.source} only; add a language")
    return facts


def _of_facts(facts: Facts, lead: Callable[[str, str], np.ndarray]) -> Estimate:
    """Return an estimate of a lead, (1 + resamples, cases), mean over bases, in each language but that of the
    lessons."""
    others = [language for language in facts.languages if language != facts.source]
    leads = [np.mean([lead(base, language) for base in facts.models], axis=0) for language in others]
    return _of_quartets(facts.culture, facts.models, leads, facts.n_trainings)


def _correlations(points: pd.DataFrame, rating: str) -> pd.DataFrame:
    values = points[[rating, *BENCHMARKS]]
    require(len(values) >= FEWEST, f"it takes at least {FEWEST} reward models; this run has {len(values)}")
    constant = [name for name in values if np.ptp(values[name]) == 0]
    require(not constant, f"all reward models have the same {' and '.join(constant)}")
    return values.corr()


def _permuted_ratings(points: pd.DataFrame, rating: str, seed: int) -> np.ndarray:
    return permuted_by_base(points[rating].to_numpy(), points["base"], seed, "claims", "alignment")


def _reliabilities(points: pd.DataFrame, rating: str, benchmarks: Sequence[str]) -> str:
    return f"Rating: {rating}. " + _as_text(
        {name: reliability(points[name], points[f"{name}_se"]) for name in (*benchmarks, rating)}
    )


def _as_text(reliabilities: Mapping[str, float]) -> str:
    return f"Reliability: {', '.join(f'{name} {value:.2f}' for name, value in reliabilities.items())}."


def _over_bases(
    contrasts: Contrasts, permuted: Contrasts, bases: Sequence[str], test: str, note: str
) -> Estimate:
    """Return a correlation over reward models; n counts bases, since models of one base are related."""
    return Estimate(
        contrasts,
        len(set(bases)),
        "bases",
        f"{test}; permutation by base",
        f"Reward models: {len(bases)}. {note}",
        fewest=FEWEST_BASES,
        permuted=permuted,
    )


def _of_topics(evidence: CarbEvidence, values: np.ndarray, note: str) -> Estimate:
    return Estimate(
        from_draws(values, evidence.scores.freedom),
        evidence.scores.n_topics,
        "topics",
        "paired bootstrap over topics",
        note,
        trainings=TRAININGS,
    )
