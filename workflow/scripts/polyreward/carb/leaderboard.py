"""From scores of answers to the leaderboard: who is right on which items, with intervals of scores and of ranks."""

from collections.abc import Iterable, Sequence

import numpy as np
import pandas as pd

from polyreward.analysis.bootstrap import Interval, percentile_interval, resampled_sections
from polyreward.core.errors import PolyrewardError, raise_all
from polyreward.core.seeds import job_seed

KINDS = ["classifier", "implicit", "generative"]  # of reward models; other kinds are baseline and chance
COUNTS = ["n", "n_tied", "n_within_noise", "rank", "rank_low", "rank_high"]


def leaderboard_columns(cultures: Sequence[str], domains: Sequence[str]) -> list[str]:
    """Return the leaderboard's columns; scores are percentages."""
    return ["scorer", "kind", *cultures, *domains, "carb", "low", "high", *COUNTS]


def rightness(scores: pd.DataFrame, ties: str) -> pd.DataFrame:
    """Return for each item how right a scorer is: id, culture, domain, right, tied, within_noise, chance.

    scores: item_scores' rows. right: 1 where the chosen answer's score is strictly the highest, else 0. ties: "wrong", or
    "shared" (a baseline's, whose ties are broken by lot): one over the number of answers at the top, where chosen is among
    them. tied: chosen shares the top. chance: what a lot among the answers gets. Raises PolyrewardError on a score that is not
    a number, and where an item has not one chosen answer."""
    if scores["score"].isna().any():
        raise PolyrewardError("a score is not a number; score the items again")
    items = scores.groupby("id", sort=False)
    wrong = [str(name) for name, found in items["is_chosen"] if found.sum() != 1]
    raise_all((f"item {name}: has not one chosen answer; make the items again" for name in wrong), "scores")
    table = items[["culture", "domain"]].first()
    top = items["score"].transform("max")
    at_top = scores["score"] == top
    holds = (at_top & scores["is_chosen"]).groupby(scores["id"], sort=False).any()
    count = at_top.groupby(scores["id"], sort=False).sum()
    value = {"wrong": (count == 1).astype(float), "shared": 1 / count}[ties]
    noisy, chance = items["within_noise"].any(), 1 / items.size()
    table = table.assign(right=value.where(holds, 0.0), tied=holds & (count > 1), within_noise=noisy, chance=chance)
    return table.reset_index()


class Leaderboard:
    """Scorers that scored the same items: points, and resamples drawn together.

    scores: {scorer: item_scores' rows}. kinds: {scorer: one of KINDS, or "baseline"}; baselines share ties. groups: {name:
    cultures}, sections beside the cultures, the domains and "carb", all items. A section's score is the mean over its items.
    Raises PolyrewardError where two scorers' items differ, and where a culture has no item of a domain."""

    def __init__(
        self, scores: dict[str, pd.DataFrame], kinds: dict[str, str], cultures: Sequence[str], domains: Sequence[str],
        interval: Interval, groups: dict[str, Sequence[str]] | None = None,
    ):  # fmt: skip
        found = {
            name: rightness(table, "shared" if kinds[name] == "baseline" else "wrong").set_index("id")
            for name, table in scores.items()
        }
        self.cultures, self.domains, self.scorers = list(cultures), list(domains), list(scores)
        self.kinds, self.interval = kinds, interval
        self.items = next(iter(found.values()))[["culture", "domain", "chance"]]
        self._check(found)
        self.right, self.tied, self.noisy = (
            pd.DataFrame({name: table.loc[self.items.index, column] for name, table in found.items()})
            for column in ("right", "tied", "within_noise")
        )
        self.stratum = self.items["culture"] + "/" + self.items["domain"]
        self.sections = self._sections(groups or {})
        self.resamples = resampled_sections(
            self.right.to_numpy(), self.stratum, self.items.index, self.stratum.value_counts().to_dict(), self.sections,
            interval.samples, job_seed(interval.seed, "bootstrap", "carb"),
        )  # fmt: skip

    def _check(self, found: dict[str, pd.DataFrame]) -> None:
        ids, first = set(self.items.index), self.scorers[0]
        other = [name for name, table in found.items() if set(table.index) != ids]
        raise_all((f"{name}: its items are not those of {first}; score them again" for name in other), "CARB scores")
        wanted = {(culture, domain) for culture in self.cultures for domain in self.domains}
        cells = set(zip(self.items["culture"], self.items["domain"], strict=True))
        problems = [f"{c} has no item of {d}; add references, or loosen the filters" for c, d in sorted(wanted - cells)]
        problems += [f"items of {c}, {d}: config.yaml has no such culture or domain" for c, d in sorted(cells - wanted)]
        raise_all(problems, "CARB items")

    def _sections(self, groups: dict[str, Sequence[str]]) -> dict[str, list[str]]:
        cultures = {"carb": self.cultures, **{name: [name] for name in self.cultures}, **groups}
        return {
            **{name: [f"{c}/{domain}" for c in members for domain in self.domains] for name, members in cultures.items()},
            **{domain: [f"{c}/{domain}" for c in self.cultures] for domain in self.domains},
        }

    def size(self, section: str) -> int:
        """Return the number of a section's items."""
        return int(self.stratum.isin(self.sections[section]).sum())

    def point(self, scorers: Sequence[str], section: str) -> float:
        """Return the mean (%) of some scorers' scores on a section."""
        return 100 * float(self.right.loc[self.stratum.isin(self.sections[section]), list(scorers)].to_numpy().mean())

    def draws(self, scorers: Sequence[str], section: str) -> np.ndarray:
        """Return the resamples (%) of the mean of some scorers' scores on a section."""
        columns = [self.scorers.index(name) for name in scorers]
        return 100 * self.resamples[:, columns, list(self.sections).index(section)].mean(axis=1)

    def ends(self, scorers: Sequence[str], section: str) -> tuple[float, float]:
        """Return the interval (%) of the mean of some scorers' scores on a section."""
        return percentile_interval(self.draws(scorers, section), self.interval.confidence)

    def chance(self, section: str) -> float:
        """Return what a lot among the answers gets on a section, in percent."""
        return 100 * float(self.items.loc[self.stratum.isin(self.sections[section]), "chance"].mean())

    def reward_models(self) -> list[str]:
        """Return the scorers that are reward models, the best first."""
        names = [name for name in self.scorers if self.kinds[name] in KINDS]
        return sorted(names, key=lambda name: -self.point([name], "carb"))

    def best(self, kind: str, count: int) -> list[str]:
        """Return the reward models of a kind that score best."""
        return [name for name in self.reward_models() if self.kinds[name] == kind][:count]

    def ranks(self) -> pd.DataFrame:
        """Return each reward model's rank by score on all items (1 is best; equals share the better rank) and its interval."""
        names = self.reward_models()
        drawn = _ranks(self.resamples[:, [self.scorers.index(name) for name in names], list(self.sections).index("carb")])
        points = _ranks(self.right[names].mean().to_numpy()[None])[0]
        ends = np.array([percentile_interval(drawn[:, number], self.interval.confidence) for number in range(len(names))])
        columns = {"rank": points, "rank_low": np.floor(ends[:, 0]), "rank_high": np.ceil(ends[:, 1])}
        return pd.DataFrame(columns, index=names).astype("Int64")

    def table(self) -> pd.DataFrame:
        """Return the leaderboard: reward models by rank, then baselines, then chance."""
        others = [name for name in self.scorers if self.kinds[name] not in KINDS]
        parts = ["carb", *self.cultures, *self.domains]
        records = []
        for name in [*self.reward_models(), *others]:
            low, high = self.ends([name], "carb")
            points = {part: self.point([name], part) for part in parts}
            counts = {"n": len(self.items), "n_tied": int(self.tied[name].sum()), "n_within_noise": int(self.noisy[name].sum())}
            records.append({"scorer": name, "kind": self.kinds[name], **points, "low": low, "high": high, **counts})
        chance = {"scorer": "chance", "kind": "chance", "n": len(self.items), **{part: self.chance(part) for part in parts}}
        table = pd.DataFrame([*records, chance]).set_index("scorer").join(self.ranks()).reset_index()
        return table.astype(dict.fromkeys(COUNTS, "Int64"))[leaderboard_columns(self.cultures, self.domains)]


