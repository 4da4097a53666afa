"""A transfer matrix: a reward model's accuracies language by language, and what it loses from English."""

from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd
from statsmodels.stats.multitest import multipletests

from polyreward.analysis.bootstrap import Interval
from polyreward.analysis.comparison import Benchmark, Comparison, exact_mcnemar
from polyreward.analysis.tables import VALUES
from polyreward.core.errors import PolyrewardError, raise_all
from polyreward.core.project import ROOT
from polyreward.core.tables import read_csv
from polyreward.evaluation.compare import ALL_ITEMS, MEAN_OF_SECTIONS
from polyreward.evaluation.tables import INTERVAL, by_request

SOURCE = "en"
LENGTH, PMI, MODEL = "length", "pmi", "reward model"
HALF_RIGHT = (LENGTH, PMI)  # kinds whose ties are coin tosses, as in all tables of baselines
COLUMNS = [
    *("scorer", "kind", "language", "section", "accuracy_pct", "low", "high"),
    *("loss_points", "loss_low", "loss_high", "p", "p_holm", "n_items", "n_clusters"),
]
PRINTED_COLUMNS = ["paper", "model", "trained_in", "language", "section", "accuracy_pct", "loss_points"]
TRANSFER, CARB = "arXiv 2410.18027", "arXiv 2509.21798"
LISTED = 3  # ids of items that a language lacks


class Matrix(NamedTuple):
    """What was found.

    table: COLUMNS, of the model, then of baselines; section "avg" is `score`. printed: PRINTED_COLUMNS of the
    papers' models in the same languages, on their benchmarks. score: what "avg" is. left_out: items that a
    language lacks."""

    model: str
    table: pd.DataFrame
    printed: pd.DataFrame
    score: str
    languages: list[str]
    sections: list[str]
    left_out: int


def same_items(rows: Mapping[str, Sequence[dict]], shared: bool) -> set[str]:
    """Return the ids of the items that all languages have.

    Args:
        rows: pairs of each language.
        shared: whether items that a language lacks are left out.

    Raises:
        PolyrewardError: names the languages whose items differ from English, with their number, unless
            `shared`; or items that are in other subsets.
    """
    if SOURCE not in rows:
        raise PolyrewardError(
            f"no pairs in English, only in {', '.join(rows)}. What is lost is the difference from"
            f" English: add --pairs {SOURCE}=FILE with the same items"
        )
    found = {language: {row["id"]: row["subset"] for row in own} for language, own in rows.items()}
    english, problems = found[SOURCE], []
    for language, own in found.items():
        unlike = {"lacks": english.keys() - own.keys(), "adds": own.keys() - english.keys()}
        if any(unlike.values()) and not shared:
            said = [
                f"{verb} {len(ids)} (such as {', '.join(sorted(ids)[:LISTED])})"
                for verb, ids in unlike.items()
                if ids
            ]
            problems.append(
                f"{language}: its items are not those of English: it {' and '.join(said)}. Give all languages"
                " the same ids, or add --shared to use only the items that all have"
            )
        moved = sorted(one for one in own.keys() & english.keys() if own[one] != english[one])
        if moved:
            problems.append(
                f"{language}: {len(moved)} items are in other subsets than in English (first: {moved[0]}, in"
                f" `{own[moved[0]]}` and `{english[moved[0]]}`); correct one of the files"
            )
    kept = set.intersection(*(set(own) for own in found.values()))
    if not kept and not problems:
        problems.append(f"no item is in all of {', '.join(rows)}; give them the same ids")
    raise_all(problems, "matrix")
    return kept


def own_sections(rows: Sequence[dict]) -> Benchmark:
    """Return the sections that rows name as their category, or one of all items where a subset has none or
    several."""
    categories: dict[str, set] = {}
    for row in rows:
        categories.setdefault(row["subset"], set()).add(row.get("category"))
    named = {subset: next(iter(found)) for subset, found in categories.items() if len(found) == 1}
    sections: dict[str, list[str]] = {}
    for subset in categories:
        sections.setdefault(named.get(subset) or ALL_ITEMS, []).append(subset)
    if ALL_ITEMS in sections:
        sections = {ALL_ITEMS: list(categories)}
    return Benchmark("pairs", sections, {})


