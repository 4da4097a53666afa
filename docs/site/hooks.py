"""What MkDocs adds to the pages of docs/: all items, the rules, and the commands.

A line `{{ name }}` of a page is replaced by what a function of FILLED returns, `{{ PATH: heading }}` by that
section of a file."""

import csv
import re
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
ROOT = Path(__file__).parents[2]

from mkdocs.structure.files import File  # noqa: E402
from rule_graph import STAGES, Rules, drawing, rules_of, tables  # noqa: E402

from polyreward.cli import commands  # noqa: E402
from polyreward.ops.progress import duration  # noqa: E402
from polyreward.report.results import Results, results_of  # noqa: E402
from polyreward.sheet.registry import CATEGORIES, OURS, OWN  # noqa: E402

FORMATS = {".csv": ".csv .md .tex .html", ".png": ".png .pdf .csv", ".html": ".html .ipynb"}
FILLED = {
    "artifacts": lambda rules: artifacts(rules),
    "commands": lambda rules: command_help(),
    "rule drawing": drawing,
    "rule tables": tables,
}
OUTSIDE = {"index.md": "README.md", "contributing.md": "CONTRIBUTING.md", "changelog.md": "CHANGELOG.md"}
TIMES = ROOT / "docs/data/mini/times.csv"


def on_files(files, config):
    """Add the pages that are at the top of the repository; README.md is the home page."""
    for name, source in OUTSIDE.items():
        files.append(File.generated(config, name, content=inside((ROOT / source).read_text("utf-8"))))
    return files


def inside(text: str) -> str:
    """Return a page of the repository's top as one of the site, without links to files outside docs/."""
    pages = {source: name for name, source in OUTSIDE.items()}

    def link(found: re.Match) -> str:
        words, target = found[1], found[2]
        kept = target.startswith(("docs/", "http", "#")) or target.partition("#")[0] in pages
        return f"[{words}]({pages.get(target, target.removeprefix('docs/'))})" if kept else words

    return re.sub(r"(?<!!)\[([^\]]+)\]\(([^)]+)\)", link, text).replace("](docs/", "](")


def on_page_markdown(markdown, page, config, files):
    """Fill the places of a page that are written {{ so }}, and take out the marks of docs/fill.py and links
    to files that the site does not have."""
    markdown = re.sub(r"<!-- (?:value|mean|table) .*?-->|<!-- end -->", "", markdown, flags=re.DOTALL)
    markdown = re.sub(r"\[([^\]]+)\]\((?:\.\./)+workflow/[^)]*\)", r"\1", markdown)  # not on the site
    return re.sub(r"^\{\{ (.+?) \}\}$", lambda found: filled(found[1]), markdown, flags=re.MULTILINE)


def filled(what: str) -> str:
    """Return what stands for a name of FILLED, or for a section of a file."""
    if what in FILLED:
        return FILLED[what](rules_of(ROOT))
    path, heading = what.split(": ", 1)
    return section((ROOT / path).read_text(encoding="utf-8"), heading)


def section(text: str, heading: str) -> str:
    """Return what stands below a heading of the second level, up to the next one."""
    found = re.search(rf"^## {re.escape(heading)}\n(.*?)(?=^## |\Z)", text, re.MULTILINE | re.DOTALL)
    if not found:
        raise SystemExit(f"no section `{heading}`; the pages of docs/ that show it name another heading")
    return found[1].strip()


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
    return "\n\n".join([
        f"### {entry['number']} {{#{name}}}",
        f"```\n{results.command(entry['target'])}\n```",
        results.registry.caption(name),
        f"**Also written:** {files}. **From nothing, on two cores:** {time or 'not run yet'}.",
        f'<details markdown="1"><summary>The rules on the way</summary>\n\n{way}\n\n</details>',
    ])  # fmt: skip