def _ranks(values: np.ndarray) -> np.ndarray:
    """Return the ranks in each row: one more than the number of those that are better, by more than rounding."""
    values = values.round(9)
    return 1 + (values[:, None, :] > values[:, :, None]).sum(axis=2)


def chance_of(table: pd.DataFrame) -> float:
    """Return what a lot among the answers gets on all items, in percent; table: the leaderboard."""
    return table.set_index("scorer").loc["chance", "carb"]


def display_leaderboard(table: pd.DataFrame, sections: Sequence[str], confidence: str) -> pd.DataFrame:
    """Lay the leaderboard out for reading. sections: cultures and domains. confidence: the intervals' level ("95%")."""
    shown = pd.DataFrame({"scorer": table["scorer"], "kind": table["kind"]})
    for name in sections:
        shown[name] = table[name].map("{:.1f}".format)
    shown[f"CARB [{confidence}]"] = [
        _with_interval(*row, "{:.1f}") for row in table[["carb", "low", "high"]].itertuples(index=False)
    ]
    ranks = table[["rank", "rank_low", "rank_high"]].itertuples(index=False)
    shown[f"rank [{confidence}]"] = [_with_interval(*row, "{:.0f}") for row in ranks]
    for name, head in (("n", "n"), ("n_tied", "tied"), ("n_within_noise", "within noise")):
        shown[head] = ["" if pd.isna(value) else str(value) for value in table[name]]
    return shown


def board_of(scores: dict[str, pd.DataFrame], settings: dict, groups: dict[str, Sequence[str]] | None = None) -> Leaderboard:
    """Return a leaderboard; settings: its arguments kinds, cultures, domains and interval (samples, confidence, seed)."""
    return Leaderboard(scores, **{**settings, "interval": Interval(**settings["interval"])}, groups=groups)


def by_scorer(scorers: Sequence[str], tables: Iterable[pd.DataFrame]) -> dict[str, pd.DataFrame]:
    """Put tables together: as many for each scorer, in the scorers' order."""
    tables = list(tables)
    size = len(tables) // len(scorers)
    return {name: pd.concat(tables[size * n : size * (n + 1)], ignore_index=True) for n, name in enumerate(scorers)}


def _with_interval(value, low, high, form: str) -> str:
    if pd.isna(value):
        return ""
    return form.format(value) if pd.isna(low) else f"{form.format(value)} [{form.format(low)}, {form.format(high)}]"
