"""Kinds of rejected answers: what each rule makes, in every language that we have."""

from collections import Counter

import pytest
from support import refused
from tiny_models import ROOT, TEMPLATE_SCHEMA

from polyreward.core.conversations import contents
from polyreward.core.yaml_files import read_yaml
from polyreward.prepare.kinds import (
    KINDS,
    MADE_OF_WORDS,
    cut_off,
    drifted,
    finished,
    garbled,
    looped,
    off_topic_pairs,
    pairs_of_kinds,
    pieces,
)
from polyreward.sources.templates import stock_items, template_rows
from polyreward.translation.catalog import translated_rows

BENCHMARKS = read_yaml(ROOT / "workflow/catalog/benchmarks.yaml")
CATEGORY = {
    subset: section
    for section, subsets in BENCHMARKS["mini-rewardbench"]["sections"].items()
    for subset in subsets
}
STOCK = {kind: parts["evaluation"] for kind, parts in read_yaml(ROOT / "resources/mini/stock.yaml").items()}
CATALOGS = {name: ROOT / f"resources/mini/catalogs/{name}.po" for name in ("es", "it", "ko", "zh")}
CATALOGS["fr"] = ROOT / "resources/languages/fr/catalog.po"
TEXT = "Boil the water first, then add the pasta, and stir it now and then. Drain it after nine minutes."


def requests_of(name):
    """Return all rows of a template set, with their sections."""
    rows = template_rows({"path": ROOT / "resources/mini" / name}, name, TEMPLATE_SCHEMA)
    return [{**row, "category": CATEGORY[row["subset"]]} for row in rows]


def request(number, chosen=None, **more):
    """Return one made-up request."""
    chosen = chosen or f"{TEXT} This is answer number {number} of those that were made up here."
    texts = {"prompt": f"What about {number}?", "chosen": chosen, "rejected": f"Never, as {number} says."}
    names = {"id": f"r{number}", "template": f"t{number}", "source": "s/chat", "subset": "advice"}
    fields = {"messages": dict(texts), "slots": dict.fromkeys(texts, {})}
    return {**names, "category": "chat", **texts, **fields, **more}


@pytest.fixture(scope="module")
def evaluation():
    """The mini evaluation templates with every kind that each can have, in English."""
    mixes = [BENCHMARKS[name]["kinds"] for name in ("mini-rewardbench", "mini-unseen-kinds")]
    return [
        row for mix in mixes for row in pairs_of_kinds(requests_of("eval"), mix, STOCK, None, root_seed=42)
    ]


def test_a_request_s_pairs_stand_together_with_its_prompt_and_as_many_as_asked_for():
    rows = [request(n) for n in range(6)]
    mix = {"chat": ["written", "off_topic", "drift", "garble", "vague"]}
    for count, expected in ((1, 1), (2, 2), (None, 5)):
        pairs = pairs_of_kinds(rows, mix, STOCK, count, root_seed=1)
        assert [row["request"] for row in pairs] == [row["id"] for row in rows for _ in range(expected)]
        assert len({row["id"] for row in pairs}) == len(pairs)
        assert all(row["id"] == f"{row['request']}-{row['kind']}" for row in pairs)
    drawn = {row["id"] for row in pairs_of_kinds(rows, mix, STOCK, 2, root_seed=1)}
    assert drawn < {row["id"] for row in pairs}
    assert {row["kind"] for row in pairs_of_kinds(rows, mix, STOCK, 1, root_seed=1)} != {"written"}
    assert drawn != {row["id"] for row in pairs_of_kinds(rows, mix, STOCK, 2, root_seed=2)}


def test_a_subset_s_mix_comes_before_its_category_s_and_other_rows_keep_their_answers():
    mix = {"chat": ["garble"], "writing": ["vague"]}
    hub = {name: value for name, value in request(1).items() if name not in ("messages", "slots")}
    other = request(2, subset="x", category="elsewhere")
    pairs = pairs_of_kinds(
        [request(3), request(4, subset="writing"), hub, other], mix, STOCK, None, root_seed=1
    )
    assert [row.get("kind") for row in pairs[:2]] == ["garble", "vague"] and pairs[2:] == [hub, other]


def test_two_requests_reject_each_other_s_answers():
    pairs = pairs_of_kinds([request(n) for n in range(4)], {"chat": ["off_topic"]}, {}, None, root_seed=1)
    assert Counter(row["chosen"] for row in pairs) == Counter(row["rejected"] for row in pairs)
    assert all(row["chosen"] != row["rejected"] for row in pairs)
    assert pairs == [{**row, "kind": "off_topic"} for row in off_topic_pairs([request(n) for n in range(4)])]


def test_no_answer_is_taken_from_another_source_or_from_its_own_template():
    alone = [request(1), request(2, source="s/safety"), request(3, template="t1")]
    text = refused(pairs_of_kinds, alone, {"chat": ["off_topic"]}, {}, None, 1)
    assert "of the 3 requests that are drawn none can have `off_topic` of chat; draw more" in text
    short = [request(n, chosen=f"Yes, {n}.") for n in range(4)]
    text = refused(pairs_of_kinds, short, {"chat": ["written", "drift", "garble"]}, STOCK, 2, 1)
    assert "none can have `drift` of chat, `garble` of chat; draw more" in text


