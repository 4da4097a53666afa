"""Pages and files that are written from settings and results."""

from pathlib import Path

import click

from polyreward.cli.shared import MADE_WITH, OF_SCALE, PATH, RESULTS, Listing, scale_overlays
from polyreward.core.project import ROOT


@click.command(
    cls=Listing,
    short_help="Print the true effect that each claim needs, from a finished run.",
    epilog="Example: polyreward power results/night > power.md",
)
@OF_SCALE
@MADE_WITH
def power(results: Path | None, configfile: tuple[str, ...]) -> None:
    """Print the true effect at which each claim would hold with 80% power.

    It uses the intervals of a finished run: transfer_claims.csv and carb_claims.csv (or claims.csv) in
    RESULTS, by default the scale's own folder. For each printed value it also says how many units would show
    it."""
    from polyreward.ops.power_page import power_page

    print(power_page(scale_overlays(results, configfile), ROOT, results), end="")


@click.command(
    cls=Listing,
    short_help="Write a page with all results made so far: claims, tables, figures.",
    epilog="Example: polyreward report results/tiny",
)
@click.argument("results", type=PATH)
@MADE_WITH
def report(results: Path, configfile: tuple[str, ...]) -> None:
    """Write report.html in RESULTS: the results that exist, and the command for each one that is missing.

    It makes no results and takes seconds. The page needs no network."""
    from polyreward.report.page import write_page
    from polyreward.report.results import read_results

    path = results / "report.html"
    missing = write_page(read_results(results, configfile, ROOT), path, ROOT)
    for one in missing:
        print(f"not made yet: {one.category}, {one.number}; {one.command}")
    print(f"{path}: {path.stat().st_size / 1e6:.1f} MB")


@click.command(short_help="Record the hub's commits that a scale used.")
@RESULTS
def lock(results: Path) -> None:
    """Write the hub's commits that a scale used to workflow/catalog/revisions.lock.yaml."""
    from polyreward.sources.revisions import write_lock

    path = ROOT / "workflow/catalog/revisions.lock.yaml"
    content = write_lock(results / "work/1_sources/revisions", path)
    count = sum(map(len, content.values()))
    print(f"{path.relative_to(ROOT)}: {count} repositories; commit it, so that others get the same")


@click.command()
def settings() -> None:
    """Write docs/settings.md and the schema of config.yaml."""
    from polyreward.settings.reference import write_reference

    for path in write_reference(ROOT):
        print(path.relative_to(ROOT))


@click.command()
def envs() -> None:
    """Write envs/*.yaml from requirements.lock."""
    from polyreward.ops.environments import write_environments

    for path in write_environments(ROOT):
        print(path.relative_to(ROOT))