def transfer_matrix(
    model: str,
    scores: Mapping[tuple[str, str, str], pd.DataFrame],
    rows: Mapping[str, Sequence[dict]],
    benchmark: Benchmark,
    half_credit: Collection[str] = (),
    shared: bool = False,
    interval: Interval = INTERVAL,
) -> Matrix:
    """Return the matrix of score tables {(scorer, kind, language): as scoring.pairs.score_rows gives}.

    An item has the same cluster in all languages: its template in English, or its English prompt. Intervals
    are over clusters, and of a loss over the paired items. p is McNemar's exact test over clusters; p_holm
    corrects for the other languages of a scorer.

    Args:
        half_credit: scorers whose ties are half right, next to baselines.
    """
    kept = same_items(rows, shared)
    tables = [
        by_request(table[table["id"].isin(kept)], rows[SOURCE]).assign(scorer=f"{scorer} {language}")
        for (scorer, _, language), table in scores.items()
    ]
    half = [
        f"{scorer} {language}"
        for scorer, kind, language in scores
        if kind in HALF_RIGHT or scorer in half_credit
    ]
    together = pd.concat(tables).assign(benchmark=benchmark.name, language="all languages")
    compared = Comparison(together, benchmark, interval, half)
    languages = [SOURCE, *(one for one in rows if one != SOURCE)]
    records: list[dict] = []
    for scorer, kind in dict.fromkeys(key[:2] for key in scores):
        records += _rows_of(compared, scorer, kind, languages)
    sections = list(compared.benchmark.sections)
    table = pd.DataFrame(records)[COLUMNS]
    if len(sections) == 1:  # the same numbers as their mean
        table, sections = table[table["section"] == "avg"].reset_index(drop=True), []
    left_out = len({row["id"] for own in rows.values() for row in own} - kept)
    score = MEAN_OF_SECTIONS if sections else ALL_ITEMS
    return Matrix(model, table, printed_models(languages), score, languages, sections, left_out)


def _rows_of(compared: Comparison, scorer: str, kind: str, languages: Sequence[str]) -> list[dict]:
    """Return a scorer's rows: each language's sections, then their mean."""
    subsets = {**compared.benchmark.sections, "avg": None}
    english, records, tests = f"{scorer} {SOURCE}", [], []
    for language in languages:
        own = f"{scorer} {language}"
        accuracy = compared.estimates({own: 1.0})
        loss = {} if own == english else compared.estimates({english: 1.0, own: -1.0})
        for section, members in subsets.items():
            row = {"scorer": scorer, "kind": kind, "language": language, "section": section}
            for names, found in (
                (("accuracy_pct", "low", "high"), accuracy.get(section)),
                (("loss_points", "loss_low", "loss_high"), loss.get(section)),
            ):
                ends = [np.nan] * 3 if found is None else [found.value, found.low, found.high]
                row |= {name: 100 * end for name, end in zip(names, ends, strict=True)}
            inside = (
                compared.rows if members is None else compared.rows[compared.rows["subset"].isin(members)]
            )
            sizes = {"n_items": len(inside), "n_clusters": inside["template"].nunique()}
            records.append({**row, "p": np.nan, "p_holm": np.nan, **sizes})
        if loss:
            records[-1]["p"] = exact_mcnemar(*compared.wins(english, own))
            tests.append(records[-1])
    if tests:
        corrected = multipletests([row["p"] for row in tests], method="holm")[1]
        for row, p in zip(tests, corrected, strict=True):
            row["p_holm"] = float(p)
    return records


def printed_models(languages: Sequence[str], root: Path = ROOT) -> pd.DataFrame:
    """Return what the two papers print of their models in these languages, and the losses that follow.

    The transfer paper's are on RewardBench and its translations. CARB's paper prints means over all languages
    of M-RewardBench, in language "all"."""
    folder = root / "workflow/papers"
    names = {
        "base_model": "model",
        "reward_model": "model",
        "rm_language": "trained_in",
        "eval_language": "language",
    }
    whole, averages, judges = (
        read_csv(folder / f"{table}.csv").rename(columns=names)
        for table in (
            "transfer/printed/tables3to7",
            "transfer/printed/table2",
            "carb/printed/think_as_locals",
        )
    )
    keys = ["model", "trained_in", "section"]
    whole = whole.melt(["model", "trained_in", "language"], VALUES, "section", "accuracy_pct")
    more = averages[~averages["model"].isin(whole["model"])].drop(columns="kind")
    more = more.melt("model", var_name="language", value_name="accuracy_pct").assign(section="avg")
    transfer = pd.concat([whole, more]).fillna({"trained_in": ""}).assign(paper=TRANSFER)
    english = transfer[transfer["language"] == SOURCE].set_index(keys)["accuracy_pct"]
    transfer = transfer[transfer["language"].isin(languages)]
    before = english.loc[list(transfer[keys].itertuples(index=False, name=None))].to_numpy()
    loss = (before - transfer["accuracy_pct"]).where(transfer["language"] != SOURCE)
    judges = judges.rename(columns={"m_rewardbench": "accuracy_pct"})
    judges = judges.assign(paper=CARB, trained_in="", language="all", section="avg", loss_points=np.nan)
    found = [transfer.assign(loss_points=loss.round(9)), judges]
    return pd.concat([table[PRINTED_COLUMNS] for table in found], ignore_index=True)
