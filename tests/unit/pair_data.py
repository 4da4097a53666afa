"""Preference pairs in every layout and format that people have."""

import bz2
import gzip
import json
import lzma

import pandas as pd


def user(text):
    return {"role": "user", "content": text}


def said(text):
    return {"role": "assistant", "content": text}


ASKED = [user("2 + 2?")]
TURNS = [*ASKED, said("4"), user("and 3?")]
SYSTEM = {"role": "system", "content": "Add."}
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
    ("helpsteer2-preference", "white space of turns",
     [{**VOTE, "prompt": " 2 + 2?\n\n<extra_id_1>Assistant\n4 \n\n<extra_id_1>User\n\tand 3?\n", "preference_strength": 3}],
     [{**PAIR, "prompt": [user(" 2 + 2?"), said("4 "), user("\tand 3?\n")]}]),
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
    ("sharegpt", "ShareGPT, a prompt as text",
     [{"conversations": "2 + 2?", "system": "Add.", "chosen": "4", "rejected": "5"}],
     [{**PAIR, "prompt": [{"role": "system", "content": "Add."}, *ASKED]}]),
    ("orca", "Orca DPO pairs", [{"system": "Add.", "question": "2 + 2?", "chosen": "4", "rejected": "5"}],
     [{**PAIR, "prompt": [SYSTEM, *ASKED]}]),
    ("orca", "Orca DPO pairs without a system turn", [{"system": "", "question": "2 + 2?", "chosen": "4", "rejected": "5"}], [PAIR]),
    ("pairs", "a column for the system turn", [{"system": "Add.", **PAIR}, {"system_prompt": "Add.", **PAIR}],
     [{**PAIR, "prompt": [SYSTEM, *ASKED]}] * 2),
    ("pairs", "a system turn in both places", [{"system": "Add. ", **PAIR, "prompt": [SYSTEM, *ASKED]}],
     [{**PAIR, "prompt": [SYSTEM, *ASKED]}]),
    ("pairs", "a system turn in the answers alone",
     [{**PAIR, "chosen": [SYSTEM, *ASKED, said("4")], "rejected": [SYSTEM, *ASKED, said("5")]}],
     [{**PAIR, "prompt": [SYSTEM, *ASKED]}]),
    ("pairs", "dicts of lists",
     [{"chosen": {"role": ["user", "assistant"], "content": ["2 + 2?", "4"]},
       "rejected": {"from": ["Human", "AI"], "value": ["2 + 2?", "5"]}}], [TALK]),
    ("pairs", "ids of prompts", [{"prompt_id": 3, **PAIR}, {"prompt_id": 3, **PAIR, "rejected": "6"}],
     [{"id": "1", "template": "3", **PAIR}, {"id": "2", "template": "3", **PAIR, "rejected": "6"}]),
    ("ultrafeedback", "several pairs of a prompt",
     [{**PAIR, "prompt_id": "u", "score_chosen": 9.0, "score_rejected": 2.0},
      {**PAIR, "prompt_id": "u", "score_chosen": 9.0, "score_rejected": 3.0, "rejected": "6"}],
     [{**PAIR, "id": "u", "template": "u"}, {**PAIR, "id": "u-2", "template": "u", "rejected": "6"}]),
    ("alpaca", "Alpaca preference", [{"instruction": "Add.", "input": "2 + 2", "chosen": "4", "rejected": "5"}],
     [{**PAIR, "prompt": "Add.\n2 + 2"}]),
    ("alpaca", "Alpaca with a history",
     [{"instruction": "and 3?", "input": "", "chosen": "6", "rejected": "8", "history": [["2 + 2?", "4"]]}],
     [{"prompt": TURNS, "chosen": "6", "rejected": "8"}]),
]  # fmt: skip


def _lines(rows):
    return "".join(json.dumps(row) + "\n" for row in rows).encode()


def _delimited(delimiter):
    return lambda rows: pd.DataFrame(rows).to_csv(sep=delimiter, index=False).encode("utf-8-sig")


# {the file's name after "pairs": its content}; what the name does not end with is only a name
WRITERS = {
    ".jsonl": _lines,
    ".bom.jsonl": lambda rows: b"\xef\xbb\xbf" + _lines(rows) + b"\n\n",
    ".json": lambda rows: json.dumps(rows, indent=1).encode(),
    ".one.json": lambda rows: json.dumps({"test": rows}).encode(),
    ".csv": _delimited(","),
    ".semicolons.csv": _delimited(";"),
    ".tsv": _delimited("\t"),
    ".indexed.csv": lambda rows: pd.DataFrame(rows).to_csv().encode(),
    ".parquet": lambda rows: pd.DataFrame(rows).to_parquet(),
    ".parquet.gz": lambda rows: gzip.compress(pd.DataFrame(rows).to_parquet()),
    ".jsonl.gz": lambda rows: gzip.compress(_lines(rows)),
    ".jsonl.bz2": lambda rows: bz2.compress(_lines(rows)),
    ".jsonl.xz": lambda rows: lzma.compress(_lines(rows)),
    ".columns.json": lambda rows: pd.DataFrame(rows).to_json().encode(),
}


def write(folder, rows, kind):
    """Write rows in a format; return the path to read."""
    path = folder / f"pairs{kind}"
    path.write_bytes(WRITERS[kind](rows))
    return path
