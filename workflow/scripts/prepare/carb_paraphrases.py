"""Let language models paraphrase the right answers."""

from collections.abc import Iterable, Iterator, Mapping

from polyreward.carb.items.generators import Generators, generators_of, written
from polyreward.core.files import read_jsonl, write_jsonl
from polyreward.ops.jobs import run

TEMPLATE = """Somebody was asked, in {language}:

{prompt}

The answer was: {answer}

Say the same in other words, in {language}: the same facts, names and numbers, about as long, \
nothing left out, nothing added. Name no country and no people. Reply with the new answer and nothing else."""


def paraphrased(
    items: Iterable[dict],
    references: Iterable[dict],
    generators: Generators,
    languages: Mapping[str, str],
    seed: int,
) -> Iterator[dict]:
    """Yield paraphrases of items' right answers: topic, culture, generator (drawn by hash), text.

    An answer without a text in its own language is skipped. languages: as in carb_completions."""
    texts = {(row["topic"], row["culture"]): row["texts"].get(row["culture"]) for row in references}
    items = [item for item in items if texts.get((item["topic"], item["culture"]))]
    asked = []
    for item in items:
        answer, language = texts[item["topic"], item["culture"]], languages[item["culture"]]
        text = TEMPLATE.format(language=language, prompt=item["prompt"], answer=answer)
        asked.append((("paraphrase", item["id"]), text))
    for item, (name, reply) in zip(items, written(generators, asked, seed, "paraphrases"), strict=True):
        key = {"topic": item["topic"], "culture": item["culture"]}
        yield {**key, "generator": name, "text": " ".join(reply.split())}


def main(snakemake):
    files, params = snakemake.input, snakemake.params
    rows = (read_jsonl(files.item_files), read_jsonl(files.references))
    found = paraphrased(*rows, generators_of(params), params.languages, params.seed)
    write_jsonl(found, snakemake.output[0])


if __name__ == "__main__":
    run(main, globals().get("snakemake"))
