"""Evidence for the CARB paper's claims: scores by topic, regression points, and judges before and after
training.

The first entry of an array of resamples is the data's own value."""

import dataclasses
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from polyreward.analysis.accuracies import training_cases
from polyreward.analysis.bootstrap import Interval, degrees_of_freedom, resampled_sections
from polyreward.analysis.comparison import Benchmark
from polyreward.carb.culture.books import BOOK
from polyreward.carb.culture.comparison import Culture, read_culture
from polyreward.carb.culture.lessons import TAUGHT
from polyreward.carb.culture.taught import read_taught, taught_models
from polyreward.carb.downstream.correlation import POINT_COLUMNS
from polyreward.carb.leaderboard import Leaderboard, by_scorer, check_same_items, in_all
from polyreward.carb.perturbation.sensitivity import (
    indices_by_wording,
    relative_changes,
    sensitivity_index,
    spread,
)
from polyreward.claims.estimate import LENGTH
from polyreward.core.files import read_jsonl
from polyreward.core.naming import of_base, without_lessons
from polyreward.core.seeds import job_seed
from polyreward.core.sheet import kinds, read_sheet
from polyreward.core.tables import read_table, scorers_of
from polyreward.prepare.topics import FACT
from polyreward.think_as_locals.comparison import JudgeDraws, judge_draws


class TopicScores:
    """Scores on CARB in percent; all scorers see the same draws of topics.

    Topics are drawn within their domain instead of items: many cultures get the same topic, and a model that
    does not know it is wrong in most. scorers: of the board; its reward models by default."""

    def __init__(self, board: Leaderboard, interval: Interval, scorers: Sequence[str] | None = None):
        self.kinds = {
            name: board.kinds[name] for name in (board.reward_models() if scorers is None else scorers)
        }
        self.domains = board.domains
        names = list(self.kinds)
        topics = board.topics
        self.n_topics, self.freedom = topics.nunique(), board.freedom("carb")
        sections = {"carb": self.domains, **{domain: [domain] for domain in self.domains}}
        of_item = board.items["domain"]
        drawn = _drawn(board.right[names].to_numpy(), of_item, topics, sections, interval, "topics")
        points = [[board.point([name], section) for section in sections] for name in names]
        self._values, self._sections = np.concatenate([np.array(points)[None], 100 * drawn]), list(sections)
        halves = half_of(topics, of_item)
        self._halves = [
            _mean_scores(board.right.loc[halves == half, names], of_item, topics, half, interval)
            for half in (0, 1)
        ]

    def draws(self, kind: str | None, section: str) -> np.ndarray:
        """Return resamples (1 + resamples, models of a kind, or all) on a domain or "carb", all items."""
        return self._values[:, self._places(kind), self._sections.index(section)]

    def lead_of_best(self, one: str, other: str) -> np.ndarray:
        """Return the resamples (1 + resamples,) of the best model of one kind minus the best of another.

        The best are chosen on one half of the topics and compared on the other, both ways: luck in choosing
        does not count."""
        leads = []
        for chooses, scores in (self._halves, self._halves[::-1]):
            best = [max(self._places(kind), key=lambda place: chooses[0, place]) for kind in (one, other)]
            leads.append(scores[:, best[0]] - scores[:, best[1]])
        return np.mean(leads, axis=0)

    def _places(self, kind: str | None) -> list[int]:
        return [place for place, of_model in enumerate(self.kinds.values()) if kind in (None, of_model)]


def half_of(topics: pd.Series, domains: pd.Series) -> pd.Series:
    """Return the half (0 or 1) of each item's topic; a domain's topics alternate in the order of their
    hashes."""
    found = {}
    for _, of_domain in topics.groupby(domains):
        ordered = sorted(of_domain.unique(), key=lambda topic: job_seed(0, "half", topic))
        found |= {topic: place % 2 for place, topic in enumerate(ordered)}
    return topics.map(found)


def _mean_scores(
    right: pd.DataFrame, domains: pd.Series, topics: pd.Series, half: int, interval: Interval
) -> np.ndarray:
    """Return the mean scores (%) of some items and their resamples (1 + samples, reward models)."""
    inside, of_topic = domains.loc[right.index], topics.loc[right.index]
    sections = {"all": sorted(set(inside))}
    drawn = _drawn(right.to_numpy(), inside, of_topic, sections, interval, "half", str(half))[:, :, 0]
    return 100 * np.vstack([right.mean(), drawn])


