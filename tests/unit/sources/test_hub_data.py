"""Every dataset of the hub in the catalog: small folders in its layout, with its columns, through
datasets.load_dataset."""

import json
from pathlib import Path

import pytest
import yaml
from hub_layout import CATALOG, cache, entry_at, write_dataset  # noqa: F401 - cache is a fixture
from pair_data import READ
from support import ROOT, refused, script

from polyreward.core.errors import PolyrewardError
from polyreward.prepare.pool import Share, row_problems
from polyreward.sources.hub_data import column_problems, hub_rows

with_released = script("translate/translated_rows").with_released
prepared_benchmark = script("prepare/evaluation_set").prepared_benchmark

BENCHMARKS = yaml.safe_load((ROOT / "workflow/catalog/benchmarks.yaml").read_text(encoding="utf-8"))
PAIRS = [
    name for name, entry in CATALOG.items() if entry.get("holds") == "pairs" and "languages" not in entry
]


def read(*texts):
    return [{"role": ("user", "assistant")[n % 2], "content": text} for n, text in enumerate(texts)]


def turns(*texts):
    return [{**turn, "extra": 1} for turn in read(*texts)]


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
    "mp-86k": [("Q0", "yes 0", "no 0"), (read("Q2", "A2", "and?"), "yes 2", "no 2")],
    "magpielm-dpo": [("Q0", "yes 0", "no 0"), ("Q1", "yes 1", "no 1"), ("Q2", "yes 2", "no 2")],
    "safe-rlhf": [("Q0", "a0", "b0"), ("Q1", "b1", "a1"), ("Q2", "a2", "b2")],
    "helpsteer2": [("Q0", "a0", "b0"), ("Q2", "b2", "a2")],
    "offsetbias": [("Q0", "a0", "b0"), ("Q1", "b1", "a1"), ("Q2", "a2", "b2")],
    "wildguard": [("Q0", "I cannot help.", "Here is how.")],
    "rewardbench": [("Q0", "yes 0", "no 0"), ("Q1", "yes 1", "no 1"), ("Q2", "yes 2", "no 2")],
    "ultrafeedback": [("Q0", "yes 0", "no 0"), ("Q1", "yes 1", "no 1"), ("Q2", "yes 2", "no 2")],
    "helpsteer3": [("Q0", "a0", "b0"), (read("Q2", "A2", "and then?"), "b2", "a2")],
    "care": [("Q0", "best", "worst")],
}


def in_hub_layout(folder: Path, name: str, records_of: dict) -> dict:
    """Write {(config, split): records} as JSON Lines with a card, or as the file of the entry; return the entry
    there."""
    files, configs = {}, {}
    for (config, split), records in records_of.items():
        path = CATALOG[name]["files"] or f"data/{config}/{split}.jsonl"
        files[path] = records
        configs.setdefault(config or "default", {})[split] = path
    write_dataset(folder, files, configs)
    return entry_at(folder, name)


def pairs_entry(folder: Path, name: str, records=None) -> dict:
    entry = CATALOG[name]
    return in_hub_layout(folder, name, {(entry["config"], entry["split"]): records or RECORDS[name]})


@pytest.mark.parametrize("name", PAIRS)
def test_every_dataset_of_pairs_gives_rows_that_the_pipeline_takes(tmp_path, name):
    rows = hub_rows(pairs_entry(tmp_path, name), name)
    assert [(row["prompt"], row["chosen"], row["rejected"]) for row in rows] == MADE[name]
    assert not [problem for row in rows for problem in row_problems(row)]
    assert [row["id"] for row in rows] == [f"{name}-{n}" for n in range(len(rows))]
    assert {row["source"] for row in rows} == {name}


