"""Judging Figure 3's policies: references, known pairs, and the statistics of who wins."""

from collections import Counter

import numpy as np
import pandas as pd
import pytest
from made_up_scorers import Backend, ByText
from support import refused, script

from polyreward.alignment.win_rates import judge_accuracy, label_agreement, length_controlled, win_rates
from polyreward.analysis.bootstrap import Interval
from polyreward.scoring.pair_question import judge_of, swapped
from polyreward.transfer.figure3 import figure3_table

JUDGING = script("score/judgements")
judgements = JUDGING.judgements
answered = script("score/reference_answers").answered
parallel_instructions = script("translate/instructions").parallel_instructions


REFERENCES = [
    {"id": "i1", "prompt": "p", "reference": "four"},
    {"id": "i2", "prompt": "q", "reference": "sixsix"},
]


def answers(*texts, policy="base", run=1):
    return [
        {"policy": policy, "run": run, "id": f"i{n}", "response": text} for n, text in enumerate(texts, 1)
    ]


def test_a_longer_response_wins_by_a_judge_of_length_and_an_empty_one_loses():
    judged = judgements(answers("longer", " ") + answers("four", "s", run=2), REFERENCES, ByText(len), "es")
    assert list(judged["win"]) == [1.0, 0.0, 0.5, 0.0]
    assert list(judged["length_response"]) == [6, 0, 4, 1]
    assert judged["margin"][1] == -np.inf


def test_a_judge_that_weighs_gives_a_response_its_probability_and_an_empty_one_nothing():
    text = "{prompt}{first}{second}"
    question = {"system": "", "text": text, "verdicts": ["m", "M"], "pattern": "^([mM])$"}
    weighing = judge_of({"question": question}, Backend(lambda text: np.log([0.6, 0.2])))
    judged = judgements(answers("longer", " "), REFERENCES, weighing, "es")
    expected = 0.25 if swapped("p", ("longer", "four")) else 0.75
    assert list(judged["win"]) == pytest.approx([expected, 0])
    assert list(judged["margin"]) == pytest.approx([2 * expected - 1, -np.inf])


def test_a_judge_that_knows_no_difference_is_told_of(capsys):
    judged = judgements(answers("a", "b"), REFERENCES, ByText(lambda _: 0), "es")
    assert list(judged["win"]) == [0.5, 0.5]
    assert "every comparison is a tie" in capsys.readouterr().err


LONG = [
    {"id": f"i{n}", "prompt": f"Question {n}?", "reference": " ".join(f"word{n}{i}" for i in range(20 + n)) + "."} for n in range(5)
]  # fmt: skip


def test_known_pairs_are_a_reference_and_a_worse_answer_of_each_kind():
    pairs = JUDGING.known_pairs(LONG)
    assert {pair["id"] for pair in pairs} == {"i0", "i1", "i2", "i3"}  # the fifth has no partner
    assert Counter(pair["kind"] for pair in pairs) == dict.fromkeys(JUDGING.KINDS, 4)
    assert all(pair["chosen"] != pair["rejected"] for pair in pairs)
    off_topic = {pair["id"]: pair["rejected"] for pair in pairs if pair["kind"] == "off_topic"}
    assert off_topic["i0"] == LONG[1]["reference"] and off_topic["i1"] == LONG[0]["reference"]
    echo = next(pair for pair in pairs if pair["kind"] == "echo" and pair["id"] == "i2")
    assert echo["rejected"] == "Question 2?"

    # Answers that are too short for a kind make no pair of it.
    assert {pair["kind"] for pair in JUDGING.known_pairs(REFERENCES)} == {"off_topic", "echo"}


def test_a_judge_of_length_gets_half_of_what_is_as_long_and_all_that_is_cut():
    found = JUDGING.known_judgements(LONG, ByText(len), "es")
    right = found.groupby("kind")["right"].mean()
    assert right["off_topic"] == right["garble"] == 0.5  # garbled answers tie, and a tie is half right
    assert right["cut"] == right["echo"] == 1
    table = judge_accuracy(found, INTERVAL).set_index("kind")
    assert list(table.index) == ["all", *JUDGING.KINDS]
    assert table.loc["all", "accuracy_pct"] == pytest.approx(100 * right.mean())
    assert table.loc["cut", "accuracy_pct"] == 100 and table.loc["cut", "low"] < 100
    assert list(table["n_pairs"]) == [24, 4, 4, 4, 4, 4, 4]


