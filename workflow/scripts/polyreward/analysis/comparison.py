"""The comparisons behind the tables: scorers on one benchmark, with paired intervals over templates."""

import dataclasses
from collections.abc import Collection, Mapping, Sequence

import numpy as np
import pandas as pd
from scipy.stats import binomtest, ttest_ind

from polyreward.analysis.accuracy import correctness
from polyreward.analysis.bootstrap import (
    Interval,
    between_trainings,
    degrees_of_freedom,
    effective_units,
    resampled_sections,
    share_interval,
    with_trainings,
)
from polyreward.core.errors import PolyrewardError, raise_all
from polyreward.core.seeds import job_seed

# Of fewer templates than this nothing can be drawn, so that their whole section is one stratum. Larger
# subsets are strata of their own: drawn within the section, those of two templates would lose some 30% of
# their variance.
FEWEST_IN_STRATUM = 2


@dataclasses.dataclass(frozen=True)
class Benchmark:
    """A benchmark: {section: subsets}, and weights of subsets that are not their number of pairs."""

    name: str
    sections: dict[str, list[str]]
    weights: dict[str, float]

    def of_rows(self, subsets: set[str], a_slice: bool) -> "Benchmark":
        """Return the benchmark with only these subsets; a slice of it may lack whole sections."""
        kept = {section: [s for s in members if s in subsets] for section, members in self.sections.items()}
        missing = {s for section, members in self.sections.items() if not kept[section] for s in members}
        missing |= self.weights.keys() - subsets
        if missing and not a_slice:
            raise PolyrewardError(
                f"{self.name}: no row of {', '.join(sorted(missing))}; add rows, or take it out"
            )
        unknown = subsets.difference(*kept.values())
        if unknown:
            raise PolyrewardError(
                f"{self.name}: {', '.join(sorted(unknown))} is in no section; add it to one"
            )
        return dataclasses.replace(
            self, sections={section: members for section, members in kept.items() if members}
        )


@dataclasses.dataclass(frozen=True)
class Estimate:
    """A weighted sum of scorers in one section, as a fraction, with its interval.

    variance: of the value; of_trainings is the part that trainings add. freedom: its degrees of freedom."""

    value: float
    low: float
    high: float
    variance: float
    of_trainings: float
    freedom: float


