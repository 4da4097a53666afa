"""A page from its template: one file with its style and script, and nothing that a browser would fetch."""

import base64
import hashlib
from collections.abc import Sequence
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined


def rendered(root: Path, template: str, styles: Sequence[str], script: str, **content: object) -> str:
    """Render a template with the style of some files and a script in it; root: the checkout."""
    folder = root / "workflow/report/page"
    style = "".join((folder / name).read_text(encoding="utf-8") for name in styles)
    code = (folder / script).read_text(encoding="utf-8")
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
