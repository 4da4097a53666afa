"""Statistics of place quartets, their tables and their figure, on scores whose answer is known."""

import numpy as np
import pandas as pd
import pytest
from made_up_sheet import sheet
from support import refused

from polyreward.analysis.bootstrap import Interval
from polyreward.carb.culture.books import BOOK
from polyreward.carb.culture.comparison import (
    CULTURE_COLUMNS,
    DIFFERENCE_COLUMNS,
    Culture,
    culture_table,
    difference_table,
    read_culture,
    score_tables,
    shown_scorers,
)
from polyreward.carb.culture.quartets import PLACED, UNPLACED, Quartet, Wording, quartet_rows, unplaced_row
from polyreward.carb.culture.statistics import best_of_four, centred, place_share, swaps
from polyreward.carb.figures.culture import draw_culture
from polyreward.core.files import write_jsonl
from polyreward.core.tables import write_scores
from polyreward.prepare.topics import FACT

INTERVAL = Interval(400, 0.95, 1)
RANDOM = np.random.default_rng(7)
KNOWING = np.eye(4)[None].repeat(5, axis=0)


def added(scale=1.0):
    """Return scores that are how good an answer is plus what a prompt is worth, in numbers that round."""
    return scale * (RANDOM.normal(size=(50, 1, 4)) + RANDOM.normal(size=(50, 4, 1)))


@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e5])
def test_a_sum_of_answer_and_prompt_has_exactly_chance_in_swaps_and_centred(scale):
    tables = added(scale)
    assert set(swaps(tables)) == {0.5}
    assert set(centred(tables)) == {0.25}
    assert set(best_of_four(tables)) == {0.25}  # one answer is highest in all four rows
    assert place_share(tables) == pytest.approx(0, abs=1e-12)


def test_a_scorer_that_ignores_the_place_and_a_constant_one_have_chance_in_everything():
    for tables in (
        np.zeros((3, 4, 4)),
        np.full((3, 4, 4), -7.3),
        RANDOM.normal(size=(3, 1, 4)).repeat(4, axis=1),
    ):
        assert set(swaps(tables)) == {0.5}
        assert set(best_of_four(tables)) == set(centred(tables)) == {0.25}
        assert place_share(tables) == pytest.approx(0, abs=1e-12)


def test_a_scorer_that_knows_all_places_has_everything_and_its_opposite_nothing():
    for one, right in ((KNOWING, 1.0), (-KNOWING, 0.0)):
        assert set(swaps(one)) == set(best_of_four(one)) == set(centred(one)) == {right}
    assert place_share(KNOWING) == pytest.approx(1)


def test_knowledge_under_a_large_liking_for_an_answer_shows_in_swaps_and_centred_only():
    tables = KNOWING + np.array([0, 10, 20, 30.0])
    assert set(swaps(tables)) == set(centred(tables)) == {1.0}
    assert set(best_of_four(tables)) == {0.25}
    of_place, whole = 4 * 3 / 4, ((tables[0] - tables[0].mean(axis=1, keepdims=True)) ** 2).sum()
    assert place_share(tables) == pytest.approx(of_place / whole)


def test_what_is_added_for_each_answer_or_prompt_changes_no_swap_so_that_pmi_has_those_of_log_likelihood():
    tables = RANDOM.normal(size=(30, 4, 4))
    assert np.array_equal(swaps(tables), swaps(tables + added()[:30]))
    assert np.array_equal(centred(tables), centred(tables + RANDOM.normal(size=(30, 1, 4))))


def test_ties_count_half_and_are_shared_out():
    one = np.zeros((1, 4, 4))
    one[0, 0, 0] = 1  # the first place is known: three of six swaps, and three ties
    assert swaps(one) == pytest.approx((3 + 3 / 2) / 6)
    assert best_of_four(one) == pytest.approx((1 + 3 / 4) / 4)
    # less its mean, the first answer is below the other three's tie in the other rows
    assert centred(one) == pytest.approx((1 + 3 / 3) / 4)


QUARTETS = [
    Quartet(
        f"t{n}-{part}", f"t{n}", "values", "fact" if n < 12 else "format", list("ABCD"),
        {language: Wording(f"{n} {{place}} {language}?", list("ABCD"), list("abcd")) for language in ("en", "es")},
    )
    for n in range(14) for part in (1, 2)
]  # fmt: skip


def rows_of(language="en", itemset=PLACED):
    if itemset == UNPLACED:
        return [unplaced_row(quartet, language) for quartet in QUARTETS]
    return [row for quartet in QUARTETS for row in quartet_rows(quartet, language)]


def scores_of(score, language="en", cut=lambda row, number: False, itemset=PLACED):
    """Return a score table of all quartets; score, cut: functions of the row and the answer's number."""
    records = [
        {
            "id": row["id"],
            "template": row["topic"],
            "candidate": number,
            "score": float(score(row, number)),
            "truncated": cut(row, number),
        }
        for row in rows_of(language, itemset)
        for number in range(4)
    ]
    return pd.DataFrame(records).assign(language=language)


