"""The rules of the workflow and how they hang together, as Snakemake sees them, by stage."""

import ast
import re
import subprocess
import sys
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path

STAGES = {
    "sources": "sources", "prepare": "prepared", "translate": "translated", "train": "models",
    "score": "scores", "analyse": "analysis", "artifacts": "artifacts",
}  # fmt: skip
WIDTH, ROW, BOX = 640, 76, 44  # pixels of the drawing, of a stage's row, and of the box in it
LEFT, RIGHT = 8, 250  # where boxes begin and end


@dataclass(frozen=True)
class Rules:
    """The rules of a checkout. root: its folder."""

    root: Path

    @cached_property
    def edges(self) -> set[tuple[str, str]]:
        """(rule, rule that reads what it makes), of all that scale mini makes."""
        command = [sys.executable, "-m", "snakemake", "--rulegraph", "dot", "all"]
        ran = subprocess.run(command, cwd=self.root, text=True, capture_output=True, check=False)
        if ran.returncode:
            raise SystemExit(f"snakemake --rulegraph failed:\n{ran.stderr}")
        names = dict(re.findall(r'^\s*(\d+)\[label = "(\w+)"', ran.stdout, re.MULTILINE))
        # A loop numbers its rules
        names = {number: re.sub(r"_\d+$", "", name) for number, name in names.items()}
        pairs = [(names[a], names[b]) for a, b in re.findall(r"^\s*(\d+) -> (\d+)", ran.stdout, re.MULTILINE)]
        return {(maker, reader) for maker, reader in pairs if {maker, reader} <= self.stages.keys()}

    @cached_property
    def stages(self) -> dict[str, str]:
        """{rule: its file of rules, without the suffix}."""
        return {rule: path.stem for path in self._files for rule, _ in _declared(path)}

    @cached_property
    def scripts(self) -> dict[str, str]:
        """{rule: the first sentence of its script}; a rule that takes over another has that one's."""
        found: dict[str, str] = {}
        for path in self._files:
            for rule, taken in _declared(path):
                script = next(self.root.glob(f"workflow/scripts/*/{rule}.py"), None)
                found[rule] = _sentence(script) if script else found.get(taken, "")
        return found

    def of_stage(self, stage: str) -> list[str]:
        """Return the rules of a stage, those of the CARB paper last; stage: a key of STAGES."""
        return [
            rule for name in (stage, f"{stage}_carb") for rule, file in self.stages.items() if file == name
        ]

    def before(self, rule: str) -> dict[str, list[str]]:
        """Return {stage: the rules that a rule rests on}, itself too; stages in the order of the flow."""
        found, todo = set(), [rule]
        while todo:
            one = todo.pop()
            if one not in found:
                found.add(one)
                todo += [maker for maker, reader in self.edges if reader == one]
        by_stage = {stage: [one for one in self.of_stage(stage) if one in found] for stage in STAGES}
        return {stage: rules for stage, rules in by_stage.items() if rules}

    @property
    def _files(self) -> list[Path]:
        folder = self.root / "workflow/rules"
        return [
            path
            for stage in STAGES
            for path in (folder / f"{stage}.smk", folder / f"{stage}_carb.smk")
            if path.is_file()
        ]


@cache
def rules_of(root: Path) -> Rules:
    """Return the rules of a checkout, read once."""
    return Rules(root)


def drawing(rules: Rules) -> str:
    """Return the stages as an SVG: a box each, and arrows as thick as there are pairs of rules behind
    them."""
    order = list(STAGES)
    counts: dict[tuple[int, int], int] = {}
    for maker, reader in rules.edges:
        pair = tuple(order.index(rules.stages[rule].removesuffix("_carb")) for rule in (maker, reader))
        counts[pair] = counts.get(pair, 0) + 1
    parts = [_arrow(*pair, count) for pair, count in sorted(counts.items()) if pair[0] < pair[1]]
    for number, stage in enumerate(order):
        of_stage = rules.of_stage(stage)
        y = number * ROW + 8
        carb = sum(rules.stages[rule].endswith("_carb") for rule in of_stage)
        said = f"{len(of_stage)} rules" + (f", {carb} of them CARB's" if carb else "")
        parts.append(
            f'<a href="#{number + 1}-{STAGES[stage]}"><rect x="{LEFT}" y="{y}" width="{RIGHT - LEFT}"'
            f' height="{BOX}" rx="6"/><text x="{LEFT + 12}" y="{y + 19}" class="stage">{number + 1}'
            f' {STAGES[stage]}</text><text x="{LEFT + 12}" y="{y + 36}">{said}</text></a>'
        )
    height = len(order) * ROW
    said = (
        "The seven stages, with an arrow from each to every stage that reads its files; the tables below say"
        " the same."
    )
    return (
        f'<svg class="rule-graph" viewBox="0 0 {WIDTH} {height}" role="img" aria-label="{said}">'
        '<defs><marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="9" markerHeight="9" '
        'markerUnits="userSpaceOnUse" orient="auto"><path d="M0 0 8 4 0 8z"/></marker></defs>'
        + "".join(parts) + "</svg>"
    )  # fmt: skip


