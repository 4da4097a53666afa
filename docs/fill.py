"""Fill the numbers of the documents from the tables of a finished run.

    python docs/fill.py                  fills every marker of README.md and docs/
    python docs/fill.py --check          ends with 1 where a page is not up to date
    python docs/fill.py --take results   first copies the run's tables into docs/data/<scale>/; with --partial
                                         also those of a run that has not made everything

A marker is an HTML comment; what lies between it and the next `<!-- end -->` is replaced. Its first word is
value, mean, count or table, then comes a file below docs/data/, then conditions, then a colon and what to
show:

    <!-- value mini/run.csv: commit {commit} on {machine} -->...<!-- end -->
    <!-- count mini/table1.csv avg_low>0 of rm_training=delta: {count} of {of} -->...<!-- end -->
    <!-- mean mini/table1.csv rm_training=delta: {avg:+.1f} -->...<!-- end -->
    <!-- table mini/table1.csv rm_training=delta: Base = {base_model} | Average = {avg:.1f} -->
    ...
    <!-- end -->

`<!-- part artifacts -->`, `commands`, `paper_files` and `rules` are made from the project itself
(docs/site/parts.py). A value has one row, a mean the mean of each column over all rows. A count says how
many rows (`count`) meet its conditions, of all (`of`) or of those that meet the conditions after ` of `.
Fields are columns of a row, in Python's format. `{count:word}` writes a small number as a word, `{s:time}`
seconds as a duration, and `{p:p}` a p-value as 0.012 or <0.001. A condition `column=value` keeps the rows
that have it, `column=a,b` those with one of these values, `column!=value` those without it, and `column>0`
or `column<0` those with such a number; `~` is a space. A table of a .md file needs no format: the run
rendered it. `without=text` leaves out its rows that begin with this text. Where docs/data/ has no such file
yet, `not run yet` is shown. `mini/run.csv+table2.csv` is filled from the first file only if the other one,
in the same folder, is there, too. The file `rules` has one row: the number of rules of the two rebuilt
papers by `written`, and `all`. A wrong column or row is an error."""

import argparse
import contextlib
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Sequence
from functools import cache
from itertools import chain
from math import isfinite
from pathlib import Path
from statistics import fmean

import pandas as pd

from polyreward.artifacts.sums import write_sums
from polyreward.core.errors import PolyrewardError, raise_all
from polyreward.core.logs import RAN_ON
from polyreward.core.tables import NAMES, p_text
from polyreward.core.yaml_files import read_yaml
from polyreward.ops.costs import job_costs, jobs_run
from polyreward.ops.power_page import power_page
from polyreward.ops.progress import duration
from polyreward.ops.scales import overlays_of, scale_of
from polyreward.ops.workflow import dry_run_jobs

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "docs/site"))
DATA = ROOT / "docs/data"
MARKER = re.compile(
    r"<!-- (value|mean|count|table) (\S+?)(?:\s+((?:(?!-->)[^:])*?))?(?::\s+((?:(?!-->).)*?))? -->"
    r"((?:(?!<!--).)*)<!-- end -->",
    re.DOTALL,
)
CONDITION = re.compile(r"(\w+)(!?=|[<>])(.*)")
PART = re.compile(r"<!-- part (\w+) -->.*?<!-- end -->", re.DOTALL)
NOT_RUN = "*not run yet*"
REBUILT = ("transfer", "carb")  # papers whose claims a run tests
WORDS = [
    *("none", "one", "two", "three", "four", "five", "six"),
    *("seven", "eight", "nine", "ten", "eleven", "twelve"),
]
SHORT = 6  # characters of a number shown as it is in its file; longer ones end in zeros
LARGEST = 300_000  # bytes of a table that is copied: figures of many points stay where they were made


