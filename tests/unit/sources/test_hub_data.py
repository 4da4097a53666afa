"""Every dataset of the hub in the catalog: small folders in its layout, with its columns, through
datasets.load_dataset."""

import copy
import gzip
import json
import sys
from pathlib import Path

import datasets
import pytest
import yaml
from support import script

sys.path.insert(0, str(Path(__file__).parents[1] / "prepare"))
from test_pair_layouts import READ
from tiny_models import ROOT

from polyreward.core.errors import PolyrewardError
from polyreward.prepare.pool import Share, row_problems
from polyreward.sources.hub_data import column_problems, hub_rows

with_released = script("translate/translated_rows").with_released
prepared_benchmark = script("prepare/evaluation_set").prepared_benchmark

CATALOG = yaml.safe_load((ROOT / "workflow/catalog/datasets.yaml").read_text(encoding="utf-8"))
BENCHMARKS = yaml.safe_load((ROOT / "workflow/catalog/benchmarks.yaml").read_text(encoding="utf-8"))
PAIRS = [
    name for name, entry in CATALOG.items() if entry.get("holds") == "pairs" and "languages" not in entry
]


def turns(*texts):
    return [
        {"role": ("user", "assistant")[n % 2], "content": text, "extra": 1} for n, text in enumerate(texts)
    ]


# Three records of each, as the hub has them: a good one, one that makes no pair or is of another kind, and
# another good one.
RECORDS = {
    "mp-86k": [
        {"source": "s", "chosen": turns("Q0", "yes 0"), "rejected": turns("Q0", "no 0")},
        {"source": "s", "chosen": turns("Q1", "yes 1"), "rejected": turns("another question", "no 1")},
        {"source": "s", "chosen": turns("Q2", "A2", "and?", "yes 2"), "rejected": turns("Q2", "A2", "and?", "no 2")},
    ],
    "magpielm-dpo": [
        {"uuid": f"u{n}", "instruction": f"Q{n}", "chosen": turns(f"Q{n}", f"yes {n}"), "rejected": turns(f"Q{n}", f"no {n}")}
        for n in range(3)
    ],
    "safe-rlhf": [
        {"prompt": f"Q{n}", "response_0": f"a{n}", "response_1": f"b{n}", "better_response_id": 0, "safer_response_id": n % 2}
        for n in range(3)
    ],
    "helpsteer2": [
        {"split": "train", "prompt": f"Q{n}", "response_1": f"a{n}", "response_2": f"b{n}", "preference_strength": strength}
        for n, strength in enumerate([-2, 0, 3])
    ],
    "offsetbias": [{"instruction": f"Q{n}", "output_1": f"a{n}", "output_2": f"b{n}", "label": 1 + n % 2} for n in range(3)],
    "wildguard": [
        {"prompt": prompt, "response": response, "response_harm_label": label, "adversarial": False}
        for prompt, response, label in [
            ("Q0", "Here is how.", "harmful"), ("Q0", "I cannot help.", "unharmful"), ("Q1", "Only one.", "unharmful"),
            ("Q2", "Bad.", "harmful"), ("Q2", "Good.", "unharmful"), ("Q2", "Good too.", "unharmful"), ("Q3", None, None),
        ]
    ],
    "rewardbench": [
        {"id": 1, "prompt": f"Q{n}", "chosen": f"yes {n}", "chosen_model": "m", "rejected": f"no {n}", "subset": s}
        for n, s in enumerate(["alpacaeval-easy", "math-prm", "hep-rust"])
    ],
    "ultrafeedback": [
        {"source": "s", "prompt": f"Q{n}", "chosen": turns(f"Q{n}", f"yes {n}"), "rejected": turns(f"Q{n}", f"no {n}")}
        for n in range(3)
    ],
    "helpsteer3": [
        {"domain": domain, "language": "english", "context": context, "response1": f"a{n}", "response2": f"b{n}",
         "overall_preference": preference, "individual_preference": [{"score": preference, "reasoning": "r"}]}
        for n, (domain, context, preference) in enumerate([
            ("general", turns("Q0"), -3), ("general", turns("Q1"), 0), ("multilingual", turns("Q2", "A2", "and then?"), 1),
            ("code", turns("def f():"), 2), ("stem", turns("E = ?"), -1),
        ])
    ],
    "care": [
        {"question": question, "answer": "", "response": response, "human_rating": rating, "source": "LLM", "cul_type": "food",
         "associated_culture": "Chinese"}
        for question, response, rating in [
            ("Q0", "best", 9), ("Q0", "middle", 5), ("Q0", "worst", 1), ("Q1", "a", 3), ("Q1", "b", 3),
        ]
    ],
}  # fmt: skip

