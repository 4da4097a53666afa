"""Write the page: one file with its styles, script and pictures."""

import base64
import hashlib
import os
from pathlib import Path
from urllib.parse import quote

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from polyreward.core.files import write_text
from polyreward.report.artifacts import shown_artifacts
from polyreward.report.claims import WIDTH, counts, shown_claims
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
    return [claim for name, path in paths.items() for claim in shown_claims(path, results.command(name))]


def rendered(folder: Path, template: str = "page.html", **content: object) -> str:
    """Render a page of a folder with its style and script in it, so that a browser fetches nothing."""
    style, code = ((folder / name).read_text(encoding="utf-8") for name in ("style.css", "script.js"))
    environment = Environment(
        loader=FileSystemLoader(folder),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    return environment.get_template(template).render(
        style=style, script=code, policy=policy_of(style, code), **content
    )


def policy_of(style: str, script: str) -> str:
    """Return the content security policy: a browser fetches nothing, and runs only this style and script."""
    hashes = [
        base64.b64encode(hashlib.sha256(text.encode()).digest()).decode("ascii") for text in (style, script)
    ]
    return (
        f"default-src 'none'; img-src data:; style-src 'sha256-{hashes[0]}'; script-src 'sha256-{hashes[1]}'"
    )