def test_a_judge_is_measured_over_kinds_that_not_every_answer_has():
    known = pd.DataFrame({
        "language": "es", "id": ["a", "b", "c", "a"], "kind": ["off_topic"] * 3 + ["cut"], "right": [1.0, 1.0, 0.5, 0.0],
    })  # fmt: skip
    table = judge_accuracy(known, INTERVAL).set_index("kind")
    assert table.loc["off_topic", "accuracy_pct"] == pytest.approx(100 * 2.5 / 3)
    assert table.loc["cut", "accuracy_pct"] == 0
    assert table.loc["all", "accuracy_pct"] == pytest.approx(100 * 2.5 / 6)


def test_a_judge_that_shares_one_labeller_s_taste_is_seen():
    """The judge likes long answers, as the target labeller does; the English one likes short ones."""
    texts = {f"p{n}": ("long" * (n + 2), "short") for n in range(8)}
    pairs = {
        labeller: [{"id": name, "prompt": "q", "chosen": both[first], "rejected": both[1 - first]} for name, both in texts.items()]
        for labeller, first in (("target", 0), ("english", 1))
    }  # fmt: skip
    pairs["english"].pop()  # its answers tied: the prompt counts for neither
    found = JUDGING.label_judgements(pairs, ByText(len), "es")
    assert list(found.groupby("labeller")["same"].sum()) == [0.0, 8.0]
    table = label_agreement(found, INTERVAL).set_index("labels")
    assert list(table["same_pct"]) == [0, 100, -100]
    assert (table["n_pairs"] == 7).all() and table.loc["english - target", "high"] < 0

    alike = found.assign(same=0.5)
    table = label_agreement(alike, INTERVAL).set_index("labels")
    assert table.loc["english - target", "same_pct"] == 0
    assert table.loc["english - target", "low"] < 0 < table.loc["english - target", "high"]


def made_up(rates: dict[str, float], instructions=200, runs=2, lengths=None, seed=1):
    generator = np.random.default_rng(seed)
    return pd.DataFrame([
        {"language": "es", "policy": policy, "run": run, "id": f"i{n}", "win": float(generator.random() < rate), "margin": 0.0,
         "length_response": (lengths or {}).get(policy, 50) + int(generator.integers(20)), "length_reference": 60}
        for policy, rate in rates.items() for run in range(1, runs + 1) for n in range(instructions)
    ])  # fmt: skip


INTERVAL = Interval(samples=2000, confidence=0.95, seed=1)


def test_win_rates_are_means_and_differences_are_paired():
    judged = made_up({"base": 0.2, "target": 0.5, "english": 0.5})
    table = win_rates(judged, INTERVAL).set_index("policy")
    base = judged[judged["policy"] == "base"]
    assert table.loc["base", "win_rate_pct"] == pytest.approx(100 * base["win"].mean())
    difference = table.loc["english", "win_rate_pct"] - table.loc["target", "win_rate_pct"]
    assert table.loc["english - target", "win_rate_pct"] == pytest.approx(difference)
    assert table.loc["english - base", "low"] > 0  # 30 points: decided
    assert table.loc["english - target", "low"] < 0 < table.loc["english - target", "high"]
    assert table["low"].le(table["win_rate_pct"]).all() and table["high"].ge(table["win_rate_pct"]).all()
    assert list(table["n_instructions"].unique()) == [200]


def test_what_length_alone_wins_is_taken_out():
    rng = np.random.default_rng(3)
    long, short = rng.integers(80, 160, 4000), rng.integers(1, 80, 4000)
    lengths = np.concatenate([long, short])
    chance = 1 / (1 + np.exp(-4 * np.tanh((lengths - 80) / (lengths - 80).std())))
    judged = pd.DataFrame({
        "policy": ["english"] * 4000 + ["base"] * 4000, "win": (rng.random(8000) < chance).astype(float),
        "length_response": lengths, "length_reference": 80,
    })  # fmt: skip
    raw = judged.groupby("policy")["win"].mean()
    assert raw["english"] - raw["base"] > 0.6
    controlled = length_controlled(judged)
    assert controlled["english"] == pytest.approx(0.5, abs=0.08)
    assert controlled["base"] == pytest.approx(0.5, abs=0.08)
    controlled = length_controlled(made_up({"base": 0.0, "target": 1.0, "english": 0.5}))
    assert controlled["base"] < 0.05 < 0.95 < controlled["target"]
    assert controlled["english"] == pytest.approx(0.5, abs=0.1)