class Cell(float):
    """A number of a table; `{x:word}` writes small ones as words, `{x:time}` seconds as a duration, `{x:p}`
    a p-value."""

    def __new__(cls, text: str) -> "Cell":
        """Keep a cell's own digits."""
        cell = super().__new__(cls, text or "nan")
        cell.text = text
        return cell

    def __format__(self, form: str) -> str:
        """Return the number in one of these formats or Python's; an empty cell is empty."""
        if self != self:
            return ""
        if form == "word":
            return WORDS[int(self)] if self < len(WORDS) else f"{self:.0f}"
        if form == "time":
            return duration(self)
        if form == "p":
            return p_text(self).replace("<", "&lt;")
        return format(float(self), form or ".10g") if form or len(self.text) > SHORT else self.text


def pages() -> list[Path]:
    """Return the pages that may hold markers."""
    found = [path for path in sorted((ROOT / "docs").rglob("*.md")) if DATA not in path.parents]
    return [ROOT / "README.md", *found]


def rows_of(path: Path, conditions: str, kind: str = "value") -> list[dict]:
    """Return the rows of a table that meet all conditions, or for a count one row with `count` and `of`.

    Raises:
        PolyrewardError: a column is not there, or no row is left to show or to count from.
    """
    table = pd.read_csv(path, dtype=object, keep_default_na=False)
    if kind == "count":
        counted, _, conditions = conditions.partition(" of ")
    table = _meeting(table, conditions, path.name)
    if table.empty:
        raise PolyrewardError(f"{path.name} has no row with {conditions.strip()}")
    if kind == "count":
        counts = {"count": len(_meeting(table, counted, path.name)), "of": len(table)}
        return [{name: Cell(str(count)) for name, count in counts.items()}]
    rows = table.to_dict("records")
    return [{name: value if name in NAMES else _cell(value) for name, value in row.items()} for row in rows]


def _meeting(table: pd.DataFrame, conditions: str, name: str) -> pd.DataFrame:
    for condition in conditions.split():
        found = CONDITION.fullmatch(condition)
        if not found:
            raise PolyrewardError(f"{name}: `{condition}` is no condition, such as column=value or column>0")
        column, sign, value = found.groups()
        if column not in table:
            raise PolyrewardError(f"{name} has no column `{column}`; it has {', '.join(table)}")
        cells = table[column]
        if sign in "<>":
            try:
                numbers, bound = pd.to_numeric(cells), float(value)
            except ValueError as error:
                raise PolyrewardError(f"{name}: {condition} compares what is no number: {error}") from None
            table = table[numbers > bound if sign == ">" else numbers < bound]
        else:
            table = table[cells.isin(value.replace("~", " ").split(",")) == (sign == "=")]
    return table


def _cell(value: str) -> str | Cell:
    try:
        return Cell(value)
    except ValueError:
        return value


def filled(kind: str, file: str, conditions: str | None, form: str | None, data: Path) -> str:
    """Return what a marker shows."""
    file, *others = file.split("+")
    path, form = data / file, " ".join((form or "").split())
    if file == "rules":
        rows = [rule_counts()]
    elif not all(one.is_file() for one in (path, *map(path.with_name, others))):
        return NOT_RUN
    elif path.suffix == ".md":
        return rendered(path.read_text("utf-8"), conditions or "")
    else:
        rows = rows_of(path, conditions or "", kind)
    if kind == "mean":
        rows = [means(rows)]
    try:
        if kind != "table":
            if len(rows) > 1:
                raise PolyrewardError(f"{file}: {len(rows)} rows have {conditions}; a value needs one")
            return form.format(**rows[0])
        heads, cells = zip(*(part.split("=", 1) for part in form.split(" | ")), strict=True)
        lines = [heads, ["---"] * len(heads), *([cell.format(**row) for cell in cells] for row in rows)]
    except (KeyError, ValueError) as error:
        raise PolyrewardError(f"{file}: `{form}` cannot be filled: {error}") from None
    rows = [[re.sub(r" *(\[, \]|\(\))", "", cell).strip() for cell in line] for line in lines]  # empty ends
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)


def means(rows: Sequence[dict]) -> dict[str, Cell]:
    """Return the mean over rows of each column whose cells are all numbers."""
    columns = {name: [row[name] for row in rows] for name in rows[0]}
    return {
        name: Cell(f"{fmean(cells):.15g}")
        for name, cells in columns.items()
        if all(isinstance(cell, Cell) and isfinite(cell) for cell in cells)
    }


