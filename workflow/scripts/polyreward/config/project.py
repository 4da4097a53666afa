"""Where the project's own files are, also where another workflow uses this one as a module."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

OWN = ("resources/", "workflow/")  # how paths begin that the project's settings and catalogs name


@dataclass(frozen=True)
class Project:
    """A checkout. root: its folder."""

    root: Path

    @property
    def runs_here(self) -> bool:
        """Whether Snakemake runs in the checkout."""
        return Path.cwd() == self.root.resolve()

    def file(self, path: str) -> str:
        """Return a path of the project as jobs have it.

        In the checkout it is as it was written, so that no result says where the checkout is."""
        return path if self.runs_here else str(self.root / path)

    def found(self, settings: Any) -> Any:
        """Return settings whose paths lead to the project; a file of that name here counts first."""
        if self.runs_here:
            return settings
        if isinstance(settings, dict):
            return {key: self.found(value) for key, value in settings.items()}
        if isinstance(settings, list):
            return [self.found(value) for value in settings]
        is_own = isinstance(settings, str) and settings.startswith(OWN) and not Path(settings).exists()
        return self.file(settings) if is_own and (self.root / settings).exists() else settings
