"""Scorers on place quartets: tables with intervals over topics, and next to their base's own."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType

import numpy as np
import pandas as pd

from polyreward.analysis.bootstrap import Interval, resampled_sections, share_interval
from polyreward.analysis.verdicts import FEWEST_UNITS
from polyreward.carb.culture.quartets import FOUR, PLACED, UNPLACED, Quartet
from polyreward.carb.culture.statistics import STATISTICS
from polyreward.carb.leaderboard import by_scorer
from polyreward.core.errors import PolyrewardError
from polyreward.core.files import read_jsonl
from polyreward.core.kinds import is_baseline
from polyreward.core.naming import of_base
from polyreward.core.seeds import job_seed
from polyreward.core.tables import check_numbers, scorers_of
from polyreward.prepare.topics import FACT

WITH_ENDS = ("swaps", "centred", "best_of_four")  # statistics that have an interval
NUMBERS = [
    *("swaps", "low", "high"),
    *(f"{name}{end}" for name in WITH_ENDS[1:] for end in ("", "_low", "_high")),
    "place_share",
]
COUNTS = ["quartets", "topics"]
CULTURE_COLUMNS = [
    *("asks", "scorer", "kind", "base", "trained_in", "language"),
    *(*NUMBERS, *COUNTS, "note"),
]
DIFFERENCE_COLUMNS = [
    *("scorer", "kind", "base", "trained_in", "language", "minus", "minus_language"),
    *(*NUMBERS, *COUNTS, "note"),
]
Key = tuple[str, str]  # scorer, language
Tables = Mapping[Key, np.ndarray]  # each (quartets, FOUR, FOUR), as in statistics.py


class Culture:
    """Scorers on the same quartets in some languages: points, and resamples of topics drawn together.

    topics: of each quartet. cut: share of a scorer's texts in a language that are longer than it reads."""

    def __init__(
        self,
        tables: Tables,
        topics: Sequence[str],
        interval: Interval,
        cut: Mapping[Key, float] = MappingProxyType({}),
    ):
        self._cut = cut
        self._places = {key: place for place, key in enumerate(tables)}
        self.n_quartets, self.n_topics, self.interval = len(topics), len(set(topics)), interval
        self.freedom = self.n_topics - 1 if self.n_topics >= FEWEST_UNITS else 0
        found = [np.stack([of(table) for of in STATISTICS.values()], axis=1) for table in tables.values()]
        values = np.concatenate(found, axis=1)
        drawn = resampled_sections(
            values,
            ["all"] * len(values),
            topics,
            {"all": 1.0},
            {"all": ["all"]},
            interval.samples,
            job_seed(interval.seed, "bootstrap", "culture"),
        )[:, :, 0]
        self._values = np.vstack([values.mean(axis=0), drawn]).reshape(1 + len(drawn), len(tables), -1)

    def __contains__(self, key: Key) -> bool:
        """Return whether a scorer scored the quartets in a language."""
        return key in self._places

    def draws(self, scorer: str, language: str, statistic: str = "swaps") -> np.ndarray:
        """Return the resamples (1 + samples,) of a statistic in percent, first the data's own."""
        return 100 * self._values[:, self._places[scorer, language], list(STATISTICS).index(statistic)]

    def numbers(self, key: Key, minus: Key | None = None) -> dict[str, float]:
        """Return NUMBERS of a scorer in a language, or of its difference from another; and COUNTS."""
        found = {}
        for name in WITH_ENDS:
            both = [self.draws(*one, name) / 100 for one in (key, minus) if one]
            values = both[0] - both[1] if minus else both[0]
            units, lowest = min(map(self._units, both)), -1 if minus else 0
            ends = share_interval(values, self.interval.confidence, self.freedom, units, lowest)
            columns = ("low", "high") if name == "swaps" else (f"{name}_low", f"{name}_high")
            found |= {name: 100 * values[0], **dict(zip(columns, 100 * np.array(ends), strict=True))}
        shares = [self.draws(*one, "place_share")[0] for one in (key, minus) if one]
        found["place_share"] = shares[0] - sum(shares[1:])
        counts = {"quartets": self.n_quartets, "topics": self.n_topics}
        return {**found, **counts, "note": self.note(*filter(None, (key, minus)))}

    def note(self, *keys: Key) -> str:
        """Return why scorers have no interval, and the largest share of their texts that was cut."""
        few = "" if self.freedom else f"{self.n_topics} topics, fewer than {FEWEST_UNITS}: no interval"
        cut = max(self._cut.get(key, 0.0) for key in keys)
        lost = f"{100 * cut:.3g}% of the texts were too long and lost their beginning" if cut else ""
        return "; ".join(filter(None, (few, lost)))

    def _units(self, values: np.ndarray) -> float:
        """Return how many independent quartets have the variance of a statistic, as a fraction."""
        independent, drawn = values[0] * (1 - values[0]), np.var(values[1:])
        return float(np.clip(independent / drawn if drawn else 0, self.n_topics, self.n_quartets))


