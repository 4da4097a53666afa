"""Judges of Think-as-Locals on parts of both benchmarks, their comparison, samples and curves."""

import json
import math
import re
from itertools import product

import numpy as np
import pandas as pd
import pytest
from made_up_scorers import Backend, ByText
from support import ROOT, script

from polyreward.analysis.bootstrap import Interval
from polyreward.analysis.comparison import Benchmark
from polyreward.carb.items.selection import held_out_topics, split_topics
from polyreward.carb.perturbation.sensitivity import spread
from polyreward.core.yaml_files import read_yaml
from polyreward.scoring.criteria_layout import Reply
from polyreward.scoring.interface import Conversations
from polyreward.scoring.pair_question import judge_of
from polyreward.think_as_locals.comparison import COLUMNS, WHOLE, display
from polyreward.think_as_locals.replies import TRAINING_FAULTS, replies_of, reply_counts

comparison_table = script("analyse/locals_comparison").comparison_table
locals_curves = script("artifacts/carb_locals_curves")
locals_scores = script("score/locals_scores")

CULTURES, DOMAINS = ["ar", "ja"], ["values", "safety"]
ROWS = [
    {"id": f"t{n}_{m}", "template": f"t{n}", "subset": subset, "category": "c", "prompt": "p", "chosen": "long", "rejected": "no"}
    for n, subset in enumerate(["one", "one", "two", "two"]) for m in range(2)
]  # fmt: skip
ITEMS = [
    {"id": f"{domain}-{n}_{culture}", "culture": culture, "domain": domain, "topic": f"{domain}-{n}", "prompt": "p", "chosen": 2,
     "answers": ["a", "bb", "right", "dd"]}
    for culture in CULTURES for domain in DOMAINS for n in range(3)
]  # fmt: skip
BENCHMARK = Benchmark("small", {"first": ["one"], "second": ["two"]}, {})


def evaluated(judge):
    """Return a judge's scores of rows and of items."""
    rows = locals_scores.row_scores(judge, {"en": ROWS, "es": ROWS}, "")
    return rows, locals_scores.knockout_scores(judge, ITEMS, 1, "")


def compared(scores, contrasts=(), replies=None, half_credit=(), missing=()):
    """Compare judges. scores: {judge: of rows and, but for one that is missing, of items}."""
    rows = {name: of_judge[0] for name, of_judge in scores.items()}
    items = {name: of_judge[1] for name, of_judge in scores.items() if name not in missing}
    replies = pd.concat([reply_counts(name, (replies or {}).get(name, [])) for name in scores])
    where = (BENCHMARK, CULTURES, DOMAINS, Interval(200, 0.95, 1))
    table = comparison_table(
        rows, items, replies.set_index("scorer"), contrasts, *where, half_credit, dict(missing)
    )
    assert list(table.columns) == COLUMNS
    return table.set_index("judge")


LONGER, SHORTER = (evaluated(ByText(lambda answer, sign=sign: sign * len(answer))) for sign in (1, -1))


def test_a_judge_of_length_has_all_points_where_long_answers_are_right_and_its_first_round_shows_its_spread():
    rows, items = LONGER
    assert list(rows.columns) == [
        *("id", "template", "subset", "category", "score_chosen", "score_rejected", "language")
    ]
    assert list(rows["language"]) == ["en"] * 8 + ["es"] * 8
    assert (items[items["is_chosen"]]["score"] == 2).all()  # both of its matches
    assert len(items) == 4 * len(ITEMS)
    judge = locals_scores.Recorder(ByText(len))
    judge.score([Conversations("another question", ("a", "b"))], "")  # which is no match of these items
    assert locals_scores.knockout_scores(judge, ITEMS, 1, "").equals(LONGER[1])
    assert len(judge.kept) == 1 + 3  # two matches and a final of the answers that all items have
    matches = locals_scores.match_scores(judge, ITEMS, 1)
    assert list(matches.columns) == ["id", "language", "candidate", "score"]
    assert len(matches) == 4 * len(ITEMS)
    assert set(matches["id"]) == {f"{item['id']}/{number}" for item in ITEMS for number in range(2)}
    of_item = matches.assign(item=matches["id"].str.rpartition("/")[0]).groupby("item")["candidate"]
    assert of_item.apply(sorted).map(list).tolist() == [[0, 1, 2, 3]] * len(ITEMS)
    lengths = np.array([1.0, 2.0, 5.0, 2.0])
    assert matches["score"].tolist() == lengths[matches["candidate"]].tolist()
    margins = matches.groupby("id")["score"].agg(np.ptp)
    assert spread(matches) == pytest.approx(np.sqrt((margins**2).mean() / 2))


