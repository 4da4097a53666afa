"""Win rates of policies against reference answers: raw and length-controlled."""

from collections.abc import Mapping

import numpy as np
import pandas as pd
import statsmodels.api as sm

from polyreward.analysis.bootstrap import (
    Interval,
    between_trainings,
    bootstrap_weights,
    resampled_means,
    share_interval,
    with_trainings,
)

# Before DPO, and after DPO on pairs that the target or the English RM labelled.
POLICIES = ["base", "target", "english"]
# What the rows of a language are sums of, by their signs: policies and differences between them.
SUMS = {policy: {policy: 1} for policy in POLICIES} | {
    f"{first} - {second}": {first: 1, second: -1}
    for first, second in (("english", "target"), ("english", "base"), ("target", "base"))
}
JUDGEMENT_COLUMNS = [
    *("language", "policy", "run", "id", "win", "margin", "length_response", "length_reference"),
]
# Of pairs whose better answer is known, and what a judge gets of them.
KNOWN_COLUMNS = ["language", "id", "kind", "right"]
JUDGE_COLUMNS = ["language", "kind", "accuracy_pct", "low", "high", "n_pairs", "n_instructions"]
# Of the pairs that each reward model labelled, and whether a judge agrees with the label.
LABEL_COLUMNS = ["language", "id", "labeller", "same"]
AGREEMENT_COLUMNS = ["language", "labels", "same_pct", "low", "high", "n_pairs"]
COLUMNS = [
    "language",
    "policy",
    "win_rate_pct",
    "low",
    "high",
    "runs",
    "length_controlled_pct",
    "n_instructions",
]
RIDGE = 1e-3  # the likelihood has no maximum where a policy wins always or never


def win_rates(judged: pd.DataFrame, interval: Interval, trainings: int = 1) -> pd.DataFrame:
    """Return a row for each language and policy, and for the differences between policies.

    Intervals are by bootstrap over instructions, with the same draw for a language's policies and runs. With
    several trainings the variance between them is added.

    Args:
        judged: rows of JUDGEMENT_COLUMNS.
        trainings: of each policy after DPO, which took turns in the runs.
    """
    languages = judged.groupby("language", sort=False)
    return pd.concat([_of_language(name, table, interval, trainings) for name, table in languages])


def turns_of(judged: pd.DataFrame, trainings: int) -> pd.Series:
    """Return which training of its policy each judgement is of, from 0: they took turns in the runs."""
    return judged["run"].sub(1).mod(trainings).where(judged["policy"] != POLICIES[0], 0)


def judge_accuracy(known: pd.DataFrame, interval: Interval) -> pd.DataFrame:
    """Return a judge's accuracy on known pairs, by language: in the mean over kinds ("all"), then of each.

    Intervals are by bootstrap over instructions. known: rows of KNOWN_COLUMNS."""
    records = []
    for language, table in known.groupby("language", sort=False):
        right = table.pivot_table(index="id", columns="kind", values="right")[list(table["kind"].unique())]
        made = right.notna().to_numpy(float)
        drawn = bootstrap_weights(len(right), interval, "judge", str(language))
        weight = drawn @ made  # of a kind that few answers have it may be 0 in a resample
        shares = (drawn @ right.fillna(0).to_numpy()) / np.where(weight > 0, weight, 1)
        shares = np.where(weight > 0, shares, right.mean().to_numpy())
        for kind, values in [("all", shares.mean(axis=1)), *zip(right.columns, shares.T, strict=True)]:
            n_pairs = int(made.sum()) if kind == "all" else int(right[kind].notna().sum())
            units = len(right) if kind == "all" else n_pairs
            low, high = share_interval(values, interval.confidence, units - 1, units)
            records.append((language, kind, 100 * values[0], 100 * low, 100 * high, n_pairs, len(right)))
    return pd.DataFrame(records, columns=JUDGE_COLUMNS)


