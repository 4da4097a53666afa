"""What MkDocs puts into the site beside the pages of docs/: what can be made, from the registry, and the
rules, from Snakemake.

A line `{{ name }}` of a page stands for what a function of FILLED returns, `{{ PATH: heading }}` for that
section of a file."""

import re
import sys
from pathlib import Path

import yaml

sys.path.insert(0, str(Path(__file__).parent))
ROOT = Path(__file__).parents[2]

from mkdocs.structure.files import File  # noqa: E402
from rule_graph import STAGES, Rules, drawing, rules_of, tables  # noqa: E402

from polyreward.config.registry import CATEGORIES, OURS, OWN, Registry, by_language  # noqa: E402
from polyreward.config.scale import Scale  # noqa: E402
from polyreward.config.settings import Known, parsed_settings  # noqa: E402
from polyreward.config.settings.checks import FILES  # noqa: E402
from polyreward.report.artifacts import sentences  # noqa: E402
from polyreward.report.results import Results  # noqa: E402

FORMATS = {".csv": ".csv .md .tex .html", ".png": ".png .pdf .csv", ".html": ".html .ipynb"}
FILLED = {"artifacts": lambda rules: artifacts(rules), "rule drawing": drawing, "rule tables": tables}


def on_files(files, config):
    """Add CONTRIBUTING.md, whose recipes pages show and link to."""
    text = (
        (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8").replace("](docs/", "](")
    )  # it stands among them there
    files.append(File.generated(config, "contributing.md", content=text))
    return files


def on_page_markdown(markdown, page, config, files):
    """Fill the places of a page that are written {{ so }}."""
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


def mini() -> Results:
    """Return the results of the default scale, whether they are there or not."""

    def load(path):
        return yaml.safe_load((ROOT / path).read_text(encoding="utf-8"))

    known = Known(**{name: load(path) for name, path in FILES.items()})
    names = {language: facts["name"] for language, facts in known.languages.items()}
    entries = by_language(load("workflow/artifacts.yaml"), names)
    registry = Registry(
        Scale(parsed_settings(load("config.yaml")), known), entries, report=lambda file, **_: file
    )
    return Results(Path("results"), registry, [], "")


def artifacts(rules: Rules) -> str:
    """Return a section for each artifact: its command, files, time, caption, and the rules on the way to
    it."""
    results = mini()
    took = yaml.safe_load((Path(__file__).parent / "took.yaml").read_text(encoding="utf-8"))
    times = {name: time for time, names in took.items() for name in names}
    parts = []
    for paper, category in CATEGORIES.items():
        parts.append(f"## {category}")
        entries = {
            name: entry for name, entry in results.registry.made_here.items() if entry["paper"] == paper
        }
        if paper == OURS:  # beside ours are those of the benchmarks in config.yaml
            names = [f"{OWN}{name}" for name in results.registry.scale.settings.own_benchmarks]
            entries |= {name: results.registry.entry(name) for name in names}
        parts += [_artifact(results, rules, name, entry, times.get(name)) for name, entry in entries.items()]
    return "\n\n".join(parts)


def _artifact(results: Results, rules: Rules, name: str, entry: dict, time: str | None) -> str:
    target = Path(entry["target"])
    first, rest = sentences(results.registry.caption(name))
    files = ", ".join(f"`{suffix}`" for suffix in FORMATS[target.suffix].split() if suffix != target.suffix)
    way = " &rarr; ".join(
        f"**{STAGES[stage]}** " + ", ".join(f"`{rule}`" for rule in before)
        for stage, before in rules.before(entry["rule"]).items()
    )
    return "\n\n".join([
        f"### {entry['number']} {{#{name}}}",
        f"```\n{results.command(entry['target'])}\n```",
        f"**You see:** {first} {rest}".strip(),
        f"**Also written:** {files}. **Takes:** {time or 'not timed alone'}.",
        f'<details markdown="1"><summary>The rules on the way</summary>\n\n{way}\n\n</details>',
    ])  # fmt: skip
