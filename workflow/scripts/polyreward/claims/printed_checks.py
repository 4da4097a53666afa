"""What the papers' printed tables say by themselves: leads with binomial errors, averages, copied rows.

Nothing is trained or scored: all numbers come from the papers' folders."""

import re
from collections.abc import Iterator, Mapping
from functools import partial
from itertools import combinations, pairwise
from math import ceil, floor, hypot, log10
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.optimize import brentq
from scipy.stats import norm
from scipy.stats import t as student

from polyreward.analysis.bootstrap import effective_units
from polyreward.analysis.comparison import Benchmark
from polyreward.analysis.tables import SECTIONS, VALUES
from polyreward.claims.carb_printed import TRAINED
from polyreward.claims.printed import ROUNDING
from polyreward.claims.transfer_printed import SOURCE
from polyreward.core.errors import raise_all

COLUMNS = [
    *("paper", "tables", "check", "base_model", "eval_language", "what"),
    *("value", "low", "high", "n", "note"),
]
# {paper_file: its columns of texts, and those of numbers}
FILES = {
    "transfer_table1": (["eval_language", "base_model", "rm_training"], VALUES),
    "transfer_table2": (["reward_model"], []),
    "transfer_tables3to7": (["table", "eval_language", "base_model", "rm_language"], VALUES),
    "carb_leaderboard": (["reward_model"], ["carb_avg"]),
    "carb_correlation": (["benchmark", "downstream"], ["r_squared", "p_value"]),
    "carb_think_as_locals": (["model"], ["m_rewardbench", "carb", "avg"]),
    "transfer_rewardbench_sizes": (["subset"], ["pairs"]),
}
CARB_ITEMS = 8576  # as public notes on arXiv 2509.21798 report them
LOCALS = {"m_rewardbench": "M-RewardBench", "carb": "CARB"}
TARGET_TABLES = "Tables 4-7"
WIDEST = "Interval as if the languages' items err alike, the widest."


def printed_checks(
    tables: Mapping[str, pd.DataFrame], benchmark: Benchmark, confidence: float
) -> pd.DataFrame:
    """Return what the printed tables say, a row (COLUMNS) for each check, base, language or table.

    Intervals come from binomial errors of each section's pairs, as if the translated benchmark had
    RewardBench's sizes. They are unpaired, as the papers do not print which pairs a model gets wrong. A
    paired error would be smaller if both models err on the same pairs. The variation between trainings is not
    in it, as there is one of each. Nor is it that RewardBench repeats 164 programming problems in six
    languages. Both would widen it.

    Args:
        tables: FILES of the papers' printed tables, {paper_file: table}.
        benchmark: sections and weights of RewardBench.
        confidence: such as 0.95.

    Raises:
        PolyrewardError: a file, column, number or subset is missing; all of them at once.
    """
    raise_all(_problems(tables, benchmark), "workflow/papers")
    sizes = tables["transfer_rewardbench_sizes"].set_index("subset")["pairs"]
    pairs = int(sum(sizes[list(members)].sum() for members in benchmark.sections.values()))
    cells = _trained_cells(tables["transfer_tables3to7"], effective_pairs(benchmark, sizes))
    leads = _leads(cells)
    rows = [
        *_lead_rows(leads, pairs),
        *_best_sources(cells, pairs),
        *_averages(tables),
        *_copied(tables),
        *_same_numbers(tables),
        *_ranks(tables["carb_leaderboard"]),
        *_correlations(tables["carb_correlation"]),
        *_gains(tables["carb_think_as_locals"]),
    ]
    table, reach = pd.DataFrame(rows), norm.ppf((1 + confidence) / 2)
    low, high = (table["value"] + side * reach * table["error"] for side in (-1, 1))
    table = table.assign(low=table["low"].fillna(low), high=table["high"].fillna(high))
    return table[COLUMNS].astype({"n": "Int64"})


def table_name(path: str | Path) -> str:
    """Return the name in FILES of a file of a paper's folder printed/."""
    return f"{Path(path).parents[1].name}_{Path(path).stem}"


def _path(name: str) -> str:
    paper, _, table = name.partition("_")
    return f"workflow/papers/{paper}/printed/{table}.csv"


