"""Items of a user's own: both file forms, the public sample's layout, every kind of bad item, and what becomes
of good ones."""

import json
from itertools import product

import pytest
from support import refused, script

carb_items = script("prepare/carb_items")

EXPECTED = carb_items.Expected(
    {"de": "German", "ko": "Korean"}, {"de": "Latn", "ko": "Kore"}, ["food", "law"]
)
WORDS = {
    "de": ["Was isst man?", "Brot mit Salz.", "Reis mit Tee.", "Suppe mit Fisch.", "Mais mit Bohnen."],
    "ko": ["무엇을 먹나요?", "김치와 밥입니다.", "빵과 소금입니다.", "생선국입니다.", "옥수수와 콩입니다."],
}
# in the layout of the authors' public sample, the texts ours
SAMPLE = {
    "id": "made_up_7", "language": "German", "country": "Germany", "prompt": WORDS["de"][0], "chosen": WORDS["de"][1:2],
    "chosen_model": ["a"], "rejected": WORDS["de"][2:], "rejected_model": ["b", "c", "d"], "num_correct": 1, "num_rejected": 3,
    "total_completions": 4, "source": "made_up", "additional_metadata": "{}", "category": "other",
}  # fmt: skip


def row(language="de", domain="food", number=1, **changes) -> dict:
    """Return an item in a user's own words, with changes."""
    prompt, chosen, *rejected = WORDS[language]
    found = {
        "id": f"{domain}_{number}",
        "language": language,
        "domain": domain,
        "prompt": f"{prompt} {number}",
    }
    return {**found, "chosen": chosen, "rejected": rejected, **changes}


def every_cell(count=1) -> list[dict]:
    return [row(*of) for of in product(EXPECTED.names, EXPECTED.domains, range(count))]


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
    error = refused(carb_items.read_item_files, [path], EXPECTED)
    assert error.startswith("carb.item_files: ")
    return [line.removeprefix("  - ").replace(path, "FILE") for line in error.splitlines()[1:]]


@pytest.mark.parametrize("write_as", [as_json, as_lines])
def test_json_and_json_lines_are_read_alike_and_in_several_files(write, write_as):
    items = carb_items.read_item_files([write(write_as(every_cell()))], EXPECTED)
    ids = [f"{domain}-{domain}_0_{language}" for language in ("de", "ko") for domain in ("food", "law")]
    assert [item["id"] for item in items] == ids
    assert items[0]["topic"] == items[2]["topic"] == "food-food_0"  # one question asked of two cultures
    assert items[0]["chosen"]["text"] == "Brot mit Salz."
    assert [answer["text"] for answer in items[0]["answers"]] == WORDS["de"][2:]
    first, *others = every_cell()
    paths = [
        write("\ufeff" + write_as([first])),
        write(as_lines(others), "others.jsonl"),
    ]  # a byte order mark
    assert carb_items.read_item_files(paths, EXPECTED) == items


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
    (item,) = carb_items.read_item_files([write(as_json([{**SAMPLE, "subset": subset}]))], expected)
    assert (item["id"], item["culture"], item["domain"]) == (f"{domain}-made_up_7_de", "de", domain)
    assert (item["source"], item["more"]["country"]) == ("made_up", "Germany")
    assert item["more"]["rejected_model"] == ["b", "c", "d"]


BAD = [
    ({"id": None}, "has no `id`; give a text or a number"),
    ({"id": 1.5}, "has no `id`; give a text or a number"),
    ({"language": None}, "has no `language` (or `culture`); give it, such as ko or Korean"),
    ({"domain": ""}, "has no `domain` (or `subset`); give it, such as food"),
    (
        {"language": "Japanese"},
        "`Japanese` is not in carb.cultures (de, ko); add it there, or drop the items",
    ),
    (
        {"language": "Germna"},
        "`Germna` is not in carb.cultures (de, ko); did you mean `German`? add it there",
    ),
    ({"domain": "foods"}, "`foods` is not in carb.domains (food, law); did you mean `food`? add it there"),
    ({"prompt": None}, "`prompt` is missing; write one text"),
    ({"prompt": [{"role": "user"}]}, "`prompt` is no text; write one text"),
    ({"prompt": "[{'role': 'user', 'content': 'Was?'}]"}, "`prompt` holds messages as text (pandas writes"),
    ({"prompt": "  "}, "`prompt` is empty; write the text"),
    ({"chosen": ["Brot.", "Salz."]}, "`chosen` has 2 texts; write one text"),
    ({"chosen": []}, "`chosen` has 0 texts; write one text"),
    ({"rejected": ["Reis.", "Mais."]}, "`rejected` has 2 texts; write a list of 3 texts"),
    ({"rejected": ["Ei.", "Eis.", "Reis.", "Mais."]}, "`rejected` has 4 texts; write a list of 3 texts"),
    ({"rejected": [1, 2, 3]}, "`rejected` is no text; write a list of 3 texts"),
    ({"rejected": ["Reis.", "Mais.", "reis. "]}, "two of its answers are the same text; change one"),
]


