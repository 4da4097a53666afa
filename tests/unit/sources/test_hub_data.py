"""Every dataset of the hub in the catalog: small folders in its layout, with its columns, through
datasets.load_dataset."""

from pathlib import Path

import pytest
import yaml
from hub_layout import (  # noqa: F401 - cache is a fixture
    CATALOG,
    belebele,
    cache,
    in_hub_layout,
    multilingual,
    parallel,
    released,
)
from pair_data import READ
from support import ROOT, refused, script

from polyreward.prepare.pool import Share, row_problems
from polyreward.sources.hub_data import TEXTS, column_problems, hub_rows

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


def said(n, *before):
    before = before or (f"Q{n}",)
    return {"chosen": turns(*before, f"yes {n}"), "rejected": turns(*before, f"no {n}")}


def votes(columns, values, **more):
    """Rows of a prompt, two answers a and b, and a vote, under the names of `columns`."""
    prompt, first, second, vote = columns.split()
    return [
        {prompt: f"Q{n}", first: f"a{n}", second: f"b{n}", vote: value, **more}
        for n, value in enumerate(values)
    ]


def yes(n):
    return f"Q{n}", f"yes {n}", f"no {n}"


def first(n):
    return f"Q{n}", f"a{n}", f"b{n}"


def second(n):
    return f"Q{n}", f"b{n}", f"a{n}"


HELPSTEER3 = [
    ("general", turns("Q0"), -3), ("general", turns("Q1"), 0), ("multilingual", turns("Q2", "A2", "and then?"), 1),
    ("code", turns("def f():"), 2), ("stem", turns("E = ?"), -1),
]  # fmt: skip
# {dataset: (records as the hub has them, some of which make no pair or are of another kind; what they make)}
PUBLISHED = {
    "mp-86k": (
        [said(0), {**said(1), "rejected": turns("another", "no")}, said(2, "Q2", "A2", "and?")],
        [yes(0), (read("Q2", "A2", "and?"), "yes 2", "no 2")],
    ),
    "magpielm-dpo": ([{"uuid": f"u{n}", "instruction": f"Q{n}", **said(n)} for n in range(2)], [yes(0), yes(1)]),
    "safe-rlhf": (
        votes("prompt response_0 response_1 safer_response_id", [0, 1], better_response_id=0),
        [first(0), second(1)],
    ),
    "helpsteer2": (
        votes("prompt response_1 response_2 preference_strength", [-2, 0, 3], split="train"),
        [first(0), second(2)],
    ),
    "offsetbias": (votes("instruction output_1 output_2 label", [1, 2]), [first(0), second(1)]),
    "wildguard": (
        [
            {"prompt": prompt, "response": response, "response_harm_label": label, "adversarial": False}
            for prompt, response, label in [
                ("Q0", "Here is how.", "harmful"), ("Q0", "I cannot help.", "unharmful"), ("Q1", "Only one.", "unharmful"),
                ("Q2", "Bad.", "harmful"), ("Q2", "Good.", "unharmful"), ("Q2", "Good too.", "unharmful"), ("Q3", None, None),
            ]
        ],
        [("Q0", "I cannot help.", "Here is how.")],
    ),
    "rewardbench": (
        [
            {"id": 1, "prompt": f"Q{n}", "chosen": f"yes {n}", "chosen_model": "m", "rejected": f"no {n}", "subset": s}
            for n, s in enumerate(["alpacaeval-easy", "math-prm"])
        ],
        [yes(0), yes(1)],
    ),
    "ultrafeedback": ([{"source": "s", "prompt": f"Q{n}", **said(n)} for n in range(2)], [yes(0), yes(1)]),
    "helpsteer3": (
        [
            {**record, "domain": domain, "context": context, "language": "english", "individual_preference": [{"score": 1}]}
            for record, (domain, context, _) in zip(
                votes("context response1 response2 overall_preference", [one[2] for one in HELPSTEER3]), HELPSTEER3, strict=True
            )
        ],
        [first(0), (read("Q2", "A2", "and then?"), "b2", "a2")],
    ),
    "care": (
        [
            {"question": question, "answer": "", "response": response, "human_rating": rating, "source": "LLM"}
            for question, response, rating in [
                ("Q0", "best", 9), ("Q0", "middle", 5), ("Q0", "worst", 1), ("Q1", "a", 3), ("Q1", "b", 3),
            ]
        ],
        [("Q0", "best", "worst")],
    ),
}  # fmt: skip


def pairs_entry(folder: Path, name: str, records=None) -> dict:
    entry = CATALOG[name]
    return in_hub_layout(folder, name, {(entry["config"], entry["split"]): records or PUBLISHED[name][0]})


