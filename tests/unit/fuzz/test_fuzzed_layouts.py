"""Files of pairs in every layout and format, with one thing broken: the same pairs, or one error in words."""

import copy
import os

import pytest
from hypothesis import HealthCheck, event, given, settings
from hypothesis import strategies as st
from pair_data import READ, WRITERS, write

from polyreward.core.errors import PolyrewardError
from polyreward.prepare.pair_files import read_pair_file
from polyreward.prepare.row_files import ROWS_AT_ONCE

EXAMPLES = int(os.environ.get("FUZZ_EXAMPLES", "100"))
FORMATS = list(WRITERS)
# Formats that hold no lists: pandas writes them as Python does.
FLAT = (".csv", ".semicolons.csv", ".tsv", ".indexed.csv")
words = st.text(st.characters(exclude_categories=["Cs", "Cc"]), min_size=1, max_size=30).filter(str.strip)
plain = (st.none(), st.booleans(), st.integers(), st.floats(), st.just([]), st.just({}), words)
junk = st.one_of(*plain, st.lists(words, max_size=2))
fuzzed = settings(
    max_examples=EXAMPLES, deadline=None, derandomize=EXAMPLES <= 100, database=None, suppress_health_check=list(HealthCheck)
)  # fmt: skip


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


def broken_rows(data, rows):
    """Return rows of which one has a wrong value, lacks a key, or has it by another name."""
    rows = copy.deepcopy(rows)
    places, within = [], [rows[0]]
    while within:  # every place in the first row, also in its messages
        found = within.pop()
        for key in found if isinstance(found, dict) else range(len(found)):
            places.append((found, key))
            within += [found[key]] if isinstance(found[key], dict | list) else []
    found, key = data.draw(st.sampled_from(places))
    how = data.draw(
        st.sampled_from(["junk", "gone", "renamed"]) if isinstance(found, dict) else st.just("junk")
    )
    event(f"broken: {how}")
    if how == "junk":
        found[key] = data.draw(junk)
    elif how == "gone":
        del found[key]
    else:
        found[f"{key} "] = found.pop(key)
    return rows


@fuzzed
@given(st.data())
def test_a_broken_row_never_gives_other_pairs_in_silence(tmp_path_factory, data):
    folder = tmp_path_factory.mktemp("given")
    layout, _, rows, _ = data.draw(st.sampled_from(READ))
    texts = data.draw(st.lists(words, min_size=2, max_size=2, unique_by=str.strip))
    rows = renewed(copy.deepcopy(rows), texts)
    kind = data.draw(st.sampled_from(FORMATS))
    event(f"format: {kind}")
    sound = read(write(folder, rows, ".jsonl"))
    assert sound is not None
    assert read(write(folder, rows, kind)) in ([sound, None] if kind in FLAT else [sound])
    broken = broken_rows(data, rows)
    try:
        path = write(folder, broken, kind)
    except Exception:  # the format cannot hold it
        event("not written")
        return
    found, same = read(path), read(write(folder, broken, ".jsonl"))
    event("refused" if found is None else "read as before" if found == sound else "read as it is now")
    if kind not in (*FLAT, ".parquet", ".parquet.gz", ".columns.json"):  # which give a column one type
        assert found == same
    for row in found or []:
        assert isinstance(row["chosen"], str) and row["chosen"].strip()
        assert row["prompt"] and row["chosen"] != row["rejected"]


@fuzzed
@given(st.data())
def test_a_damaged_file_gives_its_first_pairs_or_an_error(tmp_path_factory, data):
    folder = tmp_path_factory.mktemp("given")
    layout, _, rows, _ = data.draw(st.sampled_from(READ))
    kind = data.draw(st.sampled_from(FORMATS))
    path = write(folder, rows, kind)
    sound, content = read(path), path.read_bytes()
    place = data.draw(st.integers(0, len(content) - 1))
    how = data.draw(st.sampled_from(["cut", "byte", "line"]))
    event(f"{kind}: {how}")
    if how == "cut":
        path.write_bytes(content[:place])
    elif how == "byte":
        path.write_bytes(content[:place] + b"\xff" + content[place + 1 :])
    else:
        path.write_bytes(content[:place] + b"\n" + content[place:])
    found = read(path)
    if how == "cut" and kind not in FLAT:  # a cell that is cut short is a cell
        assert found is None or sound is None or found == sound[: len(found)]


@pytest.mark.parametrize("count", [ROWS_AT_ONCE - 1, ROWS_AT_ONCE, ROWS_AT_ONCE + 1])
def test_no_row_is_lost_between_two_batches(tmp_path, count):
    ids = [str(number) for number in range(count)]
    rows = [{"id": name, "prompt": "a", "chosen": name, "rejected": "b"} for name in ids]
    assert [row["id"] for row in read_pair_file(write(tmp_path, rows, ".parquet")).rows] == ids
