"""Downstream sets: files of three kinds as questions, what their answers are rated by, and picks of several
sets side by side."""

import json

import numpy as np
import pandas as pd
import pytest
from support import script
from tiny_models import ROOT

from polyreward.analysis.bootstrap import Interval
from polyreward.carb.downstream.correlation import (
    BEFORE,
    BENCHMARKS,
    CORRELATION_COLUMNS,
    ERRORS,
    POINT_COLUMNS,
    over_sets,
)
from polyreward.carb.downstream.ratings import chosen_option, question_ratings
from polyreward.carb.figures.figure5 import draw_rows, plotted
from polyreward.core.errors import PolyrewardError

picks = script("analyse/carb_picks")

correlation_table = script("analyse/carb_regressions").correlation_table
downstream_questions = script("prepare/carb_questions").downstream_questions

OURS = str(ROOT / "resources/carb/questions.yaml")
EXAM = {
    "id": "exam-1_es",
    "language": "es",
    "prompt": "¿Capital?",
    "options": ["Roma", "Madrid", "París", "Lima"],
    "right": 1,
}
SHORT = {"id": "short-1_es", "culture": "es", "prompt": "¿Se come?", "accepted": ["arroz", "rice"]}
OPEN = {"id": "open-1_es", "language": "es", "prompt": "¿Por qué?", "reference": "Porque sí."}


def written(path, *rows) -> str:
    path.write_text("".join((row if isinstance(row, str) else json.dumps(row)) + "\n" for row in rows))
    return str(path)


def test_a_set_is_named_after_its_file_and_its_questions_say_what_they_are_rated_by(tmp_path):
    sets = {"exams": EXAM, "short": SHORT, "open": OPEN}
    files = [written(tmp_path / f"{name}.jsonl", row) for name, row in sets.items()]
    found = downstream_questions([OURS, *files], ["es", "ja"], None, 1)
    ours, (exam, short, open_) = found[:-3], found[-3:]
    assert {(question["downstream"], question["culture"]) for question in ours} == {
        ("questions", "es"),
        ("questions", "ja"),
    }
    lines = "¿Capital?\nA. Roma\nB. Madrid\nC. París\nD. Lima\nAnswer:"
    assert (exam["downstream"], exam["prompt"], exam["shown"], exam["right"]) == ("exams", lines, lines, 1)
    assert short == {"id": "short-1_es", "culture": "es", "accepted": ["arroz", "rice"], "prompt": "¿Se come?",
                     "shown": "¿Se come?\n", "downstream": "short"}  # fmt: skip
    assert open_["reference"] == "Porque sí." and "accepted" not in open_


def test_as_many_questions_of_each_set_and_culture_as_are_asked_for_the_same_ones_beside_others(tmp_path):
    many = written(tmp_path / "many.jsonl", *({**SHORT, "id": f"many-{n}"} for n in range(9)))
    found = downstream_questions([OURS, many], ["es", "ja"], 2, 1)
    assert [(question["downstream"], question["culture"]) for question in found] == [
        ("questions", "es"), ("questions", "es"), ("questions", "ja"), ("questions", "ja"), ("many", "es"), ("many", "es"),
    ]  # fmt: skip
    assert downstream_questions([many], ["es"], 2, 1) == found[-2:]


def test_every_line_that_is_amiss_is_named_with_how_to_fix_it(tmp_path):
    rows = [
        {"id": "a", "language": "es", "prompt": " "}, {**EXAM, "right": 4}, {**EXAM, "options": ["a", "b", "c"]},
        {**SHORT, "accepted": []}, {**OPEN, "reference": ""}, {**OPEN, "accepted": ["a"]}, {**SHORT, "id": 7}, "{",
    ]  # fmt: skip
    with pytest.raises(PolyrewardError) as error:
        downstream_questions([written(tmp_path / "bad.jsonl", *rows)], ["es"], None, 1)
    text = str(error.value)
    for part in (
        "bad.jsonl:1: `prompt` is no text", "bad.jsonl:1: has no answer; give one of accepted, options, reference",
        "bad.jsonl:2: `options` are not 4 texts, or `right` is none of 0 to 3", "bad.jsonl:3: `options`",
        "bad.jsonl:4: `accepted`", "bad.jsonl:5: `reference`", "bad.jsonl:6: has accepted and reference", "bad.jsonl:7: `id`",
        "bad.jsonl:8: not JSON",
    ):  # fmt: skip
        assert part in text