def _drawn(
    values: np.ndarray,
    domains: pd.Series,
    topics: pd.Series,
    sections: Mapping[str, Sequence[str]],
    interval: Interval,
    *key: str,
) -> np.ndarray:
    """Return the means over items (samples, columns, sections); topics are drawn within their domain."""
    weights, seed = domains.value_counts().to_dict(), job_seed(interval.seed, "bootstrap", "claims", *key)
    return resampled_sections(values, domains, topics, weights, sections, interval.samples, seed)


class Sensitivity:
    """Indices of perturbations of reward models, -1 to 1; all see the same draws of topics.

    Reward models whose scores no rewrite changes are left out. Where no score changes in a resample, its
    index is nan.

    Attributes:
        indices: (1 + resamples, reward models), CC against the mean of the other rewrites.
        each: (1 + resamples, reward models, other rewrites), CC against each of them."""

    def __init__(
        self, scores: Mapping[str, pd.DataFrame], benchmark: Mapping[str, pd.DataFrame], interval: Interval
    ):
        check_same_items(scores)
        rewritten = {name: table for name, table in scores.items() if not table.empty}
        self.n_rewritten = len(rewritten)
        changes = {
            name: relative_changes(table, spread(benchmark[name])).abs() for name, table in rewritten.items()
        }
        sizes = {name: table for name, table in changes.items() if table.sum().sum() > 0}
        self.names, self.still = list(sizes), [name for name in scores if name not in sizes]
        if not sizes:
            return
        items = next(iter(scores.values())).groupby("id")[["template", "domain"]].first()
        values = np.concatenate([table.loc[items.index].to_numpy() for table in sizes.values()], axis=1)
        topics, domains = items["template"], items["domain"]
        self.n_topics, self.freedom = topics.nunique(), degrees_of_freedom(domains, topics)
        sections = {"all": list(domains.value_counts().index)}
        drawn = _drawn(values, domains, topics, sections, interval, "perturbations")[:, :, 0]
        means = np.concatenate([values.mean(axis=0)[None], drawn])
        of_models = means.reshape(len(means), len(sizes), -1)
        self.indices, self.each = sensitivity_index(of_models), indices_by_wording(of_models)


@dataclasses.dataclass(frozen=True)
class Judges:
    """Judges of Think-as-Locals on both benchmarks."""

    draws: JudgeDraws
    n_templates: int
    n_topics: int


class Places:
    """Swaps (%) of questions about facts in place quartets; all scorers and languages see the same draws of
    topics.

    culture: None where there are no such questions. books: the same of open books. trainings: {(base,
    training language): scorers, one for each seed}; as many of each."""

    def __init__(
        self,
        culture: Culture | None,
        languages: Sequence[str],
        source: str,
        trainings: Mapping[tuple[str, str], Sequence[str]],
        books: Culture | None = None,
    ):
        self.culture, self.books = culture, books
        self.languages, self.source = list(languages), source
        self.trainings, self.bases = dict(trainings), list(dict.fromkeys(base for base, _ in trainings))
        self.n_trainings = len(next(iter(trainings.values()), []))

    def with_books(self) -> "Places":
        """Return the same of questions with an open book."""
        return Places(self.books, self.languages, self.source, self.trainings)

    def of_base(self, base: str, language: str) -> np.ndarray:
        """Return the resamples (1 + resamples, 1) of an untrained base's swaps in a language."""
        return self.culture.draws(of_base("loglik", base), language)[:, None]

    def of_reward_model(self, base: str, language: str) -> np.ndarray:
        """Return those of its reward model trained in the source language: (1 + resamples, cases), as
        Accuracies.training_draws has them."""
        key = base, self.source
        each = np.stack([self.culture.draws(name, language) for name in self.trainings[key]], axis=1)
        return training_cases(each, list(self.trainings).index(key), len(self.trainings), self.n_trainings)


class Facts:
    """Best of four (%) of facts that reward models were taught in the source language.

    culture: None where none was taught any. models: {base: those that were taught, one for each seed}."""

    def __init__(
        self,
        culture: Culture | None,
        languages: Sequence[str],
        source: str,
        models: Mapping[str, Sequence[str]],
    ):
        self.culture, self.languages = culture, list(languages)
        self.source, self.models = source, dict(models)
        self.n_trainings = len(next(iter(models.values()), []))

    def draws(self, base: str, language: str, lessons: bool = True) -> np.ndarray:
        """Return the resamples (1 + resamples, cases) in a language, as Accuracies.training_draws has them.

        lessons: or of the same reward models without."""
        names = [name if lessons else without_lessons(name) for name in self.models[base]]
        each = np.stack([self.culture.draws(name, language, "best_of_four") for name in names], axis=1)
        return training_cases(each, list(self.models).index(base), len(self.models), self.n_trainings)


