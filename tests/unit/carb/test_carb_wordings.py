"""Second wordings and written concepts: rules with known answers, what is refused, and generators."""

import pytest
from carb_data import reference, requests_of, writer
from support import refused, script

from polyreward.carb.perturbation.perturbations import changed_share

paraphrased = script("prepare/carb_paraphrases").paraphrased
perturbed_items = script("prepare/carb_perturbed_items")
Wordings, is_rewording = perturbed_items.Wordings, perturbed_items.is_rewording

RULES = {
    "en": [
        ("Fewer than {a}.", "Under {a}."),
        ("{a} and {b}.", "{b} after {a}."),
        ("A {braced} text", "This {braced} text"),
    ]
}


@pytest.mark.parametrize(
    ("answer", "other"),
    [
        ("Fewer than 30.", "Under 30."),
        ("Yes. Fewer than 30.", None),  # the pattern is of a whole answer
        ("salt and bread.", "bread after salt."),
        ("A {braced} text", "This {braced} text"),  # only a single letter is a place
        ("More than 30.", None),
    ],
)
def test_a_rule_rewords_a_whole_answer_and_keeps_what_stands_at_its_places(answer, other):
    assert Wordings(RULES).reword("t", "en", answer) == other


def test_what_people_wrote_comes_before_rules_and_has_to_be_a_rewording():
    texts = {"t": "It is under 30.", "u": "Under 40.", "v": "fewer  than 30."}
    written = Wordings(RULES, {(topic, "en"): text for topic, text in texts.items()})
    assert written.reword("t", "en", "Fewer than 30.") == "It is under 30."
    assert written.reword("u", "en", "Fewer than 30.") is None  # another number
    assert written.reword("v", "en", "Fewer than 30.") is None  # the same text
    assert is_rewording("On 3 May 2025", "2025, 3 May") and not is_rewording("On 3 May", "On 4 May")


@pytest.mark.parametrize(
    ("one", "other", "share"),
    [("abcd", "abcd", 0), ("abcd", "wxyz", 1), ("abcd", "abxd", 0.25), ("ab", "abcd", 1 / 3)],
)
def test_the_share_of_characters_that_change(one, other, share):
    assert changed_share(one, other) == pytest.approx(share)


def test_files_are_read_together_and_every_problem_is_named(tmp_path):
    good, bad = tmp_path / "a.yaml", tmp_path / "b.yaml"
    good.write_text('rules: {en: [["{a}!", "So: {a}"]]}\nanswers: {t: {en: {reworded: x, foreign: y}}}\n')
    found = perturbed_items.read_wordings([good])
    assert found == Wordings({"en": [("{a}!", "So: {a}")]}, {("t", "en"): "x"}, {("t", "en"): "y"})
    assert perturbed_items.read_wordings([]) == Wordings()
    bad.write_text(
        'rule: {}\nrules: {en: [["{a}!", "{b}"], ["one"]]}\n'
        'answers: {t: {en: {reworded: z}}, u: {en: {foreign: "", other: x}}}\n'
    )
    said = ("key: `rule` is unknown", "has not the places", "is not a pair", "in another file too", "`foreign` is empty",
            "`other`")  # fmt: skip
    error = refused(perturbed_items.read_wordings, [good, bad])
    assert [part for part in said if part not in error] == []


def test_generators_paraphrase_right_answers_each_by_one_of_them():
    items = [{"id": f"t{n}_en", "topic": f"t{n}", "culture": "en", "prompt": "Q?"} for n in range(20)]
    texts = [{"en": f"Call 12, {n} times."} if n else {} for n in range(20)]
    rows = [reference("en", "v", topic=f"t{n}", texts=text) for n, text in enumerate(texts)]
    weak, strong = (writer(lambda text, name=name: f" {name}\nsays 12. ") for name in ("weak", "strong"))
    generators = {"weak": lambda: weak, "strong": lambda: strong}
    found = list(paraphrased(items, rows, generators, {"en": "English"}, 1))
    assert len(found) == 19  # one has no text in its own language
    assert {row["generator"] for row in found} == {"weak", "strong"}
    assert all(row["text"] == f"{row['generator']} says 12." for row in found)
    assert all(part in text for text in requests_of(weak) for part in ("in English", "Q?", "Call 12, "))
    known = Wordings(RULES, {("t1", "en"): "x"}, {("t1", "en"): "y"})
    wordings = perturbed_items.with_paraphrases(known, found)
    of_t1 = next(row["text"] for row in found if row["topic"] == "t1")
    assert wordings.reword("t1", "en", "Call 12.") == of_t1 and wordings.foreign == {("t1", "en"): "y"}
    assert wordings.reword("t1", "en", "Call 13.") is None  # the same check as of what people wrote
    assert wordings.reword("z", "en", "Fewer than 30.") is None  # no rule stands in for a paraphrase