def test_the_figures_table_holds_every_run_and_both_rates():
    judged = made_up({"base": 0.2, "target": 0.5, "english": 0.5}, instructions=20)
    table = figure3_table(win_rates(judged, INTERVAL), judged)
    assert set(table["quantity"]) == {"win rate", "length-controlled", "run 1", "run 2"}
    assert len(table) == 6 + 6 + 2 * 3
    assert table["n_instructions"].notna().all()


def test_what_trainings_differ_by_is_in_the_interval_of_a_win_rate():
    """Five trainings of 300 instructions, of which each wins with a probability of its own."""
    generator, levels = np.random.default_rng(1), [0.3, 0.4, 0.5, 0.6, 0.7]
    judged = pd.DataFrame(
        [
            {"language": "es", "policy": policy, "run": run, "id": f"i{n}", "margin": 0.0,
             "win": float(generator.random() < (levels[run - 1] if policy == "english" else 0.5)),
             "length_response": 5 + n % 3, "length_reference": 6}
            for policy in ("base", "english") for run in range(1, 6) for n in range(300)
        ]
    )  # fmt: skip
    alike, apart = (win_rates(judged, INTERVAL, n).set_index("policy") for n in (1, 5))
    assert apart["win_rate_pct"].tolist() == pytest.approx(alike["win_rate_pct"].tolist())
    assert apart.loc["base", "low"] == alike.loc["base", "low"]  # it is not trained
    width = {name: table["high"] - table["low"] for name, table in (("alike", alike), ("apart", apart))}
    # A standard deviation of 15.8 points between trainings is 7.1 of their mean; Student's t of four is 2.78
    assert width["apart"]["english"] == pytest.approx(2 * 2.78 * 7.1, rel=0.25)
    assert width["alike"]["english"] < 8
    assert width["apart"]["english - base"] > 3 * width["alike"]["english - base"]


ECHO = Backend(str.upper)
ITEM = {"id": "i1", "prompt": {"en": "Why?", "es": "¿Por qué?"}, "reference": {"en": "So.", "es": "Así."}}


def test_instructions_are_taken_apart_by_language_and_every_missing_text_is_named():
    other = {"id": "i2", "prompt": {"en": "Who?", "es": "¿Quién?"}, "reference": {"en": "I.", "es": "Yo."}}
    how = (["en", "es"], "x.yaml", ["prompt", "reference"])
    found = parallel_instructions([ITEM, other], *how)
    assert found["es"][0] == {"id": "i1", "prompt": "¿Por qué?", "reference": "Así."}
    assert [row["id"] for row in found["en"]] == ["i1", "i2"]
    broken = {"id": "i2", "prompt": {"en": "Who?"}, "reference": {"en": " ", "es": "Yo."}}
    said = refused(parallel_instructions, [ITEM, broken], *how)
    assert "x.yaml, prompt: passage `i2` is not in es" in said
    assert "x.yaml, reference: passage `i2` is not in en" in said


def test_instructions_without_references_are_answered_by_a_model():
    bare = [{"id": "i1", "prompt": ITEM["prompt"]}, {"id": "i2", "prompt": {"en": "Who?", "es": "¿Quién?"}}]
    rows = parallel_instructions(bare, ["en", "es"], "x.yaml", ["prompt"])["es"]
    assert rows == [{"id": "i1", "prompt": "¿Por qué?"}, {"id": "i2", "prompt": "¿Quién?"}]
    backend = Backend(str.upper)
    assert answered(rows, backend, "references")[0] == {**rows[0], "reference": "¿POR QUÉ?"}
    assert backend.requests == [[{"role": "user", "content": row["prompt"]}] for row in rows]


def test_empty_reference_answers_are_named_and_a_few_are_left_out_with_what_was_answered_to_them(capsys):
    assert "`i9`: an empty reply" in refused(answered, [{"id": "i9", "prompt": " "}], ECHO, "references")
    rows = [{"id": f"i{n}", "prompt": " " if n == 7 else "Why?"} for n in range(100)]
    references = answered(rows, ECHO, "references")
    assert [row["id"] for row in references] == [f"i{n}" for n in range(100) if n != 7]
    assert "1 of 100 instructions are left out" in capsys.readouterr().err
    answers = [{"policy": "sft", "run": 1, "id": f"i{n}", "response": "Because"} for n in (6, 7)]
    assert list(judgements(answers, references, ByText(len), "en")["id"]) == ["i6"]
