"""A small world of four cultures for the tests of CARB's construction."""

import copy
from types import SimpleNamespace

import pandas as pd
import yaml
from made_up_scorers import Backend
from support import ROOT

from polyreward.carb.scores import SCORE_COLUMNS

NAMES = ["en", "de", "ru", "ja"]
TOPIC_SCHEMA = yaml.safe_load((ROOT / "workflow/schemas/carb_topics.schema.yaml").read_text(encoding="utf-8"))
PLACES = {"en": "in {}", "de": "in {}", "ru": "в {}", "ja": "{}では"}
TERRITORIES = {
    "en": ("US", "Memorial Day"),
    "de": ("DE", "Ostermontag"),
    "ru": ("RU", "День Победы"),
    "ja": ("JP", "海の日"),
}
CULTURES = {
    "cultures": {
        culture: {
            "territory": territory,
            "places": {name: PLACES[name].format(territory) for name in NAMES},
            "holidays": [holiday],
        }
        for culture, (territory, holiday) in TERRITORIES.items()
    },
    "languages": {name: {"labelled": "{Place}: {answer}", "unlabelled": "{answer}"} for name in NAMES},
}
WORDS = {
    "en": ["a bow", "a handshake", "two kisses", "a nod"],
    "de": ["Verbeugung", "Handschlag", "zwei Küsse", "Nicken"],
    "ru": ["поклон", "рукопожатие", "два поцелуя", "кивок"],
    "ja": ["お辞儀をします", "握手をします", "キスを二回します", "うなずきます"],
}


def texts(number: int) -> dict[str, str]:
    return {name: WORDS[name][number] for name in NAMES}


def topic(**changes) -> dict:
    """Return a topic whose four cultures have a value each, with changes."""
    found = {
        "id": "greeting", "domain": "values", "source": "etiquette", "prompt": {name: f"{{place}} {name}?" for name in NAMES},
        "values": [
            {"id": f"v{number}", "cultures": [name], "check": f"Book {number}", "text": texts(number)}
            for number, name in enumerate(NAMES)
        ],
    }  # fmt: skip
    return copy.deepcopy({**found, **changes})


def fact_topic(fact: str, **changes) -> dict:
    """Return a topic whose answers are a fact, with changes."""
    holiday = " {holiday}" if fact == "holiday_date" else ""
    name = fact.replace("_", "-") + ("-1" if holiday else "")
    prompt, answer = (dict.fromkeys(NAMES, text) for text in (f"{{place}}{holiday}?", "= {value}"))
    found = {"id": name, "domain": "values", "source": "data", "fact": fact}
    return {**found, "prompt": prompt, "answer": answer, **changes}


def reference(culture: str, value: str | None, **changes) -> dict:
    """Return a row of references, with changes."""
    return {"topic": "t", "domain": "values", "source": "s", "culture": culture, "prompt": f"{culture}?", "is_fact": False,
            "value": value, "check": "c", "texts": {name: f"{value} {name}" for name in NAMES}, **changes}  # fmt: skip


def possible(item_id: str = "t_en", **changes) -> dict:
    """Return a possible item of the culture en with five wrong answers, with changes."""
    others = {
        "A handshake.": ["de"],
        "Two kisses.": ["ru", "ja"],
        "A nod.": ["zh"],
        "A wave.": ["ko"],
        "A hug.": ["es"],
    }
    answers = [
        {"value": f"w{number}", "check": "c", "cultures": cultures, "text": text}
        for number, (text, cultures) in enumerate(others.items())
    ]
    found = {
        "id": item_id, "culture": "en", "domain": "values", "source": "s", "topic": item_id.split("_")[0], "is_fact": False,
        "prompt": f"What about {item_id}?", "chosen": {"value": "r", "check": "c", "text": "A bow."}, "shared": [],
        "answers": answers,
    }  # fmt: skip
    return copy.deepcopy({**found, **changes})


def score_table(scores: dict[tuple, list[float]], chosen=0, noisy=()) -> pd.DataFrame:
    """Return a score table; scores: {(item, topic, culture, domain): of its answers}."""
    records = [
        (*key, number, number == chosen, float(score), False, key[0] in noisy)
        for key, of_item in scores.items()
        for number, score in enumerate(of_item)
    ]
    return pd.DataFrame(records, columns=SCORE_COLUMNS)


def writer(says) -> SimpleNamespace:
    """Return a generator whose reply is what `says` makes of a request's text."""
    return SimpleNamespace(backend=Backend(says))


def requests_of(generator) -> list[str]:
    """Return the texts of the requests that a generator of `writer` got."""
    return [request[0]["content"] for request in generator.backend.requests]
