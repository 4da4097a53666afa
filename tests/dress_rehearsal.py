"""The dress rehearsal: scales paper and gpu from end to end on a CPU, over miniatures of all that they fetch
from the hub.

    make dress-rehearsal
    python tests/dress_rehearsal.py --scale gpu --cores 2 --folder /tmp/rehearsal results/gpu/table1.csv

A hub, the judges' servers and vLLM's stub run locally. Overlays of rehearsal/ only reduce counts and leave out
what needs a GPU (docs/limitations.md). What fails here would fail there too; the numbers mean nothing."""

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
from support import checkout

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
    """Write this machine's settings: the stub's command, and ZeRO-3 if deepspeed is installed."""
    found = {}
    if scale == "paper":
        notes = folder / "stub"
        notes.mkdir(exist_ok=True)
        options = ["{model}", "--port", "{port}", "--dtype", "{dtype}", "--notes", str(notes), "--canned"]
        command = [sys.executable, STUB, *options]
        launch = str(TESTS / "rehearsal/zero3.yaml") if find_spec("deepspeed") else None
        found = {"devices": {"launch": launch, "serve": {"command": command}}}
    path = folder / f"{scale}.yaml"
    path.write_text(yaml.safe_dump(found), encoding="utf-8")
    return path


def processor_seconds() -> float:
    """Return the processor time of all ended child processes."""
    used = os.times()
    return used.children_user + used.children_system


def asking_little(snakemake: list[str], **options) -> list[str]:
    """Return Snakemake's options that let each rule ask for JOB_MB of memory."""
    listed = subprocess.run(
        [*snakemake, "--list-rules", "--quiet"], capture_output=True, text=True, check=False, **options
    )
    if listed.returncode:
        sys.exit(listed.stdout + listed.stderr)
    rules = [line.strip() for line in listed.stdout.splitlines() if re.fullmatch(r"\w+", line.strip())]
    return ["--set-resources", *(f"{rule}:mem_mb={JOB_MB}" for rule in rules)]


def rehearse(scale: str, folder: Path, cores: int, targets: list[str]) -> dict:
    """Run a scale; return {seconds, processor_seconds, returncode, jobs, failed, fetched repositories,
    requests by model}."""
    with servers() as (hub, chat):
        here = prepared(folder / scale, chat)
        overlays = [*SCALES[scale], str(last_overlay(scale, folder))]
        environment = {name: value for name, value in os.environ.items() if not name.startswith("HF_")}
        environment |= {
            "HF_ENDPOINT": hub.url, "HF_HOME": str(folder / "cache" / scale), "HF_TOKEN": "rehearsal",
            **offline(here, folder / "wheels" / scale), "OPENAI_API_KEY": "rehearsal", "OMP_NUM_THREADS": "1", "TOKENIZERS_PARALLELISM": "false",
            "POLYREWARD_LOG": "snakemake",
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
