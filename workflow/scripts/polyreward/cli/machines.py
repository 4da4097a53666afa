"""What a run would take, and whether this machine, a cluster and the hub are ready for it."""

import os
from pathlib import Path

import click

from polyreward.cli.shared import EXISTING_FILE, EXISTING_FOLDER, OVERLAYS, PATH, ROOT, Listing


@click.command(
    cls=Listing,
    short_help="Print what a scale takes before it runs: jobs, hours, memory, keys, disk.",
    epilog="Example: polyreward plan --configfile workflow/scales/paper.yaml",
)
@click.argument("targets", nargs=-1)
@OVERLAYS
@click.option("--gpu-gib", type=float, help="Memory of each GPU in GiB; by default devices.gpu_gib.")
@click.option(
    "--times",
    type=EXISTING_FOLDER,
    help="Results of the run whose times count; by default the scale's own.",
)
@click.option(
    "--throughputs",
    type=EXISTING_FILE,
    help="File that gpu-check wrote; hours are then estimated by its speeds.",
)
def plan(
    targets: tuple[str, ...],
    configfile: tuple[str, ...],
    gpu_gib: float | None,
    times: Path | None,
    throughputs: Path | None,
) -> None:
    """Estimate hours, memory and disk of a run from nothing, and name models that do not fit.

    TARGETS are what the jobs make, by default all."""
    from polyreward.ops.planning import plan_text

    print(plan_text(list(targets) or ["all"], list(configfile), ROOT, gpu_gib, times, throughputs))


@click.command()
@click.argument("results", default="results", type=PATH)
def costs(results: Path) -> None:
    """Print each rule's seconds, memory and requested memory.

    RESULTS is a scale's results folder, such as results/tiny; by default results."""
    from polyreward.core.tables import as_markdown
    from polyreward.ops.costs import job_costs, jobs_run, too_little_asked

    jobs = jobs_run(results / "benchmarks")
    print(as_markdown(job_costs(jobs), floatfmt=".1f"))
    if over := too_little_asked(jobs):
        print(f"\n{over}")


@click.command("gpu-check", short_help="Try training, scoring and generation on this machine's GPU.")
@click.option(
    "--device",
    type=click.Choice(["cuda", "cpu"]),
    default="cuda",
    help="Device to check; cpu is a rehearsal in miniature.",
)
@click.option(
    "--out",
    type=click.Path(path_type=Path, dir_okay=False),
    default="throughputs.json",
    help="The file of throughputs to write.",
)
def gpu_check(device: str, out: Path) -> None:
    """Train, score and generate with a small random model on the CUDA device, and compare with the CPU.

    It takes a few minutes. It shows whether the device can be trusted with long jobs, and how fast it is. The
    exit status is 1 if a check fails."""
    if device == "cpu":
        os.environ["CUDA_VISIBLE_DEVICES"] = ""  # before torch is imported, which looks for devices then
    from polyreward.ops.gpu_check import check_device

    check_device(device, out)


@click.command(
    "hub-check",
    cls=Listing,
    short_help="Check what a scale fetches from the hub: access, models' heads, datasets' columns.",
    epilog="Example: polyreward hub-check --configfile workflow/scales/paper.yaml --data",
)
@OVERLAYS
@click.option("--data", is_flag=True, help="Also fetch the datasets and read their columns.")
def hub_check(configfile: tuple[str, ...], data: bool) -> None:
    """Find everything that the hub would refuse, before a long run.

    It fetches small files only, no weights."""
    from polyreward.ops.hub_check import check_hub

    print("\n".join(check_hub(configfile, ROOT, data)) or "This scale fetches nothing from the hub")
