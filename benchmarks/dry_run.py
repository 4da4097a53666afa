"""Time the dry run of every scale, and of a simulated one of many languages and bases: how does the workflow itself grow?"""

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
SCALES = {"tiny": ["workflow/scales/tiny.yaml"], "mini": [], "paper": ["workflow/scales/paper.yaml"]}
CAPTION = """`snakemake -n --forceall all`, from nothing. Seconds: on the clock; processor seconds tell more where other work
runs beside it. Peak: the largest resident set, no less than this program's own. The simulated scale has {languages} languages
and {bases} bases."""


def main() -> None:
    """Print one table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.ArgumentDefaultsHelpFormatter)
    parser.add_argument("--languages", type=int, default=50, help="of the simulated scale, the source language too")
    parser.add_argument("--bases", type=int, default=20, help="of the simulated scale")
    parser.add_argument(
        "--only", nargs="+", default=[*SCALES, "simulated"], choices=[*SCALES, "simulated"], help="scales to time"
    )
    options = parser.parse_args()
    rows = [dry_run(name, ROOT, SCALES[name]) for name in SCALES if name in options.only]
    if "simulated" in options.only:
        with tempfile.TemporaryDirectory() as folder:
            project = copied(Path(folder) / "project")
            rows.append(dry_run("simulated", project, [simulated(project, options.languages, options.bases)]))
    print(pd.DataFrame(rows).to_markdown(index=False, floatfmt=".1f"))
    print("\n" + CAPTION.format(languages=options.languages, bases=options.bases))


def dry_run(scale: str, project: Path, configfiles: list[str]) -> dict:
    """Return a row of the table: jobs, seconds, processor seconds and peak memory (MiB) of one dry run."""
    command = [sys.executable, "-m", "snakemake", "-n", "--forceall", "--quiet", "rules", "--cores", "1", "all"]
    with tempfile.TemporaryFile("w+") as printed:
        start = time.perf_counter()
        process = subprocess.Popen(
            [*command, *(["--configfile", *configfiles] if configfiles else [])],
            cwd=project,
            stdout=printed,
            stderr=subprocess.STDOUT,
        )
        _, status, used = os.wait4(process.pid, 0)
        seconds = time.perf_counter() - start
        printed.seek(0)
        text = printed.read()
    if status:
        sys.exit(f"{scale} does not resolve:\n{text[-2000:]}")
    jobs = int(re.findall(r"^total +(\d+)$", text, re.MULTILINE)[-1])
    peak = used.ru_maxrss / 1024
    return {
        "scale": scale,
        "jobs": jobs,
        "seconds": seconds,
        "processor seconds": used.ru_utime + used.ru_stime,
        "peak MiB": peak,
    }


def copied(project: Path) -> Path:
    """Copy what a dry run reads, since a simulated scale needs models of its own in the catalog."""
    for name in ("Snakefile", "config.yaml"):
        project.mkdir(exist_ok=True)
        shutil.copy(ROOT / name, project / name)
    for name in ("workflow", "resources", "envs"):
        shutil.copytree(ROOT / name, project / name, ignore=shutil.ignore_patterns("__pycache__"))
    return project


def simulated(project: Path, languages: int, bases: int) -> str:
    """Write a scale of so many languages and bases, with models of those names in the catalog; return its overlay."""
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
    catalog.write_text(yaml.safe_dump({**models, **dict.fromkeys(names, models["qwen2.5-3b-instruct"])}), encoding="utf-8")
    overlay = {
        "results": "results/simulated",
        "bases": names,
        "figure2_models": None,
        "target_languages": targets,
        "gate": {"base": names[0]},
        "alignment": {"reward_base": names[0], "languages": targets},
        "translation": {"engine": "one", "quality_engines": ["one"], "engines": {"one": {**ENGINE, "model": names[0]}}},
    }
    (project / "simulated.yaml").write_text(yaml.safe_dump(overlay), encoding="utf-8")
    return "simulated.yaml"


ENGINE = {"kind": "lm", "prompt": "{text}", "batch_size": 1, "max_new_tokens": 1, "chat": False}


if __name__ == "__main__":
    main()
