"""The folders of papers: what each is, and its claims."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from polyreward.core.errors import PolyrewardError, raise_all
from polyreward.core.yaml_files import read_yaml
from polyreward.settings.messages import Places, type_problems
from polyreward.settings.paper import FILES

PAPERS = "workflow/papers"


@dataclass(frozen=True)
class Paper:
    """A paper's folder.

    facts: paper.yaml. claims: claims.yaml, where each entry also has `paper`, the folder's name."""

    folder: Path
    facts: dict[str, Any]
    claims: dict[str, dict]

    @property
    def name(self) -> str:
        """The paper's name."""
        return self.facts["name"]

    @property
    def reference(self) -> str:
        """How readers find the paper: its number on arXiv, else its short name."""
        return f"arXiv {self.facts['arxiv']}" if self.facts.get("arxiv") else self.facts["short"]


def checks_of(facts: Mapping) -> dict[str, Any]:
    """Return `checks` of paper.yaml by their kinds; facts: that file."""
    return {kind: check for kind, check in (facts.get("checks") or {}).items() if check}


def checked_tables(facts: Mapping) -> list[str]:
    """Return the printed tables that `checks` of paper.yaml read; facts: that file."""
    found: list[str] = []
    for checks in checks_of(facts).values():
        for check in checks if isinstance(checks, list) else [checks]:
            named = [check[key] for key in ("table", "other", "sizes") if key in check]
            found += [*check.get("tables", []), *named]
    return list(dict.fromkeys(found))


def read_paper(folder: Path) -> Paper:
    """Read a paper's folder without its printed tables.

    Raises:
        PolyrewardError: a file is missing or does not fit its schema; all that is wrong with both files.
    """
    problems = [problem for file in ("paper.yaml", "claims.yaml") for problem in file_problems(folder / file)]
    raise_all(problems, str(folder))
    facts, claims = read_yaml(folder / "paper.yaml"), read_yaml(folder / "claims.yaml")
    named = {name: {**entry, "paper": facts["name"]} for name, entry in claims.items()}
    return Paper(folder, facts, named)


def read_papers(root: Path) -> dict[str, Paper]:
    """Return the papers of a checkout by name."""
    folders = sorted(path.parent for path in (root / PAPERS).glob("*/paper.yaml"))
    return {paper.name: paper for paper in map(read_paper, folders)}


def file_problems(path: Path) -> list[str]:
    """Return what keeps a file of a paper's folder from its class in settings/paper.py, with its lines."""
    try:
        data = read_yaml(path)
    except PolyrewardError as error:
        return [str(error)]
    places = Places([path])
    return [problem.placed(places) for problem in type_problems(FILES[path.name], data)]
