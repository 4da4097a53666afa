"""The CARB paper's quantities in workflow/claims.yaml, each a function of the evidence and of its options there."""

from collections.abc import Sequence

import numpy as np
import pandas as pd

from polyreward.analysis.verdicts import from_correlations, from_draws, from_normal
from polyreward.carb.correlation import FEWEST, fisher_difference
from polyreward.claims.carb_evidence import CarbEvidence
from polyreward.claims.estimate import Estimate, need

NO_REWRITES = "no item of carb.item_files brings `perturbations`"
KIN = "Reward models of one base are kin, so that n counts more than there is."


def lead_of_generative(evidence: CarbEvidence, of: str) -> Estimate:
    """CARB score of generative reward models less that of classifiers. of: the "mean" of each kind, or its "best"."""
    kinds = evidence.scores.kinds
    generative = [name for name, kind in kinds.items() if kind == "generative"]
    classifiers = [name for name, kind in kinds.items() if kind == "classifier"]
    need(generative and classifiers, "reward models of both kinds are needed, generative ones and classifiers")
    if of == "best":
        leads = evidence.scores.lead_of_best("generative", "classifier")
    else:
        means = [evidence.scores.of(kind, "carb").mean(axis=1) for kind in ("generative", "classifier")]
        leads = means[0] - means[1]
    chosen = " The best are chosen on one half of the topics and compared on the other, both ways." if of == "best" else ""
    return _of_topics(
        evidence, leads[:, None], f"Generative: {', '.join(sorted(generative))}; classifiers: {len(classifiers)}.{chosen}"
    )


def lead_of_domain(evidence: CarbEvidence, domain: str) -> Estimate:
    """Score on one domain less that on each other one, mean over reward models."""
    scores = evidence.scores
    need(
        domain in scores.domains and len(scores.domains) > 1, f"it is about {domain}; the domains are {', '.join(scores.domains)}"
    )
    means = {name: scores.of(None, name).mean(axis=1) for name in scores.domains}
    leads = [means[domain] - means[other] for other in scores.domains if other != domain]
    return _of_topics(evidence, np.stack(leads, axis=1), f"Reward models: {len(scores.kinds)}.")


def correlation_with_alignment(evidence: CarbEvidence, benchmark: str, either_sign: bool) -> Estimate:
    """Correlation over reward models of their score on a benchmark and what the answers that they pick are worth.

    either_sign: both the correlation and its negative, so that it is small where both are."""
    r = _correlations(evidence).loc[evidence.rating, benchmark]
    n = len(evidence.points)
    contrasts = from_correlations([r, -r] if either_sign else [r], n)
    return Estimate(contrasts, n, "reward models", "Fisher's interval of a correlation", f"Rating: {evidence.rating}. {KIN}")


def lead_in_correlation(evidence: CarbEvidence) -> Estimate:
    """Fisher's z of CARB's correlation with the rating less that of translated RewardBench's, as Steiger tests it."""
    r, n = _correlations(evidence), len(evidence.points)
    first, second, between = r.loc[evidence.rating, "carb"], r.loc[evidence.rating, "rewardbench"], r.loc["carb", "rewardbench"]
    need(max(abs(first), abs(second), abs(between)) < 1 - 1e-12, "a perfect correlation has no Fisher's z")
    contrast = from_normal(*fisher_difference(first, second, between, n))
    return Estimate(contrast, n, "reward models", "Steiger's z of dependent correlations", f"Rating: {evidence.rating}. {KIN}")


def sensitivity(evidence: CarbEvidence) -> Estimate:
    """The index of perturbations, mean over reward models; in a resample, over those that a rewrite moves."""
    found = evidence.sensitivity
    need(found.n_rewritten, NO_REWRITES)
    need(found.names, "no rewrite changes the score of any reward model")
    left_out = f" Left out, as no rewrite changes their scores: {', '.join(found.still)}." if found.still else ""
    return Estimate(
        from_draws(np.nanmean(found.indices, axis=1)[:, None], found.freedom), found.n_topics, "topics",
        "paired bootstrap over topics",
        f"Reward models: {len(found.names)}.{left_out}",
    )  # fmt: skip


def correlation_with_sensitivity(evidence: CarbEvidence) -> Estimate:
    """Correlation over reward models of CARB score and index of perturbations."""
    found, scores = evidence.sensitivity, evidence.scores
    need(found.n_rewritten, NO_REWRITES)
    need(len(found.names) >= FEWEST, f"it is about reward models, {FEWEST} at the least; rewrites move {len(found.names)}")
    points = dict(zip(scores.kinds, scores.of(None, "carb")[0], strict=True))
    pairs = pd.DataFrame({"carb": [points[name] for name in found.names], "index": found.indices[0]})
    need((pairs.nunique() > 1).all(), "all reward models have the same score or the same index")
    contrast = from_correlations([pairs.corr().loc["carb", "index"]], len(pairs))
    return Estimate(contrast, len(pairs), "reward models", "Fisher's interval of a correlation", KIN)


def lead_of_locals(evidence: CarbEvidence, over: Sequence[str], measure: str) -> Estimate:
    """Score of the judge trained with all rewards less that of each of some others. measure: of locals.comparison.MEASURES."""
    judges = evidence.judges
    missing = [name for name in over if name not in judges.values]
    need(not missing, f"it is about the judges {', '.join(missing)}; trained here were {', '.join(judges.values)}")
    leads = [judges.values["full"][measure] - judges.values[name][measure] for name in over]
    counts = {"rewardbench": (judges.n_templates, "templates"), "carb": (judges.n_topics, "topics")}
    n, n_of = counts.get(measure, (judges.n_topics, f"topics; {judges.n_templates} templates"))
    contrasts = from_draws(np.stack(leads, axis=1), judges.freedom[measure])
    return Estimate(contrasts, n, n_of, f"paired bootstrap over {n_of.split('; ')[0]}", trainings=1)


def _correlations(evidence: CarbEvidence) -> pd.DataFrame:
    values = evidence.points[[evidence.rating, "carb", "rewardbench"]]
    need(len(values) >= FEWEST, f"it is about reward models, {FEWEST} at the least; here are {len(values)}")
    constant = [name for name in values if np.ptp(values[name]) == 0]
    need(not constant, f"all reward models have the same {' and '.join(constant)}")
    return values.corr()


def _of_topics(evidence: CarbEvidence, values: np.ndarray, note: str) -> Estimate:
    return Estimate(
        from_draws(values, evidence.scores.freedom), evidence.scores.n_topics, "topics", "paired bootstrap over topics", note
    )


QUANTITIES = {
    function.__name__: function
    for function in (
        lead_of_generative, lead_of_domain, correlation_with_alignment, lead_in_correlation, sensitivity,
        correlation_with_sensitivity, lead_of_locals,
    )
}  # fmt: skip