# (prompt, chosen, rejected) of the pairs that they make
MADE = {
    "mp-86k": [("Q0", "yes 0", "no 0"), ("conversation", "yes 2", "no 2")],
    "magpielm-dpo": [("Q0", "yes 0", "no 0"), ("Q1", "yes 1", "no 1"), ("Q2", "yes 2", "no 2")],
    "safe-rlhf": [("Q0", "a0", "b0"), ("Q1", "b1", "a1"), ("Q2", "a2", "b2")],
    "helpsteer2": [("Q0", "a0", "b0"), ("Q2", "b2", "a2")],
    "offsetbias": [("Q0", "a0", "b0"), ("Q1", "b1", "a1"), ("Q2", "a2", "b2")],
    "wildguard": [("Q0", "I cannot help.", "Here is how.")],
    "rewardbench": [("Q0", "yes 0", "no 0"), ("Q1", "yes 1", "no 1"), ("Q2", "yes 2", "no 2")],
    "ultrafeedback": [("Q0", "yes 0", "no 0"), ("Q1", "yes 1", "no 1"), ("Q2", "yes 2", "no 2")],
    "helpsteer3": [("Q0", "a0", "b0"), ("conversation", "b2", "a2")],
    "care": [("Q0", "best", "worst")],
}


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    monkeypatch.setattr(datasets.config, "HF_DATASETS_CACHE", tmp_path / "cache")


def in_hub_layout(folder: Path, entry: dict, records_of: dict) -> dict:
    """Write {(config, split): records} as a repository of the hub, a card and JSON Lines; return the entry
    there."""
    configs: dict[str, list] = {}
    for (config, split), records in records_of.items():
        path = folder / (entry["files"] or f"data/{config}/{split}.jsonl")
        path.parent.mkdir(parents=True, exist_ok=True)
        text = "".join(json.dumps(record, ensure_ascii=False) + "\n" for record in records).encode()
        path.write_bytes(gzip.compress(text) if path.suffix == ".gz" else text)
        configs.setdefault(config or "default", []).append(
            {"split": split, "path": str(path.relative_to(folder))}
        )
    card = {"configs": [{"config_name": name, "data_files": files} for name, files in configs.items()]}
    (folder / "README.md").write_text(f"---\n{yaml.safe_dump(card)}---\n")
    return {**copy.deepcopy(entry), "id": str(folder)}


def pairs_entry(folder: Path, name: str, records=None) -> dict:
    entry = CATALOG[name]
    return in_hub_layout(folder, entry, {(entry["config"], entry["split"]): records or RECORDS[name]})


def refused(entry: dict, name: str) -> str:
    with pytest.raises(PolyrewardError) as error:
        hub_rows(entry, name)
    return str(error.value)


@pytest.mark.parametrize("name", PAIRS)
def test_every_dataset_of_pairs_gives_rows_that_the_pipeline_takes(tmp_path, name):
    rows = hub_rows(pairs_entry(tmp_path, name), name)
    found = [
        (row["prompt"] if isinstance(row["prompt"], str) else "conversation", row["chosen"], row["rejected"])
        for row in rows
    ]
    assert found == MADE[name]
    assert not [problem for row in rows for problem in row_problems(row)]
    assert [row["id"] for row in rows] == [f"{name}-{n}" for n in range(len(rows))]
    assert {row["source"] for row in rows} == {name}


