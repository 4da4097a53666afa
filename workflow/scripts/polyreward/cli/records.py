"""What made the results: checked, told, packed and unpacked."""

from pathlib import Path

import click

from polyreward.cli.shared import Listing
from polyreward.core.errors import PolyrewardError, raise_all


@click.command(
    cls=Listing,
    short_help="Check results against their checksums, or against a rebuild from nothing.",
    epilog="Example: polyreward verify results/tiny table1.csv --rebuild",
)
@click.argument("results", type=click.Path(path_type=Path, exists=True, file_okay=False))
@click.argument("artifacts", nargs=-1)
@click.option(
    "--rebuild",
    is_flag=True,
    help="Also make the artifacts again, in a temporary folder (TMPDIR), and compare.",
)
@click.option(
    "--configfile",
    multiple=True,
    metavar="FILE...",
    help=(
        "Overlays on config.yaml that RESULTS was made with; by default the file of workflow/scales/ that"
        " makes that folder."
    ),
)
@click.option("--cores", default="all", show_default=True, help="Of the rebuild.")
def verify(
    results: Path, artifacts: tuple[str, ...], rebuild: bool, configfile: tuple[str, ...], cores: str
) -> None:
    """Check that all below RESULTS is as it was made; ends with 1 and the names of what is not.

    Tables and figures against RESULTS/SHA256SUMS; scores, hidden states and models against the checksums that
    they carry. ARTIFACTS are names of files in RESULTS, to look at them alone. Run it in the project's
    folder."""
    from polyreward.artifacts.sums import artifact_files
    from polyreward.ops.verify import check_rebuild, check_sums, scale_of, told_sums

    told = told_sums(results) if (results / "SHA256SUMS").is_file() or not artifacts else {}
    names = artifact_files(results, artifacts) if artifacts else sorted(told)
    raise_all(
        (f"{name}: no such file in {results}; make it first" for name in artifacts if name not in names),
        "verify",
    )
    overlays = scale_of(results, Path.cwd(), configfile) if rebuild else []
    print(check_sums(results, {name: sha256 for name, sha256 in told.items() if name in names}))
    if rebuild:
        print(check_rebuild(results, names, Path.cwd(), overlays, cores))


@click.command(short_help="List what stands for models that could not be had, and why.")
@click.argument("results", type=click.Path(path_type=Path, exists=True, file_okay=False))
def unavailable(results: Path) -> None:
    """Print each file below RESULTS that holds a reason instead of scores or a model; a tab, then the reason.

    With `missing: row` a table shows these models as empty rows. `make again` makes the files again; ends with
    1 where there is none."""
    from polyreward.core.unavailable import unavailable_files

    found = unavailable_files(results)
    if not found:
        raise PolyrewardError(f"{results}: every model was there; nothing to ask for again")
    print("\n".join(f"{path}\t{reason}" for path, reason in found.items()))


@click.command(short_help="Print what made a table or figure, back to raw data.")
@click.argument("artifact", type=click.Path(path_type=Path))
@click.option("--json", "as_json", is_flag=True, help="As JSON, with whole hashes.")
def provenance(artifact: Path, as_json: bool) -> None:
    """Print what made ARTIFACT, such as results/table1.csv, and all that it was made of, back to raw data.

    Of each file its sha256, and the rule, code, settings, environment, seconds and inputs of the job that
    made it, as Snakemake recorded them; and what changed since. Run it in the project's folder."""
    import dataclasses
    import json

    from polyreward.ops.provenance import Records, chain_text

    root = Path.cwd()
    path = (
        artifact.relative_to(root) if artifact.is_absolute() and artifact.is_relative_to(root) else artifact
    )
    chain = Records(root).chain(path.as_posix())
    print(
        json.dumps([dataclasses.asdict(one) for one in chain], indent=1)
        if as_json
        else chain_text(chain, root)
    )


@click.command(short_help="Pack tables, figures, scores, analysis and provenance into one file.")
@click.argument("results", type=click.Path(path_type=Path, exists=True, file_okay=False))
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    default=Path("bundle.zip"),
    show_default=True,
    help="File to write.",
)
def bundle(results: Path, out: Path) -> None:
    """Pack what a reader needs to check the numbers of RESULTS, without weights; run it in the project's
    folder.

    RESULTS needs its SHA256SUMS, which `make` writes."""
    from polyreward.ops.bundle import pack
    from polyreward.ops.provenance import Records
    from polyreward.ops.verify import check_sums, told_sums

    root = Path.cwd()
    results = results.absolute().relative_to(root) if results.absolute().is_relative_to(root) else results
    told = told_sums(results)
    print(check_sums(results, told))
    print(f"{out}: sha256 of its manifest {pack(results, sorted(told), Records(root), out)}")


@click.command(
    cls=Listing,
    short_help="Check a bundle and unpack it; make its tables again from the scores.",
    epilog="Example: polyreward unbundle bundle.zip unpacked --rebuild",
)
@click.argument("file", type=click.Path(path_type=Path, exists=True, dir_okay=False))
@click.argument("folder", type=click.Path(path_type=Path))
@click.option(
    "--rebuild", is_flag=True, help="Also make the tables and figures again from the scores, and compare."
)
@click.option(
    "--configfile",
    multiple=True,
    metavar="FILE...",
    help=(
        "Overlays on config.yaml that the results were made with; "
        "by default the file of workflow/scales/ that makes their folder."
    ),
)
@click.option("--cores", default="all", show_default=True, help="Of the rebuild.")
def unbundle(file: Path, folder: Path, rebuild: bool, configfile: tuple[str, ...], cores: str) -> None:
    """Check that all in FILE is as it was packed and put it into FOLDER, which must not exist yet.

    Compare the sha256 of the manifest that it prints with the one that whoever packed it tells. With
    --rebuild, run it in the project's folder: no model is made or read, and no GPU is needed."""
    from polyreward.ops.bundle import unpack
    from polyreward.ops.rebuilt import rebuild as rebuilt

    print(f"{folder}: sha256 of its manifest {unpack(file, folder)}")
    if rebuild:
        print(rebuilt(folder, Path.cwd(), configfile, cores))