def few_topics(quartets: Iterable[Quartet]) -> Iterator[str]:
    """Yield which kinds of quartets have too few topics for an interval."""
    topics: dict[str, set[str]] = {}
    for quartet in quartets:
        topics.setdefault(quartet.kind, set()).add(quartet.topic)
    for kind, names in topics.items():
        if len(names) < FEWEST_UNITS:
            yield (
                f"place quartets, {kind}: {len(names)} topics, fewer than {FEWEST_UNITS}, so that"
                " carb_culture.csv has no intervals of them"
            )


def read_culture(
    item_files: Iterable[str | Path],
    score_files: Iterable[str | Path],
    sheet: pd.DataFrame,
    interval: Interval,
    unplaced_files: Iterable[str | Path] = (),
    unplaced_scores: Iterable[str | Path] = (),
) -> dict[str, Culture]:
    """Read quartets and all scorers' scores: {kind of quartets: their Culture}; facts come first.

    unplaced_files, unplaced_scores: the same quartets without a place, and log-likelihoods on them. These
    also give PMI: what the place adds to a base's log-likelihood."""
    rows = pd.DataFrame(read_jsonl(item_files))
    quartets = rows.drop_duplicates("quartet")
    kind_of = quartets.set_index("quartet")["kind"]

    def read(rows: pd.DataFrame, paths: Iterable[str | Path], itemset: str) -> tuple[dict, dict]:
        in_order = {
            language: own.set_index("quartet").loc[quartets["quartet"]].reset_index()
            for language, own in rows.groupby("culture", sort=False)
        }
        return read_tables(by_scorer(paths, scorers_of(paths), itemset), in_order, kind_of)

    tables, cut = read(rows, score_files, PLACED)
    if unplaced_scores:
        unplaced, _ = read(pd.DataFrame(read_jsonl(unplaced_files)), unplaced_scores, UNPLACED)
        for (name, language), without in unplaced.items():
            pmi = of_base("pmi", sheet.at[name, "base"]), language
            tables[pmi], cut[pmi] = tables[name, language] - without, cut[name, language]
    kinds = sorted(quartets["kind"].unique(), key=lambda kind: kind != FACT)
    return by_group(kinds, kind_of, quartets, tables, cut, interval)


def read_tables(
    scores: Mapping[str, pd.DataFrame], items: Mapping[str, pd.DataFrame], group_of: Mapping[str, str]
) -> tuple[dict[Key, np.ndarray], dict[Key, pd.Series]]:
    """Return score_tables of all scorers in all languages, and by group the share of texts that were longer
    than a scorer reads.

    scores: by scorer. items: rows by language, as score_tables takes them. group_of: {quartet: its group}."""
    tables, cut = {}, {}
    for language, rows in items.items():
        groups = rows.set_index("id")["quartet"].map(group_of)
        for name, of_scorer in scores.items():
            own, key = of_scorer[of_scorer["language"] == language], (name, language)
            tables[key] = score_tables(own, rows, name)
            cut[key] = own["truncated"].groupby(own["id"].map(groups)).mean()
    return tables, cut


def by_group(
    groups: Iterable[str],
    group_of: Mapping[str, str],
    quartets: pd.DataFrame,
    tables: Tables,
    cut: Mapping[Key, pd.Series],
    interval: Interval,
) -> dict[str, Culture]:
    """Return the Culture of each group that has a quartet; quartets: a row for each, as in tables."""
    found = {}
    for group in groups:
        inside = quartets["quartet"].map(group_of).eq(group).to_numpy()
        if inside.any():
            own = {key: table[inside] for key, table in tables.items()}
            shares = {key: share[group] for key, share in cut.items()}
            found[group] = Culture(own, list(quartets.loc[inside, "topic"]), interval, shares)
    return found


