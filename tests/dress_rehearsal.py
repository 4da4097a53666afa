"""The dress rehearsal: scales paper and gpu from end to end over miniatures of all that they fetch from the hub,
on a card where there is one, else on a CPU.

    make dress-rehearsal
    python tests/dress_rehearsal.py --scale gpu --cores 2 --folder /tmp/rehearsal results/gpu/table1.csv

A hub, the judges' servers and vLLM's stub run locally. Overlays of rehearsal/ only reduce counts and leave out
what needs a GPU (docs/limitations.md). On a card Liger and the paged optimizer are on again, and as many jobs
share it as there are cores. What fails here would fail there too; the numbers mean nothing."""

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path

import yaml
from hub_server import Hub
from judge_server import ChatServer
from preloaded import preloaded
from solved_problems import offline
from support import ROOT, checkout

from polyreward.ops.machine import cuda_devices

TESTS = Path(__file__).parent
SCALES = {
    "paper": [
        "workflow/scales/paper.yaml",
        "workflow/scales/paper_vllm.yaml",
        str(TESTS / "rehearsal/paper.yaml"),
    ],
    "gpu": ["workflow/scales/gpu.yaml", str(TESTS / "rehearsal/gpu.yaml")],
    "anchor": ["workflow/scales/anchor.yaml", str(TESTS / "rehearsal/anchor.yaml")],
}
# More than any job takes here; at the real models' sizes jobs ask for more than this machine has
JOB_MB = 4000
# By default Snakemake looks once a second, and once more for each job that has ended, whether there are jobs
# to start
SELDOM = ["--max-jobs-per-timespan", "10000/20s"]
# Settings that overlays of rehearsal/ turn off, as they need a card
ON_A_CARD = (("devices", "liger"), ("reward_model", "optimizer"), ("alignment", "dpo", "optimizer"))
COMPUTED = re.compile(r"^computed on: (.*)$", re.MULTILINE)  # as preloaded.py ends a job's log
STUB = str(TESTS / "completions_server.py")


@contextmanager
def servers() -> Iterator[tuple[Hub, ChatServer]]:
    """Run a hub of miniatures and a server of judges."""
    from published_repositories import Repositories

    hub, chat = Hub(), ChatServer()
    hub.repositories = Repositories()
    try:
        yield hub, chat
    finally:
        hub.close()
        chat.close()


def prepared(folder: Path, chat: ChatServer) -> Path:
    """Make a checkout whose judges are on the local server, with catalogs otherwise unchanged."""
    here = checkout(folder)
    for path in [*here.glob("workflow/catalog/*.yaml"), *here.glob("workflow/scales/*.yaml")]:
        text = path.read_text(encoding="utf-8")
        path.write_text(re.sub(r'url: "https?://[^"]+"', f'url: "{chat.url}"', text), encoding="utf-8")
    return here


def last_overlay(scale: str, folder: Path) -> Path:
    """Write this machine's settings: the stub's command, ZeRO-3 if deepspeed is installed, and what cards can do.

    On a card trainings have one process, since those of ZeRO-3 here are on a CPU."""
    found, card = {}, cuda_devices() > 0
    if scale == "paper":
        notes = folder / "stub"
        notes.mkdir(exist_ok=True)
        options = ["{model}", "--port", "{port}", "--dtype", "{dtype}", "--notes", str(notes), "--canned"]
        command = [sys.executable, STUB, *options]
        launch = str(TESTS / "rehearsal/zero3.yaml") if find_spec("deepspeed") and not card else None
        found = {"devices": {"launch": launch, "serve": {"command": command}}}
    whole = yaml.safe_load((ROOT / SCALES[scale][0]).read_text(encoding="utf-8"))
    for *sections, key in ON_A_CARD if card else ():
        stated = whole
        for section in sections:
            stated = stated.get(section) or {}
        if key in stated:
            own = found
            for section in sections:
                own = own.setdefault(section, {})
            own[key] = stated[key]
    path = folder / f"{scale}.yaml"
    path.write_text(yaml.safe_dump(found), encoding="utf-8")
    return path


def processor_seconds() -> float:
    """Return the processor time of all ended child processes."""
    used = os.times()
    return used.children_user + used.children_system


