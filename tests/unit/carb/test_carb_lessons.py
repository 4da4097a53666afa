"""Lessons on place quartets: what is taught, what is asked afterwards, and tables whose answer is known."""

import sys
from collections import Counter

import matplotlib.pyplot as plt
import pandas as pd
import pytest
from made_up_sheet import sheet
from support import refused
from transformers import AutoTokenizer

from polyreward.analysis.bootstrap import Interval
from polyreward.analysis.comparison import Benchmark
from polyreward.carb.culture.books import BOOK, BOOKS, FALSE, open_books
from polyreward.carb.culture.lessons import OTHER_PLACES, TAUGHT, UNSEEN, lesson_pairs, parts_of
from polyreward.carb.culture.quartets import Quartet, Wording, quartet_rows
from polyreward.carb.culture.taught import NO_LESSONS, TAUGHT_COLUMNS, cost_table, taught_table
from polyreward.carb.figures.taught import draw_taught
from polyreward.core.files import write_jsonl
from polyreward.core.naming import is_taught
from polyreward.core.tables import read_exact, write_exact, write_scores
from polyreward.prepare.topics import FACT, FORMAT
from polyreward.training.reward_model import tokenized_requests

INTERVAL = Interval(400, 0.95, 1)
LANGUAGES = ["en", "ko"]
MODELS = ["b_en", "b_en-taught", "b_ko", "b_ko-taught"]


def quartet(topic: int, number: int, kind: str = FACT) -> Quartet:
    places = [f"p{4 * number + n}" for n in range(4)]
    wordings = {
        one: Wording(f"What holds {{place}}, {topic}?", [f"in {place}" for place in places], [f"{one} {n}" for n in range(4)])
        for one in LANGUAGES
    }  # fmt: skip
    return Quartet(f"t{topic}-{number}", f"t{topic}", "d", kind, places, wordings)


QUARTETS = [quartet(topic, number) for topic in range(24) for number in (1, 2)]
QUARTETS += [quartet(topic, 1) for topic in range(24, 30)] + [quartet(99, 1, FORMAT), quartet(99, 2, FORMAT)]


def rows(language="en"):
    return [row for one in QUARTETS for row in quartet_rows(one, language)]


def test_half_of_the_topics_with_two_quartets_are_taught_and_no_format_is():
    parts = parts_of(rows(), 1)
    assert Counter(parts.values()) == {TAUGHT: 12, OTHER_PLACES: 12, UNSEEN: 24 + 6}
    assert {name[:-2] for name, part in parts.items() if part == TAUGHT} == {
        name[:-2] for name, part in parts.items() if part == OTHER_PLACES
    }
    assert not any(name.startswith("t99") for name in parts)
    assert parts_of(rows("ko"), 1) == parts and parts_of(rows(), 2) != parts


def test_with_one_quartet_of_each_topic_there_are_no_other_places():
    single = [row for row in rows() if row["quartet"].endswith("-1")]
    assert Counter(parts_of(single, 1).values()) == {TAUGHT: 15, UNSEEN: 15}


def test_no_more_than_18_topics_are_taught():
    many = [row for topic in range(60) for row in quartet_rows(quartet(topic, 1), "en")]
    assert Counter(parts_of(many, 1).values()) == {TAUGHT: 18, UNSEEN: 42}


def test_too_few_topics_are_refused_with_what_to_do():
    assert "name more cultures or topics" in refused(
        lambda: parts_of(list(quartet_rows(quartet(1, 1), "en")), 1)
    )


def test_a_lesson_is_a_quartet_whole_in_which_no_answer_is_better_than_another():
    pairs = list(lesson_pairs(rows(), [], 1))
    assert len(pairs) == 12 * 12 and len({pair["id"] for pair in pairs}) == len(pairs)
    for request in {pair["request"] for pair in pairs}:
        own = [pair for pair in pairs if pair["request"] == request]
        assert Counter(pair["chosen"] for pair in own) == Counter(pair["rejected"] for pair in own)
        assert len({pair["prompt"] for pair in own}) == 4  # and none without a place


def test_further_quartets_of_taught_topics_are_lessons_too():
    parts, more = (
        parts_of(rows(), 1),
        [row for topic in range(24) for row in quartet_rows(quartet(topic, 3), "en")],
    )
    found = Counter(pair["template"] for pair in lesson_pairs(rows(), more, 1))
    assert found == {name[:-2]: 24 for name, part in parts.items() if part == TAUGHT}


def test_a_quartet_is_one_request_of_a_training(base):
    tokenizer = AutoTokenizer.from_pretrained(base)
    dataset, counts = tokenized_requests(list(lesson_pairs(rows(), [], 1)), tokenizer, 64)
    assert counts["requests"] == 12 and counts["pairs"] == 144
    assert [len(request["chosen_ids"]) for request in dataset] == [12] * 12


def scored(folder, knows, cut=lambda model, row, parts: False):
    """Write the scores of MODELS; knows: {(model, language): parts that it knows}. Return files of items and scores.

    cut: whether a model reads only the end of a row's texts."""
    parts, items, scores = parts_of(rows(), INTERVAL.seed), [], []
    for language in LANGUAGES:
        items.append(folder / f"{language}.jsonl")
        write_jsonl(rows(language), items[-1])
        for model in MODELS:
            records = [
                (row["id"], row["topic"], language, row["domain"], number, False, cut(model, row, parts),
                 float(number == row["chosen"] and parts.get(row["quartet"]) in knows.get((model, language), ())))
                for row in rows(language) for number in range(4)
            ]  # fmt: skip
            path = folder / f"quartets/{model}/{language}.parquet"
            columns = ["id", "template", "language", "domain", "candidate", "is_chosen", "truncated", "score"]
            write_scores(pd.DataFrame(records, columns=columns), path, benchmark="quartets", scorer=model)
            scores.append(path)
    return items, scores


