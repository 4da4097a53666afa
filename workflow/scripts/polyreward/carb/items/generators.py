"""Language models that write or reword answers, each answer by one of them."""

from collections.abc import Callable, Collection, Mapping, Sequence
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


def drawn_generator(names: Collection[str], seed: int, *key: str) -> str:
    """Return one of some generators, drawn by hash."""
    return sorted(names)[job_seed(seed, "carb", *key) % len(names)]


def replies_of(generators: Generators, asked: Sequence[tuple[str, str]], job: str) -> list[str]:
    """Return the replies to some requests, (generator, request), in their order; each generator is loaded
    once."""
    found = {}
    for name in sorted({name for name, _ in asked}):
        own = {place: as_turns(text) for place, (of, text) in enumerate(asked) if of == name}
        replies = generators[name]().backend.replies(list(own.values()), f"{job}, {name}")
        found.update(zip(own, replies, strict=True))
    return [found[place] for place in range(len(asked))]
