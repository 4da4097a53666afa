"""What several commands share: the folders they work in, and how an option is given."""

from collections.abc import Sequence
from pathlib import Path

import click

from polyreward.core.project import ROOT

PATH = click.Path(path_type=Path)
EXISTING_FILE = click.Path(path_type=Path, exists=True, dir_okay=False)
EXISTING_FOLDER = click.Path(path_type=Path, exists=True, file_okay=False)
# A scale is named by its results folder, or by overlays, as for Snakemake.
FOLDER = click.argument("results", type=EXISTING_FOLDER)
RESULTS = click.argument("results", type=PATH, default="results")
OF_SCALE = click.argument("results", type=PATH, required=False)


def overlays(text: str):
    """Return the option --configfile of a Listing with a text of its own."""
    return click.option("--configfile", multiple=True, metavar="FILE...", help=text)


MADE_WITH = overlays("Overlays that the results were made with; by default found by their folder.")
OVERLAYS = overlays("Overlays on config.yaml; none for scale mini.")


def scale_overlays(results: Path | None, configfile: Sequence[str], root: Path = ROOT) -> list[str]:
    """Return a scale's overlays: those given, else those of its results folder; none for scale mini."""
    from polyreward.ops.scales import overlays_of

    return overlays_of(results, root, configfile) if results else list(configfile)


def checkout() -> Path:
    """Return the checkout that the current folder is in, else the one that this package is in."""
    here = Path.cwd()
    return next(
        (folder for folder in (here, *here.parents) if (folder / "workflow/artifacts.yaml").is_file()), ROOT
    )


class Listing(click.Command):
    """A command whose option --configfile takes all words up to the next option, like Snakemake's."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Repeat the option before each of its words, as click has it."""
        spread: list[str] = []
        for word in args:
            goes_on = spread[-2:-1] == ["--configfile"] and not word.startswith("-")
            spread += ["--configfile", word] if goes_on else [word]
        return super().parse_args(ctx, spread)
