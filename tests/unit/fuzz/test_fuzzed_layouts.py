"""Files of pairs in every layout and format, with one thing broken: the same pairs, or one error in words."""

import copy
import os
import sys
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

sys.path.insert(0, str(Path(__file__).parents[1] / "prepare"))
from test_pair_files import write
from test_pair_layouts import READ

from polyreward.core.errors import PolyrewardError
from polyreward.prepare.pair_files import read_pair_file
from polyreward.prepare.row_files import ROWS_AT_ONCE

EXAMPLES = int(os.environ.get("FUZZ_EXAMPLES", "100"))
FORMATS = [".jsonl", ".json", ".parquet", ".jsonl.gz", ".bom.jsonl", ".lists.json"]
words = st.text(st.characters(exclude_categories=["Cs", "Cc"]), min_size=1, max_size=30).filter(str.strip)
junk = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(),
    st.just([]),
    st.just({}),
    words,
    st.lists(words, max_size=2),
)


def renewed(value, texts):
    """Return a row with other texts instead of its answers, so that rows of a file differ."""
    if isinstance(value, dict):
        return {key: renewed(one, texts) for key, one in value.items()}
    if isinstance(value, list):
        return [renewed(one, texts) for one in value]
    return {"4": texts[0], "5": texts[1]}.get(value, value)


def read(path):
    """Return what is read of a file, or None after an error in words."""
    try:
        return read_pair_file(path).rows
    except PolyrewardError as error:
        assert "Traceback" not in str(error) and str(path) in str(error) and len(str(error)) < 8000
        return None


@settings(max_examples=EXAMPLES, deadline=None, derandomize=EXAMPLES <= 100, database=None,
          suppress_health_check=list(HealthCheck))  # fmt: skip
@given(st.data())
def test_a_broken_row_never_gives_other_pairs_in_silence(tmp_path_factory, data):
    folder = tmp_path_factory.mktemp("given")
    layout, _, rows, _ = data.draw(st.sampled_from(READ))
    texts = data.draw(st.lists(words, min_size=2, max_size=2, unique=True))
    rows = renewed(copy.deepcopy(rows), texts)
    kind = data.draw(st.sampled_from(FORMATS))
    sound = read(write(folder, rows, ".jsonl"))
    assert read(write(folder, rows, kind)) == sound
    # One value of another kind: the row is refused, or the value was one that nothing reads, or a sound one.
    key, value = data.draw(st.sampled_from(sorted(rows[0]))), data.draw(junk)
    broken = [{**rows[0], key: value}, *rows[1:]]
    try:
        path = write(folder, broken, kind)
    except Exception:  # the format cannot hold it
        return
    found, same = read(path), read(write(folder, broken, ".jsonl"))
    if kind != ".parquet":  # which gives a column one type
        assert found == same
    for row in found or []:
        assert isinstance(row["chosen"], str) and row["chosen"].strip()
        assert row["prompt"] and row["chosen"] != row["rejected"]


@pytest.mark.parametrize("count", [ROWS_AT_ONCE - 1, ROWS_AT_ONCE, ROWS_AT_ONCE + 1])
def test_no_row_is_lost_between_two_batches(tmp_path, count):
    rows = [
        {"id": str(number), "prompt": "a", "chosen": f"{number}", "rejected": "b"} for number in range(count)
    ]
    assert [row["id"] for row in read_pair_file(write(tmp_path, rows, ".parquet")).rows] == [
        row["id"] for row in rows
    ]
