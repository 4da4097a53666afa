"""What the CARB paper's claims are tested on: scores by topic, points of the regressions, judges before and after training.

An array of resamples has first the data's own value, then the resamples'."""

import dataclasses
from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from polyreward.analysis.bootstrap import Interval, resampled_sections
from polyreward.analysis.comparison import Benchmark
from polyreward.carb.correlation import POINT_COLUMNS
from polyreward.carb.leaderboard import Leaderboard, board_of, by_scorer
from polyreward.carb.sensitivity import check_same_items, relative_changes, sensitivity_index, spread
from polyreward.core.seeds import job_seed
from polyreward.core.tables import read_table
from polyreward.think_as_locals.comparison import judge_draws


class TopicScores:
    """Scores of reward models on CARB, in percent; all see the same draws of topics.

    board: the reward models' leaderboard, of items named <topic>_<culture>. One topic is asked of many cultures, and a model that
    knows nothing of it is wrong in most, so that topics are drawn, within their domain, and not items."""

    def __init__(self, board: Leaderboard, interval: Interval):
        self.kinds, self.domains = {name: board.kinds[name] for name in board.reward_models()}, board.domains
        names = list(self.kinds)
        topics = topics_of(board.items)
        self.n_topics = len(set(topics))
        sections = {"carb": self.domains, **{domain: [domain] for domain in self.domains}}
        of_item = board.items["domain"]
        drawn = resampled_sections(
            board.right[names].to_numpy(), of_item, topics, of_item.value_counts().to_dict(), sections,
            interval.samples, job_seed(interval.seed, "bootstrap", "claims", "topics"),
        )  # fmt: skip
        points = [[board.point([name], section) for section in sections] for name in names]
        self._values, self._sections = np.concatenate([np.array(points)[None], 100 * drawn]), list(sections)

    def of(self, kind: str | None, section: str) -> np.ndarray:
        """Return the resamples (1 + resamples, reward models) on a domain or "carb", all items. kind: None for all."""
        wanted = [place for place, of_model in enumerate(self.kinds.values()) if kind in (None, of_model)]
        return self._values[:, wanted, self._sections.index(section)]


class Sensitivity:
    """Indices of perturbations of reward models, -1 to 1; all see the same draws of topics.

    scores: {reward model: its scores of the rewrites}. benchmark: {reward model: its scores of the benchmark}. Reward models that
    no rewrite moves are left out; a resample in which one is not moved has no index of it (nan)."""

    def __init__(self, scores: Mapping[str, pd.DataFrame], benchmark: Mapping[str, pd.DataFrame], interval: Interval):
        check_same_items(scores)
        changes = {name: relative_changes(table, spread(benchmark[name])).abs() for name, table in scores.items()}
        sizes = {name: table for name, table in changes.items() if table.sum().sum() > 0}
        self.names, self.still = list(sizes), [name for name in scores if name not in sizes]
        if not sizes:
            return
        items = next(iter(scores.values())).groupby("id")[["culture", "domain"]].first()
        values = np.concatenate([table.loc[items.index].to_numpy() for table in sizes.values()], axis=1)
        topics, domains = topics_of(items), items["domain"].value_counts().to_dict()
        self.n_topics = len(set(topics))
        drawn = resampled_sections(
            values, items["domain"], topics, domains, {"all": list(domains)}, interval.samples,
            job_seed(interval.seed, "bootstrap", "claims", "perturbations"),
        )[:, :, 0]  # fmt: skip
        means = np.concatenate([values.mean(axis=0)[None], drawn])
        self.indices = sensitivity_index(means.reshape(len(means), len(sizes), -1))


def topics_of(items: pd.DataFrame) -> list[str]:
    """Return the topic of each item; items: culture by id, which is <topic>_<culture>."""
    return [name.removesuffix(f"_{culture}") for name, culture in items["culture"].items()]


@dataclasses.dataclass(frozen=True)
class Judges:
    """Judges of Think-as-Locals. values: {judge: {measure: resamples}} in percent, of locals.comparison.MEASURES."""

    values: Mapping[str, Mapping[str, np.ndarray]]
    n_templates: int
    n_items: int


@dataclasses.dataclass(frozen=True)
class CarbEvidence:
    """All that the CARB paper's claims are tested on.

    points: a row for each reward model with its score on each of correlation.BENCHMARKS. rating: the column of points that
    rates the answers picked."""

    scores: TopicScores
    sensitivity: Sensitivity
    points: pd.DataFrame
    rating: str
    judges: Judges


def read_carb_evidence(
    inputs, board: dict, perturbed: Sequence[str], rating: str, judges: Sequence[str], cultures: Sequence[str],
    benchmark: Benchmark,
) -> CarbEvidence:  # fmt: skip
    """Read the files of rule carb_claims: inputs.scores, .rewrites, .points, and of each judge .rewardbench and .judged.

    board: kinds, cultures, domains and interval, as leaderboard.board_of has them. perturbed: the reward models that scored
    rewrites. cultures: that judges are compared on."""
    interval = Interval(**board["interval"])
    of_items = by_scorer(list(board["kinds"]), map(pd.read_parquet, inputs.scores))
    scores = TopicScores(board_of(of_items, board), interval)
    sensitivity = Sensitivity(by_scorer(perturbed, map(pd.read_parquet, inputs.rewrites)), of_items, interval)
    points = read_table(inputs.points, POINT_COLUMNS).query("kind != 'bound' and policy == 'all'")
    rewardbench, carb = (
        dict(zip(judges, map(pd.read_parquet, paths), strict=True)) for paths in (inputs.rewardbench, inputs.judged)
    )
    values = judge_draws(rewardbench, carb, benchmark, cultures, board["domains"], interval)
    pairs, items = rewardbench[judges[0]], carb[judges[0]]
    return CarbEvidence(scores, sensitivity, points, rating, Judges(values, pairs["template"].nunique(), items["id"].nunique()))
