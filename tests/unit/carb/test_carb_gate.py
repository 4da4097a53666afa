"""The gate: known answers, and that a cue in the answers is found."""

import numpy as np
from carb_gate import classifier_scores, gate_table, off_chance, surface_scores


def items(count: int, cue: bool) -> list[dict]:
    """Return items whose right answer has a word of its own, or none."""
    found = []
    for number in range(count):
        chosen = number % 4
        answers = [
            f"{'verily' if cue and place == chosen else 'maybe'} {number} {place}" for place in range(4)
        ]
        references = [{"value": str(place), "culture": "en", "check": "c"} for place in range(4)]
        found.append(
            {"culture": "en", "domain": "values", "topic": f"t{number}", "prompt": "?", "answers": answers, "chosen": chosen,
             "references": references}
        )  # fmt: skip
    return found


def test_a_word_that_only_right_answers_have_is_found_and_its_absence_is_chance():
    for cue in (True, False):
        asked = items(60, cue)
        table = gate_table(asked, classifier_scores(asked, 1))
        overall = table[table["by"] == "all"].set_index("scorer")["accuracy_pct"]
        assert (overall["words"] == 100) == cue
        assert bool(off_chance(table)) == cue


def test_ties_are_shared_out_and_intervals_are_wilson_s():
    asked = items(100, cue=False)
    table = gate_table(asked, {"none": [np.zeros(4)] * 100}).set_index("by")
    assert table.loc["all", "accuracy_pct"] == 25
    assert round(table.loc["all", "low"], 1) == 17.5 and round(table.loc["all", "high"], 1) == 34.3
    assert set(surface_scores(asked)) == {"length", "script"}
