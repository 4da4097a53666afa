"""Time the dry run of every scale, and of a simulated one of many languages and bases: how does the workflow
itself grow?

Beside each, Snakemake alone: a workflow of as many rules and jobs with nothing in it. Then `make
results/table1.csv` where nothing is to be done."""

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pandas as pd
import yaml
from babel.localedata import locale_identifiers

ROOT = Path(__file__).parents[1]
SNAKEMAKE = [sys.executable, "-m", "snakemake"]
RULE = re.compile(r"^ *(?:rule|use rule \w+ as) (\w+)", re.MULTILINE)
SCALES = {"tiny": ["workflow/scales/tiny.yaml"], "mini": [], "paper": ["workflow/scales/paper.yaml"]}
NOTHING = "make results/table1.csv"
CAPTION = """Scales: `snakemake -n --forceall all`, from nothing. Seconds: on the clock; processor seconds tell more where other
work runs beside it. Alone: processor seconds of Snakemake with as many rules and jobs, each of one file and with one file to
read. Peak: the largest resident set, no less than this program's own. The simulated scale has {languages} languages and {bases}
bases. `make results/table1.csv` is of scale mini, where empty files stand for all that it makes and nothing is to be done."""


def main() -> None:
    """Print one table."""
    known = [*SCALES, "simulated", "make"]
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.ArgumentDefaultsHelpFormatter
    )
    parser.add_argument(
        "--languages", type=int, default=50, help="of the simulated scale, the source language too"
    )
    parser.add_argument("--bases", type=int, default=20, help="of the simulated scale")
    parser.add_argument(
        "--rounds", type=int, default=1, help="each is timed so often; the least processor seconds count"
    )
    parser.add_argument("--only", nargs="+", default=known, choices=known, help="what to time")
    options = parser.parse_args()
    rows = [dry_run(name, ROOT, SCALES[name], options.rounds) for name in SCALES if name in options.only]
    with tempfile.TemporaryDirectory() as folder:
        if "simulated" in options.only:
            project = copied(Path(folder) / "simulated")
            overlay = simulated(project, options.languages, options.bases)
            rows.append(dry_run("simulated", project, [overlay], options.rounds))
        if "make" in options.only:
            rows.append(nothing_to_do(copied(Path(folder) / "made"), options.rounds))
    table = pd.DataFrame(rows).astype(object)
    print(table.where(table.notna(), None).to_markdown(index=False, floatfmt=".1f", missingval=""))
    print("\n" + CAPTION.format(languages=options.languages, bases=options.bases))


def dry_run(scale: str, project: Path, configfiles: list[str], rounds: int) -> dict:
    """Return a row of the table: jobs, seconds, processor seconds, those of Snakemake alone, and peak memory
    (MiB)."""
    planned = [*SNAKEMAKE, "-n", "--forceall", "--quiet", "rules", "--cores", "1", "all"]
    with_scale = [*planned, *(["--configfile", *configfiles] if configfiles else [])]
    found, text = timed(with_scale, project, rounds)
    jobs = {rule: int(count) for rule, count in re.findall(r"^(\w+) +(\d+)$", text, re.MULTILINE)}
    total = jobs.pop("total")
    with tempfile.TemporaryDirectory() as folder:
        empty(Path(folder), jobs)
        alone, _ = timed(planned, Path(folder), rounds)
    return {"what": scale, "jobs": total, **found, "alone": alone["processor seconds"]}


def nothing_to_do(project: Path, rounds: int) -> dict:
    """Return a row of the table: a target whose files are all there and up to date."""
    for name in ("Makefile", "pyproject.toml", "requirements.lock"):
        shutil.copy2(ROOT / name, project / name)
    (project / ".venv").symlink_to(ROOT / ".venv")
    for name in ("pyproject.toml", "requirements.lock"):
        os.utime(project / name, (0, 0))  # older than the environment, so that it is not made again
    target = "results/table1.csv"
    summary = subprocess.run(
        [*SNAKEMAKE, "--summary", target], cwd=project, check=True, capture_output=True, text=True
    ).stdout
    for file in (project / line.split("\t")[0] for line in summary.splitlines()[1:]):
        if file.parent.name in ("models", "4_models"):
            file.mkdir(parents=True)
        else:
            file.parent.mkdir(parents=True, exist_ok=True)
            file.touch()
    exempt = project / "results/provenance.json"  # of a bundle, whose files need no records of Snakemake's
    exempt.touch()
    subprocess.run(
        [*SNAKEMAKE, "--touch", "--forceall", "--cores", "1", target],
        cwd=project,
        check=True,
        capture_output=True,
    )
    exempt.unlink()
    found, text = timed(["make", target], project, rounds)
    if "Nothing to be done" not in text:
        sys.exit(f"{NOTHING} did something:\n{text[-2000:]}")
    return {"what": NOTHING, "jobs": 0, **found}


