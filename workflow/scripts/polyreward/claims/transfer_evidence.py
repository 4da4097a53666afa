"""What the claims are tested on: accuracies, singular values, embedding norms and win rates, resampled
jointly.

An array of resamples has first the data's own value, then the resamples'."""

import dataclasses
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import pandas as pd
from safetensors.numpy import load_file

from polyreward.alignment.win_rates import JUDGEMENT_COLUMNS
from polyreward.analysis.bootstrap import Interval, bootstrap_weights
from polyreward.analysis.comparison import Accuracies, Benchmark
from polyreward.analysis.geometry import spectra
from polyreward.claims.estimate import LENGTH
from polyreward.core.errors import PolyrewardError
from polyreward.core.naming import ModelName
from polyreward.core.seals import intact
from polyreward.core.tables import read_scores, read_table, unavailable


@dataclasses.dataclass(frozen=True)
class Setting:
    """What was compared.

    figure2_models: those whose embeddings are compared.
    scripts: {language: script}.
    pretraining: {base: multilingual, english or none}.
    seeds: of each reward model's trainings.
    off_the_shelf: {reward model: its base's pretraining, or unknown}."""

    bases: list[str]
    figure2_models: list[str]
    source: str
    targets: list[str]
    scripts: dict[str, str]
    pretraining: dict[str, str]
    seeds: list[int]
    off_the_shelf: dict[str, str]

    def trainings(self) -> dict[tuple[str, str], list[str]]:
        """Return the names of each base's reward models of each training language, one for each seed."""
        return {
            (base, language): [str(ModelName(base, language, seed)) for seed in self.seeds]
            for base in self.bases
            for language in [self.source, *self.targets]
        }


class Shares:
    """Mean shares of the largest singular value; all models see the same draws of passages.

    states: {base: {"base" or training language: (languages, passages, d_model)}}. Raises PolyrewardError
    where bases have read unequal numbers of passages."""

    def __init__(self, states: Mapping[str, Mapping[str, np.ndarray]], interval: Interval):
        counts = {base: next(iter(of_base.values())).shape[1] for base, of_base in states.items()}
        if len(set(counts.values())) > 1:
            raise PolyrewardError(
                f"hidden states: unequal numbers of passages ({counts}); make the states of every base again"
            )
        self.n_passages = next(iter(counts.values()))
        weights = bootstrap_weights(self.n_passages, interval, "shares")
        self._values = {
            (base, training): weights @ spectra(of_model)[:, 0]
            for base, of_base in states.items()
            for training, of_model in of_base.items()
        }

    def draws(self, base: str, training: str) -> np.ndarray:
        """Return the resamples (1 + resamples,) of the mean share of a base ("base"), or of its reward model
        of a language."""
        return self._values[base, training]


class WinRates:
    """Win rates of policies against the reference answers, in percent; all policies see the same draws of
    instructions.

    judgements: rows of win_rates.JUDGEMENT_COLUMNS, win from 0 to 1; an instruction's win is its mean over runs.
    Instructions without a judgement of a policy or in a language are left out. Raises PolyrewardError where
    none is left."""

    def __init__(self, judgements: pd.DataFrame, interval: Interval):
        wide = judgements.pivot_table(index="id", columns=["policy", "language"], values="win", dropna=False)
        kept = wide.dropna()
        if kept.empty:
            raise PolyrewardError(
                f"judgements: none of {len(wide)} instructions is judged for every policy and language"
            )
        self.n_instructions, self.n_dropped = len(kept), len(wide) - len(kept)
        self.n_runs = judgements["run"].nunique()
        self.languages = list(judgements["language"].unique())
        drawn = 100 * bootstrap_weights(len(kept), interval, "instructions") @ kept.to_numpy()
        self._values = dict(zip(kept.columns, drawn.T, strict=True))

    def draws(self, policy: str, language: str) -> np.ndarray:
        """Return the resamples (1 + resamples,) of a policy's win rate in a language."""
        return self._values[policy, language]


@dataclasses.dataclass(frozen=True)
class Evidence:
    """All that the claims are tested on.

    accuracies: of all reward models, and of `length`.
    norms: rows as embedding_norms.NORM_COLUMNS.
    constant: {base: whether its norms are constant over its vocabulary}.
    seed: the root seed."""

    setting: Setting
    accuracies: Accuracies
    shares: Shares
    norms: pd.DataFrame
    constant: dict[str, bool]
    win_rates: WinRates
    seed: int

    def of_length(self) -> "Evidence":
        """Return the evidence with a scorer that counts characters instead of all off-the-shelf reward
        models."""
        return dataclasses.replace(
            self, setting=dataclasses.replace(self.setting, off_the_shelf={LENGTH: "unknown"})
        )


def read_evidence(
    inputs, setting: Setting, benchmark: Benchmark, interval: Interval, halves: Sequence[str] = ()
) -> Evidence:
    """Read the files of rule transfer_claims: inputs.scores, .states, .norms, .ks, .judgements.

    Pairs that not every language has are left out, and off-the-shelf reward models without scores.

    Args:
        halves: reward models whose ties are half right, as LENGTH's are.
    """
    missing, scores = unavailable(inputs.scores), read_scores(inputs.scores)
    scores = scores[~scores["scorer"].isin(list(missing))]
    languages = scores.groupby("id")["language"].nunique()
    scores = scores[scores["id"].map(languages) == scores["language"].nunique()]
    shelf = {name: kind for name, kind in setting.off_the_shelf.items() if name not in missing}
    setting = dataclasses.replace(setting, off_the_shelf=shelf)
    states = {Path(path).stem: load_file(intact(path)) for path in inputs.states}
    ks = pd.concat(map(pd.read_csv, inputs.ks))
    return Evidence(
        setting,
        Accuracies(scores, setting.trainings(), benchmark, interval, [LENGTH, *halves]),
        Shares(states, interval),
        pd.concat(map(pd.read_csv, inputs.norms)),
        ks.groupby("base_model")["constant_norms"].first().to_dict(),
        WinRates(read_table(inputs.judgements, JUDGEMENT_COLUMNS), interval),
        interval.seed,
    )
