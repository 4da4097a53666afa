"""The references and wordings that we wrote, through the whole construction but for the embeddings: what
holds of every item."""

import re
from collections import Counter

import pandas as pd
import pytest
from carb_gate import classifier_scores, gate_table, off_chance, surface_scores
from support import ROOT, script

from polyreward.carb.items.cultures import culture_of, read_cultures
from polyreward.carb.items.facts import holiday_dates, package_language
from polyreward.carb.items.filters import Filters, kept_items
from polyreward.carb.items.selection import split_topics
from polyreward.carb.perturbation.perturbations import changed_share
from polyreward.config.scale import read_scale
from polyreward.core.writing import script_share
from polyreward.core.yaml_files import read_yaml

checked_items = script("prepare/carb_items").checked_items
possible_items = script("prepare/carb_possible_items").possible_items
carb_references = script("sources/carb_references")
perturbed_items = script("prepare/carb_perturbed_items")

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
    cells = (CARB["cultures"], CARB["domains"])
    by_culture = checked_items(kept, counts, references, *cells, CONFIG["seed"], items_per_cell)
    return [item for of_culture in by_culture.values() for item in of_culture]


def smallest_cell(items) -> int:
    counts = Counter((item["culture"], item["domain"]) for item in items)
    return min(counts[culture, domain] for culture in CARB["cultures"] for domain in CARB["domains"])


@pytest.fixture(scope="module")
def items(references, cultures):
    return built(references, cultures, CARB["items_per_cell"])


@pytest.fixture(scope="module")
def all_items(references, cultures):
    return built(references, cultures, None)


def test_there_are_120_topics_25_items_in_every_cell_and_as_many_as_are_asked_for(
    items, all_items, references
):
    assert len({row.get("family", row["topic"]) for row in references}) >= 120
    assert smallest_cell(all_items) >= 25 and smallest_cell(items) >= CARB["items_per_cell"]


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


def test_length_script_and_a_classifier_of_answers_alone_are_at_chance(items, all_items):
    for some in (items, all_items):
        assert off_chance(gate_table(some, surface_scores(some))) == []
    assert off_chance(gate_table(all_items, classifier_scores(all_items, CONFIG["seed"]))) == []


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
    how = CARB["cultures"], dict.fromkeys(perturbed_items.SETS), CONFIG["seed"]
    return perturbed_items.perturbation_sets(all_items, references, ours, cultures, *how)


def test_every_item_of_the_benchmark_has_a_second_wording(rewritten, all_items):
    sets, counts = rewritten
    assert len(sets["carb_perturbation"]) == len(all_items)
    assert not sum(count["no_wording"] + count["alike"] + count["label_stays"] for count in counts)


def test_another_concept_changes_no_more_of_an_answer_than_other_words_do(rewritten):
    rows = rewritten[0]["carb_perturbation"]
    answers = (row["answers"] for row in rows)
    shares = [[changed_share(base, text) for text in others] for base, *others in answers]
    shares = pd.DataFrame(shares, columns=["CC", "RC", "CL", "RP"])
    assert shares["CC"].mean() < shares["RP"].mean() + 0.01
    assert shares["CC"].mean() < shares["CL"].mean() / 2
    domains = shares.groupby([row["domain"] for row in rows])[["CC", "RP"]].mean()
    assert domains["CC"].max() < 0.35 and domains["RP"].min() > 0.15


def test_what_we_wrote_is_of_topics_that_are_there_and_in_the_culture_s_script(references, ours):
    texts = {(row["topic"], row["culture"]): row["texts"].get(row["culture"]) for row in references}
    for written in (ours.reworded, ours.foreign):
        for (topic, culture), text in written.items():
            assert (topic, culture) in texts, (topic, culture)
            assert script_share(text, SCRIPTS[culture]) >= CARB["filters"]["script_share"], text
            assert changed_share(text, texts[topic, culture]) > 0, text
    assert all(perturbed_items.is_rewording(texts[key], text) for key, text in ours.reworded.items())
    both = ours.reworded.keys() & ours.foreign.keys()
    assert len(both) > 400 and all(ours.reworded[key] != ours.foreign[key] for key in both)
