"""Second wordings and written concepts: rules with known answers, what is refused, generators, and those that
we wrote."""

from collections import Counter

import pandas as pd
import pytest
from carb_data import reference
from support import script
from test_carb_mini_data import CARB, CONFIG, ROOT, SCRIPTS, all_items, cultures, references  # noqa: F401

from polyreward.carb.perturbation.perturbations import changed_share
from polyreward.core.errors import PolyrewardError
from polyreward.core.writing import script_share

paraphrased = script("prepare/carb_paraphrases").paraphrased
perturbed_items = script("prepare/carb_perturbed_items")


OURS = sorted((ROOT / CARB["perturbation"]["wordings"]).glob("*.yaml"))
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
    assert perturbed_items.Wordings(RULES).reword("t", "en", answer) == other


def test_what_people_wrote_comes_before_rules_and_has_to_be_a_rewording():
    written = perturbed_items.Wordings(
        RULES, {("t", "en"): "It is under 30.", ("u", "en"): "Under 40.", ("v", "en"): "fewer  than 30."}
    )
    assert written.reword("t", "en", "Fewer than 30.") == "It is under 30."
    assert written.reword("u", "en", "Fewer than 30.") is None  # another number
    assert written.reword("v", "en", "Fewer than 30.") is None  # the same text
    assert perturbed_items.is_rewording("On 3 May 2025", "2025, 3 May") and not perturbed_items.is_rewording(
        "On 3 May", "On 4 May"
    )


def test_the_share_of_characters_that_change():
    assert changed_share("abcd", "abcd") == 0 and changed_share("abcd", "wxyz") == 1
    assert changed_share("abcd", "abxd") == pytest.approx(0.25) and changed_share(
        "ab", "abcd"
    ) == pytest.approx(1 / 3)


def test_files_are_read_together_and_every_problem_is_named(tmp_path):
    good, bad = tmp_path / "a.yaml", tmp_path / "b.yaml"
    good.write_text('rules: {en: [["{a}!", "So: {a}"]]}\nanswers: {t: {en: {reworded: x, foreign: y}}}\n')
    found = perturbed_items.read_wordings([good])
    assert found == perturbed_items.Wordings(
        {"en": [("{a}!", "So: {a}")]}, {("t", "en"): "x"}, {("t", "en"): "y"}
    )
    assert perturbed_items.read_wordings([]) == perturbed_items.Wordings()
    bad.write_text(
        'rule: {}\nrules: {en: [["{a}!", "{b}"], ["one"]]}\nanswers: {t: {en: {reworded: z}}, u: {en:'
        ' {foreign: "", other: x}}}\n'
    )
    with pytest.raises(PolyrewardError) as caught:
        perturbed_items.read_wordings([good, bad])
    for said in (
        "key: `rule` is unknown",
        "has not the places",
        "is not a pair",
        "in another file too",
        "`foreign` is empty",
        "`other`",
    ):
        assert said in str(caught.value)


class Writer:
    def __init__(self, name):
        self.name, self.requests, self.backend = name, [], self

    def replies(self, requests, job):
        self.requests += [request[0]["content"] for request in requests]
        return [f" {self.name}\nsays 12. " for _ in requests]


def test_generators_paraphrase_right_answers_each_by_one_of_them():
    items = [{"id": f"t{n}_en", "topic": f"t{n}", "culture": "en", "prompt": "Q?"} for n in range(20)]
    rows = [
        reference("en", "v", topic=f"t{n}", texts={"en": f"Call 12, {n} times."} if n else {})
        for n in range(20)
    ]
    writers = {name: Writer(name) for name in ("weak", "strong")}
    found = list(
        paraphrased(items, rows, {name: lambda w=w: w for name, w in writers.items()}, {"en": "English"}, 1)
    )
    assert len(found) == 19  # one has no text in its own language
    assert Counter(row["generator"] for row in found).keys() == {"weak", "strong"}
    assert all(row["text"] == f"{row['generator']} says 12." for row in found)
    assert all(
        "in English" in request and "Q?" in request and "Call 12, " in request
        for request in writers["weak"].requests
    )
    wordings = perturbed_items.with_paraphrases(
        perturbed_items.Wordings(RULES, {("t1", "en"): "x"}, {("t1", "en"): "y"}), found
    )
    of_t1 = next(row["text"] for row in found if row["topic"] == "t1")
    assert wordings.reword("t1", "en", "Call 12.") == of_t1 and wordings.foreign == {("t1", "en"): "y"}
    assert wordings.reword("t1", "en", "Call 13.") is None  # the same check as of what people wrote
    assert wordings.reword("z", "en", "Fewer than 30.") is None  # no rule stands in for a paraphrase


@pytest.fixture(scope="module")
def ours():
    return perturbed_items.read_wordings(OURS)


@pytest.fixture(scope="module")
def rewritten(all_items, references, cultures, ours):  # noqa: F811
    sizes = dict.fromkeys(perturbed_items.SETS)
    return perturbed_items.perturbation_sets(
        all_items, references, ours, cultures, CARB["cultures"], sizes, CONFIG["seed"]
    )


def test_every_item_of_the_benchmark_has_a_second_wording(rewritten, all_items):  # noqa: F811
    sets, counts = rewritten
    assert len(sets["carb_perturbation"]) == len(all_items)
    assert not sum(count["no_wording"] + count["alike"] + count["label_stays"] for count in counts)


def test_another_concept_changes_no_more_of_an_answer_than_other_words_do(rewritten):
    rows = rewritten[0]["carb_perturbation"]
    answers = [row["answers"] for row in rows]
    shares = pd.DataFrame(
        [[changed_share(base, text) for text in others] for base, *others in answers],
        columns=["CC", "RC", "CL", "RP"],
    )
    assert shares["CC"].mean() < shares["RP"].mean() + 0.01
    assert shares["CC"].mean() < shares["CL"].mean() / 2
    domains = shares.groupby([row["domain"] for row in rows])[["CC", "RP"]].mean()
    assert domains["CC"].max() < 0.35 and domains["RP"].min() > 0.15


def test_what_we_wrote_is_of_topics_that_are_there_and_in_the_culture_s_script(references, ours):  # noqa: F811
    texts = {(row["topic"], row["culture"]): row["texts"].get(row["culture"]) for row in references}
    for written in (ours.reworded, ours.foreign):
        for (topic, culture), text in written.items():
            assert (topic, culture) in texts, (topic, culture)
            assert script_share(text, SCRIPTS[culture]) >= CARB["filters"]["script_share"], text
            assert changed_share(text, texts[topic, culture]) > 0, text
    assert all(perturbed_items.is_rewording(texts[key], text) for key, text in ours.reworded.items())
    both = ours.reworded.keys() & ours.foreign.keys()
    assert len(both) > 400 and all(ours.reworded[key] != ours.foreign[key] for key in both)