def test_answers_that_are_texts_alone_need_a_prompt_column(tmp_path):
    entry = pairs_entry(tmp_path, "mp-86k", [{"chosen": "yes", "rejected": "no"}])
    assert "no column prompt; it has chosen, rejected" in refused(hub_rows, entry, "mp-86k")
    del entry["columns"]["prompt"]
    assert "no column for `prompt`, and the answers are no conversations that hold it" in refused(
        hub_rows, entry, "mp-86k"
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
    text = refused(hub_rows, entry, "mp-86k")
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
    text = refused(hub_rows, pairs_entry(tmp_path / "two", "mp-86k", records[1:]), "mp-86k")
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
    text = refused(hub_rows, pairs_entry(tmp_path, "helpsteer3", records), "helpsteer3")
    assert "column domain holds none of general, multilingual, but chat: correct `only` of helpsteer3" in text


# --- pairs in several languages


def released(folder: Path, languages=("en", "es", "ko"), records=None) -> dict:
    """Write Multilingual RewardBench as its authors have it: a card without English, whose file is next to it;
    return its entry."""
    entry = entry_at(folder, "multilingual-rewardbench", *languages)
    records = records or {language: [multilingual(language, n) for n in range(4)] for language in languages}
    configs = {part["config"]: records[name] for name, part in entry["languages"].items() if "config" in part}
    in_hub_layout(
        folder, "multilingual-rewardbench", {(name, "test"): found for name, found in configs.items()}
    )
    (folder / "eng_Latn").mkdir()
    (folder / "eng_Latn/filtered.json").write_text(json.dumps(records["en"]))
    return entry


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


def test_a_dataset_without_a_language_of_the_run_is_an_error(tmp_path):
    with pytest.raises(PolyrewardError, match="has none of this run's languages; choose another dataset"):
        hub_rows({**released(tmp_path), "languages": {}}, "multilingual-rewardbench")


def test_a_pair_that_a_language_lacks_is_left_out_of_all(tmp_path, capsys):
    records = {language: [multilingual(language, n) for n in range(4)] for language in ("en", "es", "ko")}
    records["ko"] = records["ko"][:-1]
    records["es"][0]["chosen"] = ""
    rows = hub_rows(released(tmp_path, records=records), "multilingual-rewardbench")
    assert [row["prompt"] for row in rows] == ["en prompt 1", "en prompt 2"]
    assert "2 pairs are not in all of en, es, ko and are left out" in capsys.readouterr().err


def test_rows_without_a_translation_of_their_own_go_to_the_engine_in_order_and_may_be_left_out():
    rows = [{"id": name, "prompt": name} for name in "abc"]
    rows[1]["translations"] = {"es": {"prompt": "BB"}}

    def translated(rows, translate):
        return [row["prompt"] for row in with_released(rows, "es", translate)]

    def upper(rest):
        assert [row["id"] for row in rest] == ["a", "c"]
        return [{**row, "prompt": row["prompt"].upper()} for row in rest]

    assert translated(rows, upper) == ["A", "BB", "C"]
    assert translated(rows, lambda rest: rest[1:]) == ["BB", "c"]
    assert translated(rows[::2], lambda rest: []) == []


def test_the_catalog_has_the_published_languages_subsets_and_weights():
    assert len(CATALOG["multilingual-rewardbench"]["languages"]) == 23  # Chinese twice, of which one is taken
    ours, multilingual = (BENCHMARKS[name] for name in ("rewardbench", "multilingual-rewardbench"))
    assert multilingual["sections"] == ours["sections"]
    assert sum(map(len, ours["sections"].values())) == 23
    assert ours["weights"] == {"math-prm": 6 * 164}  # maths weighs what code does


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
    rows = hub_rows(in_hub_layout(tmp_path, "belebele", parallel("belebele", belebele)), "belebele")
    assert [row["en"] for row in rows] == ["en 0", "en 1", "en 4", "en 5"]
    for row in rows:
        assert {language: row[language] for language in ("es", "it", "ko", "zh")} == {
            language: row["en"].replace("en", language) for language in ("es", "it", "ko", "zh")
        }


def test_a_key_that_stands_twice_is_left_out_in_all_languages(tmp_path):
    records = parallel("belebele", belebele)
    records["kor_Hang", "test"].append(belebele("ko", 0))
    rows = hub_rows(in_hub_layout(tmp_path, "belebele", records), "belebele")
    assert [row["en"] for row in rows] == ["en 0", "en 1", "en 4"]


def test_instructions_come_by_split_and_id_and_bring_no_reference(tmp_path):
    records = parallel(
        "x-alpacaeval", lambda language, n: {"id": n, "dataset": "d", "instruction": f"{language} {n}"}
    )
    rows = hub_rows(in_hub_layout(tmp_path, "x-alpacaeval", records), "x-alpacaeval")
    assert rows[2] == {
        "id": "2",
        "prompt": {language: f"{language} 2" for language in ("en", "es", "it", "ko", "zh")},
    }
    assert len(rows) == 6


# --- what is amiss


def test_every_wrong_column_is_named_with_what_there_is_and_how_to_mend_it(tmp_path):
    records = [{"question": "Q", "chosen": 3, "rejected": [{"by": "human", "text": "no"}]}]
    text = refused(hub_rows, pairs_entry(tmp_path, "mp-86k", records), "mp-86k")
    assert f"dataset {tmp_path}, config None, split train: 3 problems" in text
    fix = "correct `columns` of mp-86k in workflow/catalog/datasets.yaml"
    assert f"no column prompt; it has question, chosen, rejected: {fix}" in text
    assert f"column chosen holds numbers, and `chosen` text or messages: {fix}" in text
    assert "column rejected holds List({'by': Value('string'), 'text': Value('string')})" in text


@pytest.mark.parametrize("change", [{"split": "test"}, {"config": "other"}, {"files": "nowhere.jsonl"}])
def test_a_wrong_split_config_or_file_is_named_also_before_the_rows_are_read(tmp_path, change):
    entry = {**pairs_entry(tmp_path, "mp-86k"), **change}
    for text in (refused(hub_rows, entry, "mp-86k"), *column_problems(entry, "mp-86k")):
        assert f"config {entry['config']}, split {entry['split']}: does not load" in text
        assert "correct `config`, `split` or `files` of mp-86k in workflow/catalog/datasets.yaml" in text
    assert len(list(column_problems(entry, "mp-86k"))) == 1


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
    assert list(column_problems(in_hub_layout(tmp_path / "all", "belebele", records), "belebele")) == []
    records["ita_Latn", "test"] = [{"link": "l0", "question_number": 1, "passage": "it 0"}]
    entry = in_hub_layout(tmp_path / "one", "belebele", records)
    (text,) = column_problems(entry, "belebele")
    assert text == refused(hub_rows, entry, "belebele")
    assert "config ita_Latn, split test: 1 problem" in text
    assert "no column flores_passage; it has link, question_number, passage" in text
