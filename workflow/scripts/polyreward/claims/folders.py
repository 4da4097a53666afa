"""A paper's folder: all that is missing or wrong in it, and the verdicts that its printed tables allow."""

from collections.abc import Iterator
from itertools import chain
from pathlib import Path

import pandas as pd

from polyreward.claims.estimate import UntestableError
from polyreward.claims.printed import ROUNDING, Printed, read_printed
from polyreward.claims.printed_checks import checked_columns
from polyreward.claims.quantities import QUANTITIES, quantity_problems
from polyreward.claims.table import claims_table, rule_hash
from polyreward.core.errors import raise_all
from polyreward.core.yaml_files import read_yaml
from polyreward.settings.messages import Places
from polyreward.settings.paper import FILES
from polyreward.sheet.papers import Paper, checked_tables, checks_of, file_problems, read_paper

OPTIONAL = "settings.yaml"


def folder_problems(folder: Path) -> list[str]:
    """Return all that is missing or wrong in a paper's folder, each with its place and what to do."""
    if not folder.is_dir():
        return ["no such folder; name a paper's, such as workflow/papers/m_rewardbench"]
    files = {
        file: file_problems(folder / file) for file in FILES if file != OPTIONAL or (folder / file).exists()
    }
    problems = [problem for found in files.values() for problem in found]
    if files["paper.yaml"]:
        return problems
    facts = read_yaml(folder / "paper.yaml")
    if facts["name"] != folder.resolve().name:
        problems.append(f"{folder}/paper.yaml: name: `{facts['name']}` is not the folder's name")
    of_tables = [*_table_problems(folder, facts)]
    problems += of_tables
    if files["claims.yaml"]:
        return problems
    paper, places = read_paper(folder), Places([folder / "claims.yaml"])
    of_quantities = [problem.placed(places) for problem in quantity_problems(paper.claims)]
    problems += of_quantities
    if not of_quantities and not of_tables:
        problems += _untestable(paper, places)
    if not files["claims.lock.yaml"]:
        problems += _lock_problems(paper)
    return problems


def check_folder(folder: Path) -> None:
    """Raise PolyrewardError with all that is missing or wrong in a paper's folder."""
    raise_all(folder_problems(folder), str(folder))


def printed_of(paper: Paper) -> Printed:
    """Return a paper's printed tables."""
    paths = sorted((paper.folder / "printed").glob("*.csv"))
    return Printed.read(paths, paper.facts)


def printed_verdicts(folder: Path, confidence: float) -> pd.DataFrame:
    """Return the rows of claims_table that a folder's printed tables allow; the others are not tested.

    Raises:
        PolyrewardError: the folder is not as it should be; all that is wrong with it.
    """
    check_folder(folder)
    paper = read_paper(folder)
    return claims_table(paper.claims, None, printed_of(paper), confidence)


def odd_averages(folder: Path) -> Iterator[str]:
    """Yield a sentence for each printed average further from the mean of its parts than rounding allows."""
    paper = read_paper(folder)
    tables = printed_of(paper).tables
    for name, entry in paper.facts.get("tables", {}).items():
        for column, parts in entry.get("averages", {}).items():
            rows = tables[name]
            off = (rows[column] - rows[parts].mean(axis=1)).abs()
            for key, distance in zip(rows[entry["keys"][0]], off, strict=True):
                if distance > ROUNDING + 1e-9:
                    yield f"{name}: {column} of {key} is {distance:.2f} from the mean of its parts"