def test_the_spread_of_all_pairs_is_that_of_the_answers():
    scores = [1.0, 2.0, 5.0, 2.5]
    pairs = [(one, other) for number, one in enumerate(scores) for other in scores[number + 1 :]]
    rows = [(f"i/{number}", score) for number, pair in enumerate(pairs) for score in pair]
    assert spread(pd.DataFrame(rows, columns=["id", "score"])) == pytest.approx(np.std(scores, ddof=1))


def test_a_comparison_with_known_answers():
    replies = {"full": [Reply(("x",), "A"), Reply(fault="no verdict")]}
    table = compared({"full": LONGER, "base": SHORTER}, [("full", "base")], replies)
    assert table.loc["full", ["rewardbench", "carb", "mean", "mean_high"]].tolist() == [100.0] * 4
    assert table.loc["base", ["rewardbench", "carb", "mean"]].tolist() == [0.0] * 3
    assert table.loc["full - base", ["rewardbench", "carb", "mean", "carb_high"]].tolist() == [100.0] * 4
    # Resamples of answers that are all right are alike; few of them still leave room.
    lows = table.loc[["full", "full - base"], ["rewardbench_low", "carb_low", "mean_low"]]
    assert lows.gt(10).all(axis=None) and lows.lt(90).all(axis=None)
    assert (lows["mean_low"] > lows[["rewardbench_low", "carb_low"]].min(axis=1)).all()  # it rests on more
    sizes = dict(zip([*WHOLE, "in_form_pct"], [8, 2, 12, 2, 2, 50], strict=True))
    assert table.loc["full", list(sizes)].to_dict() == sizes
    assert math.isnan(table.loc["base", "in_form_pct"])
    names = {"full": "all rewards", "base": "base"}
    shown = display(table.reset_index(), names, "95%").set_index("judge")
    assert re.fullmatch(r"\+100\.0 \[\+\d\d\.\d, \+100\.0\]", shown.loc["all rewards - base", "CARB [95%]"])
    assert shown.loc["all rewards", "pairs x languages"] == "8 x 2"
    assert shown.loc["base", "replies in form, %"] == ""


def rm_r1(says):
    """Return a judge with RM-R1's question and canned replies."""
    question = read_yaml(ROOT / "workflow/catalog/judge_questions.yaml")["rm-r1"]
    return judge_of({"question": question, "verdict": "text"}, Backend(says))


def longer(request):
    first, second = re.findall(r"^\[Start of chatbot [AB]'s answer\]\n(.*)$", request, re.MULTILINE)
    return f"<type>Chat</type>\n<eval>Well.</eval>\n<answer>[[{'AB'[len(second) > len(first)]}]]</answer>"


def test_a_judge_from_elsewhere_is_asked_once_about_every_two_answers_and_compared_in_pairs():
    elsewhere = rm_r1(longer)
    scores = {"full": SHORTER, "rm-r1": evaluated(elsewhere)}
    assert len(elsewhere.backend.requests) == 2 * len(ROWS) + 3 * len(ITEMS) and replies_of(elsewhere) == []
    table = compared(scores, [("full", "rm-r1")], half_credit=["rm-r1"])
    assert table.loc["rm-r1", ["rewardbench", "carb", "mean"]].tolist() == [100.0] * 3
    assert table.loc["full - rm-r1", ["rewardbench", "carb", "mean"]].tolist() == [-100.0] * 3


def test_no_verdict_is_half_right_of_who_writes_it_and_wrong_of_ours():
    mute = rm_r1(
        lambda request: longer(request) if "long" not in request or "right" in request else "I cannot say."
    )
    rows = locals_scores.row_scores(mute, {"en": [*ROWS[:7], {**ROWS[7], "chosen": "right"}]}, "")
    table = compared(dict.fromkeys(["full", "rm-r1"], (rows, LONGER[1])), half_credit=["rm-r1"])
    # one row of eight has a verdict
    assert table.loc["full", "rewardbench"] == pytest.approx(100 * (0 + 1 / 4) / 2)
    assert table.loc["rm-r1", "rewardbench"] == pytest.approx(100 * (1 / 2 + (1 / 4 + 3 / 8)) / 2)


def test_a_judge_that_could_not_be_had_is_an_empty_row_without_contrasts():
    names = {"full": "all rewards", "base": "base", "rm-r1": "rm-r1"}
    gone = {"rm-r1": "the hub knows no such repository"}
    table = compared(dict.fromkeys(names, LONGER), [("full", "base"), ("full", "rm-r1")], missing=gone)
    assert table.index.tolist() == ["full", "base", "rm-r1", "full - base"]
    assert table.loc["rm-r1"].dropna().to_dict() == {"missing": gone["rm-r1"]}
    shown = display(table.reset_index(), names, "95%")
    assert shown.loc[2].tolist() == ["rm-r1", "missing", "missing", "missing", "", "", ""]
    assert shown.loc[0, "pairs x languages"] == "8 x 2"


