"""Items of CARB that no reward model gets right, and what each picks in place of the right answer."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from polyreward.carb.inputs import Carb
from polyreward.carb.leaderboard import rightness
from polyreward.core.conversations import as_text
from polyreward.core.errors import PolyrewardError
from polyreward.core.files import read_jsonl
from polyreward.core.naming import Paths
from polyreward.report.scored import has_scores, read_columns
from polyreward.report.texts import Text, cut

COLUMNS = ["id", "culture", "domain", "candidate", "is_chosen", "score", "within_noise"]


@dataclass(frozen=True)
class Pick:
    """A reward model that scores an answer highest.

    tied: not alone so.

    margin: the right answer minus the best wrong one, in standard deviations of that difference over all
    items."""

    model: str
    margin: float
    noisy: bool
    tied: bool


@dataclass(frozen=True)
class Answer:
    """An answer: its text, the culture that it is right for ("" where no reference says), and who picks
    it."""

    text: Text
    right_for: str
    is_right: bool
    picks: list[Pick]


@dataclass(frozen=True)
class Missed:
    """An item that no reward model gets right.

    margin: the mean of theirs."""

    id: str
    culture: str
    domain: str
    prompt: Text
    answers: list[Answer]
    margin: float

    @property
    def noisy(self) -> bool:
        """Whether batching may turn the verdict of some reward model."""
        return any(pick.noisy for answer in self.answers for pick in answer.picks)


@dataclass(frozen=True)
class MissedItems:
    """The items, by culture, furthest behind first.

    n_items: of the benchmark.
    models: that are compared.

    n_by_chance: how many would be missed if reward models erred independently, each as often as it does in
    that domain."""

    models: list[str]
    n_items: int
    n_by_chance: float
    by_culture: dict[str, list[Missed]]

    @property
    def n(self) -> int:
        """How many items no reward model gets right."""
        return sum(len(items) for items in self.by_culture.values())


def missing_carb_scores(carb: Carb, paths: Paths) -> list[str]:
    """Return the files to ask for where scores of items, or the items, are not there: one of each job."""
    scores = []
    for model in carb.reward_models:
        files = [paths.scores("carb", model, culture) for culture in carb.cultures]
        scores += [path for path in files if not Path(path).is_file()][:1]
    items = [paths.carb_items(culture) for culture in carb.cultures]
    return scores or [path for path in items if not Path(path).is_file()]


def read_missed_items(carb: Carb, paths: Paths) -> MissedItems | None:
    """Return what all reward models miss of those that scored every culture; None where there is none, or no
    items.

    A tie at the top is not right. Raises PolyrewardError where scores are damaged or not of these items."""
    files = {
        model: [paths.scores("carb", model, culture) for culture in carb.cultures]
        for model in carb.reward_models
    }
    files = {
        model: listed
        for model, listed in files.items()
        if all(Path(path).is_file() and has_scores(path) for path in listed)
    }
    places = [paths.carb_items(culture) for culture in carb.cultures]
    if not files or not all(Path(path).is_file() for path in places):
        return None
    items = {item["id"]: item for path in places for item in read_jsonl(path)}
    tables = {model: _scores(listed, items) for model, listed in files.items()}
    right = pd.DataFrame(
        {model: rightness(table, "wrong").set_index("id")["right"] for model, table in tables.items()}
    )
    right = right.loc[list(items)]
    domains = pd.Series({key: item["domain"] for key, item in items.items()})
    per_domain = right.groupby(domains)
    picks = {model: _picks(table, model) for model, table in tables.items()}
    missed = [
        _missed(items[key], [of_model[key] for of_model in picks.values()])
        for key in right.index[~right.any(axis=1)]
    ]
    missed.sort(key=lambda item: (item.margin, item.id))
    by_culture = {culture: [item for item in missed if item.culture == culture] for culture in carb.cultures}
    n_by_chance = float((per_domain.size() * (1 - per_domain.mean()).prod(axis=1)).sum())
    return MissedItems(list(tables), len(items), n_by_chance, by_culture)


def _scores(files: Sequence[str], items: Mapping[str, dict]) -> pd.DataFrame:
    table = pd.concat([read_columns(path, COLUMNS) for path in files], ignore_index=True)
    answers = [(key, number) for key, item in items.items() for number in range(len(item["answers"]))]
    if sorted(zip(table["id"], table["candidate"], strict=True)) != sorted(answers):
        folder = Path(files[0]).parent
        raise PolyrewardError(
            f"{folder}: its {len(table)} scores are not of these {len(answers)} answers; score the items"
            " again"
        )
    return table


def _picks(table: pd.DataFrame, model: str) -> dict[str, dict[int, Pick]]:
    """Return {item: {answer: pick}} of a reward model: the answers with the highest score."""
    best_wrong = table[~table["is_chosen"]].groupby("id")["score"].max()
    margins = table[table["is_chosen"]].set_index("id")["score"] - best_wrong
    spread = margins.std()
    margins = margins / spread if spread > 0 else margins
    top = table[table["score"] == table.groupby("id")["score"].transform("max")]
    count = top["id"].value_counts()
    found: dict[str, dict[int, Pick]] = {key: {} for key in margins.index}
    for key, number, noisy in zip(top["id"], top["candidate"], top["within_noise"], strict=True):
        found[key][int(number)] = Pick(model, float(margins[key]), bool(noisy), bool(count[key] > 1))
    return found


def _missed(item: dict, picks: Sequence[dict[int, Pick]]) -> Missed:
    right_for = [reference["culture"] for reference in item.get("references") or []] or [""] * len(
        item["answers"]
    )
    answers = [
        Answer(
            cut(text),
            right_for[number],
            number == item["chosen"],
            [one[number] for one in picks if number in one],
        )
        for number, text in enumerate(item["answers"])
    ]
    margin = sum(next(iter(one.values())).margin for one in picks) / len(picks)
    return Missed(item["id"], item["culture"], item["domain"], cut(as_text(item["prompt"])), answers, margin)