@dataclasses.dataclass(frozen=True)
class CarbEvidence:
    """All evidence for the CARB paper's claims.

    points: POINT_COLUMNS of reward models. length_scores, length_sensitivity: those of a scorer that counts
    characters, on the same draws."""

    scores: TopicScores
    sensitivity: Sensitivity
    points: pd.DataFrame
    judges: Judges
    places: Places
    facts: Facts
    length_scores: TopicScores
    length_sensitivity: Sensitivity
    seed: int

    @property
    def bases(self) -> dict[str, str]:
        """Base model of each reward model."""
        return dict(zip(self.points["scorer"], self.points["base"], strict=True))

    def of_length(self) -> "CarbEvidence":
        """Return the evidence with a scorer that counts characters instead of all reward models."""
        return dataclasses.replace(self, scores=self.length_scores, sensitivity=self.length_sensitivity)


def read_carb_evidence(
    inputs,
    cells: Mapping[str, Sequence[str]],
    judged_cultures: Sequence[str],
    benchmark: Benchmark,
    source: str,
    interval: Interval,
) -> CarbEvidence:
    """Read the inputs of rule carb_claims: scores, rewrites, points, rewardbench, judged, quartets, culture,
    taught and sheet.

    cells: CARB's cultures and domains. judged_cultures: on which judges are compared. source: the source
    language."""
    sheet = read_sheet(inputs.sheet)
    of_scorer = kinds(sheet, scorers_of(inputs.scores))
    of_items = by_scorer(inputs.scores, of_scorer, "carb", cells["cultures"])
    everyone = Leaderboard(of_items, of_scorer, **cells, interval=interval)
    rewritten = by_scorer(
        inputs.rewrites, scorers_of(inputs.rewrites), "carb_perturbation", cells["cultures"]
    )
    rewrites, of_items = in_all(rewritten, of_items)
    check_same_items(rewrites)
    of_length = {LENGTH: rewrites.pop(LENGTH)}
    points = read_table(inputs.points, POINT_COLUMNS).query("kind != 'bound'")
    judges = scorers_of(inputs.judged)
    rewardbench = by_scorer(inputs.rewardbench, judges, benchmark.name)
    carb = by_scorer(inputs.judged, judges, "carb")
    draws = judge_draws(rewardbench, carb, benchmark, judged_cultures, cells["domains"], interval)
    n_templates, n_topics = (of[judges[0]]["template"].nunique() for of in (rewardbench, carb))
    return CarbEvidence(
        TopicScores(everyone, interval),
        Sensitivity(rewrites, of_items, interval),
        points,
        Judges(draws, n_templates, n_topics),
        read_places(inputs.quartets, inputs.culture, sheet, source, interval),
        read_facts(inputs.quartets, inputs.taught, sheet, source, interval),
        TopicScores(everyone, interval, [LENGTH]),
        Sensitivity(of_length, of_items, interval),
        interval.seed,
    )


def read_places(
    item_files: Sequence[str | Path],
    score_files: Sequence[str | Path],
    sheet: pd.DataFrame,
    source: str,
    interval: Interval,
) -> Places:
    """Read place quartets and the scores of untrained bases and of reward models trained in the source."""
    languages = list(dict.fromkeys(row["culture"] for row in read_jsonl(item_files)))
    scored = sheet[sheet["scorer"].isin(scorers_of(score_files)) & (sheet["trained_in"] == source)]
    trainings = {(base, source): list(names) for base, names in scored.groupby("base", sort=False)["scorer"]}
    cultures = read_culture(item_files, score_files, sheet, interval)
    return Places(cultures.get(FACT), languages, source, trainings, cultures.get(BOOK))


def read_facts(
    item_files: Sequence[str | Path],
    score_files: Sequence[str | Path],
    sheet: pd.DataFrame,
    source: str,
    interval: Interval,
) -> Facts:
    """Read what reward models that had lessons in the source language know of the facts, in all languages."""
    languages = [Path(path).stem for path in item_files]
    own = taught_models(sheet.set_index("scorer"))
    models = own[own["trained_in"] == source].groupby("base", sort=False)
    culture = read_taught(item_files, score_files, interval).get(TAUGHT)
    return Facts(culture, languages, source, {base: list(rows.index) for base, rows in models})
