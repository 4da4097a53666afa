"""Read and check the cultural references."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import product

from polyreward.carb.items.cultures import culture_of, read_cultures
from polyreward.carb.items.facts import FACTS, where_to_check
from polyreward.carb.items.topics import BANDS, CUTS, FORMS, band, holiday_number, read_topics
from polyreward.core.draws import drawn
from polyreward.core.files import write_jsonl
from polyreward.core.yaml_files import read_yaml
from polyreward.ops.jobs import run


def reference_rows(topics: Iterable[dict], cultures: dict, asked: Sequence[str]) -> Iterator[dict]:
    """Yield a row per topic and asked culture.

    Cultures with the same `value` share it; a fact that is ambiguous for a culture has None. `texts` has the
    answer in each language. Rows of topics with `own` or `shares` also have family and scale, for
    selection.groups_of_four."""
    for topic in topics:
        if "own" in topic:
            yield from _own_rows(topic, asked)
        elif "shares" in topic:
            yield from survey_rows(topic, cultures, asked)
        else:
            is_fact = "fact" in topic
            answers = _fact_answers(topic, cultures, asked) if is_fact else _written_answers(topic)
            for culture in (name for name in asked if name in answers):
                prompt = topic["prompt"][culture].replace("{place}", _place(cultures, culture))
                number, holidays = holiday_number(topic), culture_of(cultures, culture).holidays
                if number and number <= len(holidays):
                    prompt = prompt.replace("{holiday}", holidays[number - 1])
                yield {**_row(topic, topic["id"], culture, prompt, is_fact), **answers[culture]}


def _place(cultures: dict, culture: str) -> str:
    return cultures["cultures"][culture]["places"][culture]


def _row(topic: dict, name: str, culture: str, prompt: str, is_fact: bool = True) -> dict:
    key = {"topic": name, "domain": topic["domain"], "source": topic["source"]}
    return {**key, "culture": culture, "prompt": prompt, "is_fact": is_fact}


def _written_answers(topic: dict) -> dict[str, dict]:
    return {
        culture: {"value": value["id"], "check": value["check"], "texts": value["text"]}
        for value in topic["values"]
        for culture in value["cultures"]
    }


def _fact_answers(topic: dict, cultures: dict, asked: Sequence[str]) -> dict[str, dict]:
    number, answers = holiday_number(topic), {}
    for name in asked:
        culture = culture_of(cultures, name)
        found = {language: FACTS[topic["fact"]](culture, language, number) for language in asked}
        answers[name] = {
            "value": found[name] and found[name].key,
            "check": where_to_check(topic["fact"]),
            "texts": {
                language: topic["answer"][language].replace("{value}", value.text)
                for language, value in found.items()
                if value
            },
        }
    return answers


def _own_rows(topic: dict, asked: Sequence[str]) -> Iterator[dict]:
    for culture in asked:
        entries = topic["own"].get(culture, [])
        for number, entry in enumerate(entries, 1):
            name = topic["id"] if len(entries) == 1 else f"{topic['id']}-{number}"
            texts = {language: text for language, text in entry["text"].items() if language in asked}
            unit = {"family": topic["id"], "scale": "", "value": name, "check": entry["check"]}
            yield {**_row(topic, name, culture, entry["prompt"]), **unit, "texts": texts}


def survey_rows(topic: dict, cultures: dict, asked: Sequence[str]) -> Iterator[dict]:
    """Yield the rows of a survey's question for each culture, cut and form of the question.

    The second form's share is the rest of the hundred, so its band mirrors the first's."""
    for culture, cut in product(asked, CUTS):
        share = topic["shares"].get(culture)
        place = None if share is None else band(share, cut)
        if place is None:
            continue
        for form, prompt in zip(FORMS, topic["prompt"][culture], strict=True):
            number = len(BANDS) - 1 - place if form else place
            prompt = prompt.replace("{place}", _place(cultures, culture))
            bands = {language: cultures["languages"][language]["bands"][number] for language in asked}
            yield {
                **_row(topic, f"{topic['id']}-{cut}{form}", culture, prompt),
                "family": topic["id"],
                "scale": str(cut),
                "value": BANDS[number],
                "check": f"{topic['check']}: {share} of 100",
                "texts": {name: text.format(low=cut, high=100 - cut) for name, text in bands.items()},
            }


def main(snakemake):
    files, params = snakemake.input, snakemake.params
    cultures = read_cultures(files.cultures, params.cultures)
    topics = read_topics(params.folder, cultures, params.domains, read_yaml(files.schema))
    topics = drawn(topics, ["domain"], params.topics_per_domain, params.seed, "carb", "topic")
    write_jsonl(reference_rows(topics, cultures, params.cultures), snakemake.output[0])


if __name__ == "__main__":
    run(main, globals().get("snakemake"))
