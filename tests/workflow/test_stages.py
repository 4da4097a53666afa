"""Every job reads its own stage or earlier ones, and each file of rules writes only its own stage."""

import re

import pytest
from support import ROOT, TINY, planned_whole

STAGES = {"sources": 1, "prepare": 2, "translate": 3, "train": 4, "score": 5, "analyse": 6, "artifacts": 7}
PAPER = "workflow/scales/paper.yaml"


def stage(path):
    """Return a file's stage: 1 to 6 below work/, 7 for other results, 0 for what lies outside of results/."""
    found = re.search(r"/work/(\d)_", path)
    return int(found[1]) if found else 7 if path.startswith("results/") else 0


def jobs(text):
    """Yield (rule, inputs, outputs) of a dry run's jobs."""
    for block in re.split(r"^(?:local)?rule ", text, flags=re.MULTILINE)[1:]:
        files = dict(re.findall(r"^    (input|output): (.*)$", block, re.MULTILINE))
        inputs, outputs = (files[key].split(", ") if key in files else [] for key in ("input", "output"))
        yield block.split(":")[0], inputs, [path.split(" (")[0] for path in outputs]


def rule_files():
    """Return {rule: the stage of the file that has it}; of rules that are numbered in a loop, the name before
    the number."""
    named = r"^(?:rule|use rule \w+ as) (\w+)(?: with)?:|^        name:\n            f\"(\w+)_{number}\"$"
    return {
        "".join(rule): STAGES[path.stem.removesuffix("_carb")]
        for path in (ROOT / "workflow/rules").glob("*.smk")
        for rule in re.findall(named, path.read_text(encoding="utf-8"), re.MULTILINE)
    }


@pytest.mark.parametrize(
    "scale", [[], ["--configfile", TINY], ["--configfile", PAPER]], ids=["mini", "tiny", "paper"]
)
def test_no_job_reads_a_later_stage_and_each_file_of_rules_writes_its_own(scale):
    stages, seen = rule_files(), set()
    for rule, inputs, outputs in jobs(planned_whole(*scale).stdout):
        rule = re.sub(r"_\d+$", "", rule)
        if outputs:
            seen.add(rule)
            assert {stage(path) for path in outputs} == {stages[rule]}, f"{rule} writes {outputs}"
            assert [path for path in inputs if stage(path) > stages[rule]] == [], (
                f"{rule} reads a later stage"
            )
    assert len(seen) > 70