def rendered(text: str, condition: str) -> str:
    """Return the table of a rendered file, but for the rows that a condition `without=text` leaves out.

    Raises:
        PolyrewardError: no row begins with this text.
    """
    lines = [line for line in text.splitlines() if line.startswith("|")]
    if not condition:
        return "\n".join(lines)
    begin = f"| {condition.removeprefix('without=').replace('~', ' ')}"
    kept = [line for line in lines if not line.startswith(begin)]
    if kept == lines:
        raise PolyrewardError(f"no row of the table begins with `{begin}`")
    return "\n".join(kept)


def rule_counts() -> dict[str, Cell]:
    """Return how many rules of verdicts there are, by when they were written."""
    entries = [read_yaml(ROOT / f"workflow/papers/{paper}/claims.yaml").values() for paper in REBUILT]
    written = Counter(entry["written"] for entry in chain(*entries))
    return {name: Cell(str(count)) for name, count in {**written, "all": written.total()}.items()}


def page(text: str, data: Path = DATA) -> str:
    """Return a page with all of its markers filled."""

    def put(found: re.Match) -> str:
        kind, *rest, _old = found.groups()
        shown = filled(kind, *rest, data)
        between = f"\n\n{shown}\n\n" if kind == "table" else shown
        return f"{found[0].split('-->')[0]}-->{between}<!-- end -->"

    def part_of_project(found: re.Match) -> str:
        from parts import part  # asks Snakemake, which takes seconds

        return f"<!-- part {found[1]} -->\n\n{part(found[1])}\n\n<!-- end -->"

    if len(re.findall("<!-- (?:value|mean|count|table) ", text)) != len(MARKER.findall(text)):
        raise PolyrewardError("a marker has no <!-- end -->, or another marker within it")
    return PART.sub(part_of_project, MARKER.sub(put, text))


def take(results: Path, data: Path, partial: bool = False) -> None:
    """Copy the tables of a finished run, its costs, machine and commit into docs/data/<scale>/.

    Raises:
        PolyrewardError: tables or figures of the scale are missing, and partial is false.
    """
    overlays = overlays_of(results, ROOT)
    target = data / scale_of(results, ROOT)
    planned = planned_jobs(overlays)
    missing = [] if partial else missing_artifacts(results, planned)
    if missing:
        raise PolyrewardError(
            f"{results}: the run is not whole; {len(missing)} tables and figures are missing:"
            f" {', '.join(missing)}. Make them, or add --partial"
        )
    target.mkdir(parents=True, exist_ok=True)
    for old in [*target.glob("*.csv"), *target.glob("*.md")]:
        old.unlink()
    tables = [path for path in sorted(results.glob("*.csv")) if path.stat().st_size <= LARGEST]
    shown = {found[2] for path in pages() for found in MARKER.finditer(path.read_text(encoding="utf-8"))}
    rendered = [path for path in sorted(results.glob("*.md")) if f"{target.name}/{path.name}" in shown]
    for path in [*tables, *rendered]:
        (target / path.name).write_bytes(path.read_bytes())
    jobs = jobs_run(results / "benchmarks")
    job_costs(jobs).to_csv(target / "costs.csv", index=False, float_format="%.1f")
    artifact_times(jobs, planned).to_csv(target / "times.csv", index=False, float_format="%.0f")
    if (results / "transfer_claims.csv").is_file() and (results / "carb_claims.csv").is_file():
        (target / "power.md").write_text(power_page(overlays, ROOT, results), encoding="utf-8")
    heads = [path.read_text("utf-8", errors="replace")[:2000] for path in results.glob("logs/*/*.log")]
    machines = {line for head in heads for line in re.findall(rf"^{RAN_ON}(.*)$", head, re.MULTILINE)}
    git = ["git", "-C", str(results), "describe", "--always", "--dirty", "--abbrev=8"]
    commit = subprocess.run(git, text=True, capture_output=True, check=True).stdout.strip()
    facts = {
        "commit": commit,
        "disk_gb": sum(path.stat().st_size for path in results.rglob("*") if path.is_file()) / 1e9,
        "machine": "; ".join(sorted(machines)),
        "jobs": len(jobs),
        "seconds": jobs["s"].sum(),
    }
    pd.DataFrame([facts]).to_csv(target / "run.csv", index=False, float_format="%.1f")
    write_sums(target, [path.name for path in target.glob("*.csv")], target / "SHA256SUMS")
    print(f"{target.relative_to(data.parents[1])}: {len(tables)} tables of commit {commit}")


