"""Pairs out of worked solutions: which number is wrong in each kind, and where it shows."""

from fractions import Fraction

import pytest
from support import refused, script

made = script("prepare/solution_pairs")
NoPair = made.NoPair

QUESTION = "Ann bakes 3 trays of 12 buns. She sells 16 and packs the rest in boxes of 4. How many boxes?"
SOLUTION = """She bakes 3*12 = <<3*12=36>>36 buns.
After the sale 36 - 16 = <<36-16=20>>20 are left.
So she needs 20 / 4 = <<20/4=5>>5 boxes.
#### 5"""
CHINESE = """她總共烤了 3*12 = <<3*12=36>>36個小圓麵包。
賣出後還剩下36個 - 16個 = <<36-16=20>>20個。
所以她需要20/4 = <<20/4=5>>5個盒子。
#### 5"""


def problem(solution=SOLUTION, question=QUESTION, template="0001", language="en", constants=""):
    return {
        "template": template,
        "language": language,
        "question": question,
        "solution": solution,
        "constants": constants,
    }


def near(monkeypatch, **of):
    """Draw these wrong values of a number first; of the others none."""
    values = {key.removeprefix("of_"): list(map(Fraction, found)) for key, found in of.items()}
    monkeypatch.setattr(made, "near_values", lambda number, *_: iter(values.get(number, [])))


# --- numbers


@pytest.mark.parametrize(("written", "value"), [
    ("12", 12), ("1,200", 1200), ("1.200", 1200), ("2.370.000", 2370000), ("3.5", "7/2"), ("82,3", "823/10"),
    ("0.125", "1/8"), (".5", "1/2"), ("1,234.5", "2469/2"),
])  # fmt: skip
def test_a_written_number_has_the_value_that_its_separators_say(written, value):
    assert made.value_of(written) == Fraction(value)


@pytest.mark.parametrize(("number", "value", "written"), [
    ("12", 17, "17"), ("17,500", 18200, "18,200"), ("2.370.000", 2400000, "2.400.000"), ("3.5", "3.8", "3.8"),
    ("82,3", "79.1", "79,1"), ("0.25", "0.3", "0.30"), ("118000", 143000, "143000"),
])  # fmt: skip
def test_a_value_is_written_as_another_number_is(number, value, written):
    assert made.written_as(number, Fraction(value)) == written


@pytest.mark.parametrize(
    ("number", "value"), [("12", 9), ("12", 100), ("12", "12.5"), ("3.5", "10"), ("25", -5), ("5", 0)]
)
def test_a_value_with_more_or_fewer_digits_or_below_one_makes_no_pair(number, value):  # fmt: skip
    with pytest.raises(NoPair):
        made.written_as(number, Fraction(value))


def test_numbers_are_found_between_traditional_characters():
    assert made.with_values(
        "每條6英吋，共12英吋；另有112條、1.2條和12,000條", {Fraction(12): Fraction(15)}
    ) == ("每條6英吋，共15英吋；另有112條、1.2條和12,000條")


def test_near_values_keep_zeros_at_the_end_and_depend_on_seed_and_name_alone():
    assert set(made.near_values("1,500", 1, "0001")) == {Fraction(100 * n) for n in range(10, 21) if n != 15}
    assert set(made.near_values("3.5", 1, "0001")) == {Fraction(n, 10) for n in range(24, 47) if n != 35}
    assert set(made.near_values("2", 1, "0001")) == {1, 3, 4, 5}
    first = list(made.near_values("48", 1, "0001"))
    assert first == list(made.near_values("48", 1, "0001"))
    assert sorted(first) == sorted(made.near_values("48", 2, "0001"))
    assert first not in (list(made.near_values("48", 2, "0001")), list(made.near_values("48", 1, "0002")))


# --- kinds


def test_a_wrong_number_is_the_last_result_and_all_that_follows(monkeypatch):
    near(monkeypatch, of_5=[10, 7])  # 10 has more digits
    right = made.without_notes(SOLUTION)
    assert made.wrong_number(problem(), 1) == right.replace("= 5 boxes", "= 7 boxes").replace(
        "#### 5", "#### 7"
    )
    right = made.without_notes(CHINESE)
    wrong = right.replace("= 5個", "= 7個").replace("#### 5", "#### 7")
    assert made.wrong_number(problem(CHINESE), 1) == wrong