def test_a_table_with_empty_cells_is_read_messages_as_text_are_refused_and_a_long_list_is_cut(tmp_path):
    table = "id,language,prompt,reference,accepted\na,es,¿Qué?,Sí.,\n"
    (tmp_path / "a.csv").write_text(table, encoding="utf-8")
    (found,) = downstream_questions([str(tmp_path / "a.csv")], ["es"], None, 1)
    assert found["reference"] == "Sí." and "accepted" not in found
    asked = written(tmp_path / "b.jsonl", {**OPEN, "prompt": "[{'role': 'user', 'content': 'x'}]"})
    with pytest.raises(PolyrewardError, match="`prompt` holds messages as text"):
        downstream_questions([asked], ["es"], None, 1)
    with pytest.raises(PolyrewardError, match="3600 problems") as error:
        downstream_questions([written(tmp_path / "c.jsonl", *[{"x": 1}] * 900)], ["es"], None, 1)
    assert len(str(error.value).splitlines()) < 30


def test_ids_and_cultures_are_checked(tmp_path):
    one, other = written(tmp_path / "one.jsonl", SHORT), written(tmp_path / "other.jsonl", SHORT)
    with pytest.raises(PolyrewardError, match="two sets have a question `short-1_es`"):
        downstream_questions([one, other], ["es"], None, 1)
    with pytest.raises(
        PolyrewardError, match=r"one.jsonl: has no question of ja, ko, the cultures of carb.cultures"
    ):
        downstream_questions([one], ["ja", "ko"], None, 1)
    with pytest.raises(PolyrewardError, match="`short-1_es` appears twice"):
        downstream_questions([written(tmp_path / "twice.jsonl", SHORT, SHORT)], ["es"], None, 1)


@pytest.mark.parametrize(("reply", "number"), [
    ("B", 1), ("b", None), ("B.", 1), ("(B)", 1), ("**B. Madrid**", 1), ("B) Madrid", 1), ("B: Madrid, no París", 1),
    ("B\nRoma es Italia", 1),
    ("Madrid", 1), ("La capital es Madrid.", 1), ("La respuesta correcta es la B.", 1), ("答案是（B）。", 1), ("Answer: B", 1),
    ("La respuesta es **B**, porque", 1), ("B Madrid", 1),
    ("A Madrid la llaman la capital", 1),  # a sentence that begins with a letter
    ("Roma o Madrid", None), ("A veces", None), ("Es (A) o (B)", None), ("", None), ("…", None), ("No lo sé", None),
    ("ABBA", None),
])  # fmt: skip
def test_which_option_a_reply_chooses(reply, number):
    assert chosen_option(reply, EXAM["options"]) == number


def test_an_answer_is_rated_by_what_its_question_has():
    assert question_ratings(EXAM, "(B)")["match"] == 100 and question_ratings(EXAM, "C. París")["match"] == 0
    assert question_ratings(EXAM, "Madrid") == {"match": 100.0, "chrf": pytest.approx(100)}
    assert question_ratings(SHORT, "Mucho arroz, sobre todo")["match"] == 100
    found = question_ratings(OPEN, "Porque sí.")
    assert np.isnan(found["match"]) and found["chrf"] == pytest.approx(100)


def answered(*questions, answers) -> list[dict]:
    return [
        {**question, "downstream": question["id"].split("-")[0], "answers": texts}
        for question, texts in zip(questions, answers, strict=True)
    ]


