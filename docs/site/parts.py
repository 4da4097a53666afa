"""The parts of pages that docs/fill.py makes from the project itself: its artifacts, rules and commands."""

import csv
from pathlib import Path

from rule_graph import STAGES, Rules, rules_of, tables

from polyreward.cli import commands
from polyreward.ops.progress import duration
from polyreward.report.results import Results, results_of
from polyreward.settings.reference import paper_files
from polyreward.sheet.registry import CATEGORIES, OURS, OWN

ROOT = Path(__file__).parents[2]
FORMATS = {".csv": ".csv .md .tex .html", ".png": ".png .pdf .csv", ".html": ".html .ipynb"}
TIMES = ROOT / "docs/data/mini/times.csv"


def part(name: str) -> str:
    """Return a part of a page in Markdown; name: a key of PARTS."""
    return PARTS[name]()


def command_help() -> str:
    """Return the commands of polyreward, each with the first sentence of its help."""
    rows = [
        f"| `polyreward {name}` | {one.get_short_help_str(1000)} |"
        for name, one in sorted(commands.commands.items())
    ]
    return "\n".join(["| command | what it does |", "| --- | --- |", *rows])


def artifacts(rules: Rules) -> str:
    """Return a section for each artifact: command, caption, files, time, and the rules on the way to it."""
    results = results_of(Path("results"), [], ROOT)
    with TIMES.open(encoding="utf-8", newline="") as lines:
        times = {row["artifact"]: duration(float(row["two_cores_s"])) for row in csv.DictReader(lines)}
    parts = []
    for paper, category in CATEGORIES.items():
        parts.append(f"## {category}")
        entries = {
            name: entry for name, entry in results.registry.made_here.items() if entry["paper"] == paper
        }
        if paper == OURS:  # those of the benchmarks in config.yaml follow
            names = [f"{OWN}{name}" for name in results.registry.settings.own_benchmarks]
            entries |= {name: results.registry.entry(name) for name in names}
        parts += [
            _artifact(results, rules, name, entry, times.get(entry["target"]))
            for name, entry in entries.items()
        ]
    return "\n\n".join(parts)


def _artifact(results: Results, rules: Rules, name: str, entry: dict, time: str | None) -> str:
    target = Path(entry["target"])
    files = ", ".join(f"`{suffix}`" for suffix in FORMATS[target.suffix].split() if suffix != target.suffix)
    way = " &rarr; ".join(
        f"**{STAGES[stage]}** " + ", ".join(f"`{rule}`" for rule in before)
        for stage, before in rules.before(entry["rule"]).items()
    )
    own = results.registry.settings.own_benchmarks.get(name.removeprefix(OWN))
    mark = "<!-- not run: needs a network -->\n" if own and own.dataset else ""  # tests/pages.py
    return "\n\n".join([
        f'<a id="{name}"></a>',  # a forge gives headings other anchors
        f"### {entry['number']}",
        f"{mark}```\n{results.command(entry['target'])}\n```",
        results.registry.caption(name),
        f"**Also written:** {files}. **From nothing, on two cores:** {time or 'not run yet'}.",
        f'<details markdown="1"><summary>The rules on the way</summary>\n\n{way}\n\n</details>',
    ])  # fmt: skip


PARTS = {
    "artifacts": lambda: artifacts(rules_of(ROOT)),
    "commands": command_help,
    "paper_files": paper_files,
    "rules": lambda: tables(rules_of(ROOT)),
}
