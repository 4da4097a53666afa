"""Judges of Think-as-Locals on parts of both benchmarks, their comparison, samples and curves."""

import json
import math
import re

import numpy as np
import pandas as pd
import pytest
import yaml
from support import ROOT, script

from polyreward.analysis.bootstrap import Interval
from polyreward.analysis.comparison import Benchmark
from polyreward.carb.items.selection import held_out_topics, split_topics
from polyreward.carb.perturbation.sensitivity import spread
from polyreward.scoring.criteria_layout import Reply
from polyreward.scoring.generative import TEMPLATE, judge
from polyreward.scoring.interface import Scores
from polyreward.scoring.pair_question import asked_in_pairs
from polyreward.think_as_locals.comparison import COLUMNS, display
from polyreward.think_as_locals.replies import TRAINING_FAULTS, replies_of, reply_counts

comparison_table = script("analyse/locals_comparison").comparison_table
locals_curves = script("artifacts/carb_locals_curves")

locals_scores = script("score/locals_scores")


CULTURES, DOMAINS = ["ar", "ja"], ["values", "safety"]
SCORING = {"dtype": "float32", "max_length": 512, "token_budget": 4096, "attention": "sdpa"}


class ByLength:
    """Scores by the length of an answer, times a sign."""

    exact = True

    def __init__(self, sign=1):
        self.sign = sign

    def score(self, conversations, label):
        values = [
            np.array([float(self.sign * len(answer)) for answer in answers]) for _, answers in conversations
        ]
        return Scores(values, [np.zeros(len(own), dtype=bool) for own in values])


ROWS = [
    {"id": f"t{n}_{m}", "template": f"t{n}", "subset": subset, "category": "c", "prompt": "p", "chosen": "long", "rejected": "no"}
    for n, subset in enumerate(["one", "one", "two", "two"]) for m in range(2)
]  # fmt: skip
ITEMS = [
    {"id": f"{domain}-{n}_{culture}", "culture": culture, "domain": domain, "topic": f"{domain}-{n}", "prompt": "p", "chosen": 2,
     "answers": ["a", "bb", "right", "dd"]}
    for culture in CULTURES for domain in DOMAINS for n in range(3)
]  # fmt: skip
BENCHMARK, INTERVAL = Benchmark("small", {"first": ["one"], "second": ["two"]}, {}), Interval(200, 0.95, 1)


def evaluated(sign):
    judge = ByLength(sign)
    return locals_scores.row_scores(judge, {"en": ROWS, "es": ROWS}, ""), locals_scores.knockout_scores(
        judge, ITEMS, 1, ""
    )


def test_the_long_answer_is_right_here_and_a_judge_of_length_has_all_points():
    rows, items = evaluated(1)
    assert list(rows.columns) == [
        *("id", "template", "subset", "category", "score_chosen", "score_rejected", "language")
    ]
    assert list(rows["language"]) == ["en"] * 8 + ["es"] * 8
    assert (items[items["is_chosen"]]["score"] == 2).all()  # both of its matches
    assert len(items) == 4 * len(ITEMS)


def test_the_first_round_tells_the_spread_of_a_judge():
    judge = locals_scores.Recorder(ByLength())
    assert locals_scores.knockout_scores(judge, ITEMS, 1, "").equals(
        locals_scores.knockout_scores(ByLength(), ITEMS, 1, "")
    )
    assert len(judge.kept) == 3 * len(ITEMS)  # two matches and a final
    matches = locals_scores.match_scores(judge, ITEMS)
    assert list(matches.columns) == ["id", "language", "candidate", "score"] and len(matches) == 4 * len(
        ITEMS
    )
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


def no_replies(judges):
    return pd.concat([reply_counts(name, []) for name in judges]).set_index("scorer")