def test_a_conversation_keeps_its_turns_and_their_roles_alone(tmp_path):
    prompt = hub_rows(pairs_entry(tmp_path, "helpsteer3"), "helpsteer3")[1]["prompt"]
    assert prompt == [
        {"role": role, "content": text}
        for role, text in [("user", "Q2"), ("assistant", "A2"), ("user", "and then?")]
    ]


def test_answers_that_are_texts_alone_need_a_prompt_column(tmp_path):
    entry = pairs_entry(tmp_path, "mp-86k", [{"chosen": "yes", "rejected": "no"}])
    assert "no column prompt; it has chosen, rejected" in refused(entry, "mp-86k")
    del entry["columns"]["prompt"]
    assert "no column for `prompt`, and the answers are no conversations that hold it" in refused(
        entry, "mp-86k"
    )


def test_pairs_that_differ_before_the_answer_are_counted(tmp_path, capsys):
    hub_rows(pairs_entry(tmp_path, "mp-86k"), "mp-86k")
    assert "mp-86k: 1 left out: the conversations differ before their last message" in capsys.readouterr().err


@pytest.mark.parametrize("name", ["helpsteer2-preference", "helpsteer3", "llmbar", "pairs"])
def test_a_dataset_may_name_a_layout_and_gives_the_pairs_of_a_file_in_it(tmp_path, name):
    (_, _, rows, made), *_ = [one for one in READ if one[0] == name]
    entry = {**pairs_entry(tmp_path, "helpsteer2", rows), "layout": name}
    del entry["columns"], entry["chooses"]
    (row,) = hub_rows(entry, "mine")
    prompt = made[0]["prompt"] if isinstance(made[0]["prompt"], str) else made[0]["prompt"][0]["content"]
    assert (row["prompt"], row["chosen"], row["rejected"]) == (prompt, made[0]["chosen"], made[0]["rejected"])
    assert (row["id"], row["source"]) == ("mine-0", "mine")


def test_a_layout_may_give_several_rejected_answers_and_many_reasons_are_cut(tmp_path, capsys):
    records = [
        {"id": number + 0.5, "prompt": "Q", "chosen": ["a"], "rejected": ["b", "c"]} for number in range(30)
    ]
    entry = {**pairs_entry(tmp_path, "helpsteer2", [*records, {**records[0], "id": 7}]), "layout": "pairs"}
    (row,) = hub_rows(entry, "mine")
    assert (row["id"], row["chosen"], row["rejected"]) == ("7", "a", ["b", "c"])
    assert capsys.readouterr().err.count("left out: `id` is") == 10


def test_a_layout_that_does_not_fit_is_named_with_the_dataset(tmp_path):
    entry = {**pairs_entry(tmp_path, "mp-86k"), "layout": "judgebench"}
    text = refused(entry, "mp-86k")
    assert "layout judgebench needs" in text and "correct `layout` of mp-86k in workflow/catalog" in text


def test_messages_are_read_and_checked_as_in_a_file_and_what_is_left_out_is_counted(tmp_path, capsys):
    def talk(answer, **more):
        return [{"from": "human", "value": "Q"}, {"from": "gpt", "value": answer, **more}]

    records = [
        {"chosen": talk("yes", tool_calls=""), "rejected": talk("no", tool_calls="")},
        {"chosen": talk("yes", tool_calls="f()"), "rejected": talk("no", tool_calls="")},
    ]
    (row,) = hub_rows(pairs_entry(tmp_path / "one", "mp-86k", records), "mp-86k")
    assert (row["prompt"], row["chosen"], row["rejected"]) == ("Q", "yes", "no")
    assert "mp-86k: 1 left out: `chosen`: message 2 has `tool_calls`" in capsys.readouterr().err
    text = refused(pairs_entry(tmp_path / "two", "mp-86k", records[1:]), "mp-86k")
    assert "holds no pair (`chosen`: message 2 has `tool_calls`" in text


