"""Language models that write or reword answers, each answer by one of them."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial

from polyreward.core.conversations import as_turns
from polyreward.core.seeds import job_seed
from polyreward.scoring.families import load_reward_model
from polyreward.scoring.generative import Judge

Generators = Mapping[str, Callable[[], Judge]]


def generators_of(params) -> Generators:
    """Return {generator: a function that loads it} from a rule's params."""
    return {
        name: partial(load_reward_model, entry, params.scoring, params.cache)
        for name, entry in params.generators.items()
    }


def written(
    generators: Generators, asked: Sequence[tuple[tuple[str, ...], str]], seed: int, job: str
) -> list[tuple[str, str]]:
    """Return (generator, reply) for each of some requests, (key, text).

    A request's generator is drawn by the hash of its key; each generator is loaded once."""
    names = sorted(generators)
    drawn = [names[job_seed(seed, "carb", *key) % len(names)] for key, _ in asked]
    found = [("", "")] * len(asked)
    for name in sorted(set(drawn)):
        places = [place for place, of_place in enumerate(drawn) if of_place == name]
        requests = [as_turns(asked[place][1]) for place in places]
        replies = generators[name]().backend.replies(requests, f"{job}, {name}")
        for place, reply in zip(places, replies, strict=True):
            found[place] = name, reply
    return found
