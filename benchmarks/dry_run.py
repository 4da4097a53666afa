"""Time the dry run of every scale, and of a simulated one of many languages and base models."""

import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import common
import yaml
from babel.localedata import locale_identifiers

from polyreward.core.errors import PolyrewardError

PLAN = [sys.executable, "-m", "snakemake", "-n", "--forceall", "--quiet", "rules", "--cores", "1", "all"]
SCALES = {"tiny": ["workflow/scales/tiny.yaml"], "mini": [], "paper": ["workflow/scales/paper.yaml"]}
CAPTION = """`snakemake -n --forceall all`, the least of {repeats} rounds. Processor seconds say more than
seconds where other work runs. Peak: the largest resident set, no less than this program's own. The simulated
scale has {languages} languages and {bases} base models."""


def dry_run(scale: str, project: Path, configfiles: list[str], repeats: int) -> dict:
    """Return a row of the table: jobs, seconds, processor seconds and peak memory (MiB)."""
    command, runs, text = [*PLAN, *(["--configfile", *configfiles] if configfiles else [])], [], ""
    for _ in range(repeats):
        with tempfile.TemporaryFile("w+") as printed:
            start = time.perf_counter()
            process = subprocess.Popen(command, cwd=project, stdout=printed, stderr=subprocess.STDOUT)
            _, status, used = os.wait4(process.pid, 0)
            runs.append((time.perf_counter() - start, used.ru_utime + used.ru_stime, used.ru_maxrss / 1024))
            printed.seek(0)
            text = printed.read()
        if status:
            raise PolyrewardError(f"{' '.join(command)} failed:\n{text[-2000:]}")
    jobs = re.search(r"^total +(\d+)$", text, re.MULTILINE)[1]
    seconds, processor, peak = (f"{min(values):.1f}" for values in zip(*runs, strict=True))
    row = {"scale": scale, "jobs": jobs, "seconds": seconds, "processor seconds": processor}
    return {**row, "peak MiB": peak.partition(".")[0]}


def simulated(project: Path, languages: int, bases: int) -> str:
    """Copy the project, write a scale with models and languages of its own, and return its overlay."""
    for name in ("Snakefile", "config.yaml"):
        shutil.copy(common.ROOT / name, project / name)
    for name in ("workflow", "resources", "envs", "profiles"):
        shutil.copytree(common.ROOT / name, project / name, ignore=shutil.ignore_patterns("__pycache__"))
    file, catalog = project / "resources/languages.yaml", project / "workflow/catalog/models.yaml"
    known, models = (yaml.safe_load(path.read_text(encoding="utf-8")) for path in (file, catalog))
    codes = [code for code in locale_identifiers() if code.isalpha() and len(code) <= 3]
    file.write_text(yaml.safe_dump({**dict.fromkeys(codes, known["es"]), **known}), encoding="utf-8")
    targets = [code for code in dict.fromkeys([*known, *codes]) if code != "en"][: languages - 1]
    names = [f"simulated-{number}" for number in range(1, bases + 1)]
    models |= dict.fromkeys(names, models["qwen2.5-3b-instruct"])
    catalog.write_text(yaml.safe_dump(models), encoding="utf-8")
    engine = {"kind": "lm", "model": names[0], "unit": "text", "prompt": "{text}"}
    engine |= {"batch_size": 1, "max_new_tokens": 1, "chat": False}
    overlay = {
        "results": "results/simulated",
        "bases": names,
        "figure2_models": None,
        "target_languages": targets,
        "gate": {"base": names[0]},
        "alignment": {"reward_base": names[0], "languages": targets},
        "translation": {"engine": "one", "quality_engines": ["one"], "engines": {"one": engine}},
    }
    (project / "simulated.yaml").write_text(yaml.safe_dump(overlay), encoding="utf-8")
    return "simulated.yaml"


def main() -> None:
    """Print one table."""
    parser = common.parser(__doc__)
    parser.add_argument("--languages", type=int, default=50, help="languages of the simulated scale")
    parser.add_argument("--bases", type=int, default=20, help="base models of the simulated scale")
    parser.add_argument("--repeats", type=int, default=1, help="rounds")
    scales = [*SCALES, "simulated"]
    parser.add_argument("--scales", nargs="+", default=scales, choices=scales, help="what to plan")
    options = parser.parse_args()
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for scale in options.scales:
            project, files = common.ROOT, SCALES.get(scale)
            if scale == "simulated":
                project = Path(folder)
                files = [simulated(project, options.languages, options.bases)]
            rows.append(dry_run(scale, project, files, options.repeats))
    common.print_table(CAPTION.format(**vars(options)), rows)


if __name__ == "__main__":
    common.run(main)