def timed(command: list[str], folder: Path, rounds: int) -> tuple[dict[str, float], str]:
    """Run a command several times; return its least seconds, processor seconds and peak memory (MiB), and
    what it printed."""
    runs, text = [], ""
    for _ in range(rounds):
        with tempfile.TemporaryFile("w+") as printed:
            start = time.perf_counter()
            process = subprocess.Popen(command, cwd=folder, stdout=printed, stderr=subprocess.STDOUT)
            _, status, used = os.wait4(process.pid, 0)
            runs.append((used.ru_utime + used.ru_stime, time.perf_counter() - start, used.ru_maxrss / 1024))
            printed.seek(0)
            text = printed.read()
        if status:
            sys.exit(f"{' '.join(command)} fails:\n{text[-2000:]}")
    processor, seconds, peak = map(min, zip(*runs, strict=True))
    return {"seconds": seconds, "processor seconds": processor, "peak MiB": peak}, text


def empty(folder: Path, jobs: dict[str, int]) -> None:
    """Write a workflow of as many rules as ours, and of each as many jobs, that reads nothing and does
    nothing.

    jobs: {rule: how many}; the rules that a scale does not use have none."""
    rules = [
        name
        for file in (ROOT / "workflow/rules").glob("*.smk")
        for name in RULE.findall(file.read_text(encoding="utf-8"))
    ]
    asked = [f"{rule}/{number}" for rule, count in jobs.items() if rule != "all" for number in range(count)]
    lines = ["rule all:", f"    input: {asked!r}"]
    before, count_before = None, 1
    for rule in [*(rule for rule in jobs if rule != "all"), *(rule for rule in rules if rule not in jobs)]:
        lines.append(f"rule {rule}:")
        if before:
            lines.append(
                f"    input: lambda wildcards: f'{before}/{{int(wildcards.number) % {count_before}}}'"
            )
        lines += [f"    output: '{rule}/{{number}}'", "    shell: 'true'"]
        if rule in jobs:
            before, count_before = rule, jobs[rule]
    (folder / "Snakefile").write_text("\n".join(lines) + "\n", encoding="utf-8")


def copied(project: Path) -> Path:
    """Copy what a dry run reads, since a simulated scale needs models of its own in the catalog."""
    for name in ("Snakefile", "config.yaml"):
        project.mkdir(exist_ok=True)
        shutil.copy(ROOT / name, project / name)
    for name in ("workflow", "resources", "envs"):
        shutil.copytree(ROOT / name, project / name, ignore=shutil.ignore_patterns("__pycache__"))
    return project


def simulated(project: Path, languages: int, bases: int) -> str:
    """Write a scale of so many languages and bases, with models of those names in the catalog; return its
    overlay."""
    file = project / "resources/languages.yaml"
    known = yaml.safe_load(file.read_text(encoding="utf-8"))
    codes = [code for code in locale_identifiers() if code.isalpha() and len(code) <= 3]
    file.write_text(yaml.safe_dump({**dict.fromkeys(codes, known["es"]), **known}), encoding="utf-8")
    targets = list(dict.fromkeys([*known, *codes]))
    targets.remove("en")
    targets = targets[: languages - 1]
    names = [f"simulated-{number}" for number in range(1, bases + 1)]
    catalog = project / "workflow/catalog/models.yaml"
    models = yaml.safe_load(catalog.read_text(encoding="utf-8"))
    catalog.write_text(
        yaml.safe_dump({**models, **dict.fromkeys(names, models["qwen2.5-3b-instruct"])}), encoding="utf-8"
    )
    overlay = {
        "results": "results/simulated",
        "bases": names,
        "figure2_models": None,
        "target_languages": targets,
        "gate": {"base": names[0]},
        "alignment": {"reward_base": names[0], "languages": targets},
        "translation": {
            "engine": "one",
            "quality_engines": ["one"],
            "engines": {"one": {**ENGINE, "model": names[0]}},
        },
    }
    (project / "simulated.yaml").write_text(yaml.safe_dump(overlay), encoding="utf-8")
    return "simulated.yaml"


ENGINE = {
    "kind": "lm",
    "unit": "text",
    "prompt": "{text}",
    "batch_size": 1,
    "max_new_tokens": 1,
    "chat": False,
}


if __name__ == "__main__":
    main()
