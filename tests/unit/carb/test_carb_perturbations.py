"""Rewrites of an item's right answer: what they say, who is left out and why."""

import pytest
from carb_data import CULTURES, NAMES, WORDS, reference
from support import script

from polyreward.carb.perturbation.perturbations import changed_share
from polyreward.core.errors import PolyrewardError

perturbed_items = script("prepare/carb_perturbed_items")


def rows(topic="t", **changes) -> list[dict]:
    """Return references of one topic: each culture's own value, with its text in every language."""
    found = {
        name: reference(
            name, f"v{number}", topic=topic, texts={language: WORDS[language][number] for language in NAMES}
        )
        for number, name in enumerate(NAMES)
    }
    for name, change in changes.items():
        found[name] |= change
    return list(found.values())


def item(topic="t", culture="en", rejected=("de", "ru", "ja"), **changes) -> dict:
    values = {name: f"v{number}" for number, name in enumerate(NAMES)}
    return {
        "id": f"{topic}_{culture}", "culture": culture, "domain": "values", "source": "s", "topic": topic, "prompt": "Q?",
        "answers": [WORDS[culture][number] for number in range(4)], "chosen": 0,
        "references": [{"value": values[name], "culture": name} for name in (culture, *rejected)], **changes,
    }  # fmt: skip


WORDINGS = perturbed_items.Wordings(rules={name: [("{a}", "{a}~")] for name in NAMES})


def made(references=None, asked=NAMES, cultures=CULTURES, wordings=WORDINGS, **changes):
    return perturbed_items.perturbed_item(
        item(**changes),
        perturbed_items.by_topic_and_culture(references or rows()),
        wordings,
        cultures,
        asked,
        7,
    )


def sets_of(items, references, cultures=CULTURES, sizes=None):
    return perturbed_items.perturbation_sets(
        items, references, WORDINGS, cultures, NAMES, sizes or dict.fromkeys(perturbed_items.SETS), 7
    )


def test_the_five_responses():
    row = made()
    base, cc, rc, cl, rp = row["answers"]
    number, other = NAMES.index(row["concept"]["culture"]), row["language"]
    assert base == "In US: a bow" and rc == "a bow" and rp == "In US: a bow~"
    assert row["concept"]["value"] == f"v{number}" and number > 0
    assert cc == f"In US: {WORDS['en'][number]}"
    place = {"de": "In US", "ru": "В US", "ja": "USでは"}[other]
    assert cl == f"{place}: {WORDS[other][0]}"
    assert (
        row["chosen"] == 0 and row["prompt"] == "Q?" and row["value"] == "v0" and row["wording"] == "a bow~"
    )


def test_a_frame_takes_braces_in_an_answer_for_text():
    assert perturbed_items.framed(CULTURES, "en", "labelled", "en", "{place}") == "In US: {place}"


def test_draws_differ_between_items_and_not_from_run_to_run():
    found = [made(rows(f"t{n}"), topic=f"t{n}") for n in range(30)]
    assert {row["language"] for row in found} == {"de", "ru", "ja"}
    assert found == [made(rows(f"t{n}")[::-1], topic=f"t{n}") for n in range(30)]


def test_the_concept_is_the_nearest_text_of_another_fact():
    texts = {"de": "a bow, and a long speech", "ru": "a cow", "ja": "two kisses"}
    references = rows(**{name: {"texts": {**rows()[0]["texts"], "en": text}} for name, text in texts.items()})
    row = made(references)
    assert row["concept"] == {"text": "a cow", "value": "v2", "culture": "ru", "topic": "t"}
    assert changed_share("a bow", "a cow") == pytest.approx(1 - 2 * 4 / 10)


def test_a_concept_that_people_wrote_comes_first():
    row = made(wordings=perturbed_items.Wordings(WORDINGS.rules, {}, {("t", "en"): "a curtsy"}))
    assert row["answers"][1] == "In US: a curtsy" and row["concept"] == {"text": "a curtsy"}


def test_lent_answers_are_the_concepts_of_questions_that_lend():
    references = [*rows("t"), *rows("u", en={"texts": {"en": "a box", "de": "x"}, "value": "w"})]
    lent = [{"value": "v0", "culture": "en", "topic": "t"}, {"value": "w", "culture": "en", "topic": "u"}]
    row = perturbed_items.perturbed_item(
        {**item(), "references": lent},
        perturbed_items.by_topic_and_culture(references),
        WORDINGS,
        CULTURES,
        NAMES,
        7,
    )
    assert row["concept"] == {"text": "a box", "value": "w", "culture": "en", "topic": "u"}