def test_a_wrong_number_leaves_the_same_number_of_earlier_steps(monkeypatch):
    near(monkeypatch, of_2=[4])
    solution = "2*1 = <<2*1=2>>2 pounds.\nIn all 2 + 48 = <<2+48=50>>50.\nSo 50/25 = <<50/25=2>>2 trips, 2 in all.\n#### 2"
    wrong = "2*1 = 2 pounds.\nIn all 2 + 48 = 50.\nSo 50/25 = 4 trips, 4 in all.\n#### 4"
    assert made.wrong_number(problem(solution), 1) == wrong


def test_a_last_step_without_a_note_and_a_number_with_other_separators_are_changed_too(monkeypatch):
    near(monkeypatch, of_118000=[143000])
    solution = "His net is $400,000 - $282,000 = $118,000.\n#### 118000"
    assert (
        made.wrong_number(problem(solution), 1) == "His net is $400,000 - $282,000 = $143,000.\n#### 143000"
    )


@pytest.mark.parametrize(("solution", "reason"), [
    ("It is <<2*3=6>>6.\n#### six", "the last line is not"),
    ("It is <<2*3=6>>6.", "the last line is not"),
    ("It is <<2*3=6>>6.\n#### 7", "the final number is no step's result"),
    ("She buys 6 since 2*3 = <<2*3=6>>6.\n#### 6", "the final number is also before its step's result"),
])  # fmt: skip
def test_a_solution_whose_final_number_is_not_found_makes_no_pair(solution, reason):
    with pytest.raises(NoPair, match=reason):
        made.wrong_number(problem(solution), 1)


def test_a_wrong_step_is_followed_to_the_end(monkeypatch):
    near(monkeypatch, of_36=[44], of_20=[24])
    of_first = "She bakes 3*12 = 44 buns.\nAfter the sale 44 - 16 = 28 are left.\nSo she needs 28 / 4 = 7 boxes.\n#### 7"
    of_second = "She bakes 3*12 = 36 buns.\nAfter the sale 36 - 16 = 24 are left.\nSo she needs 24 / 4 = 6 boxes.\n#### 6"
    found = {made.wrong_step(problem(template=f"{number:04}"), 1) for number in range(20)}
    assert found == {of_first, of_second}
    near(monkeypatch, of_36=[44])
    chinese = "她總共烤了 3*12 = 44個小圓麵包。\n賣出後還剩下44個 - 16個 = 28個。\n所以她需要28/4 = 7個盒子。\n#### 7"
    assert made.wrong_step(problem(CHINESE), 1) == chinese


def test_a_wrong_step_keeps_whole_numbers_their_digits_and_another_end(monkeypatch):
    # 26 / 4 is no whole number; 44 / 4 has two digits
    near(monkeypatch, of_20=[26, 44, 32])
    assert made.wrong_step(problem(), 1).endswith("32 / 4 = 8 boxes.\n#### 8")
    near(monkeypatch, of_20=[26, 44])
    with pytest.raises(NoPair, match="no step can be followed"):
        made.wrong_step(problem(), 1)


def test_decimals_with_a_comma_are_computed(monkeypatch):
    near(monkeypatch, **{"of_1,5": ["1.2"]})
    solution = "Fa 3*0,5 = <<3*0,5=1,5>>1,5 euro.\nIn tutto 1,5*4 = <<1,5*4=6,0>>6,0.\n#### 6,0"
    assert (
        made.wrong_step(problem(solution, ""), 1) == "Fa 3*0,5 = 1,2 euro.\nIn tutto 1,2*4 = 4,8.\n#### 4,8"
    )


@pytest.mark.parametrize(("change", "reason"), [
    ({"constants": "36 20"}, "no step can be followed"),  # the template itself writes 36 and 20
    ({"question": f"{QUESTION} Ben has 36 and 20."}, "no step can be followed"),
    ({"solution": "It is 2*3 = <<2*3=6>>6.\n#### 6"}, "fewer than two steps"),
    ({"solution": SOLUTION.replace("<<36-16=20>>", "<<36-16=21>>")}, "cannot be computed, or has another"),
    ({"solution": SOLUTION.replace("<<36-16=20>>", "<<36 less 16=20>>")}, "cannot be computed, or has another"),
    ({"solution": SOLUTION.replace("<<36-16=20>>", "<<36-16=x>>")}, "cannot be computed, or has another"),
])  # fmt: skip
def test_a_step_that_cannot_be_followed_for_sure_makes_no_pair(change, reason):
    with pytest.raises(NoPair, match=reason):
        made.wrong_step(problem(**change), 1)