def test_what_is_taught_in_one_language_and_found_in_another_has_the_known_answer(tmp_path):
    knows = {
        ("b_en-taught", "en"): (TAUGHT, UNSEEN),
        ("b_en-taught", "ko"): (TAUGHT,),
        ("b_ko", "ko"): (TAUGHT,),
    }
    table = taught_table(*scored(tmp_path, knows), sheet(MODELS), INTERVAL)
    assert len(table) == 3 * 2 * 2
    found = table.set_index(["part", "taught_in", "language"])
    assert found.loc[(TAUGHT, "en", "en"), ["best_of_four", "before", "gain"]].tolist() == [100, 25, 75]
    assert found.loc[(TAUGHT, "en", "ko"), "best_of_four"] == 100
    assert found.loc[(OTHER_PLACES, "en", "en"), ["best_of_four", "swaps"]].tolist() == [25, 50]
    assert found.loc[(UNSEEN, "en", "ko"), "best_of_four"] == 25
    forgot = found.loc[(TAUGHT, "ko", "ko")]
    assert forgot["gain"] == -75 and forgot["gain_high"] < 0
    assert found.loc[(TAUGHT, "en", "en"), "quartets"] == 12 and (table["trainings"] == 1).all()
    figure = draw_taught(table, "95%")
    assert [axis.get_title() for axis in figure.axes[:2]] == [
        "b, n = 12 topics:\nthe facts that were taught", "b, n = 18 topics:\ntopics that were not taught",
    ]  # fmt: skip
    assert "100\n" in figure.axes[0].texts[0].get_text()
    plt.close(figure)


def test_a_part_whose_texts_were_cut_with_lessons_or_without_says_so(tmp_path):
    def cut(model, row, parts):
        return model == "b_ko" and parts.get(row["quartet"]) == TAUGHT and row["chosen"] == 0

    table = taught_table(*scored(tmp_path, {}, cut), sheet(MODELS), INTERVAL)
    said = table.set_index(["part", "taught_in"])["note"]
    assert set(said[TAUGHT, "ko"]) == {"25% of the texts were too long and lost their beginning"}
    assert set(said.drop((TAUGHT, "ko"))) == {""}


def test_books_of_topics_without_a_lesson_are_parts_of_their_own(tmp_path, monkeypatch):
    taught_topics = {
        name.rpartition("-")[0] for name, part in parts_of(rows(), INTERVAL.seed).items() if part == TAUGHT
    }
    books = open_books(QUARTETS, frozenset(taught_topics), 10, 1)
    monkeypatch.setattr(sys.modules[__name__], "QUARTETS", QUARTETS + books)
    items, scores = scored(tmp_path, {})
    for path in scores:
        if path.parent.name == "b_en-taught":
            reads = pd.read_parquet(path)
            asked = reads["id"].str.contains(f"-{FALSE.replace(' ', '-')}_")
            right = reads["candidate"] == reads["id"].str[-1].where(asked, "0").astype(int) - 1
            write_scores(
                reads.assign(score=(asked & right).astype(float)),
                path,
                benchmark="quartets",
                scorer="b_en-taught",
            )
    table = taught_table(items, scores, sheet(MODELS), INTERVAL)
    found = table.set_index(["part", "taught_in", "language"])["best_of_four"]
    assert list(table["part"].unique()) == [TAUGHT, OTHER_PLACES, UNSEEN, *BOOKS]
    assert found[FALSE, "en", "ko"] == 100 and found[BOOK, "en", "ko"] == found[FALSE, "ko", "ko"] == 25


def test_a_scale_without_lessons_says_so_in_its_tables_and_its_figure(tmp_path):
    items, _ = scored(tmp_path, {})
    none = sheet([name for name in MODELS if not is_taught(name)])
    table = taught_table(items, [], none, INTERVAL)
    assert list(table["note"]) == [NO_LESSONS]
    write_exact(table, tmp_path / "taught.parquet", TAUGHT_COLUMNS)
    figure = draw_taught(read_exact(tmp_path / "taught.parquet", TAUGHT_COLUMNS), "95%")
    assert figure.texts[0].get_text() == NO_LESSONS
    plt.close(figure)
    scores = pd.DataFrame(columns=["scorer", "language"])
    cost = cost_table(scores, none, Benchmark("main", {"chat": ["s"]}, {}), INTERVAL)
    assert list(cost["note"]) == [NO_LESSONS]


def test_what_lessons_cost_is_the_paired_difference_on_the_main_benchmark():
    records = []
    for model, language in zip(MODELS, ["en", "en", "ko", "ko"], strict=True):
        for n in range(40):
            right = n % 4 > 0 or not is_taught(model)
            records.append(("main", model, language, f"r{n}", f"t{n}", "s", 1.0 if right else 0.0, 0.5))
    columns = [
        "benchmark",
        "scorer",
        "language",
        "id",
        "template",
        "subset",
        "score_chosen",
        "score_rejected",
    ]
    scores = pd.DataFrame(records, columns=columns).assign(truncated=False)
    benchmark = Benchmark("main", {"chat": ["s"]}, {})
    table = cost_table(scores, sheet(MODELS), benchmark, INTERVAL)
    assert table["avg"].tolist() == [75, 75] and table["before"].tolist() == [100, 100]
    assert table["difference"].tolist() == pytest.approx([-25, -25]) and (table["high"] < 0).all()
    assert table["language"].tolist() == LANGUAGES