CANDIDATES = answered(SHORT, EXAM, OPEN, answers=[["arroz", "pan"], ["A", "B"], ["Porque no.", "Porque sí."]])


def test_each_set_has_its_own_picks_and_bounds():
    rows = [{"id": question["id"], "candidate": n, "score": 1 - n} for question in CANDIDATES for n in (0, 1)]
    scores = pd.DataFrame(rows)
    found = picks.pick_table("p", CANDIDATES, {"rm": scores}, {"rm": "classifier"})
    assert list(found["downstream"]) == ["short"] * 3 + ["exam"] * 3 + ["open"] * 3
    rm = found[found["scorer"] == "rm"].set_index("downstream")
    assert rm["match"].to_dict() == {"short": 100, "exam": 0, "open": pytest.approx(np.nan, nan_ok=True)}
    oracle = found[found["scorer"] == "oracle"].set_index("downstream")
    assert rm.loc["open", "chrf"] < oracle.loc["open", "chrf"] == pytest.approx(100)
    sizes = found[["selection", "n_questions", "n_candidates"]].drop_duplicates()
    assert sizes.to_numpy().tolist() == [["best-of-n", 1, 2]]
    assert len(picks.pooled(pd.concat([found, found.assign(policy="q")]))) == 9


def test_a_trained_policy_s_answers_stand_beside_those_of_the_policy_before():
    def of(*texts):
        return answered(SHORT, EXAM, answers=[[text] for text in texts])

    found = picks.trained_table("p", {BEFORE: of("pan", "A"), "rm": of("arroz", "A")}, {"rm": "classifier"})
    assert list(found["scorer"]) == [BEFORE, "rm"] * 2 and list(found["kind"]) == ["bound", "classifier"] * 2
    assert list(found["match"]) == [0, 100, 0, 0]
    assert set(found["selection"]) == {"grpo"} and set(found["n_candidates"]) == {1}
    with pytest.raises(PolyrewardError, match=f"rm: answers other questions than {BEFORE}"):
        picks.trained_table("p", {BEFORE: of("pan", "A"), "rm": of("arroz", "A")[::-1]}, {"rm": "classifier"})


def test_a_reward_model_that_could_train_no_policy_is_in_no_row():
    start, found = (answered(SHORT, answers=[[text]]) for text in ("pan", "arroz"))
    kinds = {"rm": "classifier", "gone": "classifier"}
    (table,) = picks.trained_tables("p", [start], {"gone": [], "rm": found}, kinds)
    assert list(table["scorer"]) == [BEFORE, "rm"]
    assert (
        picks.trained_tables("p", [start], {"gone": []}, {}) == picks.trained_tables(None, [], {}, {}) == []
    )


def points(of: dict, ratings: dict, bounds=(), count=9) -> pd.DataFrame:
    """A row for each of some reward models of as many bases; ratings: {rating: slope on CARB's score}."""
    n = np.arange(count)
    table = pd.DataFrame({"scorer": [f"m{i}" for i in n], "base": [f"b{i}" for i in n], "kind": "classifier", "carb": 20.0 + n,
                          "rewardbench": 50.0 + n % 3, "match": np.nan, "chrf": np.nan})  # fmt: skip
    table = table.assign(**{name: slope * n + 0.1 * (n % 2) for name, slope in ratings.items()})
    rows = pd.DataFrame([{"scorer": name, "kind": "bound", **dict.fromkeys(ratings, 3.0)} for name in bounds])
    return pd.concat([table, rows]).assign(
        **of, n_questions=4, n_candidates=16, **dict.fromkeys(ERRORS, 0.1)
    )[POINT_COLUMNS]


PICKS = ("oracle", "random")