def test_code_is_never_garbled_halved_or_answered_by_a_stock_sentence():
    text = "```\nprint({})\n```\nThis prints one number and then it ends."
    code = [request(n, chosen=text.format(n)) for n in range(4)]
    for kind in set(KINDS) - {"written", "off_topic", "echo"}:
        assert "none can have" in refused(pairs_of_kinds, code, {"chat": [kind]}, STOCK, None, 1)


def test_garbling_keeps_the_words_of_each_sentence_and_its_ends():
    text = garbled({"chosen": TEXT, "id": "a"})
    assert text != TEXT and garbled({"chosen": TEXT, "id": "a"}) == text
    assert text != garbled({"chosen": TEXT, "id": "b"})
    for before, after in zip(TEXT.split(". "), text.split(". "), strict=True):
        assert Counter(before.replace(",", "").split()) == Counter(after.replace(",", "").split())
        assert (before.split()[0], before.split()[-1]) == (after.split()[0], after.split()[-1])
        assert [word[-1] == "," for word in before.split()] == [word[-1] == "," for word in after.split()]
    lines = "First boil the water in a pot.\n- Then add the pasta to it.\n- Drain it after nine minutes."
    assert garbled({"chosen": lines, "id": "a"}).count("\n") == 2
    assert garbled({"chosen": "Yes, of course.", "id": "a"}) is None
    assert garbled({"chosen": "no no no no no no no no no no", "id": "a"}) is None


def test_drift_is_half_of_each_answer():
    row = {"chosen": "one two three four five six", "rejected": "a b c d e f g h", "id": "a"}
    assert drifted(row) == "one two three e f g h"
    assert drifted({**row, "rejected": "a b c"}) is None


def test_cut_and_loop_begin_as_the_answer_does():
    row = {"chosen": TEXT, "id": "a"}
    assert TEXT.startswith(cut_off(row)) and 0.4 < len(cut_off(row)) / len(TEXT) < 0.75
    assert cut_off(row)[-1].isalnum()
    words = looped(row).split()
    assert len(words) == len(TEXT.split()) and words[:7] == TEXT.split()[:7] == words[7:14]


def test_scripts_without_spaces_are_cut_into_pieces_of_two_characters():
    words, space = pieces("那时北半球背向太阳，所以 3 月早早就落山了。")
    assert space == "" and max(map(len, words)) <= 4 and "".join(words).replace(" ", "")
    assert pieces("한국어는 띄어쓰기를 합니다") == (["한국어는", "띄어쓰기를", "합니다"], " ")
    sentence = "那时北半球背向太阳倾斜，太阳升得不高，所以早早就落山了。"
    assert garbled({"chosen": sentence, "id": "a"})[-1] == "。"
    japanese = "水を沸かしてから、パスタを入れます。"
    assert "".join(pieces(japanese)[0]) == japanese


@pytest.mark.parametrize("language", ["en", *CATALOGS])
def test_every_kind_is_made_in_every_language(evaluation, language):
    """Of all rows, except that nothing is in another language than English in English."""
    rows = evaluation
    if language != "en":
        rows = translated_rows(evaluation, CATALOGS[language], language, part=language == "fr")
    made = {row["id"]: finished(row) for row in rows}
    lost = Counter(row["kind"] for row in rows if made[row["id"]] is None)
    assert set(lost) == ({"other_language"} if language == "en" else set())
    kinds = Counter(row["kind"] for row in made.values() if row)
    assert set(kinds) == set(KINDS) - set(lost) and min(kinds.values()) >= 10
    english = {row["id"]: row for row in evaluation}
    for row in filter(None, made.values()):
        assert row["rejected"].strip() and row["rejected"] != row["chosen"] and "english" not in row
        if row["kind"] == "other_language":
            assert row["rejected"] == english[row["id"]]["chosen"]
        if row["kind"] == "echo":
            assert row["rejected"] == contents(row["prompt"])[-1]


def test_no_stock_sentence_of_the_benchmark_is_in_the_pool():
    path = ROOT / "resources/mini/stock.yaml"
    for kind in read_yaml(path).values():
        assert len(kind["training"]) == len(kind["evaluation"]) >= 10
    texts = [item["text"] for item in stock_items(path)]
    assert len(set(texts)) == len(texts)


def test_the_mixes_name_kinds_that_training_sees_and_others():
    seen, unseen = (
        {kind for kinds in BENCHMARKS[name]["kinds"].values() for kind in kinds}
        for name in ("mini-rewardbench", "mini-unseen-kinds")
    )
    assert not seen & unseen and seen | unseen == set(KINDS)
    assert MADE_OF_WORDS.keys() <= set(KINDS)
    schema = read_yaml(ROOT / "workflow/schemas/benchmarks.schema.yaml")["additionalProperties"]["properties"]
    assert set(schema["kinds"]["additionalProperties"]["items"]["enum"]) == set(KINDS)
