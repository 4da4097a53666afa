"""What the CARB paper's claims rest on: scores by topic, halves of topics, and the pipeline's files."""

import types

import numpy as np
import pandas as pd
import pytest
from made_up import BENCHMARK, INTERVAL, ROWS, SECTIONS, found, quantity
from made_up import scores as pair_scores
from made_up_carb import (
    CULTURES,
    DOMAINS,
    KINDS,
    TOPICS,
    carb_scores,
    even_scores,
    rewrite_scores,
)  # fmt: skip
from made_up_sheet import sheet_file

from polyreward.analysis.bootstrap import Interval
from polyreward.analysis.verdicts import HOLDS, UNDECIDED
from polyreward.carb.culture.quartets import Quartet, Wording, quartet_rows
from polyreward.carb.downstream.correlation import POINT_COLUMNS
from polyreward.carb.leaderboard import Leaderboard
from polyreward.claims.carb_evidence import TopicScores, half_of, read_carb_evidence
from polyreward.core.files import write_jsonl
from polyreward.core.tables import write_scores, write_table, write_unavailable
from polyreward.prepare.topics import FACT


def random_board(generator, generative, topics=80):
    """Return what TopicScores reads of a leaderboard: equal reward models, one of them a classifier, right on
    half the topics."""
    ids = [f"{topic}_{culture}" for topic in range(topics) for culture in CULTURES]
    template = [id_.split("_")[0] for id_ in ids]
    domain = [DOMAINS[int(topic) % 4] for topic in template]
    items = pd.DataFrame({"template": template, "language": CULTURES * topics, "domain": domain}, ids)
    kinds = {"0": "classifier", **{str(n): "generative" for n in range(1, 1 + generative)}}
    right = np.repeat(generator.integers(0, 2, (topics, len(kinds))).astype(float), len(CULTURES), axis=0)
    return types.SimpleNamespace(
        kinds=kinds, domains=DOMAINS, items=items, topics=items["template"],
        right=pd.DataFrame(right, ids, list(kinds)), reward_models=lambda: list(kinds),
        freedom=lambda section: topics - len(DOMAINS), point=lambda names, section: 0.0,
    )  # fmt: skip


def test_the_best_of_many_equals_has_no_lead():
    generator, leads, naive = np.random.default_rng(4), [], []
    for _ in range(150):
        board = random_board(generator, 8)
        leads.append(TopicScores(board, Interval(2, 0.95, 1)).lead_of_best("generative", "classifier")[0])
        means = 100 * board.right.mean()
        naive.append(means.iloc[1:].max() - means.iloc[0])
    error = np.std(leads) / np.sqrt(len(leads))
    assert np.mean(naive) > 6  # the greatest of eight means, each with an error of 5.6
    assert abs(np.mean(leads)) < 3 * error < 2.5


def test_the_best_is_chosen_on_the_other_half_of_the_topics():
    board = random_board(np.random.default_rng(0), 2)
    half = half_of(board.topics, board.items["domain"])
    board.right["0"], board.right["1"], board.right["2"] = 0.0, (half == 0).astype(float), 0.5
    # 1 is the best on half 0, and wrong on half 1, where 2 is the best and half right on the other
    leads = TopicScores(board, INTERVAL).lead_of_best("generative", "classifier")
    assert leads == pytest.approx((0 + 50) / 2)


def test_halves_split_each_domain_and_keep_topics_whole():
    items = random_board(np.random.default_rng(0), 1).items
    topics = items["template"]
    half = half_of(topics, items["domain"])
    assert half.groupby(topics).nunique().eq(1).all()
    assert half.groupby(items["domain"]).mean().eq(0.5).all()
    shuffled = items.sample(frac=1, random_state=1)
    assert half_of(shuffled["template"], shuffled["domain"]).loc[items.index].equals(half)


def test_scores_are_the_leaderboard_s_and_topics_are_drawn():
    tables = {name: carb_scores(dict.fromkeys(DOMAINS, 0.5)) for name in KINDS}
    board, scores = Leaderboard(tables, KINDS, CULTURES, DOMAINS, INTERVAL), even_scores()
    assert scores.n_topics == TOPICS * len(DOMAINS)
    assert scores.draws("generative", "carb").shape == (1 + INTERVAL.samples, 2)
    assert scores.draws(None, "values")[0] == pytest.approx([board.point([name], "values") for name in KINDS])
    assert scores.freedom == (TOPICS - 1) * len(DOMAINS)
    # a topic is right in both cultures or in neither: as many items as topics count
    for drawn in (scores.draws("generative", "carb")[1:, 0], board.draws(["judge-1"], "carb")):
        assert drawn.std() == pytest.approx(100 * 0.5 / np.sqrt(scores.freedom), rel=0.1)


