"""The pages of the documents as a reader sees them: commands in code blocks, and which of them tests do not run."""

import re
from pathlib import Path
from typing import NamedTuple

from support import ROOT

PAGES = [
    ROOT / "README.md",
    ROOT / "CONTRIBUTING.md",
    ROOT / "benchmarks/README.md",
    *(path for path in sorted((ROOT / "docs").rglob("*.md")) if "data" not in path.parts),
]
# Why tests do not run a block: `<!-- not run: takes hours -->` is the line before it, or two above. The site leaves it out.
REASONS = (
    "needs a card",
    "needs a cluster",
    "needs a network",
    "needs a server",
    "needs the hub",
    "takes minutes",
    "takes hours",
)
SHOWN = ("json", "text", "csv")  # languages of blocks that show what is in a file or on a screen
BLOCK = re.compile(
    r"(?:^<!-- not run: ([^\n]*) -->\n\n?)?^ *```(\w*)\n(.*?)^ *```$", re.MULTILINE | re.DOTALL
)
MARK = re.compile(r"<!--\s*not run")


class Block(NamedTuple):
    """A code block. unrun: the reason why tests do not run it, as the page's source gives it."""

    unrun: str
    language: str
    text: str

    @property
    def commands(self) -> list[str]:
        """Commands of a block without a language, one each."""
        lines = self.text.replace("\\\n", " ").splitlines() if not self.language else []
        return [" ".join(line.split()) for line in lines if line.strip()]


def write_example_paper(folder: Path) -> None:
    """Write the paper's folder of docs/howto/paper.md, with a lock that is still empty."""
    page = (ROOT / "docs/howto/paper.md").read_text(encoding="utf-8")
    files = dict(re.findall(r"`([\w./]+)`:\n\n```\w+\n(.*?)```", page, re.DOTALL))
    assert sorted(files) == ["claims.yaml", "paper.yaml", "printed/table1.csv"]
    (folder / "printed").mkdir(parents=True)
    for name, text in {**files, "claims.lock.yaml": "{}\n"}.items():
        (folder / name).write_text(text, encoding="utf-8")


def blocks(text: str) -> list[Block]:
    """Return the code blocks of a page."""
    return [Block(*found) for found in BLOCK.findall(text)]
