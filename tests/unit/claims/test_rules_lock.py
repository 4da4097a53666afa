"""A rule that decides a claim does not change unseen."""

import yaml
from published import CLAIMS
from support import ROOT

from polyreward.claims.table import rule_hash

LOCK = yaml.safe_load((ROOT / "workflow/claims.lock.yaml").read_text(encoding="utf-8"))


def test_a_rule_changes_only_with_its_hash_and_a_reason():
    hashes = {name: rule_hash(entry) for name, entry in CLAIMS.items()}
    assert {name: entry["sha256"] for name, entry in LOCK.items()} == hashes, (
        "renew workflow/claims.lock.yaml, and say why there"
    )
    assert all(entry["why"].strip() for entry in LOCK.values())


def test_a_rule_that_the_lock_calls_missing_was_written_later():
    missing = {name for name, entry in LOCK.items() if "was missing" in entry["why"]}
    assert missing and {CLAIMS[name]["written"] for name in missing} == {"later"}
