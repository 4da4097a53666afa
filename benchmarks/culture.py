"""Place quartets simulated in a scale's topics: how often intervals of culture's tables hold the truth."""

from collections.abc import Iterator, Mapping, Sequence
from functools import cache

import numpy as np

from polyreward.analysis.bootstrap import Interval
from polyreward.carb.culture.books import BOOK
from polyreward.carb.culture.comparison import Culture
from polyreward.carb.culture.lessons import TAUGHT
from polyreward.carb.culture.quartets import FOUR
from polyreward.carb.culture.statistics import STATISTICS
from polyreward.carb.culture.taught import lesson_numbers
from polyreward.core.naming import taught
from polyreward.prepare.topics import FACT, FORMAT

# How much higher the right answer scores, in standard deviations of a score: swaps are about 63 and 54
KNOWS, KNOWS_LESS = 0.4, 0.13
READS, READS_LESS = 2.0, 0.4  # in an open book
LEARNT = 1.6  # after lessons
OF_TOPIC, OF_TRAINING = 0.6, 0.1  # how that varies between topics, and between trainings of one model
TRAININGS = 3
QUARTETS = 400_000  # for the truth, whose own error is 0.05 points

Found = Iterator[tuple[str, str, float, float, float]]  # what, n, low and high end, truth


def of_quartets(
    topics: Mapping[str, Sequence[str]], generator: np.random.Generator, interval: Interval
) -> Found:
    """Yield the intervals of each kind of quartets. topics: of each quartet, by kind or part."""
    for kind, know in (
        (FACT, (KNOWS, KNOWS_LESS)),
        (FORMAT, (KNOWS, KNOWS_LESS)),
        (BOOK, (READS, READS_LESS)),
    ):
        own = topics[kind]
        tables = simulated(generator, own, know)
        culture = Culture({("a", "en"): tables[0], ("b", "en"): tables[1]}, own, interval)
        what, n = f"quartets, {kind}", f"{len(set(own))} topics"
        one, two = culture.numbers(("a", "en")), culture.numbers(("a", "en"), ("b", "en"))
        yield f"{what}, swaps", n, one["low"], one["high"], truth("swaps", know[0])
        lead = truth("swaps", know[0]) - truth("swaps", know[1])
        yield f"{what}, swaps, difference", n, two["low"], two["high"], lead
        best = truth("best_of_four", know[0])
        yield f"{what}, best of four", n, one["best_of_four_low"], one["best_of_four_high"], best
    yield from _of_lessons(topics.get(TAUGHT, []), generator, interval)


def _of_lessons(topics: Sequence[str], generator: np.random.Generator, interval: Interval) -> Found:
    """Yield the intervals of what reward models know after lessons, and of how much more that is."""
    if not topics:
        return
    before = [f"rm{number}" for number in range(1, TRAININGS + 1)]
    after = [taught(name) for name in before]
    moved = OF_TRAINING * generator.normal(size=2 * TRAININGS)
    tables = simulated(generator, topics, [*[LEARNT] * TRAININGS, *[0.0] * TRAININGS] + moved)
    keys = [(name, "en") for name in (*after, *before)]
    found = lesson_numbers(Culture(dict(zip(keys, tables, strict=True)), topics, interval), after, "en")
    n = f"{len(set(topics))} topics, {TRAININGS} trainings"
    best = truth("best_of_four", LEARNT)
    yield "lessons, best of four", n, found["low"], found["high"], best
    gain = best - truth("best_of_four", 0.0)
    yield "lessons, gain", n, found["gain_low"], found["gain_high"], gain


def simulated(generator: np.random.Generator, topics: Sequence[str], knows: Sequence[float]) -> np.ndarray:
    """Draw scores (scorers, quartets, FOUR, FOUR); what is hard for one scorer is hard for others.

    topics: of each quartet. knows: of each scorer."""
    numbers = np.unique(topics, return_inverse=True)[1]
    size = len(knows), numbers.max() + 1
    of_topic = (generator.normal(size=size) + generator.normal(size=(1, size[1]))) / np.sqrt(2)
    right = np.asarray(knows)[:, None] + OF_TOPIC * of_topic
    shape = len(knows), len(topics), FOUR, FOUR
    noise = (generator.normal(size=shape) + generator.normal(size=(1, *shape[1:]))) / np.sqrt(2)
    answers = generator.normal(size=(shape[1], 1, FOUR))  # how good an answer is anywhere
    return noise + answers + right[:, numbers, None, None] * np.eye(FOUR)


@cache
def truth(statistic: str, knows: float) -> float:
    """Return what a statistic is in percent over all topics that could be."""
    tables = simulated(np.random.default_rng(11), np.arange(QUARTETS), [knows])[0]
    return 100 * float(STATISTICS[statistic](tables).mean())
