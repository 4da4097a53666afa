"""Accuracies in several languages at once, on the same draws of templates, and with several trainings."""

from collections.abc import Collection, Mapping, Sequence

import numpy as np
import pandas as pd

from polyreward.analysis.bootstrap import Interval
from polyreward.analysis.comparison import Benchmark, Comparison
from polyreward.core.errors import PolyrewardError


def training_cases(each: np.ndarray, place: int | None, models: int, trainings: int) -> np.ndarray:
    """Return the resamples of a model's mean over its trainings, then with one training of one model.

    each: (1 + resamples, trainings). place: the model's, among `models` that were trained as often; None
    where it was not trained here. Returns (1 + resamples, 1 + models * trainings); with one training of each,
    (1 + resamples, 1)."""
    if trainings < 2:
        return each
    cases = np.repeat(each.mean(axis=1, keepdims=True), 1 + models * trainings, axis=1)
    if place is not None:
        cases[:, 1 + place * trainings : 1 + (place + 1) * trainings] = each
    return cases


def split_cases(values: np.ndarray, trainings: int) -> tuple[np.ndarray, np.ndarray | None]:
    """Split sums of `training_cases` into (1 + resamples, ...) of mean trainings and (1 + resamples, ...,
    models, trainings) with one training of one model; None where there is one training of each."""
    shape = (*values.shape[:-1], -1, trainings)
    return values[..., 0], values[..., 1:].reshape(shape) if trainings > 1 else None


def in_all_languages(scores: pd.DataFrame) -> pd.DataFrame:
    """Return the scores of pairs that every language has: a translation may leave some out."""
    languages = scores.groupby("id")["language"].nunique()
    kept = scores[scores["id"].map(languages) == scores["language"].nunique()]
    if kept.empty:
        raise PolyrewardError(
            f"{' '.join(scores['benchmark'].unique())}: no pair is in all of"
            f" {', '.join(scores['language'].unique())}. Give every language the same ids"
        )
    return kept


class Accuracies:
    """Accuracies of scorers in several languages, in percent; all see the same draws of templates.

    trainings: {(base, training language): scorers, one for each seed} of reward models that were trained
    here; as many of each. half_credit: as in Comparison."""

    def __init__(
        self,
        scores: pd.DataFrame,
        trainings: Mapping[tuple[str, str], Sequence[str]],
        benchmark: Benchmark,
        interval: Interval,
        half_credit: Collection[str] = (),
    ):
        keys = list(scores[["scorer", "language"]].drop_duplicates().itertuples(index=False, name=None))
        each = scores.assign(scorer=scores["scorer"] + " " + scores["language"], language="all languages")
        comparison = Comparison(
            each, benchmark, interval, [" ".join(key) for key in keys if key[0] in half_credit]
        )
        self.sections, self.trainings = list(benchmark.sections), dict(trainings)
        self.n_seeds = len(next(iter(trainings.values()), []))
        self.n_templates = comparison.sizes()["n_templates"]
        self._columns = {key: place for place, key in enumerate(keys)}
        self._values, self.freedom = 100 * comparison.values, comparison.freedom()
        self.units, self._of_templates = comparison.units, 100 * comparison.of_templates()

    def draws(self, scorer: str, language: str, section: str) -> np.ndarray:
        """Return the resamples (1 + resamples,) of a scorer's accuracy in a section or "avg", their plain
        mean."""
        values = self._values[:, self._columns[scorer, language]]
        return values.mean(axis=1) if section == "avg" else values[:, self.sections.index(section)]

    def of_templates(self, scorer: str, language: str) -> np.ndarray:
        """Return what each template adds to a scorer's "avg" (templates,), in percent."""
        return self._of_templates[:, self._columns[scorer, language]]

    def training_draws(self, base: str, training: str, language: str, section: str) -> np.ndarray:
        """Return the resamples of a base's reward model of a training language: (1 + resamples, cases).

        The first case is the mean over its trainings. Where there are several, each training of any model
        follows instead of that model's mean: sums of such arrays show how each training moves them."""
        each = np.stack(
            [self.draws(name, language, section) for name in self.trainings[base, training]], axis=1
        )
        place = list(self.trainings).index((base, training))
        return training_cases(each, place, len(self.trainings), self.n_seeds)
