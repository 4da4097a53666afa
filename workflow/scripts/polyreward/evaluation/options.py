"""What `polyreward score` is asked for, checked before PyTorch is imported and pairs are read."""

import dataclasses
from collections.abc import Iterator, Sequence
from pathlib import Path, PurePath

from polyreward.core.errors import raise_all, unknown, unknown_name
from polyreward.core.inert import printable
from polyreward.core.kinds import REWARD_KINDS
from polyreward.scoring.families import source_problems

SUFFIXES = (".parquet", ".csv")
NO_FOLDER = "{}: there is no such folder here, so it is taken for the hub's"


@dataclasses.dataclass(frozen=True)
class Asked:
    """What is scored.

    Attributes:
        names: {model: its name}.
        files: {file of pairs: its name}.
        folder: the folder that scores are written to, if it is one.
        against: the name of the model that others are compared with.
        sources: problems of the models' folders.
    """

    names: dict[str, str]
    files: dict[str, str]
    folder: Path | None
    against: str | None
    sources: list[str]


def checked(
    models: Sequence[str],
    data: Sequence[str],
    out: str | Path | None,
    *,
    against: str | None,
    limit: int | None,
    kind: str,
    reference: str | None,
    beta: float,
    revision: str | None,
    max_length: int,
    token_budget: int,
    **others: object,
) -> Asked:
    """Return what is scored; the arguments are score_models', of which `others` need no check.

    Raises:
        PolyrewardError: an option is wrong. Models and files of pairs that do not exist are named with it.
    """
    folder = Path(out) if out is not None and (Path(out).is_dir() or not Path(out).suffix) else None
    problems = [*_named_wrong(models, "model"), *_named_wrong(data, "file of pairs")]
    problems += unknown("--kind", [kind], REWARD_KINDS, "core/kinds.py")
    if reference and kind != "implicit":
        problems.append(f"--reference: a {kind} has none; add --kind implicit")
    if revision and len(models) > 1:
        problems.append("--revision: is one model's commit; score each hub id by itself, into one folder")
    counts = {"--limit": limit, "--max-length": max_length, "--token-budget": token_budget}
    problems += [
        f"{name}: {given} is less than one; give 1 or more"
        for name, given in counts.items()
        if given is not None and given < 1
    ]
    if not beta > 0:
        problems.append(f"--beta: {beta} is not above 0; give a positive number, such as 0.1")
    if folder and folder.exists() and not folder.is_dir():
        problems.append(f"--out: {out}: is a file without a known suffix; name a folder or another file")
    if out is not None and folder is None and Path(out).suffix.lower() not in SUFFIXES:
        known = f"use {', '.join(SUFFIXES)}, or name a folder"
        problems.append(f"--out: {out}: `{Path(out).suffix}` is no format that is written here; {known}")
    sources = [problem for one in (*models, reference) if one for problem in source_problems(one)]
    names, files = short_names(models, with_suffix=True), short_names(data, with_suffix=False)
    if against is not None:
        against = names.get(against, against)
        if against not in names.values():
            problems.append(f"--against: {unknown_name(against, list(names.values()), 'this run')}")
        if len(models) == 1:
            problems.append("--against: there is only one model; add one with --model")
    if problems:
        absent = [f"{path}: no such file; correct the path" for path in files if not Path(path).exists()]
        raise_all([*problems, *sources, *absent], "score")
    return Asked(names, files, folder, against, sources)


def _named_wrong(sources: Sequence[str], what: str) -> Iterator[str]:
    if not sources:
        yield f"no {what} is named; name one or more"
    paths = [PurePath(source) for source in sources]
    for path in dict.fromkeys(paths):
        if paths.count(path) > 1:
            yield f"{path}: is named {paths.count(path)} times; name each {what} once"


def short_names(sources: Sequence[str], with_suffix: bool) -> dict[str, str]:
    """Return {source: its name}: the last part of its path, or as many as differ, joined by `--`.

    Without `with_suffix`, suffixes are left out where names differ without them.
    """
    stems = [_named_path(source).stem for source in sources]
    if not with_suffix and len(set(stems)) == len(stems):
        return dict(zip(sources, stems, strict=True))
    paths = [_named_path(source) for source in sources]
    parts = [[part for part in path.parts if part != path.anchor] for path in paths]
    count = 1
    while len({tuple(found[-count:]) for found in parts}) < len(parts) and count < max(map(len, parts)):
        count += 1
    return {source: "--".join(found[-count:]) for source, found in zip(sources, parts, strict=True)}


def _named_path(source: str) -> PurePath:
    path = PurePath(source)
    named = path if path.name not in ("", "..") else PurePath(Path(source).resolve())  # such as `.`
    return PurePath(printable(str(named)))  # in a locale without UTF-8, names have halves of characters
