"""Let language models write the answers from the references."""

import copy
from collections.abc import Mapping, Sequence

from polyreward.carb.items.generators import Generators, drawn_generator, generators_of, replies_of
from polyreward.core.files import read_jsonl, write_jsonl
from polyreward.ops.jobs import run

TEMPLATE = """Somebody asks you, in {language}:

{prompt}

Answer in {language}, in one to three sentences, and say exactly this, whether or not you agree: {reference}

Name no country and no people. Reply with the answer and nothing else."""


def completed(
    items: Sequence[dict], generators: Generators, languages: Mapping[str, str], seed: int
) -> list[dict]:
    """Replace possible items' answers by completions; each answer gains its `generator`, drawn by hash.

    Right and wrong answers are drawn alike, so that a generator's strength does not reveal the right one.
    Data stay as they are, and so does an answer whose completion is empty. languages: {culture: English name
    of its language}."""
    finished = copy.deepcopy(list(items))
    written = [
        (item, answer)
        for item in finished
        if not item["is_fact"]
        for answer in (item["chosen"], *item["answers"])
    ]
    asked = []
    for item, answer in written:
        key = ("generator", item["id"], answer["value"])
        answer["generator"] = drawn_generator(generators, seed, *key)
        facts = {
            "language": languages[item["culture"]],
            "prompt": item["prompt"],
            "reference": answer["text"],
        }
        asked.append((answer["generator"], TEMPLATE.format(**facts)))
    for (_, answer), reply in zip(written, replies_of(generators, asked, "completions"), strict=True):
        answer["text"] = reply.strip() or answer["text"]
    return finished


def main(snakemake):
    params = snakemake.params
    possible = read_jsonl(snakemake.input.possible)
    found = completed(possible, generators_of(params), params.languages, params.seed)
    write_jsonl(found, snakemake.output[0])


if __name__ == "__main__":
    run(main, globals().get("snakemake"))
