"""Rewrites of an item's right answer: what they say, who is left out and why."""

import pytest
from carb_data import CULTURES, NAMES, WORDS, reference, texts
from support import refused, script

from polyreward.carb.perturbation.perturbations import changed_share

perturbed_items = script("prepare/carb_perturbed_items")


def rows(topic="t", **changes) -> list[dict]:
    """Return references of one topic: each culture's own value, with its text in every language."""
    return [
        {**reference(name, f"v{number}", topic=topic, texts=texts(number)), **changes.get(name, {})}
        for number, name in enumerate(NAMES)
    ]


def item(topic="t", culture="en", rejected=("de", "ru", "ja"), **changes) -> dict:
    values = {name: f"v{number}" for number, name in enumerate(NAMES)}
    return {
        "id": f"{topic}_{culture}", "culture": culture, "domain": "values", "source": "s", "topic": topic, "prompt": "Q?",
        "answers": [WORDS[culture][number] for number in range(4)], "chosen": 0,
        "references": [{"value": values[name], "culture": name} for name in (culture, *rejected)], **changes,
    }  # fmt: skip


WORDINGS = perturbed_items.Wordings(rules={name: [("{a}", "{a}~")] for name in NAMES})


def by_key(references):
    return {(row["topic"], row["culture"]): row for row in references}


def made(known=None, asked=NAMES, wordings=WORDINGS, **changes):
    known = by_key(known or rows())
    return perturbed_items.perturbed_item(item(**changes), known, wordings, CULTURES, asked, 7)


def sets_of(items, references, perturbation=None, consistency=None):
    sizes = dict(zip(perturbed_items.SETS, (perturbation, consistency), strict=True))
    return perturbed_items.perturbation_sets(items, references, WORDINGS, CULTURES, NAMES, sizes, 7)


def without(culture, **texts_of) -> list[dict]:
    """Return references of one topic where one culture's answer has only these texts."""
    return rows(**{culture: {"texts": texts_of}})


def test_the_five_responses():
    row = made()
    base, cc, rc, cl, rp = row["answers"]
    number, other = NAMES.index(row["concept"]["culture"]), row["language"]
    assert base == "In US: a bow" and rc == "a bow" and rp == "In US: a bow~"
    assert row["concept"]["value"] == f"v{number}" and number > 0
    assert cc == f"In US: {WORDS['en'][number]}"
    place = {"de": "In US", "ru": "В US", "ja": "USでは"}[other]
    assert cl == f"{place}: {WORDS[other][0]}"
    assert [row[name] for name in ("chosen", "prompt", "value", "wording")] == [0, "Q?", "v0", "a bow~"]
    braces = perturbed_items.framed(CULTURES, "en", "labelled", "en", "{place}")
    assert braces == "In US: {place}"  # text, in an answer


def test_draws_differ_between_items_and_not_from_run_to_run():
    found = [made(rows(f"t{n}"), topic=f"t{n}") for n in range(30)]
    assert {row["language"] for row in found} == {"de", "ru", "ja"}
    assert found == [made(rows(f"t{n}")[::-1], topic=f"t{n}") for n in range(30)]


def test_the_concept_is_the_nearest_text_of_another_fact():
    said = {"de": "a bow, and a long speech", "ru": "a cow", "ja": "two kisses"}
    row = made(rows(**{name: {"texts": {**texts(0), "en": text}} for name, text in said.items()}))
    assert row["concept"] == {"text": "a cow", "value": "v2", "culture": "ru", "topic": "t"}
    assert changed_share("a bow", "a cow") == pytest.approx(1 - 2 * 4 / 10)


def test_the_concept_that_people_wrote_comes_first_then_lent_answers_and_no_shared_or_unknown_fact():
    row = made(wordings=perturbed_items.Wordings(WORDINGS.rules, {}, {("t", "en"): "a curtsy"}))
    assert row["answers"][1] == "In US: a curtsy" and row["concept"] == {"text": "a curtsy"}
    references = [*rows("t"), *rows("u", en={"texts": {"en": "a box", "de": "x"}, "value": "w"})]
    lent = [{"value": "v0", "culture": "en", "topic": "t"}, {"value": "w", "culture": "en", "topic": "u"}]
    concept = {"text": "a box", "value": "w", "culture": "en", "topic": "u"}
    assert made(references, references=lent)["concept"] == concept
    shared = rows(de={"value": "v0"}, ru={"value": None})
    assert made(shared)["concept"]["culture"] == "ja"


REASONS = [
    ("no_text", {"known": without("en", de="Verbeugung")}),
    ("no_concept", {"known": rows(de={"value": "v0"}, ru={"value": "v0"}, ja={"texts": {**texts(3), "en": "A  bow"}})}),
    ("no_language", {"known": without("en", en="a bow")}),
    ("no_language", {"asked": ["en"]}),
    ("no_wording", {"wordings": perturbed_items.Wordings()}),
    ("label_stays", {"known": without("en", en="a bow, as IN US", de="Verbeugung")}),
    ("alike", {"known": without("en", en="a bow", de="a bow")}),
]  # fmt: skip


@pytest.mark.parametrize(("reason", "given"), REASONS)
def test_why_an_item_is_left_out(reason, given):
    assert made(**given) == reason


def test_versions_in_all_languages_the_prompt_s_own_first():
    def versions(references):
        return perturbed_items.language_versions(item(culture="ru"), by_key(references), CULTURES, NAMES)

    row = versions(rows())
    assert row["languages"] == ["ru", "en", "de", "ja"]
    assert row["answers"] == ["В RU: " + WORDS["ru"][2], "In RU: two kisses", "In RU: zwei Küsse",
                              "RUでは: " + WORDS["ja"][2]]  # fmt: skip
    assert versions(without("ru", ru="поклон")) == "no_version"


def test_sets_are_drawn_by_cell_and_the_smaller_is_a_part_of_the_larger():
    references = [row for n in range(9) for row in rows(f"t{n}")]
    items = [item(f"t{n}", culture) for n in range(9) for culture in ("en", "ja")]
    sets, counts = sets_of(items, references, 4, 2)
    assert sets == sets_of(items[::-1], references, 4, 2)[0]
    ids = {name: {row["id"] for row in found} for name, found in sets.items()}
    assert ids["carb_consistency"] < ids["carb_perturbation"]
    columns = ["culture", "items", "carb_perturbation_items", "carb_consistency_items"]
    assert [[count[name] for name in columns] for count in counts] == [["en", 9, 4, 2], ["ja", 9, 4, 2]]
    assert len(sets_of(items, references)[0]["carb_perturbation"]) == 18


def test_who_is_left_out_is_counted_with_one_reason_and_nothing_left_is_an_error():
    no_text, two_texts = {"texts": {"de": "Verbeugung"}}, {"texts": {"en": "x", "de": "y"}}
    references = [*rows("t1", en=no_text), *rows("t2"), *rows("t3", en=two_texts)]
    sets, (count,) = sets_of([item(name) for name in ("t1", "t2", "t3")], references)
    assert list(count) == perturbed_items.COUNT_COLUMNS
    assert (count["items"], count["no_text"], count["no_version"]) == (3, 1, 1)
    assert (count["carb_perturbation_items"], count["carb_consistency_items"]) == (2, 1)
    assert {row["id"] for row in sets["carb_consistency"]} == {"t2_en"}
    said = "carb_perturbation: no item is left (of 1, its right answer has no text"
    assert said in refused(sets_of, [item()], without("en", de="Verbeugung"))
