"""Made-up evidence for the CARB paper's claims, whose answer is known."""

from functools import cache
from itertools import product

import numpy as np
import pandas as pd
from made_up import INTERVAL

from polyreward.analysis.bootstrap import bootstrap_weights
from polyreward.carb.culture.comparison import Culture
from polyreward.carb.downstream.correlation import ERRORS
from polyreward.carb.leaderboard import Leaderboard
from polyreward.carb.scores import SCORE_COLUMNS
from polyreward.claims.carb_evidence import CarbEvidence, Facts, Judges, Places, Sensitivity, TopicScores
from polyreward.core.naming import BEST_OF_N, taught
from polyreward.think_as_locals.comparison import MEASURES, JudgeDraws

CULTURES, DOMAINS = ["de", "ja"], ["commonsense", "values", "safety", "linguistics"]
TOPICS = 20  # of each domain, asked of every culture
KINDS = {
    f"{name}-{n}": kind
    for name, kind in (("classifier", "classifier"), ("judge", "generative"))
    for n in (1, 2)
}


def first_or_last(share, n):
    """Return n zeros and ones: the share of ones stands first, that of a negative share last."""
    places = np.arange(n)
    return (places < share * n if share >= 0 else places >= (1 + share) * n).astype(float)


def score_rows(scores_of):
    """Return a score table, the same in all cultures. scores_of: takes domain and number of a topic."""
    records = [
        (f"{domain}-{topic}_{culture}", f"{domain}-{topic}", culture, domain, candidate, candidate == 0, score, False, False)
        for domain in DOMAINS for topic in range(TOPICS) for culture in CULTURES
        for candidate, score in enumerate(scores_of(domain, topic))
    ]  # fmt: skip
    return pd.DataFrame(records, columns=SCORE_COLUMNS)


def carb_scores(right):
    """Return a score table from {domain: the share of topics that are right, in all cultures alike}."""
    known = {domain: first_or_last(right[domain], TOPICS) for domain in DOMAINS}
    return score_rows(lambda domain, topic: [known[domain][topic], 0.5, 0.4, 0.3])


def topic_scores(rights, kinds=KINDS):
    """Return scores by topic. rights: {reward model: share or {domain: share}}, half where none is named."""
    found = {name: rights.get(name, 0.5) for name in kinds}
    shares = {
        name: right if isinstance(right, dict) else dict.fromkeys(DOMAINS, right)
        for name, right in found.items()
    }
    tables = {name: carb_scores(of_domain) for name, of_domain in shares.items()}
    return TopicScores(Leaderboard(tables, kinds, CULTURES, DOMAINS, INTERVAL), INTERVAL)


@cache
def even_scores():
    """Return scores by topic of reward models that are all alike."""
    return topic_scores({})


def rewrite_scores(fact, surface, swing=0.0):
    """Return scores of rewrites: CC moves them by fact, plus and minus swing by turns of topics, RC, CL and RP by
    surface, a number or one for each."""
    moves = np.broadcast_to(surface, 3)

    def of_topic(domain, topic):
        return [0.0, -(fact + swing * (-1) ** topic), moves[0], -moves[1], moves[2]]

    return score_rows(of_topic)


def length_scores(right=0.25):
    """Return scores by topic of a scorer that counts characters. right: share or {domain: share}."""
    shares = right if isinstance(right, dict) else dict.fromkeys(DOMAINS, right)
    board = Leaderboard({"length": carb_scores(shares)}, {"length": "baseline"}, CULTURES, DOMAINS, INTERVAL)
    return TopicScores(board, INTERVAL, ["length"])


def sensitivity(moves):
    """Return indices from {reward model: arguments of rewrite_scores}."""
    benchmark = carb_scores(dict.fromkeys(DOMAINS, 0.5))
    tables = {name: rewrite_scores(*arguments) for name, arguments in moves.items()}
    return Sensitivity(tables, dict.fromkeys(moves, benchmark), INTERVAL)