def test_a_sum_with_the_changed_number_twice_makes_no_pair(monkeypatch):
    """12 inches / 12 inches a foot: one of them is no result."""
    near(monkeypatch, of_12=[14])
    solution = "6*2 = <<6*2=12>>12 inches.\n12/12 = <<12/12=1>>1 foot.\n#### 1"
    with pytest.raises(NoPair):
        made.wrong_step(problem(solution, ""), 1)


# --- all of them


def problems(count=5, languages=("en", "zh")):
    """Return problems of growing length, in other languages in another order of lengths."""
    rows = []
    for place, language in enumerate(languages):
        for number in range(count):
            words = "so " * (number if place == 0 else count - number)
            solution = f"{words}{CHINESE if language == 'zh' else SOLUTION}"
            rows.append(problem(solution, template=f"{number:04}", language=language))
    return rows


def share_longer(rows):
    """Return the share of pairs whose chosen answer is the longer one, ties half."""
    lengths = [(len(row["chosen"]), len(row["rejected"])) for row in rows]
    return sum((chosen > rejected) + (chosen == rejected) / 2 for chosen, rejected in lengths) / len(rows)


@pytest.mark.parametrize("language", ["en", "zh"])
def test_the_longer_answer_is_right_in_half_of_each_kind(language):
    rows, left_out = made.solution_pairs(problems(), language, 1)
    for kind, count in (("wrong-number", 5), ("wrong-step", 5), ("other-problem", 4)):
        of_kind = [row for row in rows if row["subset"] == kind]
        assert len(of_kind) == count and share_longer(of_kind) == 0.5
        assert all("<<" not in row["chosen"] + row["rejected"] for row in of_kind)
        assert all(len(row["chosen"]) == len(row["rejected"]) for row in of_kind if kind != "other-problem")
    assert left_out["other-problem"] == {"no other problem is left": ["0004"]}
    assert [len({row[key] for row in rows}) for key in ("id", "template")] == [14, 5]


def test_problems_are_exchanged_and_wrong_numbers_drawn_alike_in_each_language():
    english, chinese = (made.solution_pairs(problems(), language, 1)[0] for language in ("en", "zh"))
    assert [row["id"] for row in english] == [row["id"] for row in chinese]
    for one, other in zip(english, chinese, strict=True):
        assert one["subset"] == "other-problem" or one["rejected"][-1] == other["rejected"][-1]
    chosen = {row["template"]: row["chosen"] for row in chinese}
    exchanged = {"0000": "0001", "0001": "0000", "0002": "0003", "0003": "0002"}
    found = {row["template"]: row["rejected"] for row in chinese if row["subset"] == "other-problem"}
    assert found == {one: chosen[other] for one, other in exchanged.items()}


def test_the_same_seed_gives_the_same_pairs_and_another_one_others():
    first, again, other = (made.solution_pairs(problems(20), "en", seed)[0] for seed in (1, 1, 2))
    assert first == again
    assert [row["rejected"] for row in first] != [row["rejected"] for row in other]


def test_a_problem_that_makes_no_pair_in_one_language_makes_none_in_the_others_and_is_named():
    rows = problems(6)
    rows[7] = {**rows[7], "solution": rows[7]["solution"].replace("#### 5", "####")}  # 0001 in Chinese
    del rows[8]
    for language, where in (("en", " in zh"), ("zh", "")):
        found, left_out = made.solution_pairs(rows, language, 1)
        assert not {"0001-wrong-number", "0002-wrong-number", "0002-other-problem"} & {
            row["id"] for row in found
        }
        reason = f"the last line is not `####` and a number{where}"
        assert left_out["wrong-number"] == {reason: ["0001"], f"no such problem{where}": ["0002"]}


def test_a_kind_without_any_pair_is_named():
    rows = problems(2, ["en"])
    text = refused(made.solution_pairs, [{**row, "solution": "#### 5"} for row in rows], "en", 1)
    assert (
        "en: no problem makes a pair of `wrong-number`: the final number is no step's result: 2 (0000" in text
    )
