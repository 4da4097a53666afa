"""The transfer paper's quantities from its printed numbers."""

from collections.abc import Callable, Sequence

import numpy as np
import pandas as pd

from polyreward.claims.printed import Printed
from polyreward.claims.transfer_quantities import CHANCE_PCT, by_latin

SOURCE = "en"  # of the printed tables


def leads(table1: pd.DataFrame) -> pd.DataFrame:
    """Return Table 1's printed English minus target by language and base; columns: the sections and avg."""
    return _of_trained(table1, "english") - _of_trained(table1, "target")


def _of_trained(table1: pd.DataFrame, training: str) -> pd.DataFrame:
    return table1.set_index(["eval_language", "base_model", "rm_training"]).xs(training, level="rm_training")


def _leads(printed: Printed, section: str) -> list[np.ndarray]:
    return [leads(printed.table("table1"))[section].to_numpy()]


def _leads_of_section(printed: Printed, section: str) -> list[np.ndarray]:
    cells = leads(printed.table("table1"))
    return [(cells[section] - cells[other]).to_numpy() for other in cells.columns.drop([section, "avg"])]


def _leads_over_others(printed: Printed, section: str = "avg") -> list[np.ndarray]:
    # Table 1's bases, as ours are at scale paper: 7B is only in Tables 3-7
    of_table1 = printed.table("tables3to7")["base_model"].isin(printed.table("table1")["base_model"])
    trained = printed.table("tables3to7")[of_table1].dropna(subset=["rm_language"])
    cells = trained.set_index(["base_model", "eval_language", "rm_language"])[section].unstack()
    targets = cells.columns.drop(SOURCE)
    foreign = {
        other: ~cells.index.get_level_values("eval_language").isin([SOURCE, other]) for other in targets
    }
    return [(cells[SOURCE] - cells[other])[third].to_numpy() for other, third in foreign.items()]


def _above_chance(printed: Printed) -> list[np.ndarray]:
    targets = printed.table("table2").columns.drop(["reward_model", "kind", SOURCE])
    return [printed.table("table2")[targets].mean(axis=1).to_numpy() - CHANCE_PCT]


def _between_bases(printed: Printed, bases: Sequence[str], of: str) -> list[np.ndarray]:
    # Tables 3-7 also have the bases that Table 1 does not show
    trained = printed.table("tables3to7").dropna(subset=["rm_language"])
    trained = trained.assign(base=trained["base_model"].str.lower())
    avg = trained.set_index(["base", "eval_language", "rm_language"])["avg"]
    targets = [language for language in trained["eval_language"].unique() if language != SOURCE]

    def value(base: str, language: str) -> float:
        target = avg[base, language, language]
        return avg[base, language, SOURCE] - target if of == "lead" else target

    first, second = (np.array([value(base, language) for language in targets]) for base in bases)
    return [first - second]


def _against_scorer(printed: Printed, bases: Sequence[str], scorer: str) -> list[np.ndarray]:
    avg = printed.table("tables3to7").set_index("eval_language")["avg"]
    of_base, training = (
        printed.table("tables3to7").set_index("eval_language")[name] for name in ("base_model", "rm_language")
    )
    of_scorer = avg[of_base == scorer]
    return [
        np.concatenate(
            [avg[(of_base.str.lower() == base) & (training == SOURCE)] - of_scorer for base in bases]
        )
    ]


def _leads_of_scorer(printed: Printed, scorer: str, among: Sequence[str]) -> list[np.ndarray]:
    cells = _of_scorers(printed).drop(columns=SOURCE)
    return [(cells.loc[scorer] - cells.loc[list(among)]).to_numpy().ravel()]


def _between_scripts(printed: Printed, section: str) -> list[np.ndarray]:
    cells = leads(printed.table("table1"))[section]
    languages = cells.index.get_level_values("eval_language")
    groups = by_latin(list(languages.unique()), printed.scripts)
    latin, others = (cells[languages.isin(group)].mean() for group in groups)
    return [np.array([others - latin])]


def _losses_of_others(printed: Printed, scorer: str, among: Sequence[str]) -> list[np.ndarray]:
    cells = _of_scorers(printed)
    losses = cells.drop(columns=SOURCE).rsub(cells[SOURCE], axis=0)
    return [(losses.loc[other] - losses.loc[scorer]).to_numpy() for other in among]


def _of_scorers(printed: Printed) -> pd.DataFrame:
    return printed.table("table2").set_index("reward_model").drop(columns="kind")


def _values(cells: Callable[..., list[np.ndarray]]) -> Callable[..., list[float]]:
    """Return a function from the printed tables and a quantity's options to its contrasts.

    cells: from the tables and the options but `over` to the cells of each contrast."""

    def values(printed: Printed, over: str = "mean", **options) -> list[float]:
        found = cells(printed, **options)
        each = over == "each" or cells is _leads_of_scorer
        return list(found[0]) if each else [one.mean() for one in found]

    return values


PRINTED = {
    "english_lead": _values(_leads),
    "lead_of_section": _values(_leads_of_section),
    "lead_over_other_sources": _values(_leads_over_others),
    "above_chance": _values(_above_chance),
    "gap_between_bases": _values(_between_bases),
    "english_against_scorer": _values(_against_scorer),
    "least_loss": _values(_losses_of_others),
    "lead_of_scripts": _values(_between_scripts),
    "lead_of_scorer": _values(_leads_of_scorer),
}