class Comparison:
    """Scorers of the same pairs of one benchmark and language: point scores, and resamples drawn together.

    A section's score is the mean over its pairs, but for subsets with a weight of their own. The average is
    the plain mean of the sections, as in the papers, and in RewardBench v1's leaderboard without prior sets.

    Args:
        scores: of each pair its two scores, or in a column `right` how right the scorer is, 0 to 1.
        half_credit: scorers whose ties are half right; others' are wrong.
        a_slice: the pairs are a part of the benchmark, which may have no row of whole sections.
        parts: {name: subsets} that are estimated like sections, and do not count in the average.
    """

    def __init__(
        self,
        scores: pd.DataFrame,
        benchmark: Benchmark,
        interval: Interval,
        half_credit: Collection[str] = (),
        a_slice: bool = False,
        parts: Mapping[str, Sequence[str]] | None = None,
    ):
        self.language = _language_of(scores, benchmark.name)
        tables = tables_of_same_pairs(scores)
        self.scorers = list(tables)
        self.rows = tables[self.scorers[0]][["id", "subset", "template"]].reset_index(drop=True)
        self.benchmark = benchmark.of_rows(set(self.rows["subset"]), a_slice)
        self.interval = interval
        self.correct = np.column_stack(
            [
                _right(
                    table.iloc[pd.Index(table["id"]).get_indexer(self.rows["id"])],
                    "half" if name in half_credit else "wrong",
                )
                for name, table in tables.items()
            ]
        )
        counts = self.rows["subset"].value_counts()
        self.weights = {subset: float(benchmark.weights.get(subset, n)) for subset, n in counts.items()}
        self.parts = {**self.benchmark.sections, **(parts or {})}
        self.strata, self.units = self._strata(), self._units()
        self.clusters, _ = pd.factorize(self.rows["template"])
        self.freedoms = {part: self.freedom(subsets) for part, subsets in self.parts.items()}
        self.freedoms["avg"] = self.freedom()
        resamples = resampled_sections(
            self.correct,
            self.rows["subset"],
            self.rows["template"],
            self.weights,
            self.parts,
            interval.samples,
            job_seed(interval.seed, "bootstrap", benchmark.name, self.language),
            self.strata,
        )
        accuracy = pd.DataFrame(self.correct).groupby(self.rows["subset"].to_numpy()).mean().T
        points = [
            np.average(
                np.ascontiguousarray(accuracy[members]), axis=1, weights=[self.weights[s] for s in members]
            )
            for members in self.parts.values()
        ]
        # (1 + samples, scorers, parts); sections come first
        self.values = np.concatenate([np.stack(points, axis=-1)[None], resamples])

    def _strata(self) -> pd.Series:
        """Return what each pair's template is drawn within: its subset, the subsets that share templates, as
        those of one programming problem in several languages do, or its whole section."""
        together = {subset: subset for subset in self.weights}
        found = self.rows[["template", "subset"]].drop_duplicates()
        shared = found[found["template"].duplicated(keep=False)]
        for of_template in shared.groupby("template")["subset"].unique():
            joined = {together[subset] for subset in of_template}
            if len(joined) > 1:
                first = min(joined)
                together |= {subset: first for subset, name in together.items() if name in joined}
        counts = self.rows.groupby("subset")["template"].nunique()
        for section, members in self.benchmark.sections.items():
            if min(counts[s] for s in members) < FEWEST_IN_STRATUM:
                together |= dict.fromkeys(members, section)
        return self.rows["subset"].map(together)

    def freedom(self, subsets: Sequence[str] | None = None) -> int:
        """Return the degrees of freedom of a score of some subsets, or of all."""
        inside = slice(None) if subsets is None else self.rows["subset"].isin(subsets).to_numpy()
        strata, _ = pd.factorize(self.strata)
        return degrees_of_freedom(strata[inside].tolist(), self.clusters[inside].tolist())

    def _units(self) -> dict[str, float]:
        """Return how many templates of the same weight each part's score is worth, and "avg"."""
        templates = self.rows["template"]
        weights = {name: of_pair.groupby(templates).sum() for name, of_pair in self._of_pairs().items()}
        weights["avg"] = sum(weights[section] for section in self.benchmark.sections)
        return {name: effective_units(of_template) for name, of_template in weights.items()}

    def _of_pairs(self) -> dict[str, pd.Series]:
        """Return the weight of each pair in each part's score; 0 outside it."""
        pairs, found = self.rows["subset"].value_counts(), {}
        for section, members in self.parts.items():
            total = sum(self.weights[s] for s in members)
            of_pair = {s: self.weights[s] / total / pairs[s] for s in members}
            found[section] = self.rows["subset"].map(of_pair).fillna(0.0)
        return found

    def of_templates(self) -> np.ndarray:
        """Return what each template adds to the average of each scorer (templates, scorers), 0 to 1."""
        of_pairs, sections = self._of_pairs(), self.benchmark.sections
        of_pair = sum(of_pairs[section] for section in sections) / len(sections)
        added = pd.DataFrame(self.correct * of_pair.to_numpy()[:, None])
        return added.groupby(self.rows["template"].to_numpy()).sum().to_numpy()

    def contrast(
        self, weights: dict[str, float], trainings: Sequence[Sequence[str]] = ()
    ) -> dict[str, float]:
        """Return a weighted sum of scorers in percent: each section and avg, with intervals, and avg's
        standard error.

        Arguments as in `estimates`. avg_se_trainings is trainings' part of avg_se."""
        found, row = self.estimates(weights, trainings), {}
        for section, one in found.items():
            row |= {section: one.value, f"{section}_low": one.low, f"{section}_high": one.high}
        errors = {"avg_se": found["avg"].variance, "avg_se_trainings": found["avg"].of_trainings}
        row |= {name: np.sqrt(variance) for name, variance in errors.items()}
        return {**{key: 100 * float(value) for key, value in row.items()}, **self.sizes()}

    def estimates(
        self, weights: dict[str, float], trainings: Sequence[Sequence[str]] = ()
    ) -> dict[str, Estimate]:
        """Return a weighted sum of scorers in each section, each of `parts`, and in "avg".

        weights: {"a": 1} is a's own score, {"a": 1, "b": -1} their difference. trainings: scorers of one
        model that was trained with several seeds. The variance between them is added."""
        if not weights.keys() <= set(self.scorers):
            raise KeyError(f"no scorer {set(weights) - set(self.scorers)}; there are {self.scorers}")
        several = [
            names for names in trainings if len(names) > 1 and any(weights.get(name) for name in names)
        ]
        parts = np.einsum("nks,k->ns", self.values, [weights.get(name, 0.0) for name in self.scorers])
        draws = {**dict(zip(self.parts, parts.T, strict=True)), "avg": self._avg(parts)}
        ends = [float(round(sum(side(weight, 0) for weight in weights.values()), 9)) for side in (min, max)]
        found = {}
        for place, (section, values) in enumerate(draws.items()):
            between = []
            for names in several:
                scores = self.values[:, [self.scorers.index(name) for name in names]]
                of_section = scores[..., place] if section != "avg" else self._avg(scores)
                between.append(between_trainings(sum(weights.get(name, 0.0) for name in names) * of_section))
            widened, freedom = with_trainings(values, self.freedoms[section], between)
            low, high = share_interval(widened, self.interval.confidence, freedom, self.units[section], *ends)
            added = float(sum(of_model.added for of_model in between))
            found[section] = Estimate(
                float(values[0]), low, high, float(values[1:].var()) + added, added, freedom
            )
        return found

    def averages(self, scorers: Sequence[str]) -> list[float]:
        """Return each scorer's avg in percent."""
        return [100 * self._avg(self.values[0, self.scorers.index(name)]) for name in scorers]

    def _avg(self, values: np.ndarray) -> np.ndarray:
        """Return the plain mean of sections; values: (..., parts)."""
        return values[..., : len(self.benchmark.sections)].mean(axis=-1)

    def spread(self, scorers: Sequence[str]) -> float:
        """Return the standard deviation of avg over one model's seeds in percent; NaN for a single one."""
        return float(np.std(self.averages(scorers), ddof=1)) if len(scorers) > 1 else np.nan

    def sizes(self) -> dict[str, int]:
        """Return the numbers of pairs and templates that the scores rest on."""
        return {"n_pairs": len(self.rows), "n_templates": self.rows["template"].nunique()}

    def mcnemar_p(self, first: str, second: str) -> float:
        """Return the p-value of the exact two-sided McNemar test: on which templates one scorer is more often
        right."""
        return exact_mcnemar(*self.wins(first, second))

    def wins(self, first: str, second: str, subsets: Sequence[str] | None = None) -> tuple[int, int]:
        """Return on how many templates the first scorer is more often right, and on how many the second.

        subsets: where; by default everywhere."""
        inside = slice(None) if subsets is None else self.rows["subset"].isin(subsets).to_numpy()
        a, b = (self.correct[inside, self.scorers.index(name)] for name in (first, second))
        signs = np.sign(np.bincount(self.clusters[inside], a - b).round(9))
        return int((signs > 0).sum()), int((signs < 0).sum())

    def by_subset(self, scorer: str) -> pd.DataFrame:
        """Return each subset's accuracy in percent, with its interval and sizes."""
        column = self.scorers.index(scorer)
        section_of = {s: section for section, members in self.benchmark.sections.items() for s in members}
        drawn = resampled_sections(
            self.correct[:, [column]],
            self.rows["subset"],
            self.rows["template"],
            self.weights,
            {s: [s] for s in section_of},
            self.interval.samples,
            job_seed(self.interval.seed, "bootstrap", self.benchmark.name, "subsets"),
        )
        records = []
        for (subset, section), draws in zip(section_of.items(), drawn[:, 0].T, strict=True):
            inside = self.rows["subset"] == subset
            templates, right = self.rows["template"][inside], self.correct[inside, column].mean()
            freedom, units = templates.nunique() - 1, effective_units(templates.value_counts())
            low, high = share_interval(np.append(right, draws), self.interval.confidence, freedom, units)
            accuracy = {"accuracy_pct": 100 * right, "low": 100 * low, "high": 100 * high}
            sizes = {"n_pairs": len(templates), "n_templates": templates.nunique()}
            records.append({"section": section, "subset": subset, **accuracy, **sizes})
        return pd.DataFrame(records)


