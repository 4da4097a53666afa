"""Let language models paraphrase the right answers."""

from collections.abc import Iterator, Mapping, Sequence
from operator import itemgetter

from polyreward.carb.items.generators import Generators, drawn_generator, generators_of, replies_of
from polyreward.core.files import read_jsonl, write_jsonl
from polyreward.ops.jobs import run

TEMPLATE = """Somebody was asked, in {language}:

{prompt}

The answer was: {answer}

Say the same in other words, in {language}: the same facts, names and numbers, about as long, \
nothing left out, nothing added. Name no country and no people. Reply with the new answer and nothing else."""


def paraphrased(
    items: Sequence[dict],
    references: Sequence[dict],
    generators: Generators,
    languages: Mapping[str, str],
    seed: int,
) -> Iterator[dict]:
    """Yield paraphrases of items' right answers: topic, culture, generator (drawn by hash), text.

    An answer without a text in its own language is skipped. languages: as in carb_completions.
    """
    texts = {(row["topic"], row["culture"]): row["texts"].get(row["culture"]) for row in references}
    drawn = [
        (drawn_generator(generators, seed, "paraphrase", item["id"]), item)
        for item in items
        if texts.get((item["topic"], item["culture"]))
    ]
    drawn.sort(key=itemgetter(0))
    asked = []
    for name, item in drawn:
        answer, language = texts[item["topic"], item["culture"]], languages[item["culture"]]
        asked.append((name, TEMPLATE.format(language=language, prompt=item["prompt"], answer=answer)))
    for (name, item), reply in zip(drawn, replies_of(generators, asked, "paraphrases"), strict=True):
        key = {"topic": item["topic"], "culture": item["culture"]}
        yield {**key, "generator": name, "text": " ".join(reply.split())}


def main(snakemake):
    files, params = snakemake.input, snakemake.params
    items = read_jsonl(files.item_files)
    how = (generators_of(params), params.languages, params.seed)
    write_jsonl(paraphrased(items, read_jsonl(files.references), *how), snakemake.output[0])


if __name__ == "__main__":
    run(main, globals().get("snakemake"))