def score_tables(scores: pd.DataFrame, items: pd.DataFrame, name: str) -> np.ndarray:
    """Return a scorer's scores of all quartets of a language: (quartets, FOUR, FOUR) to prompts about the
    places, or (quartets, 1, FOUR) to the prompt that names none.

    items: rows as quartets.quartet_rows or unplaced_row gives them, in the order of the result."""
    check_numbers(scores, ["score"])
    if set(scores["id"]) != set(items["id"]) or len(scores) != FOUR * len(items):
        raise PolyrewardError(
            f"{name}: its scores are not of these quartets. Delete work/5_scores/*quartets/{name} and run the"
            " same command again"
        )
    keyed = items[["id", "quartet"]].assign(prompt=items["chosen"].fillna(0).astype(int))
    both = scores[["id", "candidate", "score"]].merge(keyed, on="id", validate="many_to_one")
    wide = both.pivot(index="quartet", columns=["prompt", "candidate"], values="score").sort_index(axis=1)
    return wide.loc[items["quartet"].unique()].to_numpy().reshape(items["quartet"].nunique(), -1, FOUR)


def shown_scorers(names: Iterable[str], sheet: pd.DataFrame) -> list[str]:
    """Return scorers in the order of the tables: each base's own and its reward models, then leak tests."""
    rows = sheet.loc[list(names)]
    bases, order = list(dict.fromkeys(rows["base"])), list(rows.index)

    def place(name: str) -> tuple[bool, int, int, int]:
        base = rows.at[name, "base"]
        own = [of_base(kind, base) for kind in ("pmi", "loglik")]
        of_kind = own.index(name) if name in own else len(own)
        return not base, bases.index(base), of_kind, order.index(name)

    return sorted(order, key=place)


def culture_table(
    found: Mapping[str, Culture], sheet: pd.DataFrame, languages: Sequence[str], missing: Mapping[str, str]
) -> pd.DataFrame:
    """Return a row for each scorer, language and kind of quartets.

    missing: {scorer: why it has no scores}."""
    records = []
    for asks, culture in found.items():
        for name in shown_scorers(_scored(culture, sheet, languages) | dict.fromkeys(missing), sheet):
            for language in languages:
                key = {"asks": asks, **_described(name, sheet), "language": language}
                if (name, language) in culture:
                    records.append(key | culture.numbers((name, language)))
                else:
                    records.append(key | {"note": missing[name]})
    return _typed(records, CULTURE_COLUMNS)


def difference_table(
    culture: Culture, sheet: pd.DataFrame, languages: Sequence[str], source: str
) -> pd.DataFrame:
    """Return paired differences: a reward model minus PMI of its base, and the source minus each language."""
    records = []
    for name in shown_scorers(_scored(culture, sheet, languages), sheet):
        pmi = of_base("pmi", sheet.at[name, "base"])
        pairs = [((name, language), (pmi, language)) for language in languages]
        pairs = [] if is_baseline(sheet.at[name, "kind"]) else pairs
        pairs += [((name, source), (name, language)) for language in languages if language != source]
        for one, other in pairs:
            if one in culture and other in culture:
                key = {**_described(name, sheet), "language": one[1]}
                key |= {"minus": other[0], "minus_language": other[1]}
                records.append(key | culture.numbers(one, other))
    return _typed(records, DIFFERENCE_COLUMNS)


def _scored(culture: Culture, sheet: pd.DataFrame, languages: Sequence[str]) -> dict[str, None]:
    return dict.fromkeys(name for name in sheet.index if any((name, one) in culture for one in languages))


def _described(name: str, sheet: pd.DataFrame) -> dict[str, str]:
    return {"scorer": name, **{key: sheet.at[name, key] for key in ("kind", "base", "trained_in")}}


def _typed(records: Sequence[dict], columns: Sequence[str]) -> pd.DataFrame:
    table = pd.DataFrame(records).reindex(columns=list(columns))
    return table.astype(dict.fromkeys(COUNTS, "Int64"))
