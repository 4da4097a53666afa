"""Who is right on which items, with intervals of scores and of ranks."""

from collections.abc import Iterable, Mapping, Sequence
from itertools import product
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.stats import t as student

from polyreward.analysis.bootstrap import Interval, degrees_of_freedom, resampled_sections, share_interval
from polyreward.artifacts.renderings import as_cells, with_interval
from polyreward.core.errors import raise_all
from polyreward.core.kinds import is_baseline
from polyreward.core.naming import of_base
from polyreward.core.seeds import job_seed
from polyreward.core.tables import check_numbers, read_scores, unavailable_reasons

SAFETY = "safety"
MORE_SCORES = [f"{name}{end}" for name in ("without_safety", "over_pmi") for end in ("", "_low", "_high")]
COUNTS = ["n", "n_tied", "n_within_noise", "rank", "rank_low", "rank_high"]


def leaderboard_columns(cultures: Sequence[str], domains: Sequence[str]) -> list[str]:
    """Return the leaderboard's columns; scores are percentages. missing: why a row is empty.

    without_safety: on all other domains, as Safety asks whether an answer fits the request. over_pmi: the
    score minus PMI's of the untrained base, in points."""
    return ["scorer", "kind", *cultures, *domains, "carb", "low", "high", *MORE_SCORES, *COUNTS, "missing"]


def rightness(scores: pd.DataFrame, ties: str) -> pd.DataFrame:
    """Return template, language, domain, right, tied, within_noise and chance by id.

    right: 1 where the chosen answer's score is strictly the highest, else 0; with ties "shared", one over the
    number of answers at the top where chosen is among them. chance: what a random answer gets."""
    check_numbers(scores, ["score"])
    at_top = scores["score"] == scores.groupby("id", sort=False)["score"].transform("max")
    items = scores.assign(at_top=at_top, holds=at_top & scores["is_chosen"]).groupby("id", sort=False)
    chosen = items["is_chosen"].sum()
    need = "it needs exactly one chosen answer; make the items again"
    raise_all((f"item {name}: {need}" for name in chosen.index[chosen != 1]), "scores")
    holds, count = items["holds"].any(), items["at_top"].sum()
    value = {"wrong": (count == 1).astype(float), "shared": 1 / count}[ties]
    return (
        items[["template", "language", "domain"]]
        .first()
        .assign(
            right=value.where(holds, 0.0),
            tied=holds & (count > 1),
            within_noise=items["within_noise"].any(),
            chance=1 / items.size(),
        )
    )


def check_same_items(scores: Mapping[str, pd.DataFrame]) -> None:
    """Raise PolyrewardError that names scorers whose items are not the first one's."""
    first = next(iter(scores))
    ids = set(scores[first]["id"])
    other = (name for name, table in scores.items() if set(table["id"]) != ids)
    fault = f"its items are not those of {first}; score them again"
    raise_all((f"{name}: {fault}" for name in other), "CARB scores")