def test_a_shared_or_unknown_fact_is_no_other_concept():
    shared = rows(de={"value": "v0"}, ru={"value": None})
    assert {made(shared, rejected=("de", "ru", "ja"), topic="t")["concept"]["culture"]} == {"ja"}


REASONS = {
    "no_text": {"references": rows(en={"texts": {"de": "Verbeugung"}})},
    "no_concept": {
        "references": rows(
            de={"value": "v0"}, ru={"value": "v0"}, ja={"texts": {**rows()[3]["texts"], "en": "A  bow"}}
        )
    },
    "no_language": {"references": rows(en={"texts": {"en": "a bow"}})},
    "no_wording": {"wordings": perturbed_items.Wordings()},
    "label_stays": {"references": rows(en={"texts": {"en": "a bow, as IN US", "de": "Verbeugung"}})},
    "alike": {"references": rows(en={"texts": {"en": "a bow", "de": "a bow"}})},
}


@pytest.mark.parametrize("reason", REASONS)
def test_why_an_item_is_left_out(reason):
    assert made(**REASONS[reason]) == reason


def test_no_other_language_is_asked():
    assert made(asked=["en"]) == "no_language"


def test_versions_in_all_languages_the_prompt_s_own_first():
    row = perturbed_items.language_versions(
        item(culture="ru"), perturbed_items.by_topic_and_culture(rows()), CULTURES, NAMES
    )
    assert row["languages"] == ["ru", "en", "de", "ja"]
    assert row["answers"] == ["В RU: " + WORDS["ru"][2], "In RU: two kisses", "In RU: zwei Küsse",
                              "RUでは: " + WORDS["ja"][2]]  # fmt: skip
    without = perturbed_items.by_topic_and_culture(rows(ru={"texts": {"ru": "поклон"}}))
    assert perturbed_items.language_versions(item(culture="ru"), without, CULTURES, NAMES) == "no_version"


def test_sets_are_drawn_by_cell_and_the_smaller_is_a_part_of_the_larger():
    references = [row for n in range(9) for row in rows(f"t{n}")]
    items = [item(f"t{n}", culture) for n in range(9) for culture in ("en", "ja")]
    sizes = dict(zip(perturbed_items.SETS, (4, 2), strict=True))
    sets, counts = sets_of(items, references, CULTURES, sizes)
    again, _ = sets_of(items[::-1], references, CULTURES, sizes)
    assert sets == again
    ids = {name: {row["id"] for row in found} for name, found in sets.items()}
    assert ids["carb_consistency"] < ids["carb_perturbation"]
    assert [(count["culture"], count["items"], count["carb_perturbation_items"], count["carb_consistency_items"])
            for count in counts] == [("en", 9, 4, 2), ("ja", 9, 4, 2)]  # fmt: skip
    assert (
        len(sets_of(items, references, CULTURES, dict.fromkeys(perturbed_items.SETS))[0]["carb_perturbation"])
        == 18
    )


def test_who_is_left_out_is_counted_with_one_reason():
    references = [
        *rows("t1", en={"texts": {"de": "Verbeugung"}}),
        *rows("t2"),
        *rows("t3", en={"texts": {"en": "x", "de": "y"}}),
    ]
    items = [item(name) for name in ("t1", "t2", "t3")]
    sets, (count,) = sets_of(items, references, CULTURES, dict.fromkeys(perturbed_items.SETS))
    assert list(count) == perturbed_items.COUNT_COLUMNS
    assert (count["items"], count["no_text"], count["no_version"]) == (3, 1, 1)
    assert (count["carb_perturbation_items"], count["carb_consistency_items"]) == (2, 1)
    assert {row["id"] for row in sets["carb_consistency"]} == {"t2_en"}


def test_nothing_left_is_an_error_with_the_reasons():
    references = rows(en={"texts": {"de": "Verbeugung"}})
    with pytest.raises(
        PolyrewardError, match=r"(?s)carb_perturbation: no item is left \(of 1, its right answer has no text"
    ):
        sets_of([item()], references, CULTURES, dict.fromkeys(perturbed_items.SETS))