def exact_mcnemar(wins: int, losses: int) -> float:
    """Return the two-sided p-value of so many wins and losses where both are equally likely."""
    return float(binomtest(wins, wins + losses).pvalue) if wins + losses else 1.0


def _right(table: pd.DataFrame, ties: str) -> np.ndarray:
    return table["right"].to_numpy(float) if "right" in table else correctness(table, ties)


def _language_of(scores: pd.DataFrame, benchmark: str) -> str:
    found = scores[["benchmark", "language"]].drop_duplicates()
    if len(found) != 1 or found["benchmark"].iloc[0] != benchmark:
        listed = ", ".join(f"{name} in {language}" for name, language in found.itertuples(index=False))
        raise PolyrewardError(f"{benchmark}: scores of {listed or 'nothing'}; compare one language at a time")
    return found["language"].iloc[0]


def tables_of_same_pairs(scores: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """Return {scorer: its scores}; raises PolyrewardError unless all have the same pairs, each once."""
    tables = dict(iter(scores.groupby("scorer", sort=False)))
    pairs = {
        name: set(table[["id", "subset", "template"]].itertuples(index=False, name=None))
        for name, table in tables.items()
    }
    first = next(iter(tables))
    problems = []
    for name, table in tables.items():
        unlike = sorted(pair[0] for pair in pairs[name] ^ pairs[first])
        if unlike:
            problems.append(
                f"{name} and {first} differ in {len(set(unlike))} pairs, as `{unlike[0]}`. Give every"
                " language the same ids, subsets and templates, and score again."
            )
        if table["id"].duplicated().any():
            problems.append(f"{name} has two scores of `{table['id'][table['id'].duplicated()].iloc[0]}`.")
    raise_all(problems, "scores")
    return tables


def mean_of(scorers: Sequence[str]) -> dict[str, float]:
    """Return the weights of a mean, for `Comparison.contrast`."""
    return {name: 1 / len(scorers) for name in scorers}


def transfer_rows(
    comparison: Comparison, target: Sequence[str], english: Sequence[str], **key: str
) -> list[dict]:
    """Return Table 1's three rows of one base and language: target, english and their difference, means over
    seeds.

    The difference has p_seeds (Welch's two-sided t-test of avg over seeds), or p_mcnemar where each has one
    seed."""
    contrasts = {
        "target": mean_of(target),
        "english": mean_of(english),
        "delta": mean_of(english) | {name: -weight for name, weight in mean_of(target).items()},
    }
    gaps = {"n_seeds": len(target), **dict.fromkeys(("avg_sd", "p_mcnemar", "p_seeds"), np.nan)}
    rows = {
        name: {**key, "rm_training": name, **comparison.contrast(weights, [target, english]), **gaps}
        for name, weights in contrasts.items()
    }
    rows["target"]["avg_sd"], rows["english"]["avg_sd"] = map(comparison.spread, (target, english))
    if len(target) == 1:
        rows["delta"]["p_mcnemar"] = comparison.mcnemar_p(*english, *target)
    else:
        averages = map(comparison.averages, (english, target))
        rows["delta"]["p_seeds"] = ttest_ind(*averages, equal_var=False).pvalue
    return list(rows.values())