def several() -> pd.DataFrame:
    return pd.concat([
        points({"downstream": "short", "selection": "best-of-n", "policy": "all"}, {"match": 2.0, "chrf": 1.0}, PICKS),
        points({"downstream": "open", "selection": "best-of-n", "policy": "all"}, {"chrf": -1.0}, PICKS),
        points({"downstream": "short", "selection": "grpo", "policy": "all"}, {"match": 1.0, "chrf": 1.0}, (BEFORE,), count=3),
    ])  # fmt: skip


def test_the_correlations_say_which_set_and_selection_they_are_of():
    found = correlation_table(several().query("kind != 'bound'"), Interval(100, 0.95, 1))
    assert list(found.columns) == CORRELATION_COLUMNS
    keys = found[["downstream", "selection", "rating", "benchmark"]].itertuples(index=False, name=None)
    assert list(keys) == [
        *(("short", "best-of-n", rating, benchmark) for rating in ("match", "chrf") for benchmark in BENCHMARKS),
        *(("open", "best-of-n", "chrf", benchmark) for benchmark in BENCHMARKS),  # it has no accepted answer
        *(("short", "grpo", rating, benchmark) for rating in ("match", "chrf") for benchmark in BENCHMARKS),
    ]  # fmt: skip
    trained = several().query("kind != 'bound'")
    for selection in ("grpo", "best-of-n"):
        three = trained[trained["selection"] == selection].head(3)
        alone = correlation_table(three, Interval(100, 0.95, 1))
        assert set(alone["verdict"]) == {"not decided: 3 reward models"}
    few = found[found["selection"] == "grpo"]
    assert few["slope"].isna().all() and set(few["n"]) == {3}
    assert set(few["verdict"]) == {"not decided: 3 reward models"}
    first = found.set_index(["downstream", "selection", "rating", "benchmark"]).loc
    assert first["short", "best-of-n", "match", "carb"]["slope"] == pytest.approx(2, abs=0.01)
    assert first["open", "best-of-n", "chrf", "carb"]["slope"] == pytest.approx(-1, abs=0.01)


def test_figure_5_has_a_row_for_each_set_and_selection_by_the_set_s_own_rating():
    correlations = correlation_table(several().query("kind != 'bound'"), Interval(100, 0.95, 1))
    table, columns = plotted(several(), "match")
    assert columns[:3] == ["downstream", "selection", "policy"] and list(table.columns) == columns
    missing = table.groupby("downstream")[["match", "chrf"]].agg(lambda column: column.isna().all())
    assert missing.loc["short", "chrf"] and missing.loc["open", "match"]
    axes = draw_rows(table, correlations, "match", 0.95).axes
    titles = [axis.get_title() for axis in axes]
    assert len(axes) == 6
    assert titles[0].startswith("short, best of 16\nr² = 1.000, p = 0.0005, n = 9")
    assert titles[2].startswith("open, best of 16")
    assert titles[4] == "short, trained by GRPO\nnot decided, n = 3 (3 bases)"
    names = ["accepted answers (%)", "chrF of the answers", "accepted answers (%)"]
    assert [axis.get_ylabel() for axis in axes[::2]] == names
    drawn = table[(table["downstream"] == "open") & (table["kind"] == "classifier")]
    np.testing.assert_allclose(axes[2].collections[0].get_offsets(), drawn[["carb", "chrf"]])
    assert [line.get_label() for line in axes[4].lines] == [BEFORE]


def test_a_figure_of_nearness_alone_holds_no_other_rating():
    assert "match" not in plotted(several(), "chrf")[1]


def test_the_claims_take_the_mean_over_sets_of_each_one_s_rating():
    found = over_sets(several().query("kind != 'bound'"), "match").set_index("scorer")
    assert len(found) == 9 and found.loc["m4", "match"] == pytest.approx((2 * 4 - 4) / 2)
    assert found.loc["m4", "match_se"] == pytest.approx(0.1)
    with pytest.raises(PolyrewardError, match="no best-of-N row for all policies"):
        over_sets(several().query("selection == 'grpo'"), "match")
