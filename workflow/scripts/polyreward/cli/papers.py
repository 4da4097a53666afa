"""Papers as folders: what is missing in one, and what its printed tables decide."""

from pathlib import Path

import click

from polyreward.cli.shared import PATH
from polyreward.core.errors import PolyrewardError


@click.command(
    short_help="Check a paper's folder, and test the claims that its printed tables can test.",
    epilog="Example: polyreward claims check workflow/papers/m_rewardbench",
)
@click.argument("action", type=click.Choice(["check", "verdicts", "quantities"]))
@click.argument("folders", nargs=-1, type=PATH)
@click.option("--out", type=PATH, help="With `verdicts`: a CSV file for all columns.")
@click.option("--confidence", type=click.FloatRange(0.5, 0.999), default=0.95, help="Level of intervals.")
def claims(action: str, folders: tuple[Path, ...], out: Path | None, confidence: float) -> None:
    """Check a paper's folder, or test the claims that its printed tables can test, without any run.

    `check` lists all that is missing or wrong in FOLDERS and ends with 1 if there is anything. `verdicts`
    prints the verdict on each claim of one folder. Claims that take the scores of a run are not tested there.
    `quantities` lists what a claim can measure, with options and units.

    A folder has paper.yaml, claims.yaml, claims.lock.yaml, printed/*.csv and perhaps settings.yaml. The page
    docs/howto/paper.md explains them."""
    if action == "quantities":
        print("\n".join(_quantities()))
        return
    if not folders:
        raise click.UsageError(f"`{action}` takes a paper's folder, such as workflow/papers/m_rewardbench")
    if action == "check":
        _check(folders)
        return
    if len(folders) > 1:
        raise click.UsageError("`verdicts` takes one folder at a time")
    _verdicts(folders[0], out, confidence)


def _check(folders: tuple[Path, ...]) -> None:
    from polyreward.claims.folders import check_folder, odd_averages
    from polyreward.sheet.papers import read_paper

    problems = []
    for folder in folders:
        try:
            check_folder(folder)
        except PolyrewardError as error:
            problems.append(str(error))
            continue
        paper = read_paper(folder)
        tables = len(paper.facts.get("tables", {}))
        print(f"{folder}: {len(paper.claims)} claims, {tables} printed tables; nothing is missing")
        for sentence in odd_averages(folder):
            print(f"  note: {sentence}")
    if problems:
        raise PolyrewardError("\n".join(problems))


def _verdicts(folder: Path, out: Path | None, confidence: float) -> None:
    from polyreward.claims.folders import printed_verdicts
    from polyreward.claims.table import COLUMNS, display_claims
    from polyreward.core.tables import write_table
    from polyreward.sheet.papers import read_paper

    table, level = printed_verdicts(folder, confidence), f"{100 * confidence:g}%"
    facts = read_paper(folder).facts
    shown = display_claims(table, level, {facts["name"]: facts["short"]})
    ours = shown.pop(f"Ours [{level}]")
    shown = shown.drop(columns=["Says", f"Null [{level}]"])
    shown["Printed"] = ours.where(ours != "", shown["Printed"])
    shown = shown.rename(columns={"Printed": f"Printed [{level}]"})
    print(shown.to_markdown(index=False, disable_numparse=True))
    if out is not None:
        write_table(table, out, COLUMNS)
        print(f"{out}: {len(table)} claims")


def _quantities() -> list[str]:
    from polyreward.claims.quantities import QUANTITIES

    lines = []
    for name, quantity in QUANTITIES.items():
        options = " ".join(f"{option}" for option in quantity.options) or "none"
        takes = "printed tables" if quantity.from_printed else "a run"
        lines.append(f"{name}: {quantity.unit}; from {takes}; options: {options}")
    return lines
