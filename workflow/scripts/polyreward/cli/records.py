"""What made the results: checked, printed, packed and unpacked."""

from collections.abc import Sequence
from pathlib import Path

import click

from polyreward.cli.shared import EXISTING_FILE, FOLDER, MADE_WITH, PATH, Listing
from polyreward.core.errors import PolyrewardError, raise_all

CORES = click.option("--cores", default="all", help="Cores for the rebuild.")


def _in_project(path: Path) -> Path:
    return path.relative_to(Path.cwd()) if path.is_absolute() and path.is_relative_to(Path.cwd()) else path


def _files_of(results: Path, artifacts: Sequence[str], command: str) -> list[str]:
    """Return the files of artifacts in all formats; raise where one is missing, with a folder that has it."""
    from polyreward.artifacts.sums import artifact_files
    from polyreward.ops.scales import others_with

    names, problems = artifact_files(results, artifacts), []
    for name in [name for name in artifacts if name not in names]:
        others = others_with(f"{name}*", results, Path.cwd())
        there = f", or name a folder that has it: RESULTS={others[0]}" if others else ""
        problems.append(f"{name}: no such file in {results}; make it first{there}")
    raise_all(problems, command)
    return names


@click.command(
    cls=Listing,
    short_help="Check results against their checksums, or against a rebuild from nothing.",
    epilog="Example: polyreward verify results/tiny table1.csv --rebuild",
)
@FOLDER
@click.argument("artifacts", nargs=-1)
@click.option("--rebuild", is_flag=True, help="Make the files again in a temporary folder, and compare.")
@MADE_WITH
@CORES
def verify(
    results: Path, artifacts: tuple[str, ...], rebuild: bool, configfile: tuple[str, ...], cores: str
) -> None:
    """Check by checksums that all files in RESULTS are as they were made. Run it in the project's folder.

    ARTIFACTS are files in RESULTS: of tables and figures, only these are checked. The exit status is 1 if a
    file has changed, or has no checksum."""
    from polyreward.ops.scales import overlays_of
    from polyreward.ops.verify import artifact_sums, check_rebuild, check_sums, not_covered

    sums = artifact_sums(results) if (results / "SHA256SUMS").is_file() or not artifacts else {}
    names = _files_of(results, artifacts, "verify") if artifacts else sorted(sums)
    made_with = overlays_of(results, Path.cwd(), configfile) if rebuild else []
    print(check_sums(results, {name: sha256 for name, sha256 in sums.items() if name in names}))
    if rebuild:
        print(check_rebuild(results, names, Path.cwd(), made_with, cores))
    else:
        raise_all(not_covered(results, names, sums), "verify")


@click.command("overlays", short_help="Print the overlays that a file of results is made with.")
@click.argument("file", type=PATH)
def overlays_of_results(file: Path) -> None:
    """Print Snakemake's option for the scale of FILE, such as results/night/table1.csv; nothing for mini.

    Run it in the project's folder, as `make` does."""
    from polyreward.ops.scales import overlays_of_file

    print(" ".join(["--configfile", *found] if (found := overlays_of_file(file, Path.cwd())) else []))


@click.command(short_help="List models that are unavailable, and why.")
@FOLDER
def unavailable(results: Path) -> None:
    """Print each file in RESULTS that holds a reason instead of scores or a model, and the reason.

    With `missing: row`, tables show these models as empty rows. `make again` retries them. The exit status is
    1 if there are none."""
    from polyreward.core.unavailable import unavailable_files

    found = unavailable_files(results)
    if not found:
        raise PolyrewardError(f"{results}: every model was there, so there is nothing to retry")
    print("\n".join(f"{path}\t{reason}" for path, reason in found.items()))


@click.command(short_help="Print what made a table or figure, back to raw data.")
@click.argument("artifact", type=PATH)
@click.option("--all", "whole", is_flag=True, help="List every file behind it instead of a summary.")
def provenance(artifact: Path, whole: bool) -> None:
    """Print what made ARTIFACT, such as results/table1.csv, and what has changed since.

    With --all, for each file back to raw data: its sha256, and the rule, code, seconds, log and inputs of its
    job. Run it in the project's folder."""
    from polyreward.ops.provenance import chain, chain_text, summary_text

    found = chain(Path.cwd(), [_in_project(artifact).as_posix()])
    print(chain_text(found, Path.cwd()) if whole else summary_text(found))


@click.command(short_help="Pack tables, figures, scores, analysis and provenance into one file.")
@FOLDER
@click.argument("artifacts", nargs=-1)
@click.option("--out", type=PATH, default=Path("bundle.zip"), help="File to write.")
def bundle(results: Path, artifacts: tuple[str, ...], out: Path) -> None:
    """Pack everything that a reader needs to check the numbers in RESULTS, without weights.

    ARTIFACTS are files in RESULTS: of tables and figures, only these are packed, with all scores. Without
    them, RESULTS needs its SHA256SUMS, which `make` writes. Run it in the project's folder."""
    from polyreward.ops.bundle import pack
    from polyreward.ops.provenance import chain
    from polyreward.ops.verify import artifact_sums, check_sums

    results = _in_project(results.absolute())
    sums = {} if artifacts else artifact_sums(results)
    names = _files_of(results, artifacts, "bundle") if artifacts else sorted(sums)
    print(check_sums(results, sums))
    made = chain(Path.cwd(), [(results / name).as_posix() for name in names])
    print(f"{out}: sha256 of its manifest {pack(results, names, made, out)}")


@click.command(
    cls=Listing,
    short_help="Check a bundle and unpack it; make its tables again from the scores.",
    epilog="Example: polyreward unbundle bundle.zip unpacked --rebuild",
)
@click.argument("file", type=EXISTING_FILE)
@click.argument("folder", type=PATH)
@click.option("--rebuild", is_flag=True, help="Make tables and figures again from the scores, and compare.")
@MADE_WITH
@CORES
def unbundle(file: Path, folder: Path, rebuild: bool, configfile: tuple[str, ...], cores: str) -> None:
    """Check the bundle FILE and unpack it into FOLDER, which must not exist yet.

    Compare the printed sha256 of the manifest with the publisher's. With --rebuild, run it in the project's
    folder: no model is made or read, and no GPU is needed."""
    from polyreward.ops import bundle

    print(f"{folder}: sha256 of its manifest {bundle.unpack(file, folder)}")
    if rebuild:
        print(bundle.rebuild(folder, Path.cwd(), configfile, cores))
