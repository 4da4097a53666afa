"""Every command that a page prints in a code block runs as printed, at scale tiny, in the order of the page.

A block that needs more than a machine at hand has a mark in the page's source (tests/pages.py). Commands within a
sentence or a cell are not run. tests/workflow/test_commands.py plans all commands, also marked ones.

A reader's clone is a copy of the checkout with these differences:

- config.yaml has scale tiny in three languages, so that what trains mini takes seconds.
- Files of results/ are those of results/tiny/, which is there already, and mini's bases are tiny's (`at_tiny`).
- The environment variable RESULTS names results/tiny for make.
- The reader's own files are there (`READERS`), and `.venv` leads to the tests' environment."""

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pandas as pd
import pytest
import yaml
from flow import REGISTRY, SCALE
from pages import BLOCK, MARK, PAGES, REASONS, SHOWN, Block, blocks, write_example_paper
from snakemake.utils import update_config
from support import ROOT, checkout, started, variables

from polyreward.claims.folders import check_folder
from polyreward.core.errors import PolyrewardError

NAMES = [page.relative_to(ROOT).as_posix() for page in PAGES]
# Pages whose commands need no results; the others are slow.
QUICK = ["docs/howto/compare.md", "docs/howto/language.md", "docs/howto/module.md"]
GENERATED = (
    "docs/reference/artifacts.md"  # a command of make for each artifact: here one of Snakemake for all
)
CLONE = "git clone <this repository> polyreward && cd polyreward"  # what the copy is in place already
TURNED_ON = ("source ", "export ")  # commands that those below rely on
OTHER_SCALES = ("tiny", "mine", "french", "tiny_french", "work")
LARGER = re.compile(r"workflow/scales/(?:night|gpu|paper)\.yaml")
INLINE_ON = "`source .venv/bin/activate`"


def with_scores(folder: Path) -> None:
    """Write scores of a reader's models, in the formats that docs/howto/compare.md names."""
    scores = pd.read_csv(ROOT / "resources/example/scores.csv")
    models = [rows.drop(columns="model") for _, rows in scores.groupby("model", sort=False)]
    names = {"id": "prompt_id", "score_chosen": "reward_a", "score_rejected": "reward_b"}
    for name, rows in zip("ab", models, strict=False):
        rows.rename(columns=names).to_csv(folder / f"{name}.csv", index=False)
    for name, rows in zip(("one", "two"), models, strict=False):
        pairs = rows[["score_chosen", "score_rejected"]].set_axis(["chosen", "rejected"], axis=1)
        pairs.to_json(folder / f"{name}_all.jsonl", orient="records", lines=True)
    for name, rows in zip(
        ("mine_seed1", "mine_seed2", "mine_seed3", "other"), [*models, models[0]], strict=True
    ):
        rows.to_csv(folder / f"{name}.csv", index=False)
    benchmarks = yaml.safe_load((ROOT / "workflow/catalog/benchmarks.yaml").read_text(encoding="utf-8"))
    subsets = [one for section in benchmarks["rewardbench"]["sections"].values() for one in section] * 12
    for place, name in enumerate("ab"):
        chosen = [float(n % (3 + place)) for n in range(len(subsets))]
        of_model = {
            "id": list(range(len(subsets))),
            "subset": subsets,
            "results": [int(score > 0.5) for score in chosen],
            "scores_chosen": chosen,
            "scores_rejected": [0.5] * len(subsets),
        }
        (folder / f"{name}.json").write_text(json.dumps(of_model), encoding="utf-8")


def with_paper(folder: Path) -> None:
    """Write the paper's folder of docs/howto/paper.md, with the lines of the lock that the check asks for."""
    paper = folder / "example"
    write_example_paper(paper)
    with pytest.raises(PolyrewardError) as missing:
        check_folder(paper)
    lines = re.findall("add `(.*)`", str(missing.value))
    (paper / "claims.lock.yaml").write_text("\n".join(lines) + "\n", encoding="utf-8")


READERS = {
    "docs/howto/compare.md": with_scores,
    "docs/howto/paper.md": with_paper,
}  # {page: what writes files that it says are the reader's}


def at_tiny(text: str) -> str:
    """Return a page's text with mini's results and bases replaced by tiny's."""
    others = "|".join(f"{name}/" for name in OTHER_SCALES[:-1])
    text = re.sub(rf"\bresults/(?!{others}|(?:{'|'.join(OTHER_SCALES[:-1])})\b)(?=\w)", "results/tiny/", text)
    return text.replace("gemma-3-270m_", "tiny-gemma_").replace("smollm2-135m-instruct_", "tiny-llama_")