@pytest.mark.parametrize("name", PAIRS)
def test_every_dataset_of_pairs_gives_rows_that_the_pipeline_takes(tmp_path, name):
    rows = hub_rows(pairs_entry(tmp_path, name), name)
    assert [(row["prompt"], row["chosen"], row["rejected"]) for row in rows] == PUBLISHED[name][1]
    assert not [problem for row in rows for problem in row_problems(row)]
    assert [row["id"] for row in rows] == [f"{name}-{n}" for n in range(len(rows))]
    assert {row["source"] for row in rows} == {name}


def test_answers_that_are_texts_alone_need_a_prompt_column(tmp_path):
    entry = pairs_entry(tmp_path, "mp-86k", [{"chosen": "yes", "rejected": "no"}])
    for columns in (entry["columns"], {"chosen": "chosen", "rejected": "rejected"}):
        text = refused(hub_rows, {**entry, "columns": columns}, "mp-86k")
        assert "no column prompt; it has chosen, rejected: correct `columns` of mp-86k in workflow/" in text


def test_conversations_bring_their_prompt_also_where_a_column_has_its_name(tmp_path):
    records = [{**said(n, f"Q{n}", "A", "and?"), "prompt": f"not Q{n}"} for n in range(2)]
    entry = pairs_entry(tmp_path, "mp-86k", records)
    rows = hub_rows({**entry, "columns": {"chosen": "chosen", "rejected": "rejected"}}, "mp-86k")
    assert [row["prompt"] for row in rows] == [read(f"Q{n}", "A", "and?") for n in range(2)]


def layout_entry(folder: Path, layout: str, records: list[dict]) -> dict:
    entry = {**pairs_entry(folder, "helpsteer2", records), "layout": layout}
    del entry["columns"], entry["chooses"]
    return entry


@pytest.mark.parametrize("name", ["helpsteer2-preference", "helpsteer3", "llmbar", "pairs"])
def test_a_dataset_may_name_a_layout_and_gives_the_pairs_of_a_file_in_it(tmp_path, name):
    rows, (made,) = next(one[2:] for one in READ if one[0] == name)
    (row,) = hub_rows(layout_entry(tmp_path, name, rows), "mine")
    prompt = made["prompt"] if isinstance(made["prompt"], str) else made["prompt"][0]["content"]
    assert (row["prompt"], row["chosen"], row["rejected"]) == (prompt, made["chosen"], made["rejected"])
    assert (row["id"], row["source"]) == ("mine-0", "mine")


def test_a_layout_may_give_several_rejected_answers_and_many_reasons_are_cut(tmp_path, capsys):
    records = [
        {"id": number + 0.5, "prompt": "Q", "chosen": ["a"], "rejected": ["b", "c"]} for number in range(30)
    ]
    (row,) = hub_rows(layout_entry(tmp_path, "pairs", [*records, {**records[0], "id": 7}]), "mine")
    assert (row["id"], row["chosen"], row["rejected"]) == ("7", "a", ["b", "c"])
    assert capsys.readouterr().err.count("left out: `id` is") == 10
    text = refused(hub_rows, layout_entry(tmp_path / "other", "judgebench", records), "mine")
    assert "layout judgebench needs" in text and "correct `layout` of mine in workflow/catalog" in text


def test_what_makes_no_pair_is_left_out_and_counted(tmp_path, capsys):
    def talk(answer, **more):
        return [{"from": "human", "value": "Q"}, {"from": "gpt", "value": answer, **more}]

    records = [
        {"chosen": talk("yes", tool_calls=""), "rejected": talk("no", tool_calls="")},
        {"chosen": talk("yes", tool_calls="f()"), "rejected": talk("no", tool_calls="")},
        {"chosen": talk("yes", tool_calls=""), "rejected": [*talk("no"), *talk("no")]},
    ]
    (row,) = hub_rows(pairs_entry(tmp_path / "one", "mp-86k", records), "mp-86k")
    assert (row["prompt"], row["chosen"], row["rejected"]) == ("Q", "yes", "no")
    said = capsys.readouterr().err
    assert "mp-86k: 1 left out: `chosen`: message 2 has `tool_calls`" in said
    assert "mp-86k: 1 left out: the conversations differ before their last message" in said
    text = refused(hub_rows, pairs_entry(tmp_path / "two", "mp-86k", records[1:2]), "mp-86k")
    assert "holds no pair (`chosen`: message 2 has `tool_calls`" in text


def test_ratings_may_be_numbers_as_text(tmp_path):
    records = [
        {"question": "Q", "response": text, "human_rating": rating}
        for text, rating in [("a", "10"), ("b", "9"), ("c", "n/a"), ("d", "nan")]
    ]
    (row,) = hub_rows(pairs_entry(tmp_path, "care", records), "care")
    assert (row["chosen"], row["rejected"]) == ("a", "b")


# --- pairs in several languages