def label_agreement(labels: pd.DataFrame, interval: Interval) -> pd.DataFrame:
    """Return how often a judge agrees with each labeller's labels, by language, and the difference.

    A judge that agrees more with one labeller favours the policy that was trained on its labels, whatever
    that policy learnt. Only prompts with a pair of both labellers count. Intervals are by bootstrap over
    prompts. labels: rows of LABEL_COLUMNS."""
    records = []
    for language, table in labels.groupby("language", sort=False):
        same = table.pivot_table(index="id", columns="labeller", values="same").dropna()
        weights = bootstrap_weights(len(same), interval, "labels", str(language))
        drawn = {labeller: weights @ same[labeller].to_numpy() for labeller in same}
        shares = {**drawn, "english - target": drawn["english"] - drawn["target"]}
        for name, values in shares.items():
            lowest = 0.0 if name in drawn else -1.0
            low, high = share_interval(values, interval.confidence, len(same) - 1, len(same), lowest)
            records.append((language, name, 100 * values[0], 100 * low, 100 * high, len(same)))
    return pd.DataFrame(records, columns=AGREEMENT_COLUMNS)


def length_controlled(judged: pd.DataFrame) -> pd.Series:
    """Return each policy's win rate (fraction) at the reference's length, by logistic regression.

    The regressors are the policies and tanh of the standardised difference in characters, with one slope.
    Source: length-controlled AlpacaEval (arXiv 2404.04475), without its terms for single instructions.
    """
    difference = (judged["length_response"] - judged["length_reference"]).to_numpy(float)
    spread = difference.std() or 1.0
    dummies = pd.get_dummies(judged["policy"]).astype(float)
    design = dummies.assign(length=np.tanh(difference / spread))
    fit = sm.GLM(judged["win"].to_numpy(), design.to_numpy(), family=sm.families.Binomial()).fit_regularized(
        alpha=RIDGE, L1_wt=0.0
    )
    return pd.Series(1 / (1 + np.exp(-fit.params[: dummies.shape[1]])), index=dummies.columns)


def _of_language(language: str, judged: pd.DataFrame, interval: Interval, trainings: int) -> pd.DataFrame:
    turns = judged.assign(training=turns_of(judged, trainings))
    wins = turns.pivot_table(index="id", columns=["policy", "training"], values="win", aggfunc="mean")
    resampled = resampled_means(wins.to_numpy(), interval, "win_rates", language)
    of_column = pd.DataFrame(np.vstack([wins.mean(), resampled]), columns=wins.columns)
    # Of each policy (1 + samples, trainings), first the data's own
    drawn = {policy: of_column[policy].to_numpy() for policy in wins.columns.get_level_values("policy")}
    freedom = len(wins) - 1
    controlled = length_controlled(judged)
    records = [
        {
            "policy": name,
            **_estimate(_summed(drawn, signs), freedom, interval, lowest=0 if name in drawn else -1),
            "length_controlled_pct": 100 * _summed(controlled, signs),
        }
        for name, signs in SUMS.items()
        if signs.keys() <= drawn.keys()
    ]
    table = pd.DataFrame(records).assign(
        language=language, n_instructions=len(wins), runs=judged["run"].nunique()
    )
    return table.reindex(columns=COLUMNS)


def _summed(values: Mapping, signs: dict[str, int]):
    return sum(sign * values[policy] for policy, sign in signs.items())


def _estimate(drawn: np.ndarray, freedom: int, interval: Interval, lowest: float) -> dict[str, float]:
    """Return a share and its interval in percent.

    drawn: (1 + samples, trainings), first the data's own. lowest: the least possible share, a fraction."""
    between = [between_trainings(drawn)] if drawn.shape[1] > 1 else []
    values, of_all = with_trainings(drawn.mean(axis=1), freedom, between)
    low, high = share_interval(values, interval.confidence, of_all, freedom + 1, lowest)
    return {"win_rate_pct": 100 * values[0], "low": 100 * low, "high": 100 * high}