def effective_pairs(benchmark: Benchmark, sizes: pd.Series) -> dict[str, float]:
    """Return {section: number of pairs of equal weight with the same binomial error}.

    A subset weighs as in the benchmark's weights, or as its number of pairs. sizes: {subset: pairs}."""
    found = {}
    for section, members in benchmark.sections.items():
        pairs = sizes[list(members)]
        weights = [benchmark.weights.get(subset, count) / count for subset, count in pairs.items()]
        found[section] = effective_units(np.repeat(weights, pairs))
    return found


def implied_n(r_squared: float, p: float) -> float:
    """Return the n at which a correlation has this p in a two-sided t test, in fractions."""

    def excess(n: float) -> float:
        return 2 * student.sf(np.sqrt(r_squared * (n - 2) / (1 - r_squared)), n - 2) - p

    return float(brentq(excess, 2 + 1e-6, 1e6))


def _problems(tables: Mapping[str, pd.DataFrame], benchmark: Benchmark) -> Iterator[str]:
    for file, (texts, numbers) in FILES.items():
        path = _path(file)
        again = f"run `git checkout {path}`"
        if file not in tables:
            yield f"{path}: no such file; {again}"
            continue
        table = tables[file]
        missing = [name for name in (*texts, *numbers) if name not in table]
        yield from (f"{path}: no column `{name}`; {again}" for name in missing)
        for name in set(numbers) - set(missing):
            bad = np.flatnonzero(pd.to_numeric(table[name], errors="coerce").isna())
            if len(bad):
                yield f"{path}:{bad[0] + 2}: `{name}` is no number; {again}"
        if file == "transfer_rewardbench_sizes" and "subset" in table:
            needed = {subset for members in benchmark.sections.values() for subset in members}
            lacking = sorted(needed - set(table["subset"]))
            yield from (f"{path}: no row of `{name}`; add its number of pairs" for name in lacking)


def _row(paper: str, tables: str, check: str, what: str, value: float, **more) -> dict:
    """Return a row; more: error, or low and high; n, base_model, eval_language and note."""
    row = {"paper": paper, "tables": tables, "check": check, "what": what, "value": value, "note": ""}
    unknown = dict.fromkeys(["base_model", "eval_language", "n"])
    return row | unknown | dict.fromkeys(["error", "low", "high"], np.nan) | more


def _trained_cells(tables3to7: pd.DataFrame, effective: Mapping[str, float]) -> pd.DataFrame:
    """Return avg and its error in points by base, from the smallest, evaluation and training language."""
    trained = tables3to7.dropna(subset="rm_language")
    trained = trained[trained["eval_language"] != SOURCE]
    shares = trained[list(effective)] / 100
    variance = (shares * (1 - shares) / pd.Series(effective)).sum(axis=1) / len(effective) ** 2
    by_size = sorted(trained["base_model"].unique(), key=lambda base: _size(base)[1])
    places = trained["base_model"].map(by_size.index)
    ordered = trained.assign(error=100 * np.sqrt(variance), place=places).sort_values("place", kind="stable")
    return ordered.set_index(["base_model", "eval_language", "rm_language"])[["avg", "error"]]


def _size(base: str) -> tuple[str, float]:
    """Return a base's family, its name without the size, and its size in billions, 0 where it names none."""
    found = re.search(r"\d+(?:\.\d+)?(?=B\b)", base)
    return (base.replace(f"{found[0]}B", ""), float(found[0])) if found else (base, 0.0)


def _leads(cells: pd.DataFrame) -> pd.DataFrame:
    """Return value and error of English minus target by base_model and eval_language."""
    training = cells.index.get_level_values("rm_language")
    own = training == cells.index.get_level_values("eval_language")
    english, target = (cells[one].droplevel("rm_language") for one in (training == SOURCE, own))
    error = np.hypot(english["error"], target["error"])
    return pd.DataFrame({"value": english["avg"] - target["avg"], "error": error})


