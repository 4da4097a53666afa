"""Evidence for the transfer paper's claims, resampled jointly: accuracies, singular values, norms and win
rates.

The first entry of an array of resamples is the data's own value."""

import dataclasses
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pandas as pd
from safetensors.numpy import load_file

from polyreward.alignment.win_rates import JUDGEMENT_COLUMNS, POLICIES, turns_of
from polyreward.analysis.accuracies import Accuracies, in_all_languages, training_cases
from polyreward.analysis.bootstrap import Interval, bootstrap_weights
from polyreward.analysis.comparison import Benchmark
from polyreward.analysis.geometry import spectra
from polyreward.claims.estimate import LENGTH
from polyreward.core.errors import PolyrewardError
from polyreward.core.naming import is_taught
from polyreward.core.seals import intact
from polyreward.core.sheet import half_right, read_sheet
from polyreward.core.tables import read_csv, read_scores, read_table, unavailable_reasons


@dataclasses.dataclass(frozen=True)
class Setting:
    """What was compared.

    bases: those that Table 1 shows. all_bases: those with reward models of every training language.
    scripts: {language: script}. pretraining: {base: multilingual, english or none}. off_the_shelf: {reward
    model: its base's pretraining, or unknown}."""

    bases: list[str]
    all_bases: list[str]
    figure2_models: list[str]
    source: str
    targets: list[str]
    scripts: dict[str, str]
    pretraining: dict[str, str]
    seeds: list[int]
    off_the_shelf: dict[str, str]

    def trainings(self, sheet: pd.DataFrame) -> dict[tuple[str, str], list[str]]:
        """Return {(base, language): names of its reward models, one per seed}, without those with lessons."""
        own = sheet[sheet["seed"].isin(self.seeds)]
        own = own[[not is_taught(name) for name in own["scorer"]]]
        by_training = own.groupby(["base", "trained_in"])["scorer"].agg(list)
        return {
            (base, language): by_training[base, language]
            for base in self.all_bases
            for language in [self.source, *self.targets]
        }


class Shares:
    """Mean shares of the largest singular value; all models see the same draws of passages.

    states: {base: {"base" or training language: (languages, passages, d_model)}}."""

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
        """Return the resamples (1 + resamples,) of a base's mean share ("base"), or of its reward model of a
        language."""
        return self._values[base, training]


class WinRates:
    """Win rates (%) of policies against the reference answers; all policies see the same draws of
    instructions.

    Instructions that lack a judgement of some policy or language are left out. An instruction's win is its
    mean over runs. trainings: of each policy after DPO, which took turns in the runs."""

    def __init__(self, judgements: pd.DataFrame, interval: Interval, trainings: int = 1):
        turns = judgements.assign(training=turns_of(judgements, trainings))
        keys = ["policy", "language", "training"]
        wide = turns.pivot_table(index="id", columns=keys, values="win", dropna=False)
        # The policy before DPO has no trainings; the pivot table has columns for them.
        wide = wide[[key for key in wide if key[0] != POLICIES[0] or key[2] == 0]]
        kept = wide.dropna()
        if kept.empty:
            raise PolyrewardError(
                f"judgements: none of {len(wide)} instructions is judged for every policy and language;"
                " delete the judgements of Figure 3, and run again"
            )
        self.n_instructions, self.n_dropped = len(kept), len(wide) - len(kept)
        self.n_runs = judgements["run"].nunique()
        self.languages = list(judgements["language"].unique())
        self.n_trainings = trainings
        drawn = 100 * bootstrap_weights(len(kept), interval, "instructions") @ kept.to_numpy()
        drawn = pd.DataFrame(drawn, columns=kept.columns)
        self._values = {key: drawn[key].to_numpy() for key in wide.columns.droplevel("training").unique()}
        self._trained = [key for key in self._values if key[0] != POLICIES[0]]

    def draws(self, policy: str, language: str) -> np.ndarray:
        """Return a policy's win rate in a language: (1 + resamples, cases), those of
        Accuracies.training_draws."""
        key = policy, language
        place = self._trained.index(key) if key in self._trained else None
        return training_cases(self._values[key], place, len(self._trained), self.n_trainings)


@dataclasses.dataclass(frozen=True)
class Evidence:
    """All evidence for the transfer paper's claims.

    accuracies: all reward models' and `length`'s. constant: {base: whether its norms are constant over its
    vocabulary}."""

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
        setting = dataclasses.replace(self.setting, off_the_shelf={LENGTH: "unknown"})
        return dataclasses.replace(self, setting=setting)


def read_evidence(
    inputs,
    setting: Setting,
    benchmark: Benchmark,
    interval: Interval,
    policy_trainings: int = 1,
) -> Evidence:
    """Read the inputs of rule transfer_claims: inputs.scores, .sheet, .states, .norms, .ks, .judgements.

    Leaves out pairs that are not in every language, and off-the-shelf reward models without scores."""
    missing, scores = unavailable_reasons(inputs.scores), read_scores(inputs.scores)
    scores = scores[~scores["scorer"].isin(list(missing))]
    scores = in_all_languages(scores)
    shelf = {name: kind for name, kind in setting.off_the_shelf.items() if name not in missing}
    setting = dataclasses.replace(setting, off_the_shelf=shelf)
    states = {Path(path).stem: load_file(intact(path)) for path in inputs.states}
    sheet = read_sheet(inputs.sheet)
    ks = pd.concat(map(read_csv, inputs.ks))
    return Evidence(
        setting,
        Accuracies(scores, setting.trainings(sheet), benchmark, interval, half_right(sheet)),
        Shares(states, interval),
        pd.concat(map(read_csv, inputs.norms)),
        ks.groupby("base_model")["constant_norms"].first().to_dict(),
        WinRates(read_table(inputs.judgements, JUDGEMENT_COLUMNS), interval, policy_trainings),
        interval.seed,
    )
