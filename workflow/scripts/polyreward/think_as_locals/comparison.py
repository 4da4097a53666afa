"""How judges compare on both benchmarks, with paired intervals."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from polyreward.analysis.accuracies import Accuracies
from polyreward.analysis.bootstrap import Interval, share_interval
from polyreward.analysis.comparison import Benchmark
from polyreward.artifacts.renderings import as_cells, with_interval
from polyreward.carb.leaderboard import Leaderboard

MEASURES = ["rewardbench", "carb", "mean"]
WHOLE = ["n_pairs", "n_languages", "n_items", "n_cultures", "n_replies"]
ESTIMATES = [f"{measure}{end}" for measure in MEASURES for end in ("", "_low", "_high")]
COLUMNS = ["judge", *ESTIMATES, *WHOLE, "in_form_pct", "missing"]


@dataclass(frozen=True)
class JudgeDraws:
    """What resamples say of judges.

    values: {judge: {measure: its own value and then the resamples', in percent}}. freedom: {measure: degrees
    of freedom}. units: {judge: {measure: independent pairs or items that it rests on}}. parts: {judge:
    {measure: what each template or topic adds to it}}, which are independent."""

    values: Mapping[str, Mapping[str, np.ndarray]]
    freedom: Mapping[str, int]
    units: Mapping[str, Mapping[str, float]]
    parts: Mapping[str, Mapping[str, np.ndarray]]

    def lead(self, one: str, other: str | None, measure: str) -> tuple[np.ndarray, float]:
        """Return one judge's measure minus another's if there is one, and the units that it rests on."""
        if other is None:
            return self.values[one][measure], self.units[one][measure]
        values = self.values[one][measure] - self.values[other][measure]
        return values, min(self.units[one][measure], self.units[other][measure])

    def differences(self, one: str, other: str, measure: str) -> np.ndarray:
        """Return what each template or topic adds to one judge's measure minus another's."""
        return self.parts[one][measure] - self.parts[other][measure]

    def estimates(self, one: str, other: str | None, interval: Interval) -> dict[str, float]:
        """Return the measures of a judge in percent, or of two's difference in points, with intervals."""
        found = {}
        for measure in MEASURES:
            drawn, units = self.lead(one, other, measure)
            lowest = 0 if other is None else -1
            low, high = share_interval(drawn / 100, interval.confidence, self.freedom[measure], units, lowest)
            found |= {measure: drawn[0], f"{measure}_low": 100 * low, f"{measure}_high": 100 * high}
        return found


def judge_draws(
    rewardbench: Mapping[str, pd.DataFrame],
    carb: Mapping[str, pd.DataFrame],
    benchmark: Benchmark,
    cultures: Sequence[str],
    domains: Sequence[str],
    interval: Interval,
    half_credit: Sequence[str] = (),
) -> JudgeDraws:
    """Return the resamples of judges on both benchmarks; arguments as comparison_table has them."""
    scores = pd.concat(
        [table.assign(benchmark=benchmark.name, scorer=name) for name, table in rewardbench.items()]
    )
    languages = list(scores["language"].drop_duplicates())
    accuracies = Accuracies(scores, {}, benchmark, interval, half_credit)
    # What batching may move is not asked for here: it would take every judge as long again.
    tables = {name: table.assign(within_noise=False) for name, table in carb.items()}
    board = Leaderboard(tables, dict.fromkeys(carb, "generative"), cultures, domains, interval)
    values, units, parts = {}, {}, {}
    for name in board.scorers:
        first = np.mean([accuracies.draws(name, language, "avg") for language in languages], axis=0)
        second = np.concatenate([[board.point([name], "carb")], board.draws([name], "carb")])
        values[name] = {"rewardbench": first, "carb": second, "mean": (first + second) / 2}
        of_both = accuracies.units["avg"], board.units(second / 100, "carb")
        units[name] = dict(zip(MEASURES, (*of_both, 4 / sum(1 / each for each in of_both)), strict=True))
        of_templates = np.mean([accuracies.of_templates(name, language) for language in languages], axis=0)
        of_topics = (100 * board.right[name] / len(board.items)).groupby(board.topics).sum().to_numpy()
        of_mean = np.concatenate([of_templates, of_topics]) / 2
        parts[name] = dict(zip(MEASURES, (of_templates, of_topics, of_mean), strict=True))
    freedom = {"rewardbench": accuracies.freedom, "carb": board.freedom("carb")}
    return JudgeDraws(values, {**freedom, "mean": min(freedom.values())}, units, parts)


def display(table: pd.DataFrame, names: Mapping[str, str], confidence: str) -> pd.DataFrame:
    """Lay a comparison out for reading. names: {judge: what it is}; confidence: such as "95%"."""
    heads = {"rewardbench": "M-RewardBench", "carb": "CARB", "mean": "mean"}
    shown = pd.DataFrame({"judge": display_names(table["judge"], names)})
    forms = ["+.1f" if " - " in judge else ".1f" for judge in table["judge"]]
    for measure, head in heads.items():
        ends = zip(table[measure], table[f"{measure}_low"], table[f"{measure}_high"], forms, strict=True)
        shown[f"{head} [{confidence}]"] = [with_interval(*of_judge) for of_judge in ends]
    shown.loc[table["missing"].notna(), [f"{head} [{confidence}]" for head in heads.values()]] = "missing"
    sizes = table["n_pairs"].astype(str) + " x " + table["n_languages"].astype(str)
    shown["pairs x languages"] = sizes.where(table["n_pairs"].notna(), "")
    shown["items"] = as_cells(table["n_items"])
    shown["replies in form, %"] = as_cells(table["in_form_pct"], ".0f")
    return shown


def display_names(judges: Iterable[str], names: Mapping[str, str]) -> list[str]:
    """Return what judges, or contrasts of two, are called. names: {judge: what it is}."""
    return [" - ".join(names[part] for part in judge.split(" - ")) for judge in judges]
