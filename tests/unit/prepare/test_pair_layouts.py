"""Every layout that is read as it is: a made-up row of each, and the pairs that it stands for."""

import json

import pandas as pd
import pytest
from support import ROOT

from polyreward.core.errors import PolyrewardError
from polyreward.prepare.pair_files import read_pair_file
from polyreward.prepare.pair_layouts import LAYOUTS, find_layout


def user(text):
    return {"role": "user", "content": text}


def said(text):
    return {"role": "assistant", "content": text}


ASKED = [user("2 + 2?")]
TURNS = [*ASKED, said("4"), user("and 3?")]
HUMAN = {"from": "human", "value": "2 + 2?"}
PAIR = {"prompt": "2 + 2?", "chosen": "4", "rejected": "5"}
TALK = {**PAIR, "prompt": ASKED}
VOTE = {"prompt": "2 + 2?", "response_1": "5", "response_2": "4"}
# (layout, how people name it, rows as they have them, what each pair is read as)
READ = [
    ("pairs", "TRL, standard", [PAIR], [PAIR]),
    ("pairs", "TRL, conversational", [{"prompt": ASKED, "chosen": [said("4")], "rejected": [said("5")]}], [TALK]),
    ("pairs", "TRL, implicit prompt", [{"chosen": [*ASKED, said("4")], "rejected": [*ASKED, said("5")]}], [TALK]),
    ("pairs", "RewardBench", [{"id": 7, "subset": "math-prm", **PAIR, "chosen_model": "a"}],
     [{"id": "7", "subset": "math-prm", **PAIR}]),
    ("pairs", "RewardBench 2", [{"id": "a", "subset": "Math", "prompt": "2 + 2?", "chosen": ["4"], "rejected": ["5", "6", "7"]}],
     [{**PAIR, "rejected": ["5", "6", "7"]}]),
    ("m-rewardbench", "M-RewardBench", [{"id": 3, "language": "kor_Hang", "subset": "hep-go", **PAIR, "source": "x"}],
     [{"id": "3-kor_Hang", "subset": "hep-go", **PAIR}]),
    ("ultrafeedback", "UltraFeedback binarized",
     [{"prompt": "2 + 2?", "prompt_id": "u", "chosen": [*ASKED, said("4")], "rejected": [*ASKED, said("5")],
       "messages": [*ASKED, said("4")], "score_chosen": 9.0, "score_rejected": 2.0}], [{**PAIR, "id": "u"}]),
    ("skywork", "Skywork preference", [{"chosen": [*ASKED, said("4")], "rejected": [*ASKED, said("5")], "source": "magpie"}],
     [{**TALK, "subset": "magpie"}]),
    ("hh-rlhf", "hh-rlhf", [{"chosen": "\n\nHuman: 2 + 2?\n\nAssistant: 4\n\nHuman: and 3?\n\nAssistant: 6",
                             "rejected": "\n\nHuman: 2 + 2?\n\nAssistant: 4\n\nHuman: and 3?\n\nAssistant: 8"}],
     [{"prompt": TURNS, "chosen": "6", "rejected": "8"}]),
    ("helpsteer2-preference", "HelpSteer 2, preferences", [{**VOTE, "preference_strength": 2}], [PAIR]),
    ("helpsteer2-preference", "the first is better", [{**VOTE, "preference_strength": -1}],
     [{**PAIR, "chosen": "5", "rejected": "4"}]),
    ("helpsteer2-preference", "several turns",
     [{**VOTE, "prompt": "2 + 2?\n\n<extra_id_1>Assistant\n4\n\n<extra_id_1>User\nand 3?", "preference_strength": 3}],
     [{**PAIR, "prompt": TURNS}]),
    ("helpsteer2", "HelpSteer 2, ratings",
     [{"prompt": "2 + 2?", "response": "5", "helpfulness": 1}, {"prompt": "2 + 2?", "response": "4", "helpfulness": 4}], [PAIR]),
    ("helpsteer3", "HelpSteer 3", [{"domain": "stem", "language": "english", "context": ASKED, "response1": "4",
                                    "response2": "5", "overall_preference": -2}], [{**TALK, "subset": "stem"}]),
    ("arena", "LMSYS, conversations",
     [{"question_id": "q", "model_a": "x", "model_b": "y", "winner": "model_b", "language": "English",
       "conversation_a": [*ASKED, said("5")], "conversation_b": [*ASKED, said("4")]}], [{**TALK, "id": "q", "subset": "English"}]),
    ("arena-55k", "LMSYS, votes",
     [{"id": 1, "prompt": '["2 + 2?"]', "response_a": '["4"]', "response_b": '["5"]', "winner_model_a": 1,
       "winner_model_b": 0, "winner_tie": 0}], [{**PAIR, "id": "1"}]),
    ("rm-bench", "RM-Bench",
     [{"id": "r", "prompt": "2 + 2?", "chosen": ["4", "four", "**4**"], "rejected": ["5", "five", "**5**"], "domain": "math"}],
     [{"id": f"r-{one}{other}", "template": "r", "subset": "math", "chosen": chosen, "rejected": rejected,
       "category": "easy" if one > other else "hard" if one < other else "normal"}
      for one, chosen in enumerate(["4", "four", "**4**"]) for other, rejected in enumerate(["5", "five", "**5**"])]),
    ("judgebench", "JudgeBench",
     [{"pair_id": "j", "source": "mmlu-pro", "question": "2 + 2?", "response_A": "5", "response_B": "4", "label": "B>A"}],
     [{**PAIR, "id": "j", "subset": "mmlu-pro"}]),
    ("llmbar", "LLMBar", [{"input": "2 + 2?", "output_1": "4", "output_2": "5", "label": 1}], [PAIR]),
    ("rmb-pairwise", "RMB, pairs",
     [{"pairwise_uid": "p", "category_path": "chat", "conversation_input": ASKED, "chosen": {"answer": "4"}, "reject": {"answer": "5"}}],
     [{**TALK, "id": "p", "subset": "chat"}]),
    ("rmb-best-of-n", "RMB, best of n",
     [{"bon_uid": "b", "category_path": "chat", "conversation_input": ASKED, "bon_best": {"answer": "4"},
       "loser_list": [{"answer": "5"}, {"answer": "6"}]}], [{**TALK, "id": "b", "rejected": ["5", "6"]}]),
    ("sharegpt", "ShareGPT preference",
     [{"conversations": [HUMAN], "chosen": {"from": "gpt", "value": "4"}, "rejected": {"from": "gpt", "value": "5"}}], [TALK]),
    ("alpaca", "Alpaca preference", [{"instruction": "Add.", "input": "2 + 2", "chosen": "4", "rejected": "5"}],
     [{**PAIR, "prompt": "Add.\n2 + 2"}]),
    ("alpaca", "Alpaca with a history",
     [{"instruction": "and 3?", "input": "", "chosen": "6", "rejected": "8", "history": [["2 + 2?", "4"]]}],
     [{"prompt": TURNS, "chosen": "6", "rejected": "8"}]),
    ("alpaca-output", "Alpaca, both in output", [{"instruction": "2 + 2?", "input": "", "output": ["4", "5"]}], [PAIR]),
]  # fmt: skip