def settings() -> dict:
    """Return config.yaml with scale tiny in three languages, its keys in the order in which Snakemake joins them:
    another order of models would count as other settings."""
    found: dict = {}
    for path in (*SCALE, "config.yaml", *SCALE):
        update_config(found, yaml.safe_load((ROOT / path).read_text(encoding="utf-8")))
    return found


def as_clone(folder: Path, forks: str) -> Path:
    """Add to a copy of the checkout what else a clone has, and an environment; forks: as in `started`."""
    for name in (
        "Makefile",
        "README.md",
        "CONTRIBUTING.md",
        "pyproject.toml",
        "requirements.lock",
        "mkdocs.yml",
    ):
        shutil.copy2(ROOT / name, folder)
    shutil.copytree(ROOT / "docs", folder / "docs")
    venv, real = folder / ".venv", Path(sys.prefix)
    (venv / "bin").mkdir(parents=True)
    for path in [*(real / "bin").iterdir(), real / "lib", real / "pyvenv.cfg"]:
        (venv / path.relative_to(real)).symlink_to(path)
    environment = variables(HF_HUB_OFFLINE="1")
    in_forks = shlex.join([f"{name}={value}" for name, value in environment.items()])
    for name, text in {
        "activate": (real / "bin/activate").read_text(encoding="utf-8").replace(str(real), str(venv)),
        "snakemake": f'#!/bin/sh\nexec env -i {in_forks} {shlex.join(started(forks, environment))} "$@"\n',
    }.items():
        (venv / "bin" / name).unlink()
        (venv / "bin" / name).write_text(text, encoding="utf-8")
        (venv / "bin" / name).chmod(0o755)
    (venv / "ready").touch()
    return folder


@pytest.fixture(scope="module")
def unused(tmp_path_factory):
    """A reader's clone without results."""
    return as_clone(checkout(tmp_path_factory.mktemp("pages") / "polyreward"), "snakemake")


@pytest.fixture
def used(tiny, copied, tmp_path_factory):
    """A reader's clone with all results of scale tiny, of its own, since some pages change results."""
    return as_clone(copied(tiny, tmp_path_factory.mktemp("pages") / "polyreward"), "jobs")


class Reader:
    """Someone who follows one page in a clone."""

    def __init__(self, page: str, clone: Path):
        self.page, self.clone, self.cwd = page, clone, clone
        self.before: list[str] = []  # commands on which later ones rely
        self.run: list[str] = []
        shutil.rmtree(clone / "results/mine", ignore_errors=True)
        self.write_settings("")
        READERS.get(page, lambda folder: None)(clone)

    def write_settings(self, text: str) -> None:
        """Write a block of settings as pages say: with a results folder of its own as mine.yaml, else into
        config.yaml."""
        block = yaml.safe_load(text) or {}
        if "results" in block:
            (self.clone / "mine.yaml").write_text(text, encoding="utf-8")
            return
        config = settings()
        update_config(config, block)
        (self.clone / "config.yaml").write_text(yaml.safe_dump(config, sort_keys=False), encoding="utf-8")

    def follow(self, block: Block) -> None:
        """Do what a block shows."""
        text = at_tiny(block.text)
        if block.language == "yaml":
            self.write_settings(text)
        elif block.language == "python" and "use rule" in text:
            self.cwd = self.clone.parent / "workflow"  # another one's, with the clone in it
            self.cwd.mkdir(exist_ok=True)
            (self.cwd / "polyreward").symlink_to(self.clone)
            (self.cwd / "Snakefile").write_text(text, encoding="utf-8")
        elif block.language == "python":
            self.shell(f".venv/bin/python -c {shlex.quote(text)}")
        for command in block.commands:
            self.command(at_tiny(command))

    def command(self, text: str) -> None:
        """Run a command as printed."""
        if text == CLONE:
            return
        if LARGER.search(text):  # plans of scales on top of mini
            shutil.copy2(ROOT / "config.yaml", self.clone)
        self.shell(text)
        if LARGER.search(text):
            self.write_settings("")
        if text.startswith(TURNED_ON):
            self.before.append(text)

    def shell(self, text: str) -> None:
        binaries = str(Path(sys.prefix) / "bin")
        path = [one for one in os.environ["PATH"].split(os.pathsep) if one != binaries]
        environment = variables(
            PATH=os.pathsep.join(path),
            RESULTS="results/tiny",
            HF_HUB_OFFLINE="1",
            PYTHONPATH=str(self.clone / "workflow/scripts"),
        )
        environment.pop("VIRTUAL_ENV", None)
        ran = subprocess.run(
            ["bash", "-ec", "\n".join([*self.before, text])],
            cwd=self.cwd,
            env=environment,
            text=True,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
        )
        assert ran.returncode == 0, (
            f"{self.page}: `{text}` ended with {ran.returncode}:\n{ran.stdout[-3000:]}"
        )
        self.run.append(text)


