"""What the papers' printed tables say by themselves: leads with binomial errors, averages, copied rows.

Nothing is trained or scored: all numbers come from the papers' folders."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from itertools import chain, combinations, pairwise
from math import ceil, floor, hypot, log10

import numpy as np
import pandas as pd
from scipy.optimize import brentq
from scipy.stats import norm
from scipy.stats import t as student

from polyreward.analysis.bootstrap import effective_units
from polyreward.analysis.comparison import Benchmark
from polyreward.analysis.tables import VALUES
from polyreward.claims.printed import ROUNDING
from polyreward.claims.transfer_printed import SOURCE
from polyreward.core.errors import raise_all
from polyreward.sheet.papers import checked_tables, checks_of

COLUMNS = [
    *("paper", "tables", "check", "base_model", "eval_language", "what"),
    *("value", "low", "high", "n", "note"),
]
WIDEST = "Interval as if the languages' items err alike, the widest."
# Columns that a check needs of its table: of texts, and of numbers; those of `averages` and of options join
OF_LEADS = ["eval_language", "base_model", "rm_language"], VALUES
OF_CORRELATIONS = ["benchmark", "downstream"], ["r_squared", "p_value"]
Tables = Mapping[str, pd.DataFrame]  # of one paper, by name


def printed_checks(
    papers: Mapping[str, Mapping], tables: Mapping[str, Tables], benchmark: Benchmark, confidence: float
) -> pd.DataFrame:
    """Return what the printed tables say, a row (COLUMNS) for each check, base, language or table.

    Intervals come from binomial errors of each section's pairs, as if the translated benchmark had
    RewardBench's sizes. They are unpaired, as the papers do not print which pairs a model gets wrong. A
    paired error would be smaller if both models err on the same pairs. The variation between trainings is not
    in it, as there is one of each. Nor is it that RewardBench repeats 164 programming problems in six
    languages. Both would widen it.

    Args:
        papers: {name: paper.yaml}, of which `checks` counts.
        tables: {name: printed tables}.
        benchmark: sections and weights of RewardBench.
        confidence: such as 0.95.

    Raises:
        PolyrewardError: a file, column, number or subset is missing; all of them at once.
    """
    order = sorted(papers, key=lambda name: (papers[name].get("arxiv") or "", name))  # the oldest first
    problems = (_problems(name, papers[name], tables.get(name, {}), benchmark) for name in order)
    raise_all(chain.from_iterable(problems), "workflow/papers")
    rows = [
        {"paper": name, **row}
        for kind, rows_of in CHECKS.items()
        for name in order
        if kind in checks_of(papers[name])
        for row in rows_of(checks_of(papers[name])[kind], tables[name], papers[name]["tables"], benchmark)
    ]
    table, reach = pd.DataFrame(rows), norm.ppf((1 + confidence) / 2)
    low, high = (table["value"] + side * reach * table["error"] for side in (-1, 1))
    table = table.assign(low=table["low"].fillna(low), high=table["high"].fillna(high))
    return table[COLUMNS].astype({"n": "Int64"})


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


def _problems(paper: str, facts: Mapping, tables: Tables, benchmark: Benchmark) -> Iterator[str]:
    for name, (texts, numbers) in checked_columns(facts).items():
        path = f"workflow/papers/{paper}/printed/{name}.csv"
        again = f"run `git checkout {path}`"
        if name not in tables:
            yield f"{path}: no such file; {again}"
            continue
        table = tables[name]
        missing = [column for column in dict.fromkeys([*texts, *numbers]) if column not in table]
        yield from (f"{path}: no column `{column}`; {again}" for column in missing)
        for column in set(numbers) - set(missing):
            bad = np.flatnonzero(pd.to_numeric(table[column], errors="coerce").isna())
            if len(bad):
                yield f"{path}:{bad[0] + 2}: `{column}` is no number; {again}"
        if name == checks_of(facts).get("lead", {}).get("sizes") and "subset" in table:
            needed = {subset for members in benchmark.sections.values() for subset in members}
            lacking = sorted(needed - set(table["subset"]))
            yield from (f"{path}: no row of `{subset}`; add its number of pairs" for subset in lacking)


def checked_columns(facts: Mapping) -> dict[str, tuple[list[str], list[str]]]:
    """Return {table that a check reads: its columns of texts, and those of numbers}."""
    checks, entries = checks_of(facts), facts.get("tables", {})
    found = {name: (list(entries[name]["keys"]), []) for name in checked_tables(facts)}
    for kind, (texts, numbers) in {"lead": OF_LEADS, "correlation": OF_CORRELATIONS}.items():
        if kind in checks:
            found[checks[kind]["table"]][0].extend(texts)
            found[checks[kind]["table"]][1].extend(numbers)
    if "lead" in checks:
        found[checks["lead"]["sizes"]][0].append("subset")
    for kind in ("average", "copied"):
        for name in checks.get(kind, {}).get("tables", []):
            for column, parts in entries[name]["averages"].items():
                found[name][1].extend([column, *parts])
    if "rank" in checks:
        found[checks["rank"]["table"]][1].append(checks["rank"]["column"])
    if "gain" in checks:
        found[checks["gain"]["table"]][1].extend(checks["gain"]["columns"])
    return found


def _row(tables: str, check: str, what: str, value: float, **more) -> dict:
    """Return a row; more: error, or low and high; n, base_model, eval_language and note."""
    row = {"tables": tables, "check": check, "what": what, "value": value, "note": ""}
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


def _leads_and_sources(check: Mapping, tables: Tables, _, benchmark: Benchmark) -> Iterator[dict]:
    sizes = tables[check["sizes"]].set_index("subset")["pairs"]
    pairs = int(sum(sizes[list(members)].sum() for members in benchmark.sections.values()))
    cells = _trained_cells(tables[check["table"]], effective_pairs(benchmark, sizes))
    yield from _lead_rows(_leads(cells), partial(_row, check["called"], n=pairs))
    yield from _best_sources(cells, partial(_row, check["called"], "best source", n=pairs))


def _lead_rows(leads: pd.DataFrame, of_tables: Callable[..., dict]) -> Iterator[dict]:
    what = "English minus target"
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


def _best_sources(cells: pd.DataFrame, row: Callable[..., dict]) -> Iterator[dict]:
    """Yield the mean over all target languages of each base and training language, then its distance from
    English's."""
    for base, of_base in cells.groupby("base_model", sort=False):
        wide = of_base.droplevel("base_model").unstack("rm_language", sort=False)
        avg, errors = wide["avg"], wide["error"]
        means, first = avg.mean(), avg.eq(avg.max(axis=1), axis=0)
        of_base = partial(row, base_model=base)
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