def asking_little(snakemake: list[str], **options) -> list[str]:
    """Return Snakemake's options that let each rule ask for JOB_MB of memory, and for no card of its own."""
    listed = subprocess.run(
        [*snakemake, "--list-rules", "--quiet"], capture_output=True, text=True, check=False, **options
    )
    if listed.returncode:
        sys.exit(listed.stdout + listed.stderr)
    rules = [line.strip() for line in listed.stdout.splitlines() if re.fullmatch(r"\w+", line.strip())]
    asked = [f"mem_mb={JOB_MB}", *(["gpu=0"] if cuda_devices() else [])]
    return ["--set-resources", *(f"{rule}:{one}" for rule in rules for one in asked)]


def computed_on(results: Path) -> dict[str, dict[str, int]]:
    """Return how many jobs of each rule computed on what, by the logs of a checkout's results."""
    found: dict[str, Counter] = {}
    for path in sorted(results.glob("*/logs/*/*.log")):
        for device in COMPUTED.findall(path.read_text(encoding="utf-8", errors="replace"))[-1:]:
            found.setdefault(device, Counter())[path.parent.name] += 1
    return {device: dict(rules) for device, rules in found.items()}


def rehearse(scale: str, folder: Path, cores: int, targets: list[str]) -> dict:
    """Run a scale; return {seconds, processor_seconds, returncode, jobs, failed, computed_on, fetched
    repositories, requests by model}."""
    with servers() as (hub, chat):
        here = prepared(folder / scale, chat)
        overlays = [*SCALES[scale], str(last_overlay(scale, folder))]
        environment = {name: value for name, value in os.environ.items() if not name.startswith("HF_")}
        environment |= {
            "HF_ENDPOINT": hub.url, "HF_HOME": str(folder / "cache" / scale), "HF_TOKEN": "rehearsal",
            **offline(here, folder / "wheels" / scale), "OPENAI_API_KEY": "rehearsal", "OMP_NUM_THREADS": "1", "TOKENIZERS_PARALLELISM": "false",
            "POLYREWARD_LOG": "snakemake", "REHEARSAL": "yes",
        }  # fmt: skip
        start, before = time.monotonic(), processor_seconds()
        with preloaded(environment) as snakemake, open(folder / f"{scale}.log", "w", encoding="utf-8") as log:
            files = ["--configfile", *overlays]
            little = asking_little([*snakemake, *files], cwd=here, env=environment)
            options = ["--cores", str(cores), "--keep-going", "--rerun-incomplete", *SELDOM]
            command = [*snakemake, *options, *targets, *little, *files]
            how = {"stdout": log, "stderr": subprocess.STDOUT, "check": False}
            ran = subprocess.run(command, cwd=here, env=environment, **how)
        text = (folder / f"{scale}.log").read_text(encoding="utf-8")
        return {
            "scale": scale,
            "seconds": round(time.monotonic() - start),
            "processor_seconds": round(processor_seconds() - before),
            "returncode": ran.returncode,
            "jobs": dict(Counter(re.findall(r"^(?:local)?rule (\w+):", text, re.MULTILINE))),
            "failed": dict(Counter(re.findall(r"^Error in rule (\w+):", text, re.MULTILINE))),
            "computed_on": computed_on(here / "results"),
            "fetched": sorted(f"{kind}: {name}" for kind, name in hub.repositories),
            "asked": chat.asked,
        }


def main() -> int:
    """Rehearse the scales, print what was done, and return 0 if everything was made."""
    how = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=how)
    parser.add_argument("--scale", action="append", choices=SCALES, help="only this one")
    parser.add_argument("--cores", type=int, default=os.cpu_count())
    parser.add_argument(
        "--folder", type=Path, help="where to keep what is made, for another run to go on from"
    )
    parser.add_argument("targets", nargs="*", default=["all"])
    options = parser.parse_args()
    sys.path.append(str(TESTS / "unit"))  # where pytest looks, too
    with tempfile.TemporaryDirectory() as temporary:
        folder = (options.folder or Path(temporary)).absolute()
        folder.mkdir(parents=True, exist_ok=True)
        scales = options.scale or SCALES
        targets = {"anchor": ["results/anchor/anchor.csv"]}  # it has nothing else to make
        found = [rehearse(name, folder, options.cores, targets.get(name, options.targets)) for name in scales]
        for one in found:
            print(json.dumps(one, indent=2))
            if one["returncode"]:
                log = (folder / f"{one['scale']}.log").read_text(encoding="utf-8")
                print(*log.splitlines()[-200:], sep="\n")
    return max(one["returncode"] for one in found)


if __name__ == "__main__":
    sys.exit(main())
