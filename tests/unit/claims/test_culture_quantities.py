"""Quantities of place quartets, lessons and open books, on made-up data that should hold, fail and be undecided."""

import pytest
from made_up import found, quantity
from made_up_carb import carb_evidence, facts, places

from polyreward.analysis.verdicts import FAILS, HOLDS, UNDECIDED, Rule, extreme, verdict
from polyreward.claims.carb_evidence import Facts, Places
from polyreward.claims.estimate import UntestableError


def of_places(known, **more):
    return carb_evidence(places=places(known, **more))


def of_facts(known, **more):
    return carb_evidence(facts=facts(known, **more))


def test_facts_that_were_taught_are_found_where_the_reward_model_has_more_than_without_lessons():
    taught = {("taught", "en"): 1.0, ("taught", "es"): 0.5, ("taught", "ko"): 1 / 3}
    assert found("facts_found", of_facts(taught)) == (HOLDS, pytest.approx(75 / 3))
    before = {("before", language): share for (_, language), share in taught.items()}
    assert found("facts_found", of_facts(taught | before)) == (UNDECIDED, pytest.approx(0))
    assert found("facts_found", carb_evidence())[0] == UNDECIDED
    estimate = quantity("facts_found", of_facts(taught, seeds=3))
    assert (estimate.trainings, estimate.n, estimate.n_of) == (3, 18, "topics")


def test_facts_by_language_is_the_least_lead_of_the_language_of_the_lessons():
    taught = {("taught", "en"): 1.0, ("taught", "es"): 2 / 3, ("taught", "ko"): 1 / 3}
    assert found("facts_found_by_language", of_facts(taught)) == (HOLDS, pytest.approx(25))
    everywhere = {("taught", language): 1.0 for language in ("en", "es", "ko")}
    assert found("facts_found_by_language", of_facts(everywhere))[0] == UNDECIDED


def test_reading_is_of_open_books_alone():
    closed, read = places({("base", "en"): 0.2}), places({("base", "en"): 0.9, ("rm", "en"): 0.8}).culture
    books = Places(closed.culture, closed.languages, "en", closed.trainings, read)
    evidence = carb_evidence(places=books)
    assert found("reading", evidence, of="base") == (HOLDS, pytest.approx(40))
    assert found("reading", evidence, of="reward_model") == (HOLDS, pytest.approx(30))
    assert found("knowledge_of_places", evidence, of="base") == (FAILS, pytest.approx(-30))
    with pytest.raises(UntestableError, match="set carb.quartets.open_books"):
        quantity("reading", carb_evidence(places=closed), of="base")


def test_a_run_without_lessons_decides_nothing_about_them_and_says_what_to_set():
    none = Facts(None, ["en", "es"], "en", {})
    with pytest.raises(UntestableError, match="set carb.lessons.bases"):
        quantity("facts_found", carb_evidence(facts=none))


def test_knowledge_of_places_is_swaps_above_chance_and_about_trainings_for_reward_models_only():
    known = of_places({("base", "en"): 0.9, ("rm", "en"): 0.1})
    assert found("knowledge_of_places", known, of="base") == (HOLDS, pytest.approx(40))
    assert found("knowledge_of_places", known, of="reward_model") == (FAILS, pytest.approx(-40))
    assert found("knowledge_of_places", carb_evidence(), of="base")[0] == UNDECIDED
    estimates = [quantity("knowledge_of_places", known, of=of) for of in ("base", "reward_model")]
    assert [one.trainings for one in estimates] == [None, 1]
    assert {(one.n, one.n_of, one.note) for one in estimates} == {
        (20, "topics", "Bases: 1; place quartets: 20.")
    }


def test_places_kept_is_the_reward_model_minus_its_base():
    few = Rule("above", 0, 5)
    for rm, expected, lead in ((0.9, HOLDS, 0), (0.4, FAILS, -50), (0.75, UNDECIDED, -15)):
        known = of_places({("base", "en"): 0.9, ("rm", "en"): rm}, topics=40)
        estimate = quantity("places_kept", known)
        assert extreme(estimate.contrasts, "above", 0.95)[0] == pytest.approx(lead, abs=3)
        if rm != 0.9:  # alike on each topic, there is no variance
            assert verdict(estimate.contrasts, few, 0.95) == expected


def test_places_by_language_is_the_least_lead_of_the_source():
    known = of_places(
        {("base", "en"): 1.0, ("base", "es"): 0.2, ("base", "ko"): 0.6}, languages=["en", "es", "ko"]
    )
    assert found("places_by_language", known, of="base") == (HOLDS, pytest.approx(40))
    assert found("places_by_language", known, of="reward_model")[0] == UNDECIDED
    with pytest.raises(UntestableError, match="place quartets are in en only"):
        quantity("places_by_language", of_places({}, languages=["en"]), of="base")


def test_several_trainings_of_a_reward_model_are_averaged_and_their_variance_counts():
    known = {("rm0", "en"): 1.0, ("rm1", "en"): 0.8, ("rm2", "en"): 0.6}
    estimate = quantity("knowledge_of_places", of_places(known, seeds=3), of="reward_model")
    assert estimate.contrasts.points == pytest.approx([30]) and estimate.trainings == 3
    assert estimate.contrasts.drawn.errors()[1] > 5
    assert estimate.test == "paired bootstrap over topics and variance between trainings"


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"culture": None}, "no place quartet asks about facts"),
        ({"bases": []}, "no reward model is trained here"),
        ({"source": "de"}, "place quartets are not in de, but in en, es"),
    ],
)
def test_what_place_quartets_cannot_test_is_said(changed, said):
    made_up = places({})
    for name, value in changed.items():
        setattr(made_up, name, value)
    with pytest.raises(UntestableError, match=said):
        quantity("knowledge_of_places", carb_evidence(places=made_up), of="base")
