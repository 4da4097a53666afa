"""A results folder: its scale, its files, and the command that makes each."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from polyreward.core.errors import PolyrewardError
from polyreward.core.yaml_files import read_yaml
from polyreward.ops.scales import overlays_of, scale_of
from polyreward.sheet.entries import read_models
from polyreward.sheet.papers import read_papers
from polyreward.sheet.registry import OWN, Registry, registry_of


@dataclass(frozen=True)
class Results:
    """A results folder and its scale's registry.

    languages: names, the source's first. configfiles: overlays. by_make: whether make finds them by the
    folder. about: the scale in one sentence. shorts: {paper: how tables call it}.
    """

    folder: Path
    registry: Registry
    languages: list[str]
    configfiles: list[str]
    by_make: bool
    about: str
    shorts: dict[str, str]

    @property
    def targets(self) -> dict[str, str]:
        """{artifact: its target below the folder} in the registry's order, the user's own benchmarks last."""
        own = {f"{OWN}{name}": f"{OWN}{name}.csv" for name in self.registry.settings.own_benchmarks}
        return {name: entry["target"] for name, entry in self.registry.made_here.items()} | own

    def command(self, *files: str) -> str:
        """Return the command that makes only these files and what they need."""
        paths = " ".join(f"{self.registry.settings.results}/{file}" for file in files)
        if self.by_make:
            return f"make {paths}"
        return f"snakemake --cores all {paths}{self._overlays}"

    @property
    def command_of_all(self) -> str:
        """Command that makes the whole scale."""
        return f"snakemake --cores all all{self._overlays}" if self._overlays else "make"

    @property
    def _overlays(self) -> str:
        return f" --configfile {' '.join(self.configfiles)}" if self.configfiles else ""


def read_results(folder: Path, configfiles: Sequence[str], root: Path) -> Results:
    """Return a results folder with its scale's registry; without configfiles, the folder's path tells the
    scale."""
    if not folder.is_dir():
        raise PolyrewardError(
            f"{folder}: no such folder; name a scale's results, such as results or results/tiny"
        )
    return results_of(folder, overlays_of(folder, root, configfiles), root)


def results_of(folder: Path, configfiles: Sequence[str], root: Path) -> Results:
    """Return the results of a scale, whether they exist or not."""
    models = read_models(configfiles, root)
    registry = registry_of(models.settings, models.catalog, read_yaml(root / "workflow/artifacts.yaml"))
    about = about_scale([root / path for path in ("config.yaml", *configfiles)])
    own = Path(models.settings.results)
    by_make = scale_of(own, root) is not None and overlays_of(own, root) == list(configfiles)
    languages = list(models.catalog.facts("name", models.settings.languages).values())
    shorts = {name: paper.facts["short"] for name, paper in read_papers(root).items()}
    return Results(folder, registry, languages, list(configfiles), by_make, about, shorts)


def about_scale(paths: Sequence[Path]) -> str:
    """Return the last line of settings files that starts with "# Scale", and the names of later files."""
    said, on_top = "", []
    for path in paths:
        lines = [line for line in path.read_text(encoding="utf-8").splitlines() if line.startswith("# Scale")]
        said, on_top = (lines[0].removeprefix("# "), []) if lines else (said, [*on_top, path.name])
    return f"{said} On top of it: {', '.join(on_top)}." if on_top else said
