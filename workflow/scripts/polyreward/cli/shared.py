"""What several commands share: the folders they work in, and how an option is given."""

import contextlib
import os
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

import click

from polyreward.core.errors import raise_all
from polyreward.core.project import IN_CHECKOUT, ROOT

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


@contextlib.contextmanager
def project_for_snakemake(configfile: Sequence[str]) -> Iterator[tuple[list[str], Path, Path]]:
    """Yield a scale's overlays, the project's folder for a dry run, and the folder that results are below.

    Without a checkout the project is a temporary folder, which becomes the current one. It has links to the
    wheel's files, and to all else of the folder that was current, as paths in overlays may lead there.

    Raises:
        PolyrewardError: overlays that neither that folder nor the wheel has.
    """
    if IN_CHECKOUT:
        yield list(configfile), ROOT, ROOT
        return
    here, overlays = Path.cwd(), [os.path.abspath(one) if Path(one).is_file() else one for one in configfile]
    scales = ", ".join(str(path.relative_to(ROOT)) for path in sorted(ROOT.glob("workflow/scales/*")))
    missing = (one for one in overlays if not (ROOT / one).is_file())
    raise_all((f"{one}: no such file, and polyreward's are {scales}" for one in missing), "--configfile")
    with tempfile.TemporaryDirectory(prefix="polyreward-") as folder, contextlib.chdir(folder):
        for path in (*ROOT.iterdir(), *here.iterdir()):
            if not path.name.startswith(".") and not os.path.lexists(path.name):
                os.symlink(path, path.name)
        yield overlays, Path.cwd(), here


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