def written(folder, rows, suffix=".jsonl"):
    path = folder / f"pairs{suffix}"
    if suffix == ".parquet":
        pd.DataFrame(rows).to_parquet(path)
    elif suffix == ".json":
        path.write_text(json.dumps(rows, indent=1))
    else:
        path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


@pytest.mark.parametrize("suffix", [".jsonl", ".json", ".parquet"])
@pytest.mark.parametrize(("layout", "name", "rows", "pairs"), READ, ids=[one[1] for one in READ])
def test_each_layout_is_found_and_read(tmp_path, layout, name, rows, pairs, suffix):
    path = written(tmp_path, rows, suffix)
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
    ({"prompt": "a", "prompt_id": 1, "chosen": "4", "rejected": "5", "score_chosen": 3.0, "score_rejected": 3.0}, "equal scores"),
    ({"prompt": "a", "prompt_id": 1, "chosen": "4", "rejected": "5", "score_chosen": 3.0, "score_rejected": 4.0}, "the higher score"),
    ({"prompt": "a", "response": "4", "helpfulness": 2}, "exactly two rated responses"),
]  # fmt: skip


@pytest.mark.parametrize(("row", "reason"), NO_PAIR, ids=[one[1] for one in NO_PAIR])
def test_a_row_without_a_better_answer_is_left_out_and_counted(tmp_path, row, reason):
    with pytest.raises(PolyrewardError, match=f"holds no pair .1 rows: .*{reason}"):
        read_pair_file(written(tmp_path, [row]))


def test_a_summary_names_what_was_left_out_and_not_used(tmp_path):
    rows = [{**VOTE, "preference_strength": number % 3, "extra": 1} for number in range(45)]
    found = read_pair_file(written(tmp_path, rows))
    assert (found.n_read, len(found.rows)) == (45, 30)
    assert "15 left out: ties (line 1, line 4," in found.summary() and found.summary().count("line") == 10
    assert "not used: extra" in found.summary()


def test_columns_that_fit_no_layout_are_listed_once(tmp_path):
    with pytest.raises(PolyrewardError) as error:
        read_pair_file(written(tmp_path, [{"question": "a", "better": "b"}] * 900))
    assert "`question`, `better`" in str(error.value) and "--layout" in str(error.value)
    assert len(str(error.value)) < 700


def test_a_layout_that_is_named_must_be_known_and_fit():
    with pytest.raises(PolyrewardError, match="did you mean `hh-rlhf`"):
        find_layout(PAIR, "hh-rhlf")
    with pytest.raises(PolyrewardError, match="missing: `context`"):
        find_layout(PAIR, "helpsteer3")