def test_ratings_may_be_numbers_as_text(tmp_path):
    records = [
        {"question": "Q", "response": text, "human_rating": rating}
        for text, rating in [("a", "10"), ("b", "9"), ("c", "n/a"), ("d", "nan")]
    ]
    (row,) = hub_rows(pairs_entry(tmp_path, "care", records), "care")
    assert (row["chosen"], row["rejected"]) == ("a", "b")


def test_a_domain_that_is_not_there_is_named_with_those_that_are(tmp_path):
    records = [{**record, "domain": "chat"} for record in RECORDS["helpsteer3"]]
    text = refused(pairs_entry(tmp_path, "helpsteer3", records), "helpsteer3")
    assert "column domain holds none of general, multilingual, but chat: correct `only` of helpsteer3" in text


# --- pairs in several languages


def released(folder: Path, languages=("en", "es", "ko"), records=None) -> dict:
    """Write Multilingual RewardBench as its authors have it: a card without English, whose file is next to it;
    return its entry."""
    entry = copy.deepcopy(CATALOG["multilingual-rewardbench"])
    entry["languages"] = {language: entry["languages"][language] for language in languages}
    records = records or {language: [multilingual(language, n) for n in range(4)] for language in languages}
    of_card = {
        (part["config"], "test"): records[language]
        for language, part in entry["languages"].items()
        if "config" in part
    }
    found = in_hub_layout(folder, entry, of_card)
    (folder / "eng_Latn").mkdir()
    (folder / "eng_Latn/filtered.json").write_text(json.dumps(records["en"]))
    return found


