"""What MkDocs adds to the pages of docs/: those of the repository's top, and the drawing of the rules."""

import re
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
ROOT = Path(__file__).parents[2]

from mkdocs.structure.files import File  # noqa: E402
from rule_graph import drawing, rules_of  # noqa: E402

OUTSIDE = {"index.md": "README.md", "contributing.md": "CONTRIBUTING.md", "changelog.md": "CHANGELOG.md"}
DRAWING = "{{ rule drawing }}"  # a line of a page


def on_files(files, config):
    """Add the pages that are at the top of the repository; README.md is the home page."""
    for name, source in OUTSIDE.items():
        files.append(File.generated(config, name, content=inside((ROOT / source).read_text("utf-8"))))
    return files


def inside(text: str) -> str:
    """Return a page of the repository's top as one of the site, without links to files outside docs/."""
    pages = {source: name for name, source in OUTSIDE.items()}

    def link(found: re.Match) -> str:
        words, target = found[1], found[2]
        kept = target.startswith(("docs/", "http", "#")) or target.partition("#")[0] in pages
        return f"[{words}]({pages.get(target, target.removeprefix('docs/'))})" if kept else words

    return re.sub(r"(?<!!)\[([^\]]+)\]\(([^)]+)\)", link, text).replace("](docs/", "](")


def on_page_markdown(markdown, page, config, files):
    """Draw the rules where a page says so, and take out the marks of docs/fill.py and links to files that the
    site does not have."""
    markdown = re.sub(
        r"<!-- (?:value|mean|table|part|not run:) .*?-->|<!-- end -->", "", markdown, flags=re.DOTALL
    )
    markdown = re.sub(r"\[([^\]]+)\]\((?:\.\./)+workflow/[^)]*\)", r"\1", markdown)  # not on the site
    return markdown.replace(DRAWING, drawing(rules_of(ROOT))) if DRAWING in markdown else markdown