@pytest.mark.parametrize(("write_as", "place"), [(as_json, "FILE: item"), (as_lines, "FILE:")])
def test_bad_items_are_named_with_what_is_wrong(write, write_as, place):
    rows = [*every_cell(), *({**row(number=n), **changes} for n, (changes, _) in enumerate(BAD, 5))]
    problems = problems_of(write(write_as(rows)))
    between = " " if write_as is as_json else ""
    for number, (changes, said) in enumerate(BAD, 5):
        name = "" if "id" in changes else f" `food_{number}`:"
        assert any(line.startswith(f"{place}{between}{number}:{name} {said}") for line in problems), said


def test_items_in_another_script_stay_and_are_counted_and_a_culture_of_nothing_else_is_refused(write, capsys):
    bilingual = ["김치 kimchi.", "Bread.", "옥수수와 콩과 쌀입니다."]  # not of another script
    idioms = [{**row("de", number=n), "language": "ko"} for n in (8, 9)]
    rows = [*every_cell(), row("ko", number=7, rejected=bilingual), *idioms]
    assert len(carb_items.read_item_files([write(as_json(rows))], EXPECTED)) == 7
    said = "of Korean have less than 50% of their letters in its script (Kore);"
    assert f"2 of 5 items {said} they stay" in capsys.readouterr().err
    german = every_cell()[:2]
    as_korean = [{**one, "language": "ko"} for one in german]
    found = problems_of(write(as_json([*german, *as_korean])))
    assert found == [f"2 of 2 items {said} correct their language"]


def test_all_problems_are_listed_at_once(write):
    rows = every_cell(2)[:-2]  # no item of Korean law
    rows += [row(number=7, chosen=["Brot.", "Salz."], prompt=""), rows[0], row("de", "laws", 0)]
    rows += [row(id="caf\u00e9"), row(id="cafe\u0301", prompt="Und?")]  # ids that print alike are one
    assert problems_of(write(as_lines(rows))) == [
        "FILE:7: `food_7`: `prompt` is empty; write the text",
        "FILE:7: `food_7`: `chosen` has 2 texts; write one text",
        "FILE:8: `food_0`: FILE:1 has the same id, too; ids are unique within a language and a domain",
        "FILE:9: `laws_0`: `laws` is not in carb.domains (food, law); did you mean `law`? add it there, or drop the items",
        "FILE:11: `cafe\u0301`: FILE:10 has the same id, too; ids are unique within a language and a domain",
        "ko, law: there is no item; add some, or leave one of the two out of carb.cultures and carb.domains",
    ]
    assert len(problems_of(write(as_lines([{"question": "a"}] * 900)))) < 30  # a long list is cut


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


def test_given_items_are_the_benchmark_with_all_that_they_bring(write):
    rows = [{**one, "country": "x", "num_correct": 1} for one in every_cell(8)]
    items, counts = carb_items.given_items([write(as_json(rows))], EXPECTED, None, 1)
    assert len(items) == 32
    for item in items:
        _, right, *wrong = WORDS[item["culture"]]
        assert item["answers"][item["chosen"]] == right
        assert sorted(item["answers"]) == sorted([right, *wrong])
        assert [reference["culture"] for reference in item["references"]].count(item["culture"]) == 1
        assert item["references"][item["chosen"]]["culture"] == item["culture"]
        assert (item["country"], item["num_correct"]) == ("x", 1) and "rejected" not in item
    places = [item["chosen"] for item in items if (item["culture"], item["domain"]) == ("de", "food")]
    assert sorted(places) == [0, 0, 1, 1, 2, 2, 3, 3]
    assert list(counts.columns) == carb_items.SELECTION_COLUMNS
    assert counts["references"].isna().all()  # of what was not built nothing is counted
    path = write(
        as_json([*every_cell(6), row("ko", number=9, rejected=["밥입니다.", "Bread.", "콩입니다."])])
    )
    (three, counts), (two, _) = (carb_items.given_items([path], EXPECTED, n, 1) for n in (3, 2))
    assert counts[["items", "items_drawn", "answers_foreign"]].to_numpy().tolist() == [
        [6, 3, 0], [6, 3, 0], [7, 3, 1], [6, 3, 0],
    ]  # fmt: skip
    assert {item["id"] for item in two} < {item["id"] for item in three}
