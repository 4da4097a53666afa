"""Items of a user's own: both file forms, the public sample's layout, every kind of bad item, and what
becomes of good ones."""

import json
from itertools import product

import pytest
from support import script

from polyreward.core.errors import PolyrewardError

carb_items = script("prepare/carb_items")


EXPECTED = carb_items.Expected(
    {"de": "German", "ko": "Korean"}, {"de": "Latn", "ko": "Kore"}, ["food", "law"]
)
FILTERS = {"near_duplicate": 0.98, "script_share": 0.9, "nearest": 0.98, "farthest": -0.3}
WORDS = {
    "de": ["Was isst man?", "Brot mit Salz.", "Reis mit Tee.", "Suppe mit Fisch.", "Mais mit Bohnen."],
    "ko": ["무엇을 먹나요?", "김치와 밥입니다.", "빵과 소금입니다.", "생선국입니다.", "옥수수와 콩입니다."],
}


def row(language="de", domain="food", number=1, **changes) -> dict:
    """Return an item in a user's own words, with changes."""
    prompt, chosen, *rejected = WORDS[language]
    found = {"id": f"{domain}_{number}", "language": language, "domain": domain, "prompt": f"{prompt} {number}",
             "chosen": chosen, "rejected": rejected}  # fmt: skip
    return {**found, **changes}


def sample_row(**changes) -> dict:
    """Return an item in the layout of the authors' public sample, with changes; the texts are ours."""
    prompt, chosen, *rejected = WORDS["de"]
    found = {
        "id": "made_up_7", "language": "German", "country": "Germany", "prompt": prompt, "chosen": [chosen],
        "chosen_model": ["a"], "rejected": rejected, "rejected_model": ["b", "c", "d"], "num_correct": 1, "num_rejected": 3,
        "total_completions": 4, "source": "made_up", "subset": "cultural_value", "additional_metadata": "{}", "category": "other",
    }  # fmt: skip
    return {**found, **changes}


def every_cell(count=1) -> list[dict]:
    cells = product(EXPECTED.names, EXPECTED.domains, range(count))
    return [row(*cell) for cell in cells]


def as_json(rows) -> str:
    return json.dumps(rows, ensure_ascii=False, indent=2)


def as_lines(rows) -> str:
    return "".join(json.dumps(one, ensure_ascii=False) + "\n" for one in rows)


@pytest.fixture
def write(tmp_path):
    def write(text, name="items.json"):
        (tmp_path / name).write_text(text, encoding="utf-8")
        return str(tmp_path / name)

    return write


def problems_of(path) -> list[str]:
    with pytest.raises(PolyrewardError, match="carb.item_files: ") as raised:
        carb_items.read_item_files([path], EXPECTED)
    return [line.removeprefix("  - ").replace(path, "FILE") for line in str(raised.value).splitlines()[1:]]


@pytest.mark.parametrize("write_as", [as_json, as_lines])
def test_json_and_json_lines_are_read_alike(write, write_as):
    items = carb_items.read_item_files([write(write_as(every_cell()))], EXPECTED)
    ids = [f"{domain}-{domain}_0_{language}" for language in ("de", "ko") for domain in ("food", "law")]
    assert [item["id"] for item in items] == ids
    assert items[0]["topic"] == items[2]["topic"] == "food-food_0"  # one question asked of two cultures
    assert items[0]["chosen"]["text"] == "Brot mit Salz."
    assert [answer["text"] for answer in items[0]["answers"]] == WORDS["de"][2:]


def test_a_byte_order_mark_and_several_files_do_not_matter(write):
    first, *others = every_cell()
    paths = [write("\ufeff" + as_json([first])), write(as_lines(others), "others.jsonl")]
    assert len(carb_items.read_item_files(paths, EXPECTED)) == 4