def text_of(page: str) -> str:
    return (ROOT / page).read_text(encoding="utf-8")


def wanted(page: str) -> list[Block]:
    """Return the blocks of a page that a reader follows: settings, programs and commands without a mark."""
    return [block for block in blocks(text_of(page)) if not block.unrun and block.language not in SHOWN]


def has_commands(page: str) -> bool:
    return any(block.commands for block in wanted(page))


@pytest.mark.parametrize("page", NAMES)
def test_each_block_is_run_or_has_a_mark(page):
    text = text_of(page)
    assert {block.language for block in blocks(text)} <= {"", "yaml", "python", *SHOWN}
    assert [block.unrun for block in blocks(text) if block.unrun and block.unrun not in REASONS] == []
    marked = [block for block in blocks(text) if block.unrun]
    assert len(MARK.findall(text)) == len(marked), "a mark that is not right before a block"
    assert [block.text for block in marked if not block.commands] == [], "a mark of a block without commands"


def test_the_pages_commands_are_counted_and_most_are_run():
    rows = []
    for page in NAMES:
        counts = Counter()
        for block in blocks(text_of(page)):
            counts["marked" if block.unrun else "run"] += len(block.commands)
            counts.update({block.unrun: len(block.commands)} if block.unrun else {})
        rows.append(
            {
                "page": page,
                "run": counts["run"],
                "marked": counts["marked"],
                **{one: counts[one] for one in REASONS},
            }
        )
    table = pd.DataFrame(rows).set_index("page")
    table = table[table[["run", "marked"]].sum(axis=1) > 0]
    print("\n" + table.to_string())
    print(table.sum().to_string())
    assert table["run"].sum() > 80 and table["run"].sum() > table["marked"].sum()


@pytest.mark.parametrize("page", NAMES)
def test_the_environment_is_said_to_be_on_before_a_command_that_needs_it(page):
    said = False
    text = text_of(page)
    for found in BLOCK.finditer(text):
        said = said or INLINE_ON in text[: found.start()]
        for command in Block(*found.groups(default="")).commands:
            said = said or command == INLINE_ON.strip("`")
            assert said or not command.startswith(
                ("snakemake ", "polyreward ", "python ", "pip ", "pytest ")
            ), command


@pytest.mark.parametrize("page", [page for page in QUICK if has_commands(page)])
def test_the_commands_of_a_page_that_needs_no_results_run(page, unused):
    follow(page, unused)


@pytest.mark.slow
@pytest.mark.parametrize(
    "page", [page for page in NAMES if page not in (*QUICK, GENERATED) and has_commands(page)]
)
def test_the_commands_of_a_page_run(page, used):
    follow(page, used)


@pytest.mark.slow
def test_every_artifact_of_the_list_can_be_asked_for(used):
    """Each command of the list is `make results/...`, which asks Snakemake for that file."""
    reader = Reader(GENERATED, used)
    found = [shlex.split(at_tiny(command)) for block in wanted(GENERATED) for command in block.commands]
    assert {len(words) for words in found} == {2} and {words[0] for words in found} == {"make"}
    here = {
        f"results/tiny/{artifact['target']}" for artifact in REGISTRY.values()
    }  # no table of other languages
    targets = [words[1] for words in found if words[1] in here or "/benchmark_" in words[1]]
    assert len(targets) > 40
    reader.shell(shlex.join([".venv/bin/snakemake", "--cores", "all", *targets]))


def follow(page: str, clone: Path) -> None:
    reader = Reader(page, clone)
    for block in wanted(page):
        reader.follow(block)
    printed = sum(len(block.commands) for block in wanted(page))
    print(f"{page}: {printed} commands run")


def test_a_command_that_does_not_run_fails_its_page(unused):
    reader = Reader("a page", unused)
    reader.follow(Block("", "", ".venv/bin/polyreward inspect resources/example/best_of_four.jsonl\n"))
    for command in ("snakemake --version", ".venv/bin/polyreward inspect results/nothing.jsonl"):
        with pytest.raises(AssertionError, match="a page: `.*` ended with"):
            reader.follow(Block("", "", f"{command}\n"))
    reader.follow(Block("", "", "source .venv/bin/activate\nsnakemake --version\n"))
