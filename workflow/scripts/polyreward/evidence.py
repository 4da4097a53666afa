"""What the claims are tested on: accuracies, singular values, embedding norms and win rates, resampled jointly.

An array of resamples has first the data's own value, then the resamples'."""

import dataclasses
from collections.abc import Iterator, Mapping, Sequence

import numpy as np
import pandas as pd
from safetensors.numpy import load_file

from polyreward.alignment.judging import COLUMNS as JUDGEMENT_COLUMNS
from polyreward.analysis import Benchmark, Comparison, Interval
from polyreward.errors import PolyrewardError, raise_all
from polyreward.files import read_jsonl
from polyreward.geometry import spectra
from polyreward.naming import ModelName
from polyreward.seeds import job_seed
from polyreward.tables import read_table


@dataclasses.dataclass(frozen=True)
class Setting:
    """What was compared.

    figure2_models: those whose embeddings are compared; scripts: {language: script}; pretraining: {base: multilingual, english
    or none}; seeds: of each reward model's trainings; off_the_shelf: {reward model: its base's pretraining, or unknown}."""

    bases: list[str]
    figure2_models: list[str]
    source: str
    targets: list[str]
    scripts: dict[str, str]
    pretraining: dict[str, str]
    seeds: list[int]
    off_the_shelf: dict[str, str]


class Accuracies:
    """Accuracies of scorers in several languages, in percent; languages and scorers see the same draws of templates.

    rows: {language: rows}. scores: {(scorer, language): score table}, of reward models, whose ties are wrong. seeds: of the
    reward models that were trained here. Raises PolyrewardError where two languages do not have the same pairs."""

    def __init__(self, rows: Mapping[str, Sequence[dict]], scores: Mapping[tuple[str, str], pd.DataFrame],
                 seeds: Sequence[int], benchmark: Benchmark, interval: Interval):  # fmt: skip
        raise_all(_unlike(rows), benchmark.name)
        tables = {" ".join(key): table for key, table in scores.items()}
        anyones = next(iter(rows.values()))
        comparison = Comparison(benchmark, "all languages", anyones, tables, dict.fromkeys(tables, "wrong"), interval)
        self.sections, self.seeds = list(benchmark.sections), list(seeds)
        self.n_templates = comparison.sizes()["n_templates"]
        self._interval, self._columns = interval, {key: place for place, key in enumerate(scores)}
        alone = [comparison.contrast({name: 1.0}) for name in tables]
        points = [[of_scorer[section] for section in self.sections] for of_scorer in alone]
        self._values = np.concatenate([np.array(points)[None], 100 * comparison.resamples])

    def of(self, scorer: str, language: str, section: str) -> np.ndarray:
        """Return the resamples (1 + resamples,) of a scorer's accuracy in a section, or "avg", the plain mean of all."""
        values = self._values[:, self._columns[scorer, language]]
        return values.mean(axis=1) if section == "avg" else values[:, self.sections.index(section)]

    def of_model(self, base: str, training: str, language: str, section: str) -> np.ndarray:
        """Like `of`, for a base's reward model of a training language: the mean over its seeds, which are drawn too."""
        names = [str(ModelName(base, training, seed)) for seed in self.seeds]
        weights = bootstrap_weights(len(names), self._interval, "seeds", base, training)
        return (weights * np.stack([self.of(name, language, section) for name in names], axis=1)).sum(axis=1)


def _unlike(rows: Mapping[str, Sequence[dict]]) -> Iterator[str]:
    first, *others = rows
    known = {row["id"]: (row["subset"], row.get("template")) for row in rows[first]}
    for language in others:
        here = {row["id"]: (row["subset"], row.get("template")) for row in rows[language]}
        unlike = sorted(key for key in known.keys() | here.keys() if known.get(key) != here.get(key))
        if unlike:
            yield (
                f"`{language}` and `{first}` differ in {len(unlike)} pairs, as `{unlike[0]}`; "
                "give every language the same ids, subsets and templates"
            )


