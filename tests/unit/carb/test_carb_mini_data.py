"""The references that we wrote, through the whole construction but for the embeddings: what holds of every
item."""

import re
from collections import Counter

import pandas as pd
import pytest
from carb_gate import classifier_scores, gate_table, off_chance, surface_scores
from support import script
from tiny_models import ROOT

from polyreward.carb.items.cultures import culture_of, read_cultures
from polyreward.carb.items.facts import holiday_dates, package_language
from polyreward.carb.items.filters import Filters, kept_items
from polyreward.carb.items.selection import split_topics
from polyreward.config.scale import read_scale
from polyreward.core.yaml_files import read_yaml

checked_items = script("prepare/carb_items").checked_items
possible_items = script("prepare/carb_possible_items").possible_items
carb_references = script("sources/carb_references")


CONFIG = read_scale([], ROOT).settings.model_dump()
CARB = CONFIG["carb"]
SCRIPTS = {name: entry["script"] for name, entry in read_yaml(ROOT / "resources/languages.yaml").items()}


@pytest.fixture(scope="module")
def cultures():
    return read_cultures(ROOT / CARB["culture_file"], CARB["cultures"])


@pytest.fixture(scope="module")
def references(cultures):
    schema = read_yaml(ROOT / "workflow/schemas/carb_topics.schema.yaml")
    topics = carb_references.read_topics(ROOT / CARB["topics"], cultures, CARB["domains"], schema)
    return list(carb_references.reference_rows(topics, cultures, CARB["cultures"]))


def built(references, cultures, items_per_cell):
    every = list(possible_items(references, cultures))
    references, possible = split_topics(
        references, every, CARB["training_share"], CONFIG["seed"], training=False
    )
    similarity = [(item["id"], answer["value"], 0.0) for item in possible for answer in item["answers"]]
    table = pd.DataFrame(similarity, columns=["id", "value", "similarity"])
    kept, counts = kept_items(possible, references, table, SCRIPTS, Filters(**CARB["filters"]))
    by_culture = checked_items(
        kept, counts, references, CARB["cultures"], CARB["domains"], CONFIG["seed"], items_per_cell
    )
    return [item for of_culture in by_culture.values() for item in of_culture]


@pytest.fixture(scope="module")
def items(references, cultures):
    return built(references, cultures, CARB["items_per_cell"])


@pytest.fixture(scope="module")
def all_items(references, cultures):
    return built(references, cultures, None)


def test_there_are_as_many_items_of_every_culture_and_domain_as_are_asked_for(items):
    counts = Counter((item["culture"], item["domain"]) for item in items)
    assert {cell: counts[cell] for culture in CARB["cultures"] for domain in CARB["domains"]
            if counts[cell := (culture, domain)] < CARB["items_per_cell"]} == {}  # fmt: skip


def test_no_wrong_answer_is_the_culture_s_own_fact(items, references):
    own = {(row["topic"], row["culture"]): row["value"] for row in references}
    for item in items:
        wrong = [reference["value"] for n, reference in enumerate(item["references"]) if n != item["chosen"]]
        assert item["references"][item["chosen"]]["value"] == own[item["topic"], item["culture"]]
        assert own[item["topic"], item["culture"]] not in wrong


def test_no_wrong_date_is_another_day_of_the_asked_holiday(all_items, cultures):
    asked = [item for item in all_items if re.fullmatch(r"holiday-\d", item["topic"])]
    assert asked
    for item in asked:
        culture = culture_of(cultures, item["culture"])
        days = holiday_dates(package_language(culture), culture.territory)
        holiday = next(name for name in culture.holidays if name in item["prompt"])
        related = {f"{date:%m-%d}" for name, dates in days.items() if holiday in name for date in dates}
        wrong = {reference["value"] for n, reference in enumerate(item["references"]) if n != item["chosen"]}
        assert not related & wrong, item["id"]


def test_there_are_120_topics_and_25_items_in_every_cell(all_items):
    schema = read_yaml(ROOT / "workflow/schemas/carb_topics.schema.yaml")
    cultures = read_cultures(ROOT / CARB["culture_file"], CARB["cultures"])
    assert len(carb_references.read_topics(ROOT / CARB["topics"], cultures, CARB["domains"], schema)) >= 120
    counts = Counter((item["culture"], item["domain"]) for item in all_items)
    assert min(counts[culture, domain] for culture in CARB["cultures"] for domain in CARB["domains"]) >= 25


def test_length_and_script_are_at_chance(items, all_items):
    for some in (items, all_items):
        assert off_chance(gate_table(some, surface_scores(some))) == []


def test_a_classifier_of_answers_alone_is_at_chance(all_items):
    assert off_chance(gate_table(all_items, classifier_scores(all_items, CONFIG["seed"]))) == []


def test_sayings_and_requests_lend_each_other_their_answers(all_items):
    own = [item for item in all_items if item["source"] in ("idiom", "request", "survey")]
    assert len(own) > 900
    for item in own:
        assert {reference["culture"] for reference in item["references"]} == {item["culture"]}
        assert len({reference["topic"] for reference in item["references"]}) == 4
