"""Short names of models and files of pairs, for tables and file names."""

from collections.abc import Iterator, Sequence
from pathlib import PurePath


def short_names(sources: Sequence[str], with_suffix: bool) -> dict[str, str]:
    """Return {source: its name}: the last part of its path, or as many as tell the sources apart, joined by
    `--`.

    with_suffix: a suffix is part of the name, as of a model's folder; else it is left out where names differ
    without."""
    if not with_suffix:
        stems = [PurePath(source).stem for source in sources]
        if len(set(stems)) == len(stems):
            return dict(zip(sources, stems, strict=True))
    parts = [
        [part for part in PurePath(source).parts if part != PurePath(source).anchor] for source in sources
    ]
    count = 1
    while len({tuple(found[-count:]) for found in parts}) < len(parts) and count < max(map(len, parts)):
        count += 1
    return {source: "--".join(found[-count:]) for source, found in zip(sources, parts, strict=True)}


def twice(sources: Sequence[str], what: str) -> Iterator[str]:
    """Yield a problem for each path that is named more than once."""
    paths = [PurePath(source) for source in sources]
    for number, path in enumerate(paths):
        if paths.index(path) == number and paths.count(path) > 1:
            yield f"{path}: is named {paths.count(path)} times; name each {what} once"
