"""Taught in one language, found in others: reward models with lessons on place quartets, and without."""

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from polyreward.analysis.accuracies import Accuracies, in_all_languages
from polyreward.analysis.bootstrap import Interval, between_trainings, share_interval, with_trainings
from polyreward.analysis.comparison import Benchmark
from polyreward.carb.culture.books import BOOKS
from polyreward.carb.culture.comparison import COUNTS, Culture, by_group, read_tables
from polyreward.carb.culture.lessons import PARTS, parts_of
from polyreward.carb.leaderboard import by_scorer
from polyreward.core.files import read_jsonl
from polyreward.core.naming import is_taught, without_lessons

NUMBERS = [
    *("best_of_four", "low", "high", "before", "gain", "gain_low", "gain_high"),
    *("swaps", "swaps_low", "swaps_high"),
]
KEYS = ["part", "base", "taught_in", "language"]
TAUGHT_COLUMNS = [*KEYS, *NUMBERS, "trainings", *COUNTS, "note"]
COST_COLUMNS = [
    *("base", "language", "avg", "before", "difference", "low", "high", "trainings", "n_templates", "note"),
]
NO_LESSONS = "no reward model had lessons: carb.lessons.bases is 0"  # the note of a table's only row


def read_taught(
    item_files: Iterable[str | Path], score_files: Iterable[str | Path], interval: Interval
) -> dict[str, Culture]:
    """Read the scores of reward models with lessons, and of the same without: {part: their Culture}.

    Parts are PARTS, then BOOKS, whose topics are unseen. Those without a quartet are left out. Without score
    files there is none."""
    paths = [str(path) for path in score_files]
    if not paths:
        return {}
    files = {Path(path).stem: pd.DataFrame(read_jsonl(path)) for path in item_files}
    scores = by_scorer(paths, dict.fromkeys(Path(path).parent.name for path in paths), "quartets")
    rows = next(iter(files.values()))
    quartets, parts = rows.drop_duplicates("quartet"), parts_of(rows.to_dict("records"), interval.seed)
    parts |= {one.quartet: one.kind for one in quartets.itertuples() if one.kind in BOOKS}
    tables, cut = read_tables(scores, files, parts)
    return by_group((*PARTS, *BOOKS), parts, quartets, tables, cut, interval)


def taught_models(sheet: pd.DataFrame) -> pd.DataFrame:
    """Return the rows of the sheet that are reward models with lessons."""
    return sheet[[is_taught(name) for name in sheet.index]]


def taught_table(
    item_files: Sequence[str | Path],
    score_files: Sequence[str | Path],
    sheet: pd.DataFrame,
    interval: Interval,
) -> pd.DataFrame:
    """Return a row for each part of the quartets, base, language of the lessons and language asked in.

    before: best of four of the same reward model without lessons, with the same seeds. gain: the difference,
    paired by quartet. Intervals are by bootstrap over topics, with the variance between trainings.
    sheet: of all scorers; the taught ones have scores in all languages of the files."""
    records = []
    for part, culture in read_taught(item_files, score_files, interval).items():
        for (base, language), models in taught_models(sheet).groupby(["base", "trained_in"], sort=False):
            for asked_in in (Path(path).stem for path in item_files):
                key = {"part": part, "base": base, "taught_in": language, "language": asked_in}
                records.append(key | lesson_numbers(culture, list(models.index), asked_in))
    return pd.DataFrame(records or [{"note": NO_LESSONS}], columns=TAUGHT_COLUMNS).astype(
        dict.fromkeys([*COUNTS, "trainings"], "Int64")
    )


def lesson_numbers(culture: Culture, models: Sequence[str], language: str) -> dict:
    """Return NUMBERS and COUNTS of the trainings of a reward model with lessons, asked in a language."""

    def drawn(names: Iterable[str], statistic: str) -> np.ndarray:
        return np.stack([culture.draws(name, language, statistic) / 100 for name in names], axis=1)

    with_lessons, before = (drawn(names, "best_of_four") for names in (models, map(without_lessons, models)))
    found = dict(_share(culture, with_lessons, "best_of_four", "low", "high"))
    found["before"] = 100 * before[0].mean()
    found |= _share(culture, with_lessons - before, "gain", "gain_low", "gain_high", lowest=-1)
    found |= _share(culture, drawn(models, "swaps"), "swaps", "swaps_low", "swaps_high")
    counts = {"quartets": culture.n_quartets, "topics": culture.n_topics, "trainings": len(models)}
    both = (*models, *map(without_lessons, models))
    return {**found, **counts, "note": culture.note(*((name, language) for name in both))}


def _share(
    culture: Culture, drawn: np.ndarray, point: str, low: str, high: str, lowest: float = 0
) -> Iterator[tuple[str, float]]:
    """Yield a share and its ends in percent; drawn: (1 + samples, trainings), fractions."""
    values, freedom = _over_trainings(drawn, culture.freedom)
    ends = share_interval(values, culture.interval.confidence, freedom, culture.n_topics, lowest)
    yield from zip((point, low, high), 100 * np.array([values[0], *ends]), strict=True)


def cost_table(
    scores: pd.DataFrame, sheet: pd.DataFrame, benchmark: Benchmark, interval: Interval
) -> pd.DataFrame:
    """Return what lessons cost a reward model on the main benchmark in its own language, paired by template.

    scores: of taught reward models and of the same without lessons, each in its own language."""
    names = [name for name in dict.fromkeys(scores["scorer"]) if is_taught(name)]
    records = []
    for (base, language), own in sheet.loc[names].groupby(["base", "trained_in"], sort=False):
        models, before = list(own.index), list(map(without_lessons, own.index))
        cells = scores[scores["scorer"].isin([*models, *before])]
        accuracies = Accuracies(in_all_languages(cells), {}, benchmark, interval)
        with_lessons, without = (
            np.stack([accuracies.draws(name, language, "avg") for name in of_kind], axis=1) / 100
            for of_kind in (models, before)
        )
        values, freedom = _over_trainings(with_lessons - without, accuracies.freedom)
        low, high = share_interval(values, interval.confidence, freedom, accuracies.n_templates, -1)
        averages = {"avg": 100 * with_lessons[0].mean(), "before": 100 * without[0].mean()}
        ends = {"difference": 100 * values[0], "low": 100 * low, "high": 100 * high}
        counts = {"trainings": len(models), "n_templates": accuracies.n_templates}
        records.append({"base": base, "language": language, **averages, **ends, **counts, "note": ""})
    return pd.DataFrame(records or [{"note": NO_LESSONS}], columns=COST_COLUMNS)


def _over_trainings(drawn: np.ndarray, freedom: float) -> tuple[np.ndarray, float]:
    """Return the resamples of the mean over trainings (1 + samples,), widened by what they differ by, and the
    degrees of freedom; drawn: (1 + samples, trainings)."""
    between = [between_trainings(drawn)] if drawn.shape[1] > 1 else []
    return with_trainings(drawn.mean(axis=1), freedom, between)
