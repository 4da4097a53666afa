"""Render a page from its template, in one file that asks a server for nothing."""

import base64
import hashlib
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined


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
