"""Let language models write the answers from the references."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial

from polyreward.core.files import read_jsonl, write_jsonl
from polyreward.core.seeds import job_seed
from polyreward.ops.jobs import run
from polyreward.scoring.families import load_reward_model
from polyreward.scoring.generative import Judge

TEMPLATE = """Somebody asks you, in {language}:

{prompt}

Answer in {language}, in one to three sentences, and say exactly this, whether or not you agree: {reference}

Name no country and no people. Reply with the answer and nothing else."""


def completed(
    items: Sequence[dict],
    generators: Mapping[str, Callable[[], Judge]],
    languages: Mapping[str, str],
    seed: int,
) -> list[dict]:
    """Replace possible items' answers by completions; each answer gains its `generator`, drawn by hash.

    Right and wrong answers are drawn alike, so that a generator's strength does not reveal the right one.
    Data stay as they are, and so does an answer whose completion is empty. languages: {culture: English name
    of its language}."""
    finished = [
        {**item, "chosen": {**item["chosen"]}, "answers": [{**answer} for answer in item["answers"]]}
        for item in items
    ]
    names = sorted(generators)
    of_generator: dict[str, list[tuple[dict, str]]] = {name: [] for name in names}
    for item in finished:
        for answer in [item["chosen"], *item["answers"]] if not item["is_fact"] else []:
            answer["generator"] = names[
                job_seed(seed, "carb", "generator", item["id"], answer["value"]) % len(names)
            ]
            text = TEMPLATE.format(
                language=languages[item["culture"]], prompt=item["prompt"], reference=answer["text"]
            )
            of_generator[answer["generator"]].append((answer, text))
    for name, asked in of_generator.items():
        requests = [[{"role": "user", "content": text}] for _, text in asked]
        replies = generators[name]().backend.replies(requests, f"completions, {name}") if requests else []
        for (answer, _), reply in zip(asked, replies, strict=True):
            answer["text"] = reply.strip() or answer["text"]
    return finished


def main(snakemake):
    params = snakemake.params
    load = {
        name: partial(load_reward_model, entry, params.scoring, params.cache)
        for name, entry in params.generators.items()
    }
    possible = read_jsonl(snakemake.input.possible)
    write_jsonl(completed(possible, load, params.languages, params.seed), snakemake.output[0])


if __name__ == "__main__":
    run(main, globals().get("snakemake"))
