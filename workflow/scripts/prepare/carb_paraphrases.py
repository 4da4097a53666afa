"""Let language models paraphrase the right answers."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial

from polyreward.core.files import read_jsonl, write_jsonl
from polyreward.core.seeds import job_seed
from polyreward.ops.jobs import run
from polyreward.scoring.families import load_reward_model
from polyreward.scoring.generative import Judge

TEMPLATE = """Somebody was asked, in {language}:

{prompt}

The answer was: {answer}

Say the same in other words, in {language}: the same facts, names and numbers, about as long, \
nothing left out, nothing added. Name no country and no people. Reply with the new answer and nothing else."""


def paraphrased(
    items: Sequence[dict],
    references: Sequence[dict],
    generators: Mapping[str, Callable[[], Judge]],
    languages: Mapping[str, str],
    seed: int,
) -> Iterator[dict]:
    """Yield a generator's paraphrase of each item's right answer: topic, culture, generator (drawn by hash),
    text.

    An answer without a text in its own language is skipped. generators, languages: as in carb_completions.
    """
    texts = {(row["topic"], row["culture"]): row["texts"].get(row["culture"]) for row in references}
    names = sorted(generators)
    asked: dict[str, list[dict]] = {name: [] for name in names}
    for item in items:
        if texts.get((item["topic"], item["culture"])):
            asked[names[job_seed(seed, "carb", "paraphrase", item["id"]) % len(names)]].append(item)
    for name, own in asked.items():
        requests = [
            TEMPLATE.format(
                language=languages[item["culture"]],
                prompt=item["prompt"],
                answer=texts[item["topic"], item["culture"]],
            )
            for item in own
        ]
        messages = [[{"role": "user", "content": request}] for request in requests]
        replies = generators[name]().backend.replies(messages, f"paraphrases, {name}") if messages else []
        for item, reply in zip(own, replies, strict=True):
            yield {
                "topic": item["topic"],
                "culture": item["culture"],
                "generator": name,
                "text": " ".join(reply.split()),
            }


def main(snakemake):
    files, params = snakemake.input, snakemake.params
    load = {
        name: partial(load_reward_model, entry, params.scoring, params.cache)
        for name, entry in params.generators.items()
    }
    items = read_jsonl(files.item_files)
    rows = paraphrased(items, read_jsonl(files.references), load, params.languages, params.seed)
    write_jsonl(rows, snakemake.output[0])


if __name__ == "__main__":
    run(main, globals().get("snakemake"))