def _table_problems(folder: Path, facts: dict) -> Iterator[str]:
    """Yield what is wrong with the files of printed/, and with what paper.yaml says of them."""
    entries, places = facts.get("tables", {}), Places([folder / "paper.yaml"])
    for path in sorted((folder / "printed").glob("*.csv")):
        if path.stem not in entries:
            yield f"{path}: it has no source; add `{path.stem}` to `tables` in paper.yaml, or delete it"
    of_checks = [*_check_problems(facts)]
    yield from (f"{places.of(('checks',))}: checks: {problem}" for problem in of_checks)
    needed = {} if of_checks else checked_columns(facts)
    for name, entry in entries.items():
        path, where = folder / "printed" / f"{name}.csv", places.of(("tables", name))
        if entry["source"] not in facts["sources"]:
            yield f"{where}: tables.{name}: source `{entry['source']}` is not among `sources`; add it there"
        if not path.is_file():
            yield f"{path}: no such file; add it, or take `{name}` out of paper.yaml"
            continue
        table = read_printed(path, entry["keys"])
        pairs = entry.get("pairs")
        named = [*entry["keys"], *(pairs if isinstance(pairs, dict) else [])]
        shown = entry.get("accuracies") or {}
        named += [column for role, column in shown.items() if role != "benchmark"]
        for column, parts in entry.get("averages", {}).items():
            named += [column, *parts]
        asked = dict.fromkeys(chain.from_iterable(needed.get(name, ())), places.of(("checks",)))
        asked |= dict.fromkeys(named, where)
        missing = {column: asking for column, asking in asked.items() if column not in table}
        yield from (
            f"{path}: no column `{one}`, which {asking} asks for; correct either"
            for one, asking in missing.items()
        )
        if missing:
            continue
        numbers = table.columns.drop(entry["keys"])
        for column in (one for one in numbers if not pd.api.types.is_numeric_dtype(table[one])):
            texts = pd.to_numeric(table[column], errors="coerce").isna() & table[column].notna()
            line, text = texts.idxmax() + 2, table.loc[texts.idxmax(), column]
            yield (
                f"{path}:{line}: `{column}` is `{text}`, no number; correct it, or add the column to `keys`"
                " in paper.yaml"
            )
        if isinstance(pairs, dict):
            unknown = [column for column in numbers if column not in pairs]
            yield from (f"{where}: tables.{name}.pairs: no count for `{one}`; add it" for one in unknown)
        if table.duplicated(entry["keys"]).any():
            twice = table.loc[table.duplicated(entry["keys"]), entry["keys"]].iloc[0].tolist()
            yield f"{path}: two rows of {', '.join(map(str, twice))}; keep one, or add a column to `keys`"


def _check_problems(facts: dict) -> Iterator[str]:
    """Yield which tables `checks` names without an entry, or without the averages that it is about."""
    entries, checks = facts.get("tables", {}), checks_of(facts)
    for name in (one for one in checked_tables(facts) if one not in entries):
        yield f"no `{name}` among `tables`; correct it, or add it there"
    for kind in ("average", "copied"):
        for name in checks.get(kind, {}).get("tables", []):
            if name in entries and not entries[name].get("averages"):
                yield f"{kind}: `{name}` has no `averages`; add them in `tables`, or take it out"


def _untestable(paper: Paper, places: Places) -> Iterator[str]:
    """Yield why a claim of printed tables cannot be tested."""
    printed = printed_of(paper)
    for name, entry in paper.claims.items():
        options = dict(entry["quantity"])
        quantity = QUANTITIES[options.pop("name")]
        if quantity.from_printed:
            try:
                quantity.compute(printed, **options)
            except UntestableError as reason:
                yield f"{places.of((name, 'quantity'))}: {name}: cannot be tested: {reason}; correct either"


def _lock_problems(paper: Paper) -> Iterator[str]:
    """Yield each claim whose rule is not the one of claims.lock.yaml."""
    path = paper.folder / "claims.lock.yaml"
    lock = read_yaml(path) or {}
    for name, entry in paper.claims.items():
        now = rule_hash(entry)
        if name not in lock:
            yield f'{path}: {name} is missing; add `{name}: {{sha256: "{now}", why: "DATE: REASON"}}`'
        elif lock[name]["sha256"] != now:
            yield (
                f"{path}: {name}: its rule now has the hash {now}, not {lock[name]['sha256']};"
                " undo the change, or write the new hash, its date and the reason"
            )
    unknown = [name for name in lock if name not in paper.claims]
    yield from (f"{path}: {name} is no claim of claims.yaml; delete it" for name in unknown)