def knows(row, number):
    return 2.0 * (row["chosen"] == number) - number


def test_scores_are_joined_to_their_quartets_by_id_and_not_by_their_place():
    shuffled = scores_of(knows).sample(frac=1, random_state=3)
    tables = score_tables(shuffled, pd.DataFrame(rows_of()), "rm")
    assert np.array_equal(tables[0], 2 * np.eye(4) - np.arange(4)) and tables.shape == (28, 4, 4)
    unplaced = scores_of(knows, itemset=UNPLACED).sample(frac=1, random_state=3)
    without = score_tables(unplaced, pd.DataFrame(rows_of(itemset=UNPLACED)), "rm")
    assert np.array_equal(without[0], [-np.arange(4.0)]) and without.shape == (28, 1, 4)


def test_scores_that_are_no_numbers_or_of_other_quartets_are_refused():
    items = pd.DataFrame(rows_of())
    table = scores_of(knows).assign(benchmark="quartets", scorer="rm")
    text = refused(score_tables, table.assign(score=table["score"].where(table.index != 5)), items, "rm")
    assert "1 rows have a score that is not a number (first: id t0-1_2)" in text
    for other in (table[table["id"] != "t0-1_2"], table.assign(id=table["id"] + "x")):
        assert "its scores are not of these quartets" in refused(score_tables, other, items, "rm")


def write(folder, name, *scores, itemset=PLACED):
    for language in ("en", "es"):
        path = folder / f"{itemset}/{name}/{language}.parquet"
        path.parent.mkdir(parents=True, exist_ok=True)
        table = scores_of(scores[0], language, *scores[1:], itemset=itemset)
        write_scores(table, path, benchmark=itemset, scorer=name, language=language)
        yield path


def items_of(folder, itemset=PLACED, languages=("en", "es")):
    """Write the rows of all quartets; returns the files."""
    paths = [folder / f"{itemset}_items/{language}.jsonl" for language in languages]
    for path in paths:
        path.parent.mkdir(exist_ok=True)
        write_jsonl(rows_of(path.stem, itemset), path)
    return paths


def ignorant(row, number):
    return number + len(row["id"])


def in_english(row, number):
    return knows(row, number) if row["culture"] == "en" else ignorant(row, number)


KINDS = {"b_en": "classifier", "loglik-b": "baseline", "pmi-b": "baseline", "length": "baseline"}
SHEET = sheet(KINDS, bases={"loglik-b": "b", "pmi-b": "b", "length": ""})


@pytest.fixture(scope="module")
def found(tmp_path_factory):
    """What a base that knows all places, its reward model that knows them in English, and length have."""
    folder, files = tmp_path_factory.mktemp("culture"), []
    for name, score in {"length": ignorant, "b_en": in_english, "loglik-b": knows}.items():
        files += write(folder, name, score)
    unplaced = items_of(folder, UNPLACED), list(write(folder, "loglik-b", knows, itemset=UNPLACED))
    return read_culture(items_of(folder), files, SHEET, INTERVAL, *unplaced)


def test_the_table_has_each_base_s_own_first_with_pmi_from_its_log_likelihood_and_formats_apart(found):
    table = culture_table(found, SHEET, ["en", "es"], {})
    assert list(table) == CULTURE_COLUMNS
    assert list(table["asks"].unique()) == ["fact", "format"]
    facts = table[table["asks"] == "fact"].set_index(["scorer", "language"])
    assert [name for name, _ in facts.index[::2]] == ["pmi-b", "loglik-b", "b_en", "length"]
    assert facts["swaps"].to_dict() == {
        ("pmi-b", "en"): 100, ("pmi-b", "es"): 100, ("loglik-b", "en"): 100, ("loglik-b", "es"): 100,
        ("b_en", "en"): 100, ("b_en", "es"): 50, ("length", "en"): 50, ("length", "es"): 50,
    }  # fmt: skip
    # PMI takes off what an answer has without a place, so that the right one is the highest
    assert facts.loc[("pmi-b", "en"), "best_of_four"] == 100
    assert facts.loc[("loglik-b", "en"), "best_of_four"] < 100
    assert set(facts["quartets"]) == {24} and set(facts["topics"]) == {12}
    assert (facts["note"] == "").all() and facts["low"].notna().all()
    assert (facts["low"] <= facts["swaps"]).all() and (facts["swaps"] <= facts["high"]).all()


def test_fewer_than_ten_topics_have_no_interval_and_the_table_says_why(found):
    table = culture_table(found, SHEET, ["en"], {}).query("asks == 'format'")
    assert table[["low", "high", "centred_low", "best_of_four_high"]].isna().all(axis=None)
    assert table["swaps"].notna().all()
    assert set(table["note"]) == {"2 topics, fewer than 10: no interval"}