def _each_table(
    check: Mapping, tables: Tables, entries: Mapping
) -> Iterator[tuple[str, pd.DataFrame, str, list[str]]]:
    """Yield a name, rows, a column of averages and its parts; a file of several tables table by table."""
    for name in check["tables"]:
        rows, called = tables[name], check.get("called") or entries[name]["where"]
        parts = {called: rows}
        if "table" in rows:
            parts = {f"Table {number}": of_table for number, of_table in rows.groupby("table")}
        for shown, of_table in parts.items():
            for column, members in entries[name]["averages"].items():
                yield shown, of_table, column, members


def _averages(check: Mapping, tables: Tables, entries: Mapping, _) -> Iterator[dict]:
    for name, rows, column, parts in _each_table(check, tables, entries):
        off = (rows[column] - rows[parts].mean(axis=1)).abs()
        what = f"averages further than {ROUNDING} from the mean of their parts"
        count = int((off > ROUNDING + 1e-9).sum())
        yield _row(name, "average", what, count, n=len(off), note=f"Largest distance: {off.max():.3f}.")


def _copied(check: Mapping, tables: Tables, entries: Mapping, _) -> Iterator[dict]:
    """Yield the number of pairs of rows in one table with two or more sections alike, and name them."""
    for name, rows, _average, parts in _each_table(check, tables, entries):
        names, cells = _row_names(rows), rows[parts].to_numpy()
        pairs = list(combinations(range(len(rows)), 2))
        alike = np.array([np.isclose(cells[one], cells[other]) for one, other in pairs])
        notes = [f"By chance: {_two_by_chance(alike.mean(axis=0)) * len(pairs):.1f}."]
        for place in np.flatnonzero(alike.sum(axis=1) > 1):
            one, other = pairs[place]
            same = ", ".join(f"{parts[k]} {cells[one][k]}" for k in np.flatnonzero(alike[place]))
            notes.append(f"{names[one]} and {names[other]}: {same}.")
        what = "pairs of rows with two or more sections alike"
        yield _row(name, "copied", what, len(notes) - 1, n=len(pairs), note=" ".join(notes))


def _row_names(rows: pd.DataFrame) -> list[str]:
    keys = ["base_model", "eval_language", "rm_training", "rm_language"]
    varied = [key for key in keys if key in rows and (key != "eval_language" or rows[key].nunique() > 1)]
    return rows[varied].fillna("").agg(" ".join, axis=1).str.strip().tolist()