class Shares:
    """Mean shares of the largest singular value; all models see the same draws of passages.

    states: {base: {"base" or training language: (languages, passages, d_model)}}. Raises PolyrewardError where bases have
    read unequal numbers of passages."""

    def __init__(self, states: Mapping[str, Mapping[str, np.ndarray]], interval: Interval):
        counts = {base: next(iter(of_base.values())).shape[1] for base, of_base in states.items()}
        if len(set(counts.values())) > 1:
            raise PolyrewardError(f"hidden states: unequal numbers of passages ({counts}); make the states of every base again")
        self.n_passages = next(iter(counts.values()))
        weights = bootstrap_weights(self.n_passages, interval, "shares")
        self._values = {
            (base, training): weights @ spectra(of_model)[:, 0]
            for base, of_base in states.items()
            for training, of_model in of_base.items()
        }

    def of(self, base: str, training: str) -> np.ndarray:
        """Return the resamples (1 + resamples,) of the mean share of a base ("base"), or of its reward model of a language."""
        return self._values[base, training]


class WinRates:
    """Win rates of policies against the reference answers, in percent; all policies see the same draws of instructions.

    judgements: rows of judging.judgements, win from 0 to 1; an instruction's win is its mean over runs. Instructions that lack a
    judgement of a policy or in a language are left out. Raises PolyrewardError where none is left."""

    def __init__(self, judgements: pd.DataFrame, interval: Interval):
        wide = judgements.pivot_table(index="id", columns=["policy", "language"], values="win", dropna=False)
        kept = wide.dropna()
        if kept.empty:
            raise PolyrewardError(f"judgements: none of {len(wide)} instructions is judged for every policy and language")
        self.n_instructions, self.n_dropped = len(kept), len(wide) - len(kept)
        self.n_runs = judgements["run"].nunique()
        self.languages = list(judgements["language"].unique())
        drawn = 100 * bootstrap_weights(len(kept), interval, "instructions") @ kept.to_numpy()
        self._values = dict(zip(kept.columns, drawn.T, strict=True))

    def of(self, policy: str, language: str) -> np.ndarray:
        """Return the resamples (1 + resamples,) of a policy's win rate in a language."""
        return self._values[policy, language]


def bootstrap_weights(n: int, interval: Interval, *key: str) -> np.ndarray:
    """Return the weights of n items (1 + resamples, n): first all alike, then how often each is drawn, over n."""
    generator = np.random.default_rng(job_seed(interval.seed, "bootstrap", "claims", *key))
    drawn = generator.multinomial(n, np.full(n, 1 / n), size=interval.samples)
    return np.concatenate([np.ones((1, n)), drawn]) / n


@dataclasses.dataclass(frozen=True)
class Evidence:
    """All that the claims are tested on.

    norms: rows as embedding_norms.NORM_COLUMNS. constant: {base: whether its norms are constant over its vocabulary}."""

    setting: Setting
    accuracies: Accuracies
    shares: Shares
    norms: pd.DataFrame
    constant: dict[str, bool]
    win_rates: WinRates


def read_evidence(inputs, setting: Setting, scorers: Sequence[str], benchmark: Benchmark, interval: Interval) -> Evidence:
    """Read the files of rule claims: inputs.rows, .scores (scorers by languages), .states, .norms, .ks and .judgements."""
    languages = [setting.source, *setting.targets]
    rows = dict(zip(languages, map(read_jsonl, inputs.rows), strict=True))
    keys = [(scorer, language) for scorer in scorers for language in languages]
    scores = dict(zip(keys, map(pd.read_parquet, inputs.scores), strict=True))
    states = {base: load_file(path) for base, path in zip(setting.bases, inputs.states, strict=True)}
    ks = pd.concat(map(pd.read_csv, inputs.ks))
    return Evidence(
        setting,
        Accuracies(rows, scores, setting.seeds, benchmark, interval),
        Shares(states, interval),
        pd.concat(map(pd.read_csv, inputs.norms)),
        ks.groupby("base_model")["constant_norms"].first().to_dict(),
        WinRates(read_table(inputs.judgements, JUDGEMENT_COLUMNS), interval),
    )
