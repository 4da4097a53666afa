"""A rule that decides a claim does not change unseen."""

import yaml
from support import ROOT

from polyreward.claims.table import rule_hash


def test_a_rule_changes_only_with_its_hash_and_a_reason():
    claims, lock = (
        yaml.safe_load((ROOT / f"workflow/{name}.yaml").read_text(encoding="utf-8"))
        for name in ("claims", "claims.lock")
    )
    hashes = {name: rule_hash(entry) for name, entry in claims.items()}
    assert {name: entry["sha256"] for name, entry in lock.items()} == hashes, (
        "renew workflow/claims.lock.yaml, and say why there"
    )
    assert all(entry["why"].strip() for entry in lock.values())


def test_a_rule_that_the_lock_calls_missing_was_written_later():
    claims, lock = (
        yaml.safe_load((ROOT / f"workflow/{name}.yaml").read_text(encoding="utf-8"))
        for name in ("claims", "claims.lock")
    )
    missing = {name for name, entry in lock.items() if "was missing" in entry["why"]}
    assert missing and {claims[name]["written"] for name in missing} == {"later"}
