"""Checksums of a scale's artifacts."""

from collections.abc import Iterable
from pathlib import Path

from polyreward.core.files import sha256_of, write_text
from polyreward.core.seals import sums_text

FORMATS = (".csv", ".html", ".ipynb", ".md", ".pdf", ".png", ".tex")  # that an artifact may have


def artifact_files(results: Path, targets: Iterable[str]) -> list[str]:
    """Return the files of artifacts in all formats, sorted; targets: one file of each. All relative to
    results."""
    found = (path for name in targets for path in (results / name).parent.glob(f"{Path(name).stem}.*"))
    return sorted({path.relative_to(results).as_posix() for path in found if path.suffix in FORMATS})


def write_sums(results: Path, targets: Iterable[str], path: str | Path) -> None:
    """Write the SHA-256 of all artifact files, for `sha256sum --check`."""
    write_text(
        sums_text({name: sha256_of(results / name) for name in artifact_files(results, targets)}), path
    )
