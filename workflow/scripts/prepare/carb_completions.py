"""Let language models write the answers from the references."""

import copy
from collections.abc import Iterable, Mapping

from polyreward.carb.items.generators import Generators, generators_of, written
from polyreward.core.files import read_jsonl, write_jsonl
from polyreward.ops.jobs import run

TEMPLATE = """Somebody asks you, in {language}:

{prompt}

Answer in {language}, in one to three sentences, and say exactly this, whether or not you agree: {reference}

Name no country and no people. Reply with the answer and nothing else."""


def completed(
    items: Iterable[dict], generators: Generators, languages: Mapping[str, str], seed: int
) -> list[dict]:
    """Replace possible items' answers by completions; each answer gains its `generator`, drawn by hash.

    Right and wrong answers are drawn alike, so that a generator's strength does not reveal the right one.
    Data stay as they are, and so does an answer whose completion is empty. languages: {culture: English name
    of its language}."""
    finished, answers, asked = copy.deepcopy(list(items)), [], []
    for item in (item for item in finished if not item["is_fact"]):
        for answer in (item["chosen"], *item["answers"]):
            language = languages[item["culture"]]
            text = TEMPLATE.format(language=language, prompt=item["prompt"], reference=answer["text"])
            asked.append((("generator", item["id"], answer["value"]), text))
            answers.append(answer)
    replies = written(generators, asked, seed, "completions")
    for answer, (generator, reply) in zip(answers, replies, strict=True):
        answer.update(generator=generator, text=reply.strip() or answer["text"])
    return finished


def main(snakemake):
    params = snakemake.params
    possible = read_jsonl(snakemake.input.possible)
    found = completed(possible, generators_of(params), params.languages, params.seed)
    write_jsonl(found, snakemake.output[0])


if __name__ == "__main__":
    run(main, globals().get("snakemake"))