def _lead_rows(leads: pd.DataFrame, pairs: int) -> Iterator[dict]:
    of_tables, what = partial(_row, "transfer", TARGET_TABLES, n=pairs), "English minus target"
    for (base, language), lead in leads.iterrows():
        yield of_tables("lead", what, **lead, base_model=base, eval_language=language)
    means = leads.groupby("base_model", sort=False).mean()
    for base, mean in means.iterrows():
        yield of_tables("mean lead", f"{what}, mean over languages", **mean, base_model=base, note=WIDEST)
    for small, large in pairwise(means.index):
        if _size(small)[0] == _size(large)[0]:
            shrinks = means.loc[small, "value"] - means.loc[large, "value"]
            error = hypot(*means.loc[[small, large], "error"])
            what = f"mean lead of {small} minus {large}"
            yield of_tables("lead by size", what, shrinks, error=error, note=WIDEST)


def _best_sources(cells: pd.DataFrame, pairs: int) -> Iterator[dict]:
    """Yield the mean over all target languages of each base and training language, then its distance from
    English's."""
    for base, of_base in cells.groupby("base_model", sort=False):
        wide = of_base.droplevel("base_model").unstack("rm_language", sort=False)
        avg, errors = wide["avg"], wide["error"]
        means, first = avg.mean(), avg.eq(avg.max(axis=1), axis=0)
        of_base = partial(_row, "transfer", TARGET_TABLES, "best source", n=pairs, base_model=base)
        for training, mean in means.items():
            where = list(avg.index[first[training]])
            best = "Best mean of this base. " if mean == means.max() else ""
            named = f": {', '.join(where)}" if where else ""
            note = f"{best}Best in {len(where)} of {len(avg)} languages{named}."
            yield of_base(f"trained in {training}", mean, error=errors[training].mean(), note=note)
        for training in means.index.drop(SOURCE):
            what = f"trained in {training} minus trained in {SOURCE}"
            error = np.hypot(errors[training], errors[SOURCE]).mean()
            yield of_base(what, means[training] - means[SOURCE], error=error)


def _printed_tables(tables: Mapping[str, pd.DataFrame]) -> Iterator[tuple[str, pd.DataFrame]]:
    """Yield the name and rows of Table 1 and of Tables 3-7."""
    yield "Table 1", tables["transfer_table1"]
    for number, rows in tables["transfer_tables3to7"].groupby("table"):
        yield f"Table {number}", rows


def _averages(tables: Mapping[str, pd.DataFrame]) -> Iterator[dict]:
    printed = [("transfer", name, rows, SECTIONS) for name, rows in _printed_tables(tables)]
    printed.append(("carb", "Think-as-Locals", tables["carb_think_as_locals"], list(LOCALS)))
    for paper, name, rows, parts in printed:
        off = (rows["avg"] - rows[parts].mean(axis=1)).abs()
        what = f"averages further than {ROUNDING} from the mean of their parts"
        count = int((off > ROUNDING + 1e-9).sum())
        yield _row(
            paper, name, "average", what, count, n=len(off), note=f"Largest distance: {off.max():.3f}."
        )


def _copied(tables: Mapping[str, pd.DataFrame]) -> Iterator[dict]:
    """Yield the number of pairs of rows in one table with two or more sections alike, and name them."""
    for name, rows in _printed_tables(tables):
        names, cells = _row_names(rows), rows[SECTIONS].to_numpy()
        pairs = list(combinations(range(len(rows)), 2))
        alike = np.array([np.isclose(cells[one], cells[other]) for one, other in pairs])
        notes = [f"By chance: {_two_by_chance(alike.mean(axis=0)) * len(pairs):.1f}."]
        for place in np.flatnonzero(alike.sum(axis=1) > 1):
            one, other = pairs[place]
            same = ", ".join(f"{SECTIONS[k]} {cells[one][k]}" for k in np.flatnonzero(alike[place]))
            notes.append(f"{names[one]} and {names[other]}: {same}.")
        what = "pairs of rows with two or more sections alike"
        yield _row("transfer", name, "copied", what, len(notes) - 1, n=len(pairs), note=" ".join(notes))


def _row_names(rows: pd.DataFrame) -> list[str]:
    keys = ["base_model", "eval_language", "rm_training", "rm_language"]
    varied = [key for key in keys if key in rows and (key != "eval_language" or rows[key].nunique() > 1)]
    return rows[varied].fillna("").agg(" ".join, axis=1).str.strip().tolist()


