"""Every layout that is read as it is: a made-up row of each, and the pairs that it stands for."""

import pandas as pd
import pytest
from pair_data import PAIR, READ, VOTE, write
from support import ROOT, refused

from polyreward.core.errors import PolyrewardError
from polyreward.prepare.pair_files import read_pair_file
from polyreward.prepare.pair_layouts import LAYOUTS, find_layout


@pytest.mark.parametrize("suffix", [".jsonl", ".json", ".parquet"])
@pytest.mark.parametrize(("layout", "name", "rows", "pairs"), READ, ids=[one[1] for one in READ])
def test_each_layout_is_found_and_read(tmp_path, layout, name, rows, pairs, suffix):
    path = write(tmp_path, rows, suffix)
    found, named = read_pair_file(path), read_pair_file(path, layout=layout)
    assert found.layout == layout and found.rows == named.rows
    assert [{key: row[key] for key in pair} for row, pair in zip(found.rows, pairs, strict=True)] == pairs


def test_every_layout_has_a_row_here_and_in_the_documents():
    assert {one[0] for one in READ} == set(LAYOUTS)
    documents = (ROOT / "docs/reference/files.md").read_text(encoding="utf-8")
    assert [name for name in LAYOUTS if f"`{name}`" not in documents] == []


# (a row in which no answer is the better one, why it is left out)
NO_PAIR = [
    ({**VOTE, "preference_strength": 0}, "ties"),
    ({"id": 1, "prompt": '["a"]', "response_a": '["4"]', "response_b": '["5"]', "winner_model_a": 0, "winner_model_b": 0}, "ties"),
    ({"prompt": "2 + 2?", "chosen": ["4", "four"], "rejected": ["5"]}, "several right answers"),
    ({"id": 1, "prompt": '["a", "b"]', "response_a": '["4"]', "response_b": '["5"]', "winner_model_a": 1, "winner_model_b": 0},
     "several turns"),
    ({"chosen": "\n\nHuman: a\n\nAssistant: 4", "rejected": "\n\nHuman: b\n\nAssistant: 5"}, "differ before their last turn"),
    ({"prompt": "a", "prompt_id": 1, "chosen": "4", "rejected": "5", "score_chosen": 3.0, "score_rejected": 3.0}, "no higher score"),
    ({"prompt": "a", "prompt_id": 1, "chosen": "4", "rejected": "5", "score_chosen": 3.0, "score_rejected": 4.0}, "no higher score than"),
    ({"prompt": "a", "response": "4", "helpfulness": 2}, "exactly two rated responses"),
]  # fmt: skip


@pytest.mark.parametrize(("row", "reason"), NO_PAIR, ids=[one[1] for one in NO_PAIR])
def test_a_row_without_a_better_answer_is_left_out_and_counted(tmp_path, row, reason):
    with pytest.raises(PolyrewardError, match=f"holds no pair .1 rows: .*{reason}"):
        read_pair_file(write(tmp_path, [row], ".jsonl"))


def test_three_rated_responses_to_a_prompt_make_no_pair(tmp_path):
    rows = [{"prompt": "a", "response": str(rating), "helpfulness": rating} for rating in range(3)]
    text = refused(read_pair_file, write(tmp_path, rows, ".jsonl"))
    assert "prompts without exactly two rated responses" in text


def test_a_summary_names_what_was_left_out_and_not_used(tmp_path):
    rows = [{**VOTE, "preference_strength": number % 3, "extra": 1} for number in range(45)]
    found = read_pair_file(write(tmp_path, rows, ".jsonl"))
    assert (found.n_read, len(found.rows)) == (45, 30)
    assert "15 left out: ties (line 1, line 4," in found.summary() and found.summary().count("line") == 10
    assert "not used: extra" in found.summary()


def test_columns_that_fit_no_layout_are_listed_once(tmp_path):
    text = refused(read_pair_file, write(tmp_path, [{"question": "a", "better": "b"}] * 900, ".jsonl"))
    assert "`question`, `better`" in text and "--layout" in text
    assert len(text) < 700 and "orient" not in text


@pytest.mark.parametrize("orient", ["split", "table", "index"])
def test_another_orient_of_pandas_is_named(tmp_path, orient):
    path = tmp_path / "pairs.json"
    pd.DataFrame([PAIR, PAIR]).to_json(path, orient=orient)
    assert "save with orient='records'" in refused(read_pair_file, path)


def test_a_layout_that_is_named_must_be_known_and_fit():
    with pytest.raises(PolyrewardError, match="did you mean `hh-rlhf`"):
        find_layout(PAIR, "hh-rhlf")
    with pytest.raises(PolyrewardError, match="missing: `context`"):
        find_layout(PAIR, "helpsteer3")