class Leaderboard:
    """Scorers that scored the same items: points, and resamples drawn together.

    scores: {scorer: item_scores' rows}. kinds: {scorer: one of kinds.EVERY_KIND}; baselines share ties.
    groups: {name: cultures}, more sections. missing: {scorer: why it has no scores}. bases: {scorer: its
    base}, whose PMI it is compared with. Topics are drawn within their domain: one is asked of many cultures.
    The section "carb" has all items."""

    def __init__(
        self,
        scores: dict[str, pd.DataFrame],
        kinds: dict[str, str],
        cultures: Sequence[str],
        domains: Sequence[str],
        interval: Interval,
        groups: dict[str, Sequence[str]] | None = None,
        missing: Mapping[str, str] | None = None,
        bases: Mapping[str, str] | None = None,
    ):
        check_same_items(scores)
        self.bases = bases or {}
        self.baselines = {name for name, kind in kinds.items() if is_baseline(kind)}
        self.missing = {name: missing[name] for name in kinds if name in (missing or {})}
        found = {
            name: rightness(table, "shared" if name in self.baselines else "wrong")
            for name, table in scores.items()
        }
        self.cultures, self.domains, self.scorers = list(cultures), list(domains), list(scores)
        self.kinds, self.interval = kinds, interval
        self.items = next(iter(found.values()))[["template", "language", "domain", "chance"]]
        self._check_cells()
        self.right, self.tied, self.noisy = (
            pd.DataFrame({name: table.loc[self.items.index, column] for name, table in found.items()})
            for column in ("right", "tied", "within_noise")
        )
        self.stratum = self.items["language"] + "/" + self.items["domain"]
        self.topics = self.items["template"]
        cells = {"carb": self.cultures, **{name: [name] for name in self.cultures}, **(groups or {})}
        self.sections = {
            **{name: [f"{c}/{d}" for c in members for d in self.domains] for name, members in cells.items()},
            **{domain: [f"{culture}/{domain}" for culture in self.cultures] for domain in self.domains},
        }
        others = [domain for domain in self.domains if domain != SAFETY]
        if others and others != self.domains:
            self.sections["without_safety"] = [cell for domain in others for cell in self.sections[domain]]
        self.resamples = resampled_sections(
            self.right.to_numpy(),
            self.stratum,
            self.topics,
            self.stratum.value_counts().to_dict(),
            self.sections,
            interval.samples,
            job_seed(interval.seed, "bootstrap", "carb"),
            self.items["domain"],
        )

    def _check_cells(self) -> None:
        wanted = set(product(self.cultures, self.domains))
        cells = set(zip(self.items["language"], self.items["domain"], strict=True))
        lacks = "write more topics"
        problems = [f"{c} has no item of {d}; {lacks}" for c, d in sorted(wanted - cells)]
        odd = "config.yaml has no such culture or domain"
        problems += [f"items of {c}, {d}: {odd}" for c, d in sorted(cells - wanted)]
        raise_all(problems, "CARB items")

    def _inside(self, section: str) -> pd.Series:
        return self.stratum.isin(self.sections[section])

    def size(self, section: str) -> int:
        """Return the number of a section's items."""
        return int(self._inside(section).sum())

    def point(self, scorers: Sequence[str], section: str) -> float:
        """Return the mean (%) of some scorers' scores on a section."""
        return 100 * float(self.right.loc[self._inside(section), list(scorers)].to_numpy().mean())

    def draws(self, scorers: Sequence[str], section: str) -> np.ndarray:
        """Return the resamples (%) of the mean of some scorers' scores on a section."""
        columns = [self.scorers.index(name) for name in scorers]
        return 100 * self.resamples[:, columns, list(self.sections).index(section)].mean(axis=1)

    def ends(self, scorers: Sequence[str], section: str) -> tuple[float, float]:
        """Return the interval (%) of the mean of some scorers' scores on a section."""
        values = np.append(self.point(scorers, section), self.draws(scorers, section)) / 100
        units = self.units(values, section)
        low, high = share_interval(values, self.interval.confidence, self.freedom(section), units)
        return 100 * low, 100 * high

    def lead(self, one: str, other: str, section: str) -> tuple[float, float, float]:
        """Return one scorer's score minus another's on a section in points, with its interval."""
        of_both = [
            np.append(self.point([name], section), self.draws([name], section)) / 100 for name in (one, other)
        ]
        values, units = of_both[0] - of_both[1], min(self.units(of_one, section) for of_one in of_both)
        low, high = share_interval(values, self.interval.confidence, self.freedom(section), units, -1)
        return 100 * values[0], 100 * low, 100 * high

    def units(self, values: np.ndarray, section: str) -> float:
        """Return how many independent items have the variance of a section's score, from its topics to its
        items; values: (1 + samples,), as fractions."""
        independent, drawn = values[0] * (1 - values[0]), np.var(values[1:])
        topics = self.topics[self._inside(section)].nunique()
        return float(np.clip(independent / drawn if drawn else 0, topics, self.size(section)))

    def freedom(self, section: str) -> int:
        """Return the degrees of freedom of a section's score: its topics minus its domains."""
        inside = self._inside(section)
        return degrees_of_freedom(self.items["domain"][inside], self.topics[inside])

    def chance(self, section: str) -> float:
        """Return what random answers get on a section, in percent."""
        return 100 * float(self.items.loc[self._inside(section), "chance"].mean())

    def reward_models(self) -> list[str]:
        """Return the scorers that are reward models, the best first."""
        names = [name for name in self.scorers if name not in self.baselines]
        return sorted(names, key=lambda name: -self.point([name], "carb"))

    def best(self, kind: str, count: int) -> list[str]:
        """Return the reward models of a kind that score best."""
        return [name for name in self.reward_models() if self.kinds[name] == kind][:count]

    def ranks(self) -> pd.DataFrame:
        """Return each reward model's rank on all items and its interval; equals share the better rank."""
        names = self.reward_models()
        if not names:
            return pd.DataFrame(columns=["rank", "rank_low", "rank_high"], dtype="Int64")
        values = np.stack(
            [np.append(self.point([name], "carb"), self.draws([name], "carb")) for name in names], axis=1
        )
        low, high = rank_intervals(values, self.interval.confidence, self.freedom("carb"))
        points = 1 + (values[0].round(9)[None] > values[0].round(9)[:, None]).sum(axis=1)
        return pd.DataFrame({"rank": points, "rank_low": low, "rank_high": high}, index=names).astype("Int64")

    def table(self) -> pd.DataFrame:
        """Return the leaderboard: reward models by rank, those without scores, baselines, and chance."""
        others = [name for name in self.scorers if name in self.baselines]
        parts = ["carb", *self.cultures, *self.domains]
        records = []
        for name in [*self.reward_models(), *self.missing, *others]:
            row = {"scorer": name, "kind": self.kinds[name]}
            if name in self.missing:
                row["missing"] = self.missing[name]
            else:
                row |= {part: self.point([name], part) for part in parts}
                row["low"], row["high"] = self.ends([name], "carb")
                row |= self._more_scores(name)
                row |= {"n": len(self.items), "n_tied": self.tied[name].sum()}
                row["n_within_noise"] = self.noisy[name].sum()
            records.append(row)
        chance = {"scorer": "chance", "kind": "chance", "n": len(self.items)}
        parts += [name for name in ["without_safety"] if name in self.sections]
        records.append(chance | {part: self.chance(part) for part in parts})
        table = pd.DataFrame(records).set_index("scorer").join(self.ranks()).reset_index()
        table = table.reindex(columns=leaderboard_columns(self.cultures, self.domains))
        return table.astype(dict.fromkeys(COUNTS, "Int64"))

    def _more_scores(self, scorer: str) -> dict[str, float]:
        """Return MORE_SCORES of a scorer, where it has them."""
        found = {}
        if "without_safety" in self.sections:
            found["without_safety"] = self.point([scorer], "without_safety")
            ends = self.ends([scorer], "without_safety")
            found["without_safety_low"], found["without_safety_high"] = ends
        pmi = of_base("pmi", self.bases.get(scorer, ""))
        if pmi in self.scorers and scorer not in self.baselines:
            found |= dict(zip(MORE_SCORES[3:], self.lead(scorer, pmi, "carb"), strict=True))
        return found


