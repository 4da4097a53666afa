"""Claims as the page shows them: verdicts, texts, and intervals drawn to scale."""

import pytest
from made_up_results import CLAIM, CLAIMS, GAP, write_claims_table

from polyreward.analysis.verdicts import VERDICTS
from polyreward.core.errors import PolyrewardError
from polyreward.report.claims import (
    EDGE,
    LOOKS,
    WIDTH,
    counts,
    drawing,
    rule_of,
    shown_claims,
    span_of,
    verdict_of,
)

NAN = float("nan")
ROW = {"estimate": 5, "low": 0, "high": 10, "printed_estimate": NAN}
SHORTS = {"transfer": "Transfer", "carb": "CARB"}
SHORTS = {"transfer": "Transfer", "carb": "CARB"}
SPAN = (0, 204)  # so that a unit of the axis is a unit of the drawing


@pytest.mark.parametrize(
    ("text", "rule"),
    [("above 0", ("above", 0)), ("below -0.5", ("below", -0.5)), ("above -2 (0 with a margin of 2)", ("above", -2)),
     ("below 1e-05", ("below", 1e-5))],
)  # fmt: skip
def test_a_rule_is_read(text, rule):
    assert rule_of(text) == rule


def test_what_is_no_rule_is_an_error():
    with pytest.raises(ValueError, match="`beside 3` is no rule"):
        rule_of("beside 3")


@pytest.mark.parametrize(
    ("row", "bound", "holds", "ours", "printed"),
    [
        ({**ROW, "rule": "above 100"}, 108.0, (108.0, 112.0), (8.0, 13.0, 18.0), None),
        ({**ROW, "rule": "below 100"}, 108.0, (0.0, 108.0), (8.0, 13.0, 18.0), None),
        ({**ROW, "rule": "above 0", "low": NAN, "high": NAN}, 8.0, (8.0, 212.0), (13.0, 13.0, 13.0), None),
        ({**ROW, "rule": "above 0", "estimate": NAN, "printed_estimate": 204}, 8.0, (8.0, 212.0), None, 212.0),
    ],
)  # fmt: skip
def test_an_interval_lies_where_its_numbers_are(row, bound, holds, ours, printed):
    found = drawing(row, SPAN)
    assert (found.bound, found.holds, found.ours, found.printed) == (bound, holds, ours, printed)


def test_an_axis_holds_every_number_and_bound():
    rows = [{**ROW, "rule": "above -3"}, {**ROW, "rule": "above 0", "printed_estimate": 12}]
    assert span_of(rows) == (-3, 12)
    assert drawing(rows[1], (-3, 12)).printed == WIDTH - EDGE
    assert drawing({**ROW, "rule": "above 5"}, (5, 5)).bound == EDGE  # all numbers the same


def test_claims_are_shown_with_texts_and_the_rest_below(tmp_path):
    write_claims_table(CLAIMS, tmp_path / "claims.csv")
    first, second, third, last = shown_claims(tmp_path / "claims.csv", "make it", SHORTS)
    assert (first.number, first.ours, first.printed) == ("Transfer 1", "+2.0 [+1.0, +3.0]", "+4.0")
    assert (first.n, first.verdict.key, first.speaks_of) == (
        "12 templates",
        "suggested",
        "(these models only)",
    )
    assert (first.p_holm, last.p_holm) == ("0.020", "")
    assert dict(first.more) == {
        "where": "Table 1", "quantity": "English minus target", "se": "0.5", "se trainings": "0", "test": "bootstrap",
        "speaks of": "these models only",
        "null": "0", "null of": "symmetry", "p": "0.01",
        "rule sha256": "0123456789ab",
        "note": CLAIM["note"],
    }  # fmt: skip
    # Nothing is said of what is not decided
    assert (third.verdict.word, third.speaks_of) == ("not decided", "")
    assert (last.ours, last.n, last.drawn.ours) == ("", "", None)
    assert second.drawn.bound == third.drawn.bound  # one unit, one axis


def test_every_verdict_has_a_look_of_its_own_and_is_counted(tmp_path):
    assert set(LOOKS) == set(VERDICTS)
    assert all(len(set(look)) == len(VERDICTS) for look in zip(*LOOKS.values(), strict=True))
    words = [*VERDICTS, VERDICTS[0]]
    rows = [{**CLAIM, **GAP, "claim": word, "verdict": word} for word in words]
    write_claims_table(rows, tmp_path / "c.csv")
    found = counts(shown_claims(tmp_path / "c.csv", "", SHORTS))
    assert found == [(verdict_of(word), 2 if word == VERDICTS[0] else 1) for word in VERDICTS]


def test_claims_of_other_code_say_how_to_make_them_anew(tmp_path):
    (tmp_path / "claims.csv").write_text("claim,verdict\na,holds\n", encoding="utf-8")
    said = "claims.csv: 1 rows, .*; it is from another version. Run `make it`"
    with pytest.raises(PolyrewardError, match=said):
        shown_claims(tmp_path / "claims.csv", "make it", SHORTS)
