"""From references to possible items: a prompt to a culture, its own answer, and what other cultures'
references say."""

from collections.abc import Iterable, Iterator, Sequence

from polyreward.carb.items.cultures import culture_of
from polyreward.carb.items.facts import FACTS, where_to_check
from polyreward.carb.items.own_topics import own_rows
from polyreward.carb.items.references import holiday_number
from polyreward.carb.items.surveys import survey_rows

# Of a reference's row in its item; family and scale only where another question's answers are the wrong ones
KEPT = ("culture", "domain", "source", "topic", "prompt", "is_fact", "family", "scale")


def reference_rows(topics: Iterable[dict], cultures: dict, asked: Sequence[str]) -> Iterator[dict]:
    """Yield one row per topic and asked culture: topic, domain, source, culture, prompt, is_fact, value,
    check, texts.

    cultures: as read_cultures returns them. value: the same for all cultures that share it; None where a fact
    is ambiguous for the culture. texts: {language: answer} in the asked cultures' languages. Rows of topics
    with `own` or `shares` also have family and scale, as quartets.py has them."""
    for topic in topics:
        if "own" in topic:
            yield from own_rows(topic, asked)
            continue
        if "shares" in topic:
            yield from survey_rows(topic, cultures, asked)
            continue
        answers = _fact_answers(topic, cultures, asked) if "fact" in topic else _written_answers(topic)
        for culture in asked:
            if culture in answers:
                yield {
                    "topic": topic["id"],
                    "domain": topic["domain"],
                    "source": topic["source"],
                    "culture": culture,
                    "prompt": _prompt(topic, cultures, culture),
                    "is_fact": "fact" in topic,
                    **answers[culture],
                }


def possible_items(references: Sequence[dict], cultures: dict) -> Iterator[dict]:
    """Yield an item for each reference that is not ambiguous: its culture's own answer, and every mismatched
    one.

    Returns id, culture, domain, source, topic, prompt, is_fact, chosen {value, check, text}, shared (other
    cultures for which the chosen answer is right too) and answers, the distinct mismatched ones: [{value,
    check, cultures, text}]. All texts are in the culture's own language, in its `unlabelled` frame. Items
    with a `family` have no answers here: selection.py groups them."""
    by_topic: dict[str, list[dict]] = {}
    for row in references:
        if row["value"] is not None:
            by_topic.setdefault(row["topic"], []).append(row)
    for rows in by_topic.values():
        for row in rows:
            others = [] if "family" in row else [other for other in rows if other is not row]
            yield _item(row, others, cultures["languages"][row["culture"]]["unlabelled"])


def _item(row: dict, others: Sequence[dict], frame: str) -> dict:
    mismatched: dict[str, list[dict]] = {}
    for other in others:
        if other["value"] != row["value"]:
            mismatched.setdefault(other["value"], []).append(other)

    def answer(reference: dict) -> dict:
        text = frame.replace("{answer}", reference["texts"][row["culture"]])
        return {"value": reference["value"], "check": reference["check"], "text": text}

    return {
        "id": f"{row['topic']}_{row['culture']}",
        **{key: row[key] for key in KEPT if key in row},
        "chosen": answer(row),
        "shared": [other["culture"] for other in others if other["value"] == row["value"]],
        "answers": [
            {**answer(same[0]), "cultures": [other["culture"] for other in same]}
            for same in mismatched.values()
        ],
    }


def _written_answers(topic: dict) -> dict[str, dict]:
    return {
        culture: {"value": value["id"], "check": value["check"], "texts": value["text"]}
        for value in topic["values"]
        for culture in value["cultures"]
    }


def _fact_answers(topic: dict, cultures: dict, asked: Sequence[str]) -> dict[str, dict]:
    fact, number = FACTS[topic["fact"]], holiday_number(topic)
    arguments = () if number is None else (number,)
    answers = {}
    for name in asked:
        found = {language: fact(culture_of(cultures, name), language, *arguments) for language in asked}
        texts = {
            language: topic["answer"][language].replace("{value}", told.text)
            for language, told in found.items()
            if told
        }
        own = found[name]
        answers[name] = {"value": own and own.key, "check": where_to_check(topic["fact"]), "texts": texts}
    return answers


def _prompt(topic: dict, cultures: dict, culture: str) -> str:
    entry = cultures["cultures"][culture]
    prompt = topic["prompt"][culture].replace("{place}", entry["places"][culture])
    number, holidays = holiday_number(topic), culture_of(cultures, culture).holidays
    return prompt.replace("{holiday}", holidays[number - 1]) if number and number <= len(holidays) else prompt