@pytest.mark.parametrize(
    ("subset", "domain"),
    [
        ("cultural_commonsense", "commonsense"), ("cultural_value", "values"), ("cultural_toxicity", "safety"),
        ("cultural_linguistic", "linguistics"), ("cultural_linguistics", "linguistics"), ("values", "values"),
        ("cultural_value", "cultural_value"),  # a domain of the user's own may be named as the sample names it
    ],
)  # fmt: skip
def test_the_public_sample_s_layout_is_read_as_it_is(write, subset, domain):
    expected = carb_items.Expected({"de": "German"}, {"de": "Latn"}, [domain])
    (item,) = carb_items.read_item_files([write(as_json([sample_row(subset=subset)]))], expected)
    assert (item["id"], item["culture"], item["domain"]) == (f"{domain}-made_up_7_de", "de", domain)
    assert (item["source"], item["more"]["country"]) == ("made_up", "Germany")
    assert item["more"]["rejected_model"] == ["b", "c", "d"]


BAD = {
    "no id": ({"id": None}, "has no `id`; give a text or a number"),
    "no culture": ({"language": None}, "has no `language` (or `culture`); give it, such as ko or Korean"),
    "no domain": ({"domain": ""}, "has no `domain` (or `subset`); give it, such as food"),
    "another culture": ({"language": "Japanese"}, "`Japanese` is not in carb.cultures (de, ko); add it there, or drop the items"),
    "a slip": ({"language": "Germna"}, "`Germna` is not in carb.cultures (de, ko); did you mean `German`? add it there"),
    "another domain": ({"domain": "foods"}, "`foods` is not in carb.domains (food, law); did you mean `food`? add it there"),
    "no prompt": ({"prompt": None}, "`prompt` is missing; write one text"),
    "a conversation": ({"prompt": [{"role": "user"}]}, "`prompt` is no text; write one text"),
    "messages as text": ({"prompt": "[{'role': 'user', 'content': 'Was?'}]"}, "`prompt` holds messages as text"),
    "an id that is no name": ({"id": 1.5}, "has no `id`; give a text or a number"),
    "an empty prompt": ({"prompt": "  "}, "`prompt` is empty; write the text"),
    "two chosen": ({"chosen": ["Brot.", "Salz."]}, "`chosen` has 2 texts; write one text"),
    "no chosen": ({"chosen": []}, "`chosen` has 0 texts; write one text"),
    "two rejected": ({"rejected": ["Reis.", "Mais."]}, "`rejected` has 2 texts; write a list of 3 texts"),
    "four rejected": ({"rejected": ["Ei.", "Eis.", "Reis.", "Mais."]}, "`rejected` has 4 texts; write a list of 3 texts"),
    "rejected numbers": ({"rejected": [1, 2, 3]}, "`rejected` is no text; write a list of 3 texts"),
    "twice the same": ({"rejected": ["Reis.", "Mais.", "reis. "]}, "two of its answers are the same text; change one"),
}  # fmt: skip


@pytest.mark.parametrize("write_as", [as_json, as_lines])
@pytest.mark.parametrize("name", BAD)
def test_a_bad_item_is_named_with_what_is_wrong(write, write_as, name):
    changes, said = BAD[name]
    rows = [*every_cell(), {**row(number=9), **changes}]
    place = f"{'FILE: item 5' if write_as is as_json else 'FILE:5'}{': `food_9`' if 'id' not in BAD[name][0] else ''}: "
    assert [line for line in problems_of(write(write_as(rows))) if line.startswith(place + said)]


def test_items_in_another_script_stay_and_are_counted_and_a_culture_of_nothing_else_is_refused(write, capsys):
    mixed = row(
        "ko", number=7, rejected=["김치 kimchi.", "Bread.", "옥수수와 콩과 쌀입니다."]
    )  # not of another script
    idioms = [{**row("de", number=n), "language": "ko"} for n in (8, 9)]
    assert len(carb_items.read_item_files([write(as_json([*every_cell(), mixed, *idioms]))], EXPECTED)) == 7
    said = "of Korean have less than 50% of their letters in its script (Kore);"
    assert f"2 of 5 items {said} they stay" in capsys.readouterr().err
    german = every_cell()[:2]
    as_korean = [{**one, "language": "ko"} for one in german]
    assert problems_of(write(as_json([*german, *as_korean]))) == [
        f"2 of 2 items {said} correct their language"
    ]