def _two_by_chance(shares: np.ndarray) -> float:
    """Return the probability of two or more events, as if they were independent; shares: their own."""
    one = sum(share * np.prod(np.delete(1 - shares, place)) for place, share in enumerate(shares))
    return float(1 - np.prod(1 - shares) - one)


def _same_numbers(checks: Sequence[Mapping], tables: Tables, entries: Mapping, _) -> Iterator[dict]:
    for check in checks:
        table, other = tables[check["table"]], tables[check["other"]]
        where = entries[check["table"]]["where"]
        if "rm_training" in table:
            target = table["rm_training"] == "target"
            table = table.assign(rm_language=table["eval_language"].where(target, SOURCE))
            both = table.merge(other, on=OF_LEADS[0], suffixes=("", "_other"))
            differ = ~np.isclose(both[VALUES], both[[f"{name}_other" for name in VALUES]])
            what = f"cells of {where} that differ"
        else:
            languages = [name for name in table if name in set(other["eval_language"])]
            averages = table.melt("reward_model", languages, "eval_language", "printed")
            untrained = other[other["rm_language"].isna()].rename(columns={"base_model": "reward_model"})
            both = averages.merge(untrained, on=["reward_model", "eval_language"])
            differ = ~np.isclose(both["printed"], both["avg"])
            what = f"averages of {where} that differ"
        yield _row(check["called"], "same numbers", what, int(differ.sum()), n=differ.size)


def _ranks(check: Mapping, tables: Tables, entries: Mapping, _) -> Iterator[dict]:
    (model, *_others), column = entries[check["table"]]["keys"], check["column"]
    ordered = tables[check["table"]].sort_values(column, ascending=False, kind="stable")
    shares = ordered[column] / 100
    errors = 100 * np.sqrt(shares * (1 - shares) / check["items"])
    neighbours = zip(ordered[model], ordered[column], errors, strict=True)
    row = partial(_row, check["called"], "rank", n=check["items"], note=check["note"])
    for (upper, score, error), (lower, next_score, next_error) in pairwise(neighbours):
        yield row(f"{upper} minus {lower}", score - next_score, error=hypot(error, next_error))


def _correlations(check: Mapping, tables: Tables, entries: Mapping, _) -> Iterator[dict]:
    """Yield the n that each printed r squared and p imply; low and high: what their rounding allows."""
    ends, row_of = [], partial(_row, entries[check["table"]]["where"], "correlation")
    for row in tables[check["table"]].itertuples():
        # p has three digits, and r squared three decimals
        half = 0.5 * 10.0 ** (floor(log10(row.p_value)) - 2)
        low = implied_n(row.r_squared + 0.0005, row.p_value + half)
        high = implied_n(row.r_squared - 0.0005, row.p_value - half)
        ends.append((low, high))
        what, value = f"n of {row.benchmark} and {row.downstream}", implied_n(row.r_squared, row.p_value)
        note = "low, high: what the rounding of r squared and p allows."
        yield row_of(what, value, low=low, high=high, note=note)
    low, high = max(one for one, _ in ends), min(other for _, other in ends)
    fits = list(range(ceil(low), floor(high) + 1))
    note = f"Whole numbers that fit all {len(ends)} rows: {', '.join(map(str, fits)) or 'none'}."
    value = fits[0] if len(fits) == 1 else np.nan
    ends = {"low": low, "high": high} if low <= high else {}
    yield row_of("n that all rows allow", value, **ends, note=note)


def _gains(check: Mapping, tables: Tables, entries: Mapping, _) -> Iterator[dict]:
    scores = tables[check["table"]].set_index(entries[check["table"]]["keys"][0])
    for trained in scores.index[scores.index.str.startswith(check["begins"])]:
        base = trained.removeprefix(check["begins"])
        for column, benchmark in check["columns"].items():
            gain = scores.loc[trained, column] - scores.loc[base, column]
            note = "No interval: the sizes of the evaluated parts are not known."
            what = f"{benchmark}, {check['called']} minus its base"
            yield _row(check["called"], "gain", what, gain, base_model=base, note=note)


# {field of settings.paper.Checks: its rows, from the field, the paper's tables and entries, and RewardBench}
CHECKS: dict[str, Callable[..., Iterator[dict]]] = {
    "lead": _leads_and_sources,
    "average": _averages,
    "copied": _copied,
    "same_numbers": _same_numbers,
    "rank": _ranks,
    "correlation": _correlations,
    "gain": _gains,
}
