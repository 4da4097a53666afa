"""The references and wordings that we wrote, through the whole construction but for the embeddings: what holds
of every item."""

import re
from collections import Counter

import pandas as pd
import pytest
from carb_gate import classifier_scores, off_chance, surface_scores
from support import ROOT, script

from polyreward.carb.items.cultures import culture_of, read_cultures
from polyreward.carb.items.facts import holiday_dates
from polyreward.carb.items.filters import SCRIPT_SHARE
from polyreward.carb.items.topics import read_topics
from polyreward.carb.perturbation.perturbations import changed_share
from polyreward.core.writing import script_share
from polyreward.core.yaml_files import read_yaml
from polyreward.sheet.entries import read_models

carb_items = script("prepare/carb_items")
possible_items = script("prepare/carb_possible_items").possible_items
carb_references = script("sources/carb_references")
perturbed_items = script("prepare/carb_perturbed_items")

CONFIG = read_models([], ROOT).settings.model_dump()
CARB, SEED = CONFIG["carb"], CONFIG["seed"]
LANGUAGES = read_yaml(ROOT / "resources/languages.yaml")
SCRIPTS = {name: LANGUAGES[name]["script"] for name in CARB["cultures"]}


@pytest.fixture(scope="module")
def cultures():
    return read_cultures(ROOT / CARB["culture_file"], CARB["cultures"])


@pytest.fixture(scope="module")
def references(cultures):
    schema = read_yaml(ROOT / "workflow/schemas/carb_topics.schema.yaml")
    topics = read_topics(ROOT / CARB["topics"], cultures, CARB["domains"], schema)
    return list(carb_references.reference_rows(topics, cultures, CARB["cultures"]))


@pytest.fixture(scope="module")
def built(references, cultures):
    """The items of mini, and all."""
    possible = list(possible_items(references, cultures))
    similarity = [(item["id"], answer["value"], 0.0) for item in possible for answer in item["answers"]]
    table = pd.DataFrame(similarity, columns=["id", "value", "similarity"])
    expected = carb_items.Expected(SCRIPTS, SCRIPTS, CARB["domains"])
    rows = (references, possible, table, expected)
    return [carb_items.built_items(*rows, count, SEED)[0] for count in (CARB["items_per_cell"], None)]


@pytest.fixture(scope="module")
def all_items(built):
    return built[1]


def test_there_are_120_topics_25_items_in_every_cell_and_as_many_as_are_asked_for(built, references):
    assert len({row.get("family", row["topic"]) for row in references}) >= 120
    for items, least in zip(built, (CARB["items_per_cell"], 25), strict=True):
        counts = Counter((item["culture"], item["domain"]) for item in items)
        assert min(counts[culture, domain] for culture in SCRIPTS for domain in CARB["domains"]) >= least


def test_no_wrong_date_is_another_day_of_the_asked_holiday(all_items, cultures):
    asked = [item for item in all_items if re.fullmatch(r"holiday-\d", item["topic"])]
    assert asked
    for item in asked:
        culture = culture_of(cultures, item["culture"])
        days = holiday_dates(culture.language, culture.territory)
        holiday = next(name for name in culture.holidays if name in item["prompt"])
        related = {f"{date:%m-%d}" for name, dates in days.items() if holiday in name for date in dates}
        wrong = {reference["value"] for n, reference in enumerate(item["references"]) if n != item["chosen"]}
        assert not related & wrong, item["id"]


def test_length_script_and_a_classifier_of_only_answers_are_at_chance(built, all_items):
    for some in built:
        assert off_chance(some, surface_scores(some)) == []
    assert off_chance(all_items, classifier_scores(all_items, SEED)) == []


def test_sayings_and_requests_lend_each_other_their_answers(all_items):
    own = [item for item in all_items if item["source"] in ("idiom", "request", "survey")]
    assert len(own) > 900
    for item in own:
        assert {reference["culture"] for reference in item["references"]} == {item["culture"]}
        assert len({reference["topic"] for reference in item["references"]}) == 4


@pytest.fixture(scope="module")
def ours():
    return perturbed_items.read_wordings(sorted((ROOT / CARB["perturbation"]["wordings"]).glob("*.yaml")))


@pytest.fixture(scope="module")
def rewritten(all_items, references, cultures, ours):
    how = CARB["cultures"], dict.fromkeys(perturbed_items.SETS), SEED
    return perturbed_items.perturbation_sets(all_items, references, ours, cultures, *how)


def test_every_item_has_a_second_wording_and_a_concept_that_changes_no_more_than_other_words_do(
    rewritten, all_items
):
    rows, counts = rewritten[0]["carb_perturbation"], rewritten[1]
    assert len(rows) == len(all_items)
    assert not sum(count["no_wording"] + count["alike"] + count["label_stays"] for count in counts)
    answers = (row["answers"] for row in rows)
    shares = [[changed_share(base, text) for text in others] for base, *others in answers]
    shares = pd.DataFrame(shares, columns=["CC", "RC", "CL", "RP"])
    assert shares["CC"].mean() < shares["RP"].mean() + 0.01
    assert shares["CC"].mean() < shares["CL"].mean() / 2
    domains = shares.groupby([row["domain"] for row in rows])[["CC", "RP"]].mean()
    assert domains["CC"].max() < 0.35 and domains["RP"].min() > 0.15


def test_what_we_wrote_is_of_topics_that_are_there_and_in_the_culture_s_script(references, ours):
    texts = {(row["topic"], row["culture"]): row["texts"].get(row["culture"]) for row in references}
    for key, text in [*ours.reworded.items(), *ours.foreign.items()]:
        assert key in texts, key
        assert script_share(text, SCRIPTS[key[1]]) >= SCRIPT_SHARE, text
        assert changed_share(text, texts[key]) > 0, text
    assert all(perturbed_items.is_rewording(texts[key], text) for key, text in ours.reworded.items())
    both = ours.reworded.keys() & ours.foreign.keys()
    assert len(both) > 400 and all(ours.reworded[key] != ours.foreign[key] for key in both)