def test_released_translations_come_with_their_pairs(tmp_path):
    entry = released(tmp_path)
    rows = hub_rows(entry, "multilingual-rewardbench")
    assert [(row["id"], row["subset"], row["prompt"]) for row in rows] == [
        ("math-prm-0", "math-prm", "en prompt 0"), ("hep-go-0", "hep-go", "en prompt 1"),
        ("math-prm-1", "math-prm", "en prompt 2"), ("hep-go-1", "hep-go", "en prompt 3"),
    ]  # fmt: skip
    texts = {language: {role: f"{language} {role} 1" for role in TEXTS} for language in ("es", "ko")}
    assert rows[1]["translations"] == texts
    prepared, _ = prepared_benchmark(
        rows, dict.fromkeys(("math-prm", "hep-go"), "reasoning"), Share(None, None), 1, "here"
    )
    spanish = with_released(prepared, "es", lambda rest: pytest.fail("no engine is needed"))
    names = {
        "id": "hep-go-0",
        "source": "multilingual-rewardbench",
        "subset": "hep-go",
        "category": "reasoning",
    }
    assert spanish[1] == {**names, **texts["es"]}
    text = refused(hub_rows, {**entry, "languages": {}}, "multilingual-rewardbench")
    assert "has none of this run's languages; choose another dataset" in text


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


def test_passages_are_parallel_and_stand_once_without_keys_that_stand_twice(tmp_path):
    records = parallel("belebele", belebele)
    rows = hub_rows(in_hub_layout(tmp_path / "one", "belebele", records), "belebele")
    assert [row["en"] for row in rows] == ["en 0", "en 1", "en 4", "en 5"]
    for row in rows:
        names = ("es", "it", "ko", "zh")
        assert {name: row[name] for name in names} == {name: row["en"].replace("en", name) for name in names}
    records["kor_Hang", "test"].append(belebele("ko", 0))
    rows = hub_rows(in_hub_layout(tmp_path / "two", "belebele", records), "belebele")
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


def test_instructions_may_be_messages(tmp_path):
    def record(language, n, **more):
        return {"id": n, "instruction": [{"from": "human", "value": f"{language} {n}", **more}]}

    entry = in_hub_layout(tmp_path / "one", "x-alpacaeval", parallel("x-alpacaeval", record))
    assert hub_rows(entry, "x-alpacaeval")[2]["prompt"]["ko"] == "ko 2"
    records = parallel("x-alpacaeval", lambda language, n: record(language, n, tool_calls="f()"))
    text = refused(hub_rows, in_hub_layout(tmp_path / "two", "x-alpacaeval", records), "x-alpacaeval")
    assert f"dataset {tmp_path / 'two'}" in text and "0: `prompt`: message 1 has `tool_calls`" in text


# --- what is amiss


def test_a_column_that_holds_something_else_is_named_also_before_the_rows_are_read(tmp_path):
    records = [{"question": "Q", "chosen": 3, "rejected": [{"by": "human", "text": "no"}]}]
    entry = pairs_entry(tmp_path / "pairs", "mp-86k", records)
    fix = "correct `columns` of mp-86k in workflow/catalog/datasets.yaml"
    for text in (refused(hub_rows, entry, "mp-86k"), *column_problems(entry, "mp-86k")):
        assert f"dataset {tmp_path / 'pairs'}, config None, split train: 3 problems" in text
        assert f"no column prompt; it has question, chosen, rejected: {fix}" in text
        assert f"column chosen holds numbers, and `chosen` text or messages: {fix}" in text
        assert "column rejected holds List({'by': Value('string'), 'text': Value('string')})" in text
    passages = parallel("belebele", lambda language, n: {**belebele(language, n), "flores_passage": n})
    entry = in_hub_layout(tmp_path / "passages", "belebele", passages)
    text = "column flores_passage holds numbers, and `text` text: correct `columns` of belebele in"
    assert all(
        text in one for one in (refused(hub_rows, entry, "belebele"), *column_problems(entry, "belebele"))
    )


def test_missing_columns_and_values_are_named_with_what_there_is(tmp_path):
    records = [
        {"question": "Q", "response1": "a", "response2": "b", "overall_preference": 1, "domain": "chat"}
    ]
    text = refused(hub_rows, pairs_entry(tmp_path, "helpsteer3", records), "helpsteer3")
    assert f"dataset {tmp_path}, config preference, split train: 2 problems" in text
    there = "question, response1, response2, overall_preference, domain"
    assert f"no column context; it has {there}: correct `columns` of helpsteer3 in workflow/catalog" in text
    assert "column domain holds none of general, multilingual, but chat: correct `only` of helpsteer3" in text


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
    renamed = [
        {key.replace(column, "other"): value for key, value in row.items()} for row in PUBLISHED[name][0]
    ]
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