def test_a_comparison_with_known_answers():
    (right_rows, right_items), (wrong_rows, wrong_items) = evaluated(1), evaluated(-1)
    full = reply_counts("full", [Reply(("x",), "A"), Reply(fault="no verdict")])
    replies = pd.concat([full, reply_counts("base", [])]).set_index("scorer")
    table = comparison_table(
        {"full": right_rows, "base": wrong_rows}, {"full": right_items, "base": wrong_items}, replies, [("full", "base")],
        BENCHMARK, CULTURES, DOMAINS, INTERVAL,
    ).set_index("judge")  # fmt: skip
    assert list(table.reset_index().columns) == COLUMNS
    assert table.loc["full", ["rewardbench", "carb", "mean", "mean_high"]].tolist() == [100.0] * 4
    assert table.loc["base", ["rewardbench", "carb", "mean"]].tolist() == [0.0] * 3
    assert table.loc["full - base", ["rewardbench", "carb", "mean", "carb_high"]].tolist() == [100.0] * 4
    # Resamples of answers that are all right are alike; few of them still leave room.
    lows = table.loc[["full", "full - base"], ["rewardbench_low", "carb_low", "mean_low"]]
    assert lows.gt(10).all(axis=None) and lows.lt(90).all(axis=None)
    assert (lows["mean_low"] > lows[["rewardbench_low", "carb_low"]].min(axis=1)).all()  # it rests on more
    assert table.loc["full", ["n_pairs", "n_languages", "n_items", "n_cultures", "n_replies"]].tolist() == [
        8,
        2,
        12,
        2,
        2,
    ]
    assert table.loc["full", "in_form_pct"] == 50.0
    assert math.isnan(table.loc["base", "in_form_pct"])
    shown = display(table.reset_index(), {"full": "all rewards", "base": "base"}, "95%").set_index("judge")
    assert re.fullmatch(r"\+100\.0 \[\+\d\d\.\d, \+100\.0\]", shown.loc["all rewards - base", "CARB [95%]"])
    assert shown.loc["all rewards", "pairs x languages"] == "8 x 2"
    assert shown.loc["base", "replies in form, %"] == ""


class Says:
    """A backend of a judge from elsewhere: its reply is what `says` makes of a request; it counts its
    requests."""

    exact = True

    def __init__(self, says):
        self.says, self.asked = says, 0

    def replies(self, requests, job):
        self.asked += len(requests)
        return [self.says(request[-1]["content"]) for request in requests]

    def cut(self, requests):
        return [False] * len(requests)


def rm_r1(says):
    """Return a judge with RM-R1's question and canned replies."""
    questions = yaml.safe_load((ROOT / "workflow/catalog/judge_questions.yaml").read_text(encoding="utf-8"))
    return asked_in_pairs(judge(Says(says), "text", TEMPLATE), {"question": questions["rm-r1"]})


def longer(request):
    first, second = re.findall(r"^\[Start of chatbot [AB]'s answer\]\n(.*)$", request, re.MULTILINE)
    return f"<type>Chat</type>\n<eval>Well.</eval>\n<answer>[[{'AB'[len(second) > len(first)]}]]</answer>"


def test_a_judge_from_elsewhere_is_asked_once_about_every_two_answers_and_compared_in_pairs():
    elsewhere = rm_r1(longer)
    rows, items = (
        locals_scores.row_scores(elsewhere, {"en": ROWS, "es": ROWS}, ""),
        locals_scores.knockout_scores(elsewhere, ITEMS, 1, ""),
    )
    assert elsewhere.backend.asked == 2 * len(ROWS) + 3 * len(ITEMS) and replies_of(elsewhere) == []
    wrong_rows, wrong_items = evaluated(-1)
    replies = no_replies(["full", "rm-r1"])
    table = comparison_table(
        {"full": wrong_rows, "rm-r1": rows}, {"full": wrong_items, "rm-r1": items}, replies, [("full", "rm-r1")],
        BENCHMARK, CULTURES, DOMAINS, INTERVAL, ["rm-r1"],
    ).set_index("judge")  # fmt: skip
    assert table.loc["rm-r1", ["rewardbench", "carb", "mean"]].tolist() == [100.0] * 3
    assert table.loc["full - rm-r1", ["rewardbench", "carb", "mean"]].tolist() == [-100.0] * 3


def test_no_verdict_is_half_right_of_who_writes_it_and_wrong_of_ours():
    mute = rm_r1(
        lambda request: longer(request) if "long" not in request or "right" in request else "I cannot say."
    )
    rows = locals_scores.row_scores(mute, {"en": [*ROWS[:7], {**ROWS[7], "chosen": "right"}]}, "")
    tables = {"full": rows, "rm-r1": rows}
    items = dict.fromkeys(tables, evaluated(1)[1])
    replies = no_replies(tables)
    table = comparison_table(
        tables, items, replies, [], BENCHMARK, CULTURES, DOMAINS, INTERVAL, ["rm-r1"]
    ).set_index("judge")
    assert table.loc["full", "rewardbench"] == pytest.approx(
        100 * (0 + 1 / 4) / 2
    )  # one row of eight has a verdict
    assert table.loc["rm-r1", "rewardbench"] == pytest.approx(100 * (1 / 2 + (1 / 4 + 3 / 8)) / 2)