def _arrow(start: int, end: int, count: int) -> str:
    """Return an arrow between two stages: down between neighbours, else around those between, the farther the
    longer it is."""
    width = 1 + min(count, 40) / 10
    top, bottom = start * ROW + 8 + BOX, end * ROW + 8
    if end == start + 1:
        x = (LEFT + RIGHT) / 2
        path, label = f"M{x} {top}V{bottom - 1}", (x + 8, (top + bottom) / 2 + 4)
    else:
        # arrows leave and reach a box at heights of their own
        y1, y2 = top - BOX + 10 + 5 * (end - start), bottom + 6 + 5 * (6 - (end - start))
        x = RIGHT + 20 + 64 * (end - start - 1)
        path = f"M{RIGHT} {y1}C{x + 60} {y1} {x + 60} {y2} {RIGHT + 1} {y2}"
        label = (RIGHT + (x + 60 - RIGHT) * 0.75 + 4, (y1 + y2) / 2)
    return (
        f'<path class="flow" d="{path}" stroke-width="{width:.1f}" marker-end="url(#tip)"/>'
        f'<text class="count" x="{label[0]:.0f}" y="{label[1]:.0f}">{count}</text>'
    )


def tables(rules: Rules) -> str:
    """Return a section for each stage, in Markdown: what it does, and a table of its rules."""
    drawn = {rule for edge in rules.edges for rule in edge}
    parts = []
    for number, stage in enumerate(STAGES, start=1):
        path = rules.root / f"workflow/rules/{stage}.smk"
        of_stage = rules.of_stage(stage)
        parts += [
            f"### {number} {STAGES[stage]}", _comment(path),
            f"Files: `results/work/{number}_{STAGES[stage]}/`; rules: "
            f"`workflow/rules/{stage}.smk`, `{stage}_carb.smk`." if number < 7 else
            "Files: `results/`; rules: `workflow/rules/artifacts.smk`, `artifacts_carb.smk`.",
            f'<details markdown="1"><summary>{len(of_stage)} rules</summary>',
            "| rule | what it does | reads what these make |\n| --- | --- | --- |\n" + "\n".join(
                f"| `{rule}` | {rules.scripts[rule]}{'' if rule in drawn else ' (Not at scale mini.)'} | "
                + ", ".join(sorted(f"`{maker}`" for maker, reader in rules.edges if reader == rule)) + " |"
                for rule in of_stage
            ),
            "</details>",
        ]  # fmt: skip
    return "\n\n".join(parts)


def _declared(path: Path) -> list[tuple[str, str]]:
    """Return (rule, the rule that it takes over, or whose script a numbered one runs, or "") of a file of
    rules."""
    text = path.read_text(encoding="utf-8")
    numbered = r' +name:\s+f"(\w+)_{number}"'
    found = re.findall(rf"^(?:rule (\w+)|use rule (\w+) as (\w+)|{numbered})", text, re.MULTILINE)
    scripts = dict(re.findall(numbered + r'.*?script:\s+"\.\./scripts/(\w+)\.py"', text, re.DOTALL))
    return [(name or new or in_loop, old or scripts.get(in_loop, "")) for name, old, new, in_loop in found]


def _comment(path: Path) -> str:
    lines = path.read_text(encoding="utf-8").split("\n\n")[0].splitlines()
    text = " ".join(line.lstrip("# ") for line in lines)
    return re.sub(r"^Stage \d: (\w)", lambda first: first[1].upper(), text)


def _sentence(script: Path) -> str:
    return (ast.get_docstring(ast.parse(script.read_text(encoding="utf-8"))) or "").splitlines()[0]