def multilingual(language: str, n: int) -> dict:
    """The n-th of four pairs: two subsets, whose ids are each its own. The English file calls the subset
    otherwise."""
    n = n if language == "en" else 3 - n
    subset = {"subset" if language == "en" else "source": ["math-prm", "hep-go"][n % 2]}
    texts = {role: f"{language} {role} {n}" for role in ("prompt", "chosen", "rejected")}
    return {"id": n // 2, "language": language, **texts, "chosen_model": "m", "rejected_model": "m", **subset}


def test_released_translations_come_with_their_pairs(tmp_path):
    rows = hub_rows(released(tmp_path), "multilingual-rewardbench")
    assert [(row["id"], row["subset"], row["prompt"]) for row in rows] == [
        ("math-prm-0", "math-prm", "en prompt 0"), ("hep-go-0", "hep-go", "en prompt 1"),
        ("math-prm-1", "math-prm", "en prompt 2"), ("hep-go-1", "hep-go", "en prompt 3"),
    ]  # fmt: skip
    assert rows[1]["translations"] == {
        language: {role: f"{language} {role} 1" for role in ("prompt", "chosen", "rejected")}
        for language in ("es", "ko")
    }
    prepared, _ = prepared_benchmark(
        rows, {"math-prm": "reasoning", "hep-go": "reasoning"}, Share(None, None), 1, "here"
    )
    spanish = with_released(prepared, "es", lambda rest: pytest.fail("no engine is needed"))
    assert spanish[1] == {
        "id": "hep-go-0", "source": "multilingual-rewardbench", "subset": "hep-go", "category": "reasoning",
        "prompt": "es prompt 1", "chosen": "es chosen 1", "rejected": "es rejected 1",
    }  # fmt: skip


def test_a_pair_that_a_language_lacks_is_left_out_of_all(tmp_path, capsys):
    records = {language: [multilingual(language, n) for n in range(4)] for language in ("en", "es", "ko")}
    records["ko"] = records["ko"][:-1]
    records["es"][0]["chosen"] = ""
    rows = hub_rows(released(tmp_path, records=records), "multilingual-rewardbench")
    assert [row["prompt"] for row in rows] == ["en prompt 1", "en prompt 2"]
    assert "2 pairs are not in all of en, es, ko and are left out" in capsys.readouterr().err


def test_rows_without_a_translation_of_their_own_go_to_the_engine_in_their_order():
    rows = [
        {"id": "a", "prompt": "A"},
        {"id": "b", "prompt": "B", "translations": {"es": {"prompt": "BB"}}},
        {"id": "c", "prompt": "C"},
    ]
    made = with_released(rows, "es", lambda rest: [{**row, "prompt": row["prompt"].lower()} for row in rest])
    assert [row["prompt"] for row in made] == ["a", "BB", "c"]


def test_rows_that_a_catalog_lacks_are_left_out_beside_those_with_a_translation_of_their_own():
    rows = [
        {"id": "a", "prompt": "A"},
        {"id": "b", "prompt": "B", "translations": {"es": {"prompt": "BB"}}},
        {"id": "c", "prompt": "C"},
    ]
    assert [row["prompt"] for row in with_released(rows, "es", lambda rest: rest[1:])] == ["BB", "C"]
    assert [row["prompt"] for row in with_released(rows[::2], "es", lambda rest: [])] == []


def test_multilingual_rewardbench_has_23_languages_and_rewardbench_s_sections():
    entry = CATALOG["multilingual-rewardbench"]
    assert len(entry["languages"]) == 23  # English and 22; Chinese twice, of which one is taken
    assert BENCHMARKS["multilingual-rewardbench"]["sections"] == BENCHMARKS["rewardbench"]["sections"]


def test_rewardbench_has_23_subsets_and_maths_weighs_what_code_does():
    benchmark = BENCHMARKS["rewardbench"]
    assert sum(map(len, benchmark["sections"].values())) == 23
    assert benchmark["weights"] == {"math-prm": 6 * 164}


def parallel(name: str, record):
    """Return records {(config, split): records} of a dataset in every language; record(language, n): the n-th
    of six."""
    entry = CATALOG[name]
    parts = {language: {**entry, **part} for language, part in entry["languages"].items()}
    return {
        (part["config"], part["split"]): [record(language, n) for n in range(6)]
        for language, part in parts.items()
    }


def belebele(language, n):
    # two questions about each of the first two passages; the languages' files have orders of their own
    n = n if language == "en" else 5 - n
    passage = {0: 0, 1: 0, 2: 1, 3: 1}.get(n, n)
    return {
        "link": f"l{passage}",
        "question_number": 1 + n % 2,
        "flores_passage": f"{language} {passage}",
        "question": "?",
        "ds": "2023",
    }


def test_passages_are_parallel_and_stand_once(tmp_path):
    rows = hub_rows(in_hub_layout(tmp_path, CATALOG["belebele"], parallel("belebele", belebele)), "belebele")
    assert [row["en"] for row in rows] == ["en 0", "en 1", "en 4", "en 5"]
    for row in rows:
        assert {language: row[language] for language in ("es", "it", "ko", "zh")} == {
            language: row["en"].replace("en", language) for language in ("es", "it", "ko", "zh")
        }


def test_a_key_that_stands_twice_is_left_out_in_all_languages(tmp_path):
    records = parallel("belebele", belebele)
    records["kor_Hang", "test"].append(belebele("ko", 0))
    rows = hub_rows(in_hub_layout(tmp_path, CATALOG["belebele"], records), "belebele")
    assert [row["en"] for row in rows] == ["en 0", "en 1", "en 4"]


def test_instructions_come_by_split_and_id_and_bring_no_reference(tmp_path):
    records = parallel(
        "x-alpacaeval", lambda language, n: {"id": n, "dataset": "d", "instruction": f"{language} {n}"}
    )
    rows = hub_rows(in_hub_layout(tmp_path, CATALOG["x-alpacaeval"], records), "x-alpacaeval")
    assert rows[2] == {
        "id": "2",
        "prompt": {language: f"{language} 2" for language in ("en", "es", "it", "ko", "zh")},
    }
    assert len(rows) == 6


# --- what is amiss


def test_every_wrong_column_is_named_with_what_there_is_and_how_to_mend_it(tmp_path):
    entry = pairs_entry(tmp_path, "mp-86k", [{"question": "Q", "chosen": 3, "rejected": "no"}])
    text = refused(entry, "mp-86k")
    assert f"dataset {tmp_path}, config None, split train: 2 problems" in text
    assert (
        "no column prompt; it has question, chosen, rejected: correct `columns` of mp-86k in"
        " workflow/catalog/datasets.yaml" in text
    )
    assert "column chosen holds numbers, and `chosen` text or messages: correct `columns`" in text


def test_a_column_of_something_else_is_described(tmp_path):
    records = [{"prompt": [{"by": "human", "text": "Q"}], "chosen": "yes", "rejected": "no"}]
    assert "column prompt holds List({'by': Value('string'), 'text': Value('string')})" in refused(
        pairs_entry(tmp_path, "mp-86k", records), "mp-86k"
    )


@pytest.mark.parametrize("change", [{"split": "test"}, {"config": "other"}, {"files": "nowhere.jsonl"}])
def test_a_wrong_split_config_or_file_is_named(tmp_path, change):
    entry = {**pairs_entry(tmp_path, "mp-86k"), **change}
    text = refused(entry, "mp-86k")
    assert f"config {entry['config']}, split {entry['split']}: does not load" in text
    assert "correct `config`, `split` or `files` of mp-86k in workflow/catalog/datasets.yaml" in text


def test_a_passage_in_a_language_without_its_column_is_named(tmp_path):
    records = parallel("belebele", belebele)
    records["ita_Latn", "test"] = [{"link": "l0", "question_number": 1, "passage": "it 0"}]
    text = refused(in_hub_layout(tmp_path, CATALOG["belebele"], records), "belebele")
    assert "config ita_Latn, split test: 1 problem" in text
    assert "no column flores_passage; it has link, question_number, passage" in text


# --- before the first job: columns and no more


@pytest.mark.parametrize("name", PAIRS)
def test_a_renamed_column_is_found_without_reading_the_rows(tmp_path, name):
    there = pairs_entry(tmp_path / "there", name)
    assert list(column_problems(there, name)) == []
    column = list(there["columns"].values())[-1]
    renamed = [{key.replace(column, "other"): value for key, value in row.items()} for row in RECORDS[name]]
    (text,) = column_problems(pairs_entry(tmp_path / "renamed", name, renamed), name)
    assert column in text.split("no column ")[1].split(";")[0] and f"correct `columns` of {name}" in text


def test_sets_in_several_languages_have_their_columns_in_each(tmp_path):
    assert list(column_problems(released(tmp_path / "pairs"), "multilingual-rewardbench")) == []
    records = parallel("belebele", belebele)
    assert (
        list(column_problems(in_hub_layout(tmp_path / "all", CATALOG["belebele"], records), "belebele")) == []
    )
    records["ita_Latn", "test"] = [{"link": "l0", "question_number": 1, "passage": "it 0"}]
    entry = in_hub_layout(tmp_path / "one", CATALOG["belebele"], records)
    assert list(column_problems(entry, "belebele")) == [refused(entry, "belebele")]


@pytest.mark.parametrize("change", [{"split": "test"}, {"config": "other"}, {"files": "nowhere.jsonl"}])
def test_a_wrong_split_config_or_file_is_found_without_reading_the_rows(tmp_path, change):
    (text,) = column_problems({**pairs_entry(tmp_path, "mp-86k"), **change}, "mp-86k")
    assert "does not load" in text and "correct `config`, `split` or `files` of mp-86k" in text