def rank_intervals(
    values: np.ndarray, confidence: float, freedom: np.ndarray | float, added: np.ndarray | float = 0.0
) -> tuple[np.ndarray, np.ndarray]:
    """Return the first and last rank that each scorer may have; all hold at once.

    values: (1 + samples, scorers), first the data's own. freedom: of all differences, or of each (scorers,
    scorers). added: (scorers,), variance that trainings add.
    A scorer is behind those whose lead over it is above zero by Bonferroni's intervals of all differences
    (the resamples' largest difference holds too seldom).
    Source: Mogstad, Romano, Shaikh and Wilhelm 2024, Inference for ranks, REStud 91."""
    count = values.shape[1]
    if np.min(freedom) < 1:
        return np.full(count, 1), np.full(count, count)
    differences = values[0][:, None] - values[0]  # of row over column
    errors = np.stack([(values[1:, [one]] - values[1:]).std(axis=0) for one in range(count)])
    pairs = max(count * (count - 1) // 2, 1)
    added = np.broadcast_to(added, count)
    errors = np.sqrt(errors**2 + added[:, None] + added)
    reach = student.isf((1 - confidence) / 2 / pairs, freedom) * errors
    ahead = differences > np.where(errors > 0, reach, 1e-9)
    return 1 + ahead.sum(axis=0), count - ahead.sum(axis=1)


def chance_of(table: pd.DataFrame) -> float:
    """Return what random answers get on all items, in percent; table: the leaderboard."""
    return table.set_index("scorer").loc["chance", "carb"]


def display_leaderboard(table: pd.DataFrame, sections: Sequence[str], confidence: str) -> pd.DataFrame:
    """Lay the leaderboard out for reading. sections: cultures and domains; confidence: such as "95%"."""

    def with_ends(*columns: str, form: str) -> list[str]:
        return [with_interval(*row, form) for row in table[list(columns)].itertuples(index=False)]

    shown = table[["scorer", "kind"]].assign(**{name: as_cells(table[name], ".1f") for name in sections})
    shown[f"CARB [{confidence}]"] = with_ends("carb", "low", "high", form=".1f")
    names = (f"without Safety [{confidence}]", f"over its base's PMI [{confidence}]")
    for name, first, form in zip(names, ("without_safety", "over_pmi"), (".1f", "+.1f"), strict=True):
        if table[first].notna().any():
            shown[name] = with_ends(first, f"{first}_low", f"{first}_high", form=form)
    shown[f"rank [{confidence}]"] = with_ends("rank", "rank_low", "rank_high", form=".0f")
    shown.loc[table["missing"].notna(), f"CARB [{confidence}]"] = "missing"
    for name, head in (("n", "n"), ("n_tied", "tied"), ("n_within_noise", "within noise")):
        shown[head] = as_cells(table[name])
    return shown


def by_scorer(
    paths: Iterable[str | Path], scorers: Iterable[str], benchmark: str, languages: Sequence[str] = ()
) -> dict[str, pd.DataFrame]:
    """Read the score files of a benchmark: {scorer: its rows}, without unavailable scorers.

    languages: order of the rows; () for that of the files. Raises PolyrewardError where a file is of another
    benchmark or scorer, or a scorer has none."""
    paths, scorers = list(paths), list(scorers)
    table, gone = read_scores(paths), unavailable_reasons(paths)
    there, benchmarks = {*table["scorer"], *gone}, {*table["benchmark"]} - {benchmark}
    problems = [f"scores of the benchmark `{name}`, not `{benchmark}`" for name in benchmarks]
    problems += [f"scores of `{name}`, which is not compared" for name in sorted(there - {*scorers})]
    problems += [f"no scores of `{name}`" for name in scorers if name not in there and len(table)]
    raise_all((f"{problem}; name the right files in the rule" for problem in problems), "score files")
    if languages:
        table = table.sort_values("language", key=lambda names: names.map(languages.index), kind="stable")
    found = {name: table[table["scorer"] == name] for name in scorers if name not in gone}
    return {name: rows.reset_index(drop=True) for name, rows in found.items()}


def in_all(*groups: Mapping[str, pd.DataFrame]) -> list[dict[str, pd.DataFrame]]:
    """Return each group of {scorer: scores} with only the scorers that every group has."""
    shared = set.intersection(*(set(group) for group in groups))
    return [{name: table for name, table in group.items() if name in shared} for group in groups]