def test_the_evidence_is_read_from_the_pipeline_s_files(tmp_path):
    kinds = {
        "classifier-1": "classifier",
        "judge-1": "generative",
        "length": "baseline",
        "gone": "generative",
        "loglik-b": "baseline",
        "b_en": "classifier",
        "b_en-taught": "classifier",
    }
    files = types.SimpleNamespace(
        scores=[], rewrites=[], rewardbench=[], judged=[], culture=[], quartets=[], taught=[], points=tmp_path / "points.csv",
        sheet=sheet_file(tmp_path, kinds, bases={"loglik-b": "b"}),
    )  # fmt: skip

    def place_of(place, folder, scorer, name):
        place.append(tmp_path / folder / scorer / f"{name}.parquet")
        place[-1].parent.mkdir(parents=True, exist_ok=True)
        return place[-1]

    def write(place, table, benchmark, scorer):
        for language, own in table.groupby("language"):
            folder = benchmark if place is not files.judged else "locals"
            write_scores(own, place_of(place, folder, scorer, language), benchmark=benchmark, scorer=scorer)

    for name, share in (("classifier-1", 0.25), ("judge-1", 0.75), ("length", 0.5)):
        write(files.scores, carb_scores(dict.fromkeys(DOMAINS, share)), "carb", name)
    for name, moves in (("judge-1", (1.0, 0.5, 0.4)), ("length", (0.25, 0.75))):
        write(files.rewrites, rewrite_scores(*moves), "carb_perturbation", name)
    for benchmark, place in (("carb", files.scores), ("carb_perturbation", files.rewrites)):
        for culture in CULTURES:
            path = place_of(place, benchmark, "gone", culture)
            write_unavailable("gone", path, benchmark=benchmark, scorer="gone", language=culture)
    whose = [("all", "rm", "classifier"), ("one", "rm", "classifier"), ("all", "oracle", "bound")]
    rows = pd.DataFrame(whose, columns=["policy", "scorer", "kind"]).assign(
        base="b", downstream="questions", selection="best-of-n"
    )
    numbers = [name for name in POINT_COLUMNS if name not in rows]
    write_table(rows.assign(**dict.fromkeys(numbers, 1)), files.points, POINT_COLUMNS)
    for judge, share in (("base", 0.5), ("full", 1.0)):
        pairs = pair_scores(dict.fromkeys(SECTIONS, share)).assign(language="es")
        write(files.rewardbench, pairs, BENCHMARK.name, judge)
        items = carb_scores(dict.fromkeys(DOMAINS, share)).query("language == 'ja'")
        write(files.judged, items.drop(columns=["truncated", "within_noise"]), "carb", judge)
    interval = Interval(samples=50, confidence=0.9, seed=1)
    cells = {"cultures": CULTURES, "domains": DOMAINS}
    wording = Wording("How {place}?", list("ABCD"), list("abcd"))
    quartets = [Quartet(f"t{n}", f"t{n}", "values", FACT, list("ABCD"), {"en": wording}) for n in range(12)]
    rows = [row for quartet in quartets for row in quartet_rows(quartet, "en")]
    files.quartets.append(tmp_path / "quartets/en.jsonl")
    write_jsonl(rows, files.quartets[0])
    places = pd.DataFrame(
        {"id": row["id"], "candidate": place, "chosen": row["chosen"]} for row in rows for place in range(4)
    ).assign(language="en", truncated=False)
    found_all = (places["candidate"] == places["chosen"]).astype(float)
    for name, scored in (("loglik-b", found_all), ("b_en", 2 * found_all)):
        write(files.culture, places.assign(score=scored), "quartets", name)
    files.taught.append(files.culture[-1])
    first = (places["candidate"] == places["chosen"].fillna(0)).astype(float)
    write(files.taught, places.assign(score=first), "quartets", "b_en-taught")
    evidence = read_carb_evidence(files, cells, ["ja"], BENCHMARK, "en", interval)
    assert evidence.places.trainings == {("b", "en"): ["b_en"]}
    assert evidence.facts.models == {"b": ["b_en-taught"]} and evidence.facts.culture.n_topics == 6
    assert evidence.facts.draws("b", "en")[0] == evidence.facts.draws("b", "en", lessons=False)[0] == 100
    assert quantity("knowledge_of_places", evidence, of="base").contrasts.points == pytest.approx([50])
    assert quantity("places_kept", evidence).contrasts.points == pytest.approx([0])
    assert found("lead_of_generative", evidence, of="mean") == (HOLDS, pytest.approx(50))
    assert set(evidence.points["scorer"]) == {"rm"} and evidence.bases == {"rm": "b"}
    of_length = evidence.of_length()
    assert found("sensitivity", of_length, over="mean") == (
        UNDECIDED,
        pytest.approx(-0.5),
    )  # all topics alike
    assert of_length.scores.draws(None, "carb")[0] == pytest.approx([50])
    assert found("sensitivity", evidence, over="mean") == (HOLDS, pytest.approx((1 - 0.5) / (1 + 0.5)))
    assert found("lead_of_locals", evidence, over=["base"], measure="mean") == (HOLDS, pytest.approx(50))
    assert (evidence.judges.n_templates, evidence.judges.n_topics) == (len(ROWS), TOPICS * len(DOMAINS))
