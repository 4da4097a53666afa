"""Every job reads its own stage or earlier ones, and each file of rules writes only its own stage."""

import re

import pytest
from support import ROOT, TINY, files_of_jobs, planned_whole

STAGES = {"sources": 1, "prepare": 2, "translate": 3, "train": 4, "score": 5, "analyse": 6, "artifacts": 7}
PAPER = "workflow/scales/paper.yaml"


def stage(path):
    """Return a file's stage: 1 to 6 below work/, 1 for the sheet there, 7 for other results, 0 for the rest."""
    if path.endswith("/work/scorers.csv"):
        return 1
    found = re.search(r"/work/(\d)_", path)
    return int(found[1]) if found else 7 if path.startswith("results/") else 0


def rule_files():
    """Return {rule: the stage of the file that has it}."""
    named = r"^(?:rule|use rule \w+ as) (\w+)(?: with)?:"
    return {
        rule: STAGES[path.stem.removesuffix("_carb")]
        for path in (ROOT / "workflow/rules").glob("*.smk")
        for rule in re.findall(named, path.read_text(encoding="utf-8"), re.MULTILINE)
    }


@pytest.mark.parametrize(
    "scale", [[], ["--configfile", TINY], ["--configfile", PAPER]], ids=["mini", "tiny", "paper"]
)
def test_no_job_reads_a_later_stage_and_each_file_of_rules_writes_its_own(scale):
    stages, seen = rule_files(), set()
    for rule, inputs, outputs in files_of_jobs(planned_whole(*scale)):
        if outputs:
            seen.add(rule)
            assert {stage(path) for path in outputs} == {stages[rule]}, f"{rule} writes {outputs}"
            assert [path for path in inputs if stage(path) > stages[rule]] == [], rule
    assert len(seen) > 70
