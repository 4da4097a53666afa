"""The scale of a results folder, by the key `results` of config.yaml and of each file of workflow/scales/."""

import re
from collections.abc import Sequence
from pathlib import Path

from polyreward.core.errors import PolyrewardError, nearest
from polyreward.core.yaml_files import read_yaml

NO_RULE = re.compile(r"No rule to produce (\S+)")  # Snakemake's words
INSIDE = ("benchmarks", "compare", "logs", "notebooks", "work")  # folders of a scale's results


def scale_of(results: Path, root: Path) -> str | None:
    """Return the scale whose results folder a path ends with, such as night; None where none has it."""
    found = results.resolve().parts
    for scale, path in {"mini": root / "config.yaml", **_overlays(root)}.items():
        own = Path((read_yaml(path) or {}).get("results", "")).parts
        if own and found[-len(own) :] == own:
            return scale
    return None


def overlays_of(results: Path, root: Path, configfiles: Sequence[str] = ()) -> list[str]:
    """Return the overlays that a results folder is made with: those given, or those of its scale.

    An overlay x_y.yaml is on top of x.yaml if that exists, such as paper_vllm.yaml on paper.yaml. Raises
    PolyrewardError where the root is no project, or no scale has such a folder.
    """
    if not (root / "Snakefile").is_file():
        raise PolyrewardError(f"{root}: has no Snakefile; run this in the project's folder")
    if configfiles:
        paths = map(Path, configfiles)
        return [str(path.relative_to(root) if path.is_relative_to(root) else path) for path in paths]
    if (scale := scale_of(results, root)) is None:
        raise PolyrewardError(
            f"{results}: no scale has a folder of that name; add --configfile with the overlays that it was"
            " made with, such as workflow/scales/tiny.yaml"
        )
    return [
        str(path.relative_to(root))
        for name, path in _overlays(root).items()
        if f"{scale}_".startswith(f"{name}_")
    ]


def overlays_of_file(path: Path, root: Path) -> list[str]:
    """Return the overlays that a file of results is made with; raise where no scale has its folder."""
    folder = next((one for one in path.parents if scale_of(one, root)), path.parent)
    below = path.relative_to(folder).parts
    if len(below) == 1 or below[0] in INSIDE:
        return overlays_of(folder, root)
    scales = ", ".join(["mini", *_overlays(root)])
    raise PolyrewardError(
        f"{path}: no scale has the results folder {folder / below[0]}. Correct the path, or name your"
        f" overlay: snakemake --cores all {path} --configfile FILE. Scales: {scales}"
    )


def others_with(name: str, results: Path, root: Path) -> list[str]:
    """Return the results folders of other scales that have a file of a name, or pattern."""
    paths = [root / "config.yaml", *_overlays(root).values()]
    folders = [(read_yaml(path) or {}).get("results") for path in paths if path.is_file()]
    found = [one for one in dict.fromkeys(folders) if one and any((root / one).glob(name))]
    return [one for one in found if (root / one).resolve() != results.resolve()]


def nearest_artifact(words: str, root: Path) -> str:
    """Return Snakemake's words, where no rule makes a file with the artifact that has the nearest name."""
    registry, found = root / "workflow/artifacts.yaml", NO_RULE.search(words)
    if found is None or not registry.is_file():
        return words
    targets = []
    for entry in read_yaml(registry).values():
        tables = entry.get("tables", [""])  # tables of languages share an entry
        targets += [Path(entry["target"].format(table=table)) for table in tables]
    files = {file: target for target in targets for file in (f"{target.stem}.csv", target.name)}
    path = Path(found[1].rstrip(",;:"))
    near = nearest(path.name, files)
    meant = f"did you mean {path.parent / files[near].with_name(near)}? " if near else ""
    return f"{path}: no such result; {meant}workflow/artifacts.yaml has all tables and figures"


def _overlays(root: Path) -> dict[str, Path]:
    return {path.stem: path for path in sorted((root / "workflow/scales").glob("*.yaml"))}
