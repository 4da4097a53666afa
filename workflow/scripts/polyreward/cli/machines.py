"""What a run would take, and whether this machine, a cluster and the hub are ready for it."""

import os
from pathlib import Path

import click

from polyreward.cli.shared import (
    EXISTING_FILE,
    OF_SCALE,
    OVERLAYS,
    RESULTS,
    Listing,
    project_for_snakemake,
    scale_overlays,
)
from polyreward.core.project import ROOT


@click.command(
    cls=Listing,
    short_help="Print what a scale takes before it runs: jobs, tokens, measured hours, memory, keys, disk.",
    epilog="Example: polyreward plan results/paper",
)
@click.argument("targets", nargs=-1)
@OVERLAYS
@click.option(
    "--throughputs",
    type=EXISTING_FILE,
    help="File that gpu-check wrote of this scale; by default that in its results.",
)
def plan(targets: tuple[str, ...], configfile: tuple[str, ...], throughputs: Path | None) -> None:
    """Count a run's jobs and tokens before it runs, give measured hours, and name what is too large.

    TARGETS are what the jobs make, or a scale's results folder; by default all. Without --configfile, the
    first one's folder tells the scale, as for make."""
    from polyreward.ops.planning import plan_text
    from polyreward.ops.scales import overlays_of_file, scale_of

    whole = len(targets) == 1 and scale_of(Path(targets[0]), ROOT)
    files = [Path(target, "all") if whole else Path(target) for target in targets if whole or "/" in target]
    overlays = list(configfile) or (overlays_of_file(files[0], ROOT) if files else [])
    made = ["all"] if whole else list(targets) or ["all"]
    speeds = throughputs and throughputs.absolute()
    with project_for_snakemake(overlays) as (overlays, root, below):
        print(plan_text(made, overlays, root, speeds, below))


@click.command(
    cls=Listing,
    short_help="Print what each scorer of a scale is, and which tables read its scores.",
    epilog="Example: polyreward sheet results/gpu",
)
@click.argument("scorers", nargs=-1)
@click.option("--scores", is_flag=True, help="Print the score files instead, and the table that reads each.")
@click.option("--csv", is_flag=True, help="Print CSV with all columns instead of a table to read.")
@OVERLAYS
def sheet(scorers: tuple[str, ...], scores: bool, csv: bool, configfile: tuple[str, ...]) -> None:
    """Print the sheet of scorers: kind, base, training language, seed, how ties count, benchmarks and tables.

    SCORERS are names or parts of names; by default all. A results folder before them, such as results/gpu,
    tells the scale. A run writes the sheet to <results>/work/scorers.csv."""
    from polyreward.ops.scales import scale_of
    from polyreward.sheet.entries import read_models
    from polyreward.sheet.scorers import sheet_text

    names = list(scorers)
    results = Path(names.pop(0)) if names and scale_of(Path(names[0]), ROOT) else None
    print(sheet_text(read_models(scale_overlays(results, configfile), ROOT), names, scores, csv))


@click.command(short_help="Print what each rule's jobs took: seconds and memory.")
@RESULTS
def costs(results: Path) -> None:
    """Print each rule's seconds, memory and requested memory, and how many jobs took more than that.

    RESULTS is a scale's results folder, such as results/tiny; by default results."""
    from polyreward.core.tables import as_markdown
    from polyreward.ops.costs import job_costs, jobs_run

    print(as_markdown(job_costs(jobs_run(results / "benchmarks")), floatfmt=".1f"))


@click.command(
    "gpu-check",
    cls=Listing,
    short_help="Run a scale's own jobs, small, on this machine's GPU, and measure them.",
    epilog="Example: polyreward gpu-check --configfile workflow/scales/gpu.yaml",
)
@OVERLAYS
@click.option(
    "--device",
    type=click.Choice(["cuda", "cpu"]),
    default="cuda",
    help="Device to try; on cpu, settings that only a card can run are off.",
)
def gpu_check(configfile: tuple[str, ...], device: str) -> None:
    """Train, score and write with each model of a scale, at its real size with random weights.

    It needs no data and no network, prints each result when it is known, and writes the speeds to
    <results>/throughputs.json, from which `polyreward plan` takes its hours. The exit status is 1 if a job
    fails."""
    if device == "cpu":
        os.environ["CUDA_VISIBLE_DEVICES"] = ""  # before torch is imported, which looks for devices then
    from polyreward.gpu_check.check import check_scale

    with project_for_snakemake(configfile) as (overlays, root, below):
        check_scale(overlays, root, device, below)


@click.command(
    "hub-check",
    cls=Listing,
    short_help="Check what a scale fetches from the hub: access, models' heads, datasets' columns.",
    epilog="Example: polyreward hub-check results/paper --data",
)
@OF_SCALE
@OVERLAYS
@click.option("--data", is_flag=True, help="Also fetch the datasets and read their columns.")
def hub_check(results: Path | None, configfile: tuple[str, ...], data: bool) -> None:
    """Find everything that the hub would refuse, before a long run.

    It fetches small files only, no weights. RESULTS is a scale's results folder, which need not exist, such
    as results/paper."""
    from polyreward.ops.hub_check import check_hub

    print(
        "\n".join(check_hub(scale_overlays(results, configfile), ROOT, data))
        or "This scale fetches nothing from the hub"
    )