def test_an_interval_is_as_wide_as_templates_differ():
    rows, items = LONGER
    half = rows.assign(score_chosen=rows["template"].isin(["t0", "t2"]) * 2.0 - 1, score_rejected=0.0)
    found = compared({"a": (half, items)}).loc["a", ["rewardbench", "rewardbench_low", "rewardbench_high"]]
    assert found.tolist() == [50, 0, 100]


def test_held_out_topics_are_a_share_of_each_domain_whatever_their_order():
    sizes = {"a": 10, "b": 11, "c": 2, "d": 1}
    domains = {f"{domain}-{n}": domain for domain, count in sizes.items() for n in range(count)}
    drawn_topics = held_out_topics(domains, 0.2, 1)
    assert [sum(topic.startswith(domain) for topic in drawn_topics) for domain in "abcd"] == [2, 3, 1, 0]
    assert held_out_topics(dict(reversed(domains.items())), 0.2, 1) == drawn_topics
    assert held_out_topics(domains, 0.2, 2) != drawn_topics
    assert held_out_topics(domains, 0.0, 1) == set()


def test_no_topic_is_in_both_parts_and_none_is_lost():
    references = [{"topic": item["topic"], "domain": item["domain"]} for item in ITEMS]
    (_, train), (kept, benchmark) = (
        split_topics(references, ITEMS, 0.4, 1, training) for training in (True, False)
    )
    topics = [{item["topic"] for item in part} for part in (train, benchmark)]
    assert not topics[0] & topics[1]
    assert topics[0] | topics[1] == {item["topic"] for item in ITEMS}
    assert {row["topic"] for row in kept} == topics[1]
    assert (len(train), len(benchmark)) == (8, 4)  # two of three topics of each domain, rounded up


def test_curves_are_drawn_for_every_run(tmp_path):
    step = {"loss": 0.1, "learning_rate": 1e-3, "kl": 0.01, "entropy": 2.0, "clip_ratio/region_mean": 0.0}
    replies = {"reward": -1.0, "reward_std": 0.5, "tied_groups": 0.25, "rewards/correctness/mean": 0.5,
               "rewards/appropriateness/mean": 0.1, "rewards/layout/mean": 0.0, "completions/mean_length": 20.0,
               **{f"faults/{fault}": 0.1 for fault in TRAINING_FAULTS}}  # fmt: skip
    first, third = ({**step, **replies, "step": number} for number in (1, 3))

    steps = [first, {**step, "step": 2}, third, {"step": 3, "train_loss": 1.0}]
    (tmp_path / "training.json").write_text(json.dumps({"groups": 4, "steps": steps}))
    table = locals_curves.curves(dict.fromkeys(["full", "no-corr"], tmp_path / "training.json"))
    assert list(table["step"]) == [1, 2, 3] * 2
    assert table["valid_share"].dropna().tolist() == [0.5] * 4
    assert table[["groups", "groups_equal"]].dropna().to_numpy().tolist() == [[4, 1]] * 4
    figure = locals_curves.draw_curves(table, {"full": "all rewards", "no-corr": "without R_corr"})
    assert len(figure.axes) == 8
    assert all(len(axis.lines) == 2 for axis in figure.axes)
    legend = [text.get_text() for text in figure.legends[0].get_texts()]
    assert legend == ["all rewards", "without $R_{corr}$"]
    del first["tied_groups"]
    (tmp_path / "older.json").write_text(json.dumps({"groups": 4, "steps": [first]}))
    for axis in figure.axes:  # equal runs, so that the second would hide the first
        below, above = axis.lines[:2]
        assert below.get_linewidth() > above.get_linewidth()
        assert below.get_markersize() > above.get_markersize()
        assert np.ptp(axis.get_ylim()) >= 0.02 - 1e-9
    assert locals_curves.curves({"older": tmp_path / "older.json"})["groups_equal"].isna().all()


def test_all_judges_are_asked_about_the_same_part_in_every_language():
    rows = [{"id": f"r{n}", "subset": "ab"[n % 2]} for n in range(8)]
    found, items = locals_scores.asked({"ar": rows, "ja": rows[:6]}, ITEMS, 2, 1, 7)
    assert found["ar"] == found["ja"] and len(found["ar"]) == 4
    assert all(row in rows[:6] for row in found["ar"])
    cells = sorted((item["culture"], item["domain"]) for item in items)
    assert cells == sorted(product(CULTURES, DOMAINS))
    assert locals_scores.asked({"ar": rows}, ITEMS, None, None, 7)[1] == ITEMS
