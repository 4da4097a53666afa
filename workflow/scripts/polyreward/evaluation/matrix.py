"""A transfer matrix: a reward model's accuracies language by language, and what it loses from English."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd
from statsmodels.stats.multitest import multipletests

from polyreward.analysis.bootstrap import Interval
from polyreward.analysis.comparison import Benchmark, Comparison, exact_mcnemar
from polyreward.core.errors import PolyrewardError, raise_all
from polyreward.core.project import ROOT
from polyreward.core.tables import read_csv
from polyreward.evaluation.compare import ALL_ITEMS, MEAN_OF_SECTIONS
from polyreward.evaluation.tables import INTERVAL, by_request
from polyreward.sheet.papers import Paper, read_papers

SOURCE = "en"
LENGTH, PMI, MODEL = "length", "pmi", "reward model"
HALF_RIGHT = (LENGTH, PMI)  # kinds whose ties are coin tosses, as in all tables of baselines
COLUMNS = [
    *("scorer", "kind", "language", "section", "accuracy_pct", "low", "high"),
    *("loss_points", "loss_low", "loss_high", "p", "p_holm", "n_items", "n_clusters"),
]
PRINTED_COLUMNS = ["paper", "model", "trained_in", "language", "section", "accuracy_pct", "loss_points"]
ALL = "all"  # languages of a benchmark
LISTED = 3  # ids of items that a language lacks


class Matrix(NamedTuple):
    """What was found.

    table: COLUMNS, of the model, then of baselines; section "avg" is `score`. printed: PRINTED_COLUMNS of the
    papers' models in the same languages. printed_on: {paper: its benchmarks}. score: what "avg" is. left_out:
    items that a language lacks."""

    model: str
    table: pd.DataFrame
    printed: pd.DataFrame
    printed_on: dict[str, str]
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
    papers = sorted(read_papers(ROOT).values(), key=lambda one: one.reference)
    printed = printed_models(languages, papers)
    return Matrix(model, table, printed, printed_on(papers), score, languages, sections, left_out)


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


def printed_models(languages: Sequence[str], papers: Iterable[Paper]) -> pd.DataFrame:
    """Return what papers print of their models in these languages, and the losses from English that follow.

    They are those that paper.yaml names as `accuracies`, the papers by their references. A model of several
    tables of one paper is taken from the one with sections. Language "all" is a mean over all languages."""
    found = []
    for paper in papers:
        of_paper: list[pd.DataFrame] = []
        shown = _shown_tables(paper)
        for name in sorted(shown, key=lambda one: "language" not in shown[one]["accuracies"]):
            rows = _printed_rows(read_csv(paper.folder / f"printed/{name}.csv"), shown[name])
            earlier = {model for table in of_paper for model in table["model"]}
            of_paper.append(rows[~rows["model"].isin(earlier)])
        if of_paper:
            rows = pd.concat(of_paper).fillna({"trained_in": ""}).assign(paper=paper.reference)
            found.append(_with_losses(rows, languages)[PRINTED_COLUMNS])
    return pd.concat(found, ignore_index=True)


def printed_on(papers: Iterable[Paper]) -> dict[str, str]:
    """Return {reference: its benchmarks} of the papers whose printed models are shown."""
    found = {
        paper.reference: dict.fromkeys(
            entry["accuracies"]["benchmark"] for entry in _shown_tables(paper).values()
        )
        for paper in papers
    }
    return {paper: ", ".join(names) for paper, names in found.items() if names}


def _shown_tables(paper: Paper) -> dict[str, dict]:
    tables = paper.facts.get("tables", {})
    return {name: entry for name, entry in tables.items() if entry.get("accuracies")}


def _printed_rows(table: pd.DataFrame, entry: Mapping) -> pd.DataFrame:
    """Return model, trained_in, language, section and accuracy_pct of a printed table."""
    of = entry["accuracies"]
    numbers = table.columns.drop(entry["keys"])
    names = {of[role]: role for role in ("model", "trained_in", "language") if role in of}
    rows = table.rename(columns=names).assign(**{} if "trained_in" in of else {"trained_in": ""})
    keys = ["model", "trained_in"]
    if "language" in of:
        return rows.melt([*keys, "language"], numbers, "section", "accuracy_pct")
    if "all_languages" in of:
        return rows.assign(language=ALL, section="avg", accuracy_pct=rows[of["all_languages"]])
    return rows.melt(keys, numbers, "language", "accuracy_pct").assign(section="avg")


def _with_losses(rows: pd.DataFrame, languages: Sequence[str]) -> pd.DataFrame:
    """Return the rows of these languages, or of all, with what is lost from the same model's English."""
    keys = ["model", "trained_in", "section"]
    english = rows[rows["language"] == SOURCE].set_index(keys)["accuracy_pct"]
    kept = rows[rows["language"].isin([*languages, ALL])]
    before = english.reindex(pd.MultiIndex.from_frame(kept[keys])).to_numpy()
    loss = (before - kept["accuracy_pct"]).where(kept["language"] != SOURCE)
    return kept.assign(loss_points=loss.round(9))
