"""Pairs of the main benchmark on which a base's English and target reward model disagree, in every language
side by side.

A reward model is named by its training language. "English" stands for the source language, as in the
paper."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

from polyreward.analysis.accuracy import correctness
from polyreward.analysis.comparison import joined_scores
from polyreward.config.scale import Scale
from polyreward.core.conversations import as_text
from polyreward.core.files import read_jsonl
from polyreward.core.naming import ModelName, Paths
from polyreward.report.scored import read_columns
from polyreward.report.texts import Text, cut

Rows = Mapping[str, list[dict]]  # of each language
COLUMNS = ["id", "score_chosen", "score_rejected", "within_noise"]


@dataclass(frozen=True)
class Reading:
    """What one reward model makes of a pair.

    margin: chosen minus rejected, in standard deviations of its margins."""

    model: str
    margin: float
    right: bool
    noisy: bool


@dataclass(frozen=True)
class Column:
    """A pair in one language.

    readings: of the English reward model, then of the language's own where that is another."""

    language: str
    prompt: Text
    chosen: Text
    rejected: Text
    readings: list[Reading]

    @property
    def disagree(self) -> bool:
        """Whether one of two reward models is right and the other is not."""
        return len({reading.right for reading in self.readings}) > 1

    @property
    def size(self) -> float:
        """How far the margins are apart, in standard deviations."""
        return abs(self.readings[0].margin - self.readings[-1].margin)

    @property
    def noisy(self) -> bool:
        """Whether batching may turn the verdict of one of the reward models."""
        return any(reading.noisy for reading in self.readings)


@dataclass(frozen=True)
class Pair:
    """A pair on which the reward models of a base disagree in some language."""

    base: str
    id: str
    section: str
    subset: str
    columns: list[Column]

    @property
    def apart(self) -> list[Column]:
        """The languages in which they disagree."""
        return [column for column in self.columns if column.disagree]

    @property
    def size(self) -> float:
        """The largest of its disagreements."""
        return max(column.size for column in self.apart)

    @property
    def noisy(self) -> bool:
        """Whether each of its disagreements is within noise."""
        return all(column.noisy for column in self.apart)


@dataclass(frozen=True)
class Disagreements:
    """The pairs of a base, the largest disagreement first.

    n_pairs: of the benchmark.
    languages: that are compared."""

    base: str
    languages: list[str]
    n_pairs: int
    pairs: list[Pair]

    @property
    def n_clear(self) -> int:
        """How many pairs have a disagreement that batching cannot turn."""
        return sum(not pair.noisy for pair in self.pairs)


def missing_scores(scale: Scale, paths: Paths) -> list[str]:
    """Return the files to ask for where scores, or the rows that they are of, are not there: one of each
    job."""
    scores = []
    for base in scale.bases:
        for language in scale.languages:
            absent = [
                path
                for path in _score_files(scale, paths, base, language).values()
                if not Path(path).is_file()
            ]
            scores += absent[:1]
    rows = [paths.translated(scale.main, language) for language in scale.languages]
    return scores or [path for path in rows if not Path(path).is_file()]


def read_disagreements(scale: Scale, paths: Paths) -> list[Disagreements]:
    """Return the disagreements of each base of which scores are there, in the source and in at least one
    target language.

    Of several seeds, the first. Raises PolyrewardError where scores are damaged or not of these rows."""
    there = {language: paths.translated(scale.main, language) for language in scale.languages}
    rows = {language: read_jsonl(path) for language, path in there.items() if Path(path).is_file()}
    found = (_of_base(scale, paths, base, rows) for base in scale.bases)
    return [one for one in found if one is not None]


def _score_files(scale: Scale, paths: Paths, base: str, language: str) -> dict[str, str]:
    """Return {reward model: its scores} of those that are compared in a language: the language's own, then
    the English one."""
    models = [
        str(ModelName(base, training, scale.seeds[0])) for training in dict.fromkeys([language, scale.source])
    ]
    return {model: paths.scores(scale.main, model, language) for model in models}


def _of_base(scale: Scale, paths: Paths, base: str, rows: Rows) -> Disagreements | None:
    files = {language: _score_files(scale, paths, base, language) for language in rows}
    languages = [
        language for language in rows if all(Path(path).is_file() for path in files[language].values())
    ]
    if scale.source not in languages or len(languages) == 1:
        return None
    tables = {
        language: {
            model: _readings(rows[language], path, model) for model, path in reversed(files[language].items())
        }
        for language in languages
    }
    texts = {language: {row["id"]: row for row in rows[language]} for language in languages}
    sections = scale.categories(scale.main)
    pairs = []
    for row in rows[scale.source]:
        key = row["id"]
        columns = [
            _column(texts[language][key], language, tables[language])
            for language in languages
            if key in texts[language]
        ]
        pair = Pair(base, key, sections[row["subset"]], row["subset"], columns)
        if pair.apart:
            pairs.append(pair)
    pairs.sort(key=lambda pair: (-pair.size, pair.id))
    return Disagreements(
        base, [language for language in languages if language != scale.source], len(rows[scale.source]), pairs
    )


def _readings(rows: list[dict], path: str, model: str) -> dict[str, Reading]:
    """Return {id: reading} of a file of scores. Where all margins are one number, they stay as they are."""
    ids = pd.DataFrame({"id": [row["id"] for row in rows]})
    table = joined_scores(ids, read_columns(path, COLUMNS), path)
    margins = (table["score_chosen"] - table["score_rejected"]).to_numpy()
    spread = np.std(margins, ddof=1) if len(margins) > 1 else 0.0
    right = correctness(table, "wrong") == 1
    units = margins / spread if spread > 0 else margins
    noisy = table["within_noise"]
    read = zip(table["id"], units, right, noisy, strict=True)
    return {
        key: Reading(model, float(unit), bool(is_right), bool(is_noisy))
        for key, unit, is_right, is_noisy in read
    }


def _column(row: dict, language: str, tables: dict[str, dict[str, Reading]]) -> Column:
    rejected = row["rejected"] if isinstance(row["rejected"], str) else "\n\n".join(row["rejected"])
    texts = (cut(text) for text in (as_text(row["prompt"]), row["chosen"], rejected))
    return Column(language, *texts, [table[row["id"]] for table in tables.values()])