def _two_by_chance(shares: np.ndarray) -> float:
    """Return the probability of two or more events, as if they were independent; shares: their own."""
    one = sum(share * np.prod(np.delete(1 - shares, place)) for place, share in enumerate(shares))
    return float(1 - np.prod(1 - shares) - one)


def _same_numbers(tables: Mapping[str, pd.DataFrame]) -> Iterator[dict]:
    table1, table2, others = (tables[f"transfer_{name}"] for name in ("table1", "table2", "tables3to7"))
    target = table1["rm_training"] == "target"
    table1 = table1.assign(rm_language=table1["eval_language"].where(target, SOURCE))
    both = table1.merge(others, on=["eval_language", "base_model", "rm_language"], suffixes=("", "_other"))
    differ = ~np.isclose(both[VALUES], both[[f"{name}_other" for name in VALUES]])
    what = "cells of Table 1 that differ"
    yield _row("transfer", "Tables 1, 4-7", "same numbers", what, int(differ.sum()), n=differ.size)
    languages = [name for name in table2 if name in set(others["eval_language"])]
    averages = table2.melt("reward_model", languages, "eval_language", "printed")
    untrained = others[others["rm_language"].isna()].rename(columns={"base_model": "reward_model"})
    both = averages.merge(untrained, on=["reward_model", "eval_language"])
    differ = ~np.isclose(both["printed"], both["avg"])
    what = "averages of Table 2 that differ"
    yield _row("transfer", "Tables 2, 3-7", "same numbers", what, int(differ.sum()), n=len(both))


def _ranks(leaderboard: pd.DataFrame) -> Iterator[dict]:
    note = "Binomial and unpaired. The number of items is from public notes on the paper."
    ordered = leaderboard.sort_values("carb_avg", ascending=False, kind="stable")
    shares = ordered["carb_avg"] / 100
    errors = 100 * np.sqrt(shares * (1 - shares) / CARB_ITEMS)
    neighbours = zip(ordered["reward_model"], ordered["carb_avg"], errors, strict=True)
    for (upper, score, error), (lower, next_score, next_error) in pairwise(neighbours):
        what = f"{upper} minus {lower}"
        lead, error_of_lead = score - next_score, hypot(error, next_error)
        yield _row("carb", "leaderboard", "rank", what, lead, error=error_of_lead, n=CARB_ITEMS, note=note)


def _correlations(correlation: pd.DataFrame) -> Iterator[dict]:
    """Yield the n that each printed r squared and p imply; low and high: what their rounding allows."""
    ends = []
    for row in correlation.itertuples():
        # p has three digits, and r squared three decimals
        half = 0.5 * 10.0 ** (floor(log10(row.p_value)) - 2)
        low = implied_n(row.r_squared + 0.0005, row.p_value + half)
        high = implied_n(row.r_squared - 0.0005, row.p_value - half)
        ends.append((low, high))
        what, value = f"n of {row.benchmark} and {row.downstream}", implied_n(row.r_squared, row.p_value)
        note = "low, high: what the rounding of r squared and p allows."
        yield _row("carb", "Figure 5", "correlation", what, value, low=low, high=high, note=note)
    low, high = max(one for one, _ in ends), min(other for _, other in ends)
    fits = list(range(ceil(low), floor(high) + 1))
    note = f"Whole numbers that fit all {len(ends)} rows: {', '.join(map(str, fits)) or 'none'}."
    value = fits[0] if len(fits) == 1 else np.nan
    ends = {"low": low, "high": high} if low <= high else {}
    yield _row("carb", "Figure 5", "correlation", "n that all rows allow", value, **ends, note=note)


def _gains(locals_table: pd.DataFrame) -> Iterator[dict]:
    scores = locals_table.set_index("model")
    for trained in scores.index[scores.index.str.startswith(TRAINED)]:
        base = trained.removeprefix(TRAINED)
        for column, benchmark in LOCALS.items():
            gain = scores.loc[trained, column] - scores.loc[base, column]
            note = "No interval: the sizes of the evaluated parts are not known."
            what = f"{benchmark}, Think-as-Locals minus its base"
            yield _row("carb", "Think-as-Locals", "gain", what, gain, base_model=base, note=note)
