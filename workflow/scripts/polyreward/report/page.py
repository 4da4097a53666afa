"""Write the page: one file with its styles, script and pictures."""

import os
from pathlib import Path
from urllib.parse import quote

from polyreward.core.files import write_text
from polyreward.report.artifacts import shown_artifacts
from polyreward.report.claims import WIDTH, counts, shown_claims
from polyreward.report.rendering import rendered
from polyreward.report.results import Results

CLAIM_TABLES = ["claims.csv", "transfer_claims.csv", "carb_claims.csv"]  # both papers', else one paper's
SNAKEMAKE_REPORT = "snakemake_report.html"


def write_page(results: Results, out: Path, root: Path) -> list:
    """Write a results folder's page, the same bytes each time; return the artifacts that do not exist."""
    categories = shown_artifacts(results, root)
    shown = [one for listed in categories.values() for one in listed]
    missing = [one for one in shown if not one.made]
    claims = claims_of(results)
    links = os.path.relpath(results.folder.resolve(), out.resolve().parent)
    text = rendered(
        root / "workflow/report/page",
        settings=results.registry.settings,
        languages=results.languages,
        about=results.about,
        command_of_all=results.command_of_all,
        claims=claims,
        counts=counts(claims),
        claims_command=results.command(CLAIM_TABLES[0]),
        categories=categories,
        missing=missing,
        n_artifacts=len(shown),
        width=WIDTH,
        link=lambda file: quote((Path(links) / file).as_posix()),
        snakemake_report=SNAKEMAKE_REPORT if (results.folder / SNAKEMAKE_REPORT).is_file() else None,
        snakemake_command=results.command(SNAKEMAKE_REPORT),
    )
    write_text(text, out)
    return missing


def claims_of(results: Results) -> list:
    """Return both papers' claims where that table exists, else one paper's, else none."""
    both, *single = CLAIM_TABLES
    tables = [both] if (results.folder / both).is_file() else single
    paths = {name: results.folder / name for name in tables if (results.folder / name).is_file()}
    shown = (shown_claims(path, results.command(name), results.shorts) for name, path in paths.items())
    return [claim for claims in shown for claim in claims]