def test_all_problems_are_listed_at_once(write):
    rows = every_cell(2)[:-2]  # no item of Korean law
    rows += [row(number=7, chosen=["Brot.", "Salz."], prompt=""), rows[0], row("de", "laws", 0)]
    assert problems_of(write(as_lines(rows))) == [
        "FILE:7: `food_7`: `prompt` is empty; write the text",
        "FILE:7: `food_7`: `chosen` has 2 texts; write one text",
        "FILE:8: `food_0`: FILE:1 has the same id, too; ids are unique within a language and a domain",
        "FILE:9: `laws_0`: `laws` is not in carb.domains (food, law); did you mean `law`? add it there, or drop the items",
        "ko, law: there is no item; add some, or leave one of the two out of carb.cultures and carb.domains",
    ]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[1, {}]", "FILE: item 1: 1: not an object; write {...} for each item"),
        ('[\n{"id": 1},\n}', "FILE:3: not JSON (Expecting value); correct that line"),
        ('{"id": 1}\n{"id": \n', "FILE:2: not JSON (Expecting value); write one JSON object a line"),
    ],
)
def test_what_is_no_list_of_items_is_named_by_its_place(write, text, said):
    assert said in problems_of(write(text))


def test_ids_that_print_alike_are_one_and_a_long_list_of_problems_is_cut(write):
    twins = [row(id="caf\u00e9"), row(id="cafe\u0301", prompt="Und?")]
    problems = problems_of(write(as_lines([*every_cell(), *twins])))
    assert any("has the same id, too" in line for line in problems)
    assert len(problems_of(write(as_lines([{"question": "a"}] * 900)))) < 30


def made(path, items_per_cell=None, seed=1):
    return carb_items.benchmark_items(
        {"given": [path]}, EXPECTED.names, EXPECTED.scripts, EXPECTED.domains, FILTERS, 0.5, items_per_cell, seed
    )  # fmt: skip


def test_given_items_are_the_benchmark_with_all_that_they_bring(write):
    rows = [{**one, "country": "x", "num_correct": 1} for one in every_cell(8)]
    by_culture, counts = made(write(as_json(rows)))
    assert {culture: len(items) for culture, items in by_culture.items()} == {"de": 16, "ko": 16}
    for item in (item for items in by_culture.values() for item in items):
        _, right, *wrong = WORDS[item["culture"]]
        assert item["answers"][item["chosen"]] == right
        assert sorted(item["answers"]) == sorted([right, *wrong])
        assert [reference["culture"] for reference in item["references"]].count(item["culture"]) == 1
        assert item["references"][item["chosen"]]["culture"] == item["culture"]
        assert (item["country"], item["num_correct"]) == ("x", 1) and "rejected" not in item
    places = [item["chosen"] for item in by_culture["de"] if item["domain"] == "food"]
    assert sorted(places) == [0, 0, 1, 1, 2, 2, 3, 3]
    assert list(counts.columns) == carb_items.SELECTION_COLUMNS
    assert counts[["items", "items_drawn", "answers_foreign"]].to_numpy().tolist() == [[8, 8, 0]] * 4
    assert counts["references"].isna().all()  # of what was not built nothing is counted


def test_a_part_of_given_items_is_drawn_and_answers_in_another_script_are_counted(write):
    rows = [*every_cell(6), row("ko", number=9, rejected=["밥입니다.", "Bread.", "콩입니다."])]
    by_culture, counts = made(write(as_json(rows)), items_per_cell=3)
    korean_food = counts.set_index(["culture", "domain"]).loc[("ko", "food")]
    assert korean_food[["items", "items_drawn", "answers_foreign"]].tolist() == [7, 3, 1]
    smaller, _ = made(write(as_json(rows)), items_per_cell=2)
    assert {item["id"] for item in smaller["ko"]} < {item["id"] for item in by_culture["ko"]}