def test_a_judge_that_could_not_be_had_is_an_empty_row_without_contrasts():
    rows, items = evaluated(1)
    replies = no_replies(["full", "base", "rm-r1"])
    contrasts = [("full", "base"), ("full", "rm-r1")]
    table = comparison_table(
        {"full": rows, "base": rows, "rm-r1": rows}, {"full": items, "base": items}, replies, contrasts,
        BENCHMARK, CULTURES, DOMAINS, INTERVAL, ["rm-r1"], {"rm-r1": "the hub knows no such repository"},
    )  # fmt: skip
    assert table["judge"].tolist() == ["full", "base", "rm-r1", "full - base"]
    assert table.loc[2].drop(["judge", "missing"]).isna().all() and table.loc[2, "missing"].endswith(
        "no such repository"
    )
    shown = display(table, {"full": "all rewards", "base": "base", "rm-r1": "rm-r1"}, "95%")
    assert shown.loc[2].tolist() == ["rm-r1", "missing", "missing", "missing", "", "", ""]
    assert shown.loc[0, "pairs x languages"] == "8 x 2"


def test_an_interval_is_as_wide_as_templates_differ():
    rows, items = evaluated(1)
    half = rows.assign(
        score_chosen=np.where(rows["template"].isin(["t0", "t2"]), 1.0, -1.0), score_rejected=0.0
    )
    table = comparison_table(
        {"a": half}, {"a": items}, no_replies(["a"]), [], BENCHMARK, CULTURES, DOMAINS, INTERVAL
    )
    assert table["rewardbench"][0] == 50.0
    assert (table["rewardbench_low"][0], table["rewardbench_high"][0]) == (0.0, 100.0)


PAIR = {"id": "x_ar_de", "prompt": "How?", "chosen": "Right.", "rejected": "Wrong.", "culture": "ar"}


def test_held_out_topics_are_a_share_of_each_domain_whatever_their_order():
    domains = {
        f"{domain}-{n}": domain
        for domain, count in (("a", 10), ("b", 11), ("c", 2), ("d", 1))
        for n in range(count)
    }
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
    assert [len(part) for part in (train, benchmark)] == [
        8,
        4,
    ]  # two of three topics of each domain, rounded up


def test_curves_are_drawn_for_every_run(tmp_path):
    step = {"loss": 0.1, "learning_rate": 1e-3, "kl": 0.01, "entropy": 2.0, "clip_ratio/region_mean": 0.0}
    replies = {"reward": -1.0, "reward_std": 0.5, "tied_groups": 0.25, "rewards/correctness/mean": 0.5,
               "rewards/appropriateness/mean": 0.1, "rewards/layout/mean": 0.0, "completions/mean_length": 20.0,
               **{f"faults/{fault}": 0.1 for fault in TRAINING_FAULTS}}  # fmt: skip
    steps = [
        {**step, **replies, "step": 1},
        {**step, "step": 2},
        {**step, **replies, "step": 3},
        {"step": 3, "train_loss": 1.0},
    ]
    for run in ("full", "no-corr"):
        (tmp_path / run).write_text(json.dumps({"groups": 4, "steps": steps}))
    table = locals_curves.curves({run: tmp_path / run for run in ("full", "no-corr")})
    assert list(table["step"]) == [1, 2, 3] * 2
    assert table["valid_share"].dropna().tolist() == [0.5] * 4
    assert table[["groups", "groups_equal"]].dropna().to_numpy().tolist() == [[4, 1]] * 4
    figure = locals_curves.draw_curves(table, {"full": "all rewards", "no-corr": "without R_corr"})
    assert len(figure.axes) == 8
    assert all(len(axis.lines) == 2 for axis in figure.axes)
    assert [text.get_text() for text in figure.legends[0].get_texts()] == [
        "all rewards",
        "without $R_{corr}$",
    ]
    (tmp_path / "older").write_text(
        json.dumps({"groups": 4, "steps": [{k: v for k, v in steps[0].items() if k != "tied_groups"}]})
    )
    assert locals_curves.curves({"older": tmp_path / "older"})["groups_equal"].isna().all()


def test_all_judges_are_asked_about_the_same_part_in_every_language():
    rows = {
        language: [{"id": f"r{n}", "subset": "ab"[n % 2]} for n in range(last)]
        for language, last in (("ar", 8), ("ja", 6))
    }
    items = [
        {"id": f"{culture}{domain}{n}", "culture": culture, "domain": domain}
        for culture in CULTURES for domain in DOMAINS for n in range(3)
    ]  # fmt: skip
    found, drawn_items = locals_scores.asked(rows, items, 2, 1, 7)
    assert (
        found["ar"] == found["ja"]
        and len(found["ar"]) == 4
        and {row["id"] for row in found["ar"]} <= {f"r{n}" for n in range(6)}
    )
    assert sorted((item["culture"], item["domain"]) for item in drawn_items) == sorted(
        (c, d) for c in CULTURES for d in DOMAINS
    )
    assert locals_scores.asked(rows, items, None, None, 7)[1] == items
