"""Flipped training labels: a control with a known answer."""

from support import script

with_flipped_labels = script("train/reward_model").with_flipped_labels
ROWS = [{"id": f"r{n}", "prompt": "p", "chosen": f"good {n}", "rejected": f"bad {n}"} for n in range(10)]


def flipped(share, seed=1):
    found = with_flipped_labels(ROWS, share, seed)
    assert [row["id"] for row in found] == [row["id"] for row in ROWS]
    return {
        row["id"] for row in found if row["chosen"].startswith("bad") and row["rejected"].startswith("good")
    }


def test_a_share_of_pairs_changes_its_answers_and_a_larger_share_flips_more():
    assert flipped(0.0) == set()
    assert [len(flipped(share)) for share in (0.2, 0.4)] == [2, 4]
    assert flipped(0.2) < flipped(0.4) and flipped(0.4) != flipped(0.4, seed=2)
    assert with_flipped_labels(ROWS, 0.0, 1) == ROWS