@cache
def even_sensitivity():
    """Return indices of reward models that fact and surface move alike."""
    return sensitivity(dict.fromkeys(KINDS, (0.5, 0.5)))


def points(carb, rewardbench, rating, bases=None):
    """Return a row for each reward model. bases: how many these stand on in turn; each on its own where
    None."""
    names = pd.DataFrame(
        {"scorer": f"rm-{n}", "base": f"base-{n if bases is None else n % bases}"} for n in range(len(carb))
    )
    values = {"carb": carb, "rewardbench": rewardbench, "match": rating, "chrf": rating}
    whose = {"downstream": "ours", "selection": BEST_OF_N, "policy": "all"}
    return names.assign(**values, **dict.fromkeys(ERRORS, 0.0), **whose)


def judges(shares, n=60):
    """Return judges from {judge: share of n items and templates that are right}, of both measures alike."""
    weights = bootstrap_weights(n, INTERVAL, "judges")
    drawn = {name: 100 * weights @ first_or_last(share, n) for name, share in shares.items()}
    values = {name: dict.fromkeys(MEASURES, values) for name, values in drawn.items()}
    units = dict.fromkeys(values, dict.fromkeys(MEASURES, float(n)))
    right = {name: 100 * first_or_last(share, n) / n for name, share in shares.items()}
    parts = {name: dict.fromkeys(MEASURES, of_units) for name, of_units in right.items()}
    freedom = dict.fromkeys(MEASURES, n - 1)
    return Judges(JudgeDraws(values, freedom, units, parts), n_templates=n, n_topics=n)


def places(known, languages=("en", "es"), seeds=1, topics=20):
    """Return evidence of place quartets, one of each topic, of a base and its English reward model.

    known: {(scorer, language): share of topics whose places it knows; half of all swaps where none is
    named}. Scorers are "base" and "rm", or "rm" with the number of its training."""
    names = {"base": "loglik-b", **{f"rm{n}": f"b_en_{n}" for n in range(seeds)}}
    tables = {}
    for scorer, language in product(names, languages):
        share = known.get((scorer, language), known.get((scorer.rstrip("0123456789"), language)))
        of_topic = np.zeros(topics) if share is None else np.where(first_or_last(share, topics), 1.0, -1.0)
        tables[names[scorer], language] = of_topic[:, None, None] * np.eye(4)
    culture = Culture(tables, list(map(str, range(topics))), INTERVAL)
    return Places(culture, languages, "en", {("b", "en"): [names[f"rm{n}"] for n in range(seeds)]})


def facts(known, languages=("en", "es", "ko"), seeds=1, topics=18):
    """Return evidence of facts that a base's reward model was taught in English.

    known: {(scorer, language): share of the facts that it has}. Scorers are "taught" and "before"; chance
    where none is named."""
    models = [f"b_en_{n}" for n in range(seeds)]
    tables = {}
    for (kind, name), language in product((("taught", taught), ("before", str)), languages):
        share = known.get((kind, language))
        has = np.zeros(topics) if share is None else first_or_last(share, topics)
        for model in models:
            tables[name(model), language] = has[:, None, None] * np.eye(4)
    culture = Culture(tables, list(map(str, range(topics))), INTERVAL)
    return Facts(culture, languages, "en", {"b": [taught(model) for model in models]})


def carb_evidence(**parts):
    """Return evidence with neutral parts for those that are not given."""
    rising, nearly = np.arange(12.0), np.arange(12.0) + 0.3 * (-1) ** np.arange(12)
    given = {
        "scores": even_scores(), "sensitivity": even_sensitivity(), "points": points(rising, rising[::-1], nearly),
        "seed": 1, "length_scores": length_scores(), "length_sensitivity": sensitivity({"length": (0.5, 0.5)}),
        "places": places({}), "facts": facts({}), "judges": judges(dict.fromkeys(("base", "base-with-criteria", "warmup", "full", "no-corr", "no-appr"), 0.5)),
    }  # fmt: skip
    return CarbEvidence(**{**given, **parts})