def test_a_scorer_that_could_not_be_had_has_an_empty_row_with_the_reason(found):
    kinds = sheet(
        {**KINDS, "gone": "classifier"}, bases={"loglik-b": "b", "pmi-b": "b", "length": "", "gone": "b"}
    )
    rows = culture_table(found, kinds, ["en"], {"gone": "not on the hub"}).query("scorer == 'gone'")
    assert set(rows["note"]) == {"not on the hub"} and rows["swaps"].isna().all()


def test_texts_that_were_cut_are_said_in_the_rows_of_their_kind_and_of_pmi(tmp_path):
    path = next(
        write(tmp_path, "loglik-b", knows, lambda row, number: row["kind"] == "format" and number == 0)
    )
    bare = items_of(tmp_path, UNPLACED, ["en"]), [next(write(tmp_path, "loglik-b", knows, itemset=UNPLACED))]
    found = read_culture(items_of(tmp_path, PLACED, ["en"]), [path], SHEET, INTERVAL, *bare)
    said = culture_table(found, SHEET, ["en"], {}).set_index(["asks", "scorer"])["note"]
    assert set(said["fact"]) == {""} and set(said["format"].index) == {"loglik-b", "pmi-b"}
    assert all("; 25% of the texts were too long and lost their beginning" in note for note in said["format"])


def test_differences_are_paired_with_the_base_s_own_and_between_languages(found):
    table = difference_table(found["fact"], SHEET, ["en", "es"], "en")
    assert list(table) == DIFFERENCE_COLUMNS
    keys = ["scorer", "language", "minus", "minus_language"]
    swapped = {tuple(row[key] for key in keys): row["swaps"] for row in table.to_dict("records")}
    assert swapped == {
        ("b_en", "en", "pmi-b", "en"): 0, ("b_en", "es", "pmi-b", "es"): -50, ("b_en", "en", "b_en", "es"): 50,
        ("pmi-b", "en", "pmi-b", "es"): 0, ("loglik-b", "en", "loglik-b", "es"): 0, ("length", "en", "length", "es"): 0,
    }  # fmt: skip
    lead = table.set_index(keys).loc[("b_en", "en", "b_en", "es")]
    assert lead["low"] > 0 and lead["high"] <= 100


def test_draws_are_of_topics_and_the_same_for_all_scorers():
    generator = np.random.default_rng(2)
    of_topic = generator.normal(size=(40, 4, 4)) + 0.5 * np.eye(4)
    tables = {("a", "en"): of_topic.repeat(3, axis=0), ("b", "en"): of_topic.repeat(3, axis=0)}
    topics = [str(number // 3) for number in range(120)]
    culture = Culture(tables, topics, Interval(4000, 0.95, 1))
    assert (culture.n_topics, culture.n_quartets, culture.freedom) == (40, 120, 39)
    values = 100 * swaps(of_topic)
    assert culture.draws("a", "en")[0] == pytest.approx(values.mean())
    assert culture.draws("a", "en")[1:].std() == pytest.approx(values.std(ddof=1) / np.sqrt(40), rel=0.05)
    same = culture.numbers(("a", "en"), ("b", "en"))
    assert same["swaps"] == same["place_share"] == 0


def test_scorers_are_by_base_and_those_without_one_are_last():
    kinds = {"length": "baseline", "my-rm": "classifier", "a_es": "classifier", "loglik-a": "baseline",
             "pmi-a": "baseline", "a_en": "classifier"}  # fmt: skip
    bases = {"loglik-a": "a", "pmi-a": "a", "length": "", "my-rm": "other"}
    expected = ["pmi-a", "loglik-a", "a_es", "a_en", "my-rm", "length"]
    assert sorted(shown_scorers(kinds, sheet(kinds, bases=bases))) == sorted(expected)
    shown = shown_scorers(kinds, sheet(kinds, bases=bases))
    assert shown.index("pmi-a") < shown.index("loglik-a") < shown.index("a_es") < shown.index("a_en")
    assert shown[-1] == "length"


def test_the_figure_has_a_panel_for_each_language_and_a_row_for_each_model_but_log_likelihood(found):
    figure = draw_culture(culture_table(found, SHEET, ["en", "es"], {}), "95%")
    assert [axis.get_title() for axis in figure.axes] == ["in English", "in Spanish"]
    labels = [label.get_text() for label in figure.axes[0].get_yticklabels()]
    assert labels == ["b, untrained", "trained in English", "length"]
    assert [len(axis.containers) for axis in figure.axes] == [3, 3]


def test_a_mark_is_hollow_where_the_scorer_does_not_read_an_open_book(found):
    table = culture_table(found, SHEET, ["en", "es"], {})
    books = table[table["asks"] == FACT].assign(asks=BOOK, low=60.0)
    books.loc[(books["scorer"] == "b_en") & (books["language"] == "es"), "low"] = 50.0
    books.loc[books["scorer"] == "length", "low"] = 50.0  # a leak test cannot read
    figure = draw_culture(pd.concat([table, books]), "95%")
    fills = [[bar.lines[0].get_fillstyle() for bar in axis.containers] for axis in figure.axes]
    assert fills == [["full"] * 3, ["full", "none", "full"]]
