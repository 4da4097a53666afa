"""A rule that decides a claim does not change unseen: `polyreward claims check` names each that did."""

import pytest
from published import CLAIMS, SHORTS
from support import ROOT

from polyreward.claims.folders import folder_problems
from polyreward.core.yaml_files import read_yaml


@pytest.mark.parametrize("paper", SHORTS)
def test_nothing_is_missing_in_a_paper_s_folder(paper):
    assert folder_problems(ROOT / "workflow/papers" / paper) == []


def test_a_rule_that_the_lock_calls_missing_was_written_later():
    locks = [read_yaml(ROOT / f"workflow/papers/{paper}/claims.lock.yaml") for paper in ("transfer", "carb")]
    missing = {name for lock in locks for name, entry in lock.items() if "was missing" in entry["why"]}
    assert missing and {CLAIMS[name]["written"] for name in missing} == {"later"}