def planned_jobs(overlays: Sequence[str]) -> list:
    """Return the jobs of a whole run of a scale from nothing."""
    with contextlib.chdir(ROOT):
        return list(dry_run_jobs(["all"], overlays))


def missing_artifacts(results: Path, planned: Sequence) -> list[str]:
    """Return the tables and figures of a scale that a results folder lacks, by their paths in it."""
    (sums,) = (job for job in planned if job.rule.name == "artifact_sums")
    folder = Path(str(sums.output[0])).parent
    paths = sorted(Path(str(path)).relative_to(folder) for path in sums.input)
    return [path.as_posix() for path in paths if not (results / path).is_file()]


def artifact_times(jobs: pd.DataFrame, planned: Sequence) -> pd.DataFrame:
    """Return the seconds that each artifact takes from nothing, by the jobs on the way to it.

    two_cores_s is an estimate: half of the jobs' seconds, or the longest chain of jobs where that is longer.

    Args:
        jobs: those of the run, as jobs_run returns them.
        planned: those of a whole run of its scale.
    """
    took = {(row.rule, row.job): row.s for row in jobs.itertuples()}
    planned = [job for job in planned if job.benchmark]
    keys = {job: tuple(Path(str(job.benchmark)).with_suffix("").parts[-2:]) for job in planned}
    maker = {str(path): job for job in planned for path in job.output}
    before = {job: {maker[str(path)] for path in job.input if str(path) in maker} for job in planned}

    @cache
    def way(job) -> frozenset:
        return frozenset({job}).union(*map(way, before[job]))

    @cache
    def chain(job) -> float:
        return took[keys[job]] + max(map(chain, before[job]), default=0)

    rows = []
    for path, job in maker.items():
        if Path(path).suffix in (".csv", ".png", ".html") and all(keys[one] in took for one in way(job)):
            seconds = sum(took[keys[one]] for one in way(job))
            rows.append((path.partition("/")[2], len(way(job)), seconds, max(seconds / 2, chain(job))))
    found = pd.DataFrame(rows, columns=["artifact", "jobs", "job_seconds", "two_cores_s"])
    return found[~found["artifact"].str.contains("/work/|^work/", regex=True)].sort_values("artifact")


def main() -> None:
    """Fill or check all pages."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--take", type=Path, metavar="RESULTS", help="first copy the tables of this run")
    parser.add_argument("--partial", action="store_true", help="take a run that has not made everything")
    parser.add_argument("--check", action="store_true", help="change nothing; end with 1 where a page is old")
    options = parser.parse_args()
    if options.take:
        take(options.take, DATA, options.partial)
    problems, old, missing = [], [], []
    for path in pages():
        text, name = path.read_text(encoding="utf-8"), path.relative_to(ROOT).as_posix()
        try:
            new = page(text)
        except PolyrewardError as error:
            problems.append(f"{name}: {error}")
            continue
        missing += [name] * new.count(NOT_RUN)
        if new != text:
            old.append(name)
            if not options.check:
                path.write_text(new, encoding="utf-8")
    raise_all(problems, "docs/fill.py")
    if missing:
        print(f"not run yet: {len(missing)} places in {', '.join(sorted(set(missing)))}")
    if options.check and old:
        raise PolyrewardError(f"{', '.join(old)}: not up to date; run `make docs-fill`")
    print("\n".join(f"{name}: filled" for name in old) or "all pages are up to date")


if __name__ == "__main__":
    try:
        main()
    except PolyrewardError as error:
        sys.exit(f"polyreward: {error}")
