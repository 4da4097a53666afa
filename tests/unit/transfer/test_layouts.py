"""Layouts of Tables 1 to 7."""

import pandas as pd
import pytest

from polyreward.transfer.tables import display_language_table, display_ready_made, display_table1


def table1_row(base, language, training, value):
    sections = {}
    for name in ("chat", "chat_hard", "safety", "reasoning"):
        sections |= {name: value, f"{name}_low": value - 9, f"{name}_high": value + 9}
    row = {"base_model": base, "eval_language": language, "rm_training": training, **sections}
    nan = float("nan")
    over_seeds = {"n_seeds": 1, "avg_sd": nan, "avg_se": 4.0, "avg_se_trainings": 0.0, "p_seeds": nan}
    hard = dict.fromkeys(("hard", "hard_low", "hard_high"), nan) | {"n_hard": None}
    return {**row, **over_seeds, **hard, "avg": value, "avg_low": value - 1.26, "avg_high": value + 1, "n_pairs": 10, "n_templates": 9,
            "p_mcnemar": None}  # fmt: skip


TABLE1 = pd.DataFrame([
    table1_row(base, language, training, value)
    for language in ("es", "ko")
    for base in ("gemma", "smollm")
    for training, value in (("target", 60.0), ("english", 62.5), ("delta", 2.5 if language == "es" else -2.5))
])  # fmt: skip


def test_table_1_has_languages_and_trainings_down_and_bases_across():
    shown = display_table1(TABLE1, "95%")
    assert shown["", "RewardBench"].tolist() == ["Spanish"] * 3 + ["Korean"] * 3
    assert shown["", "RM"].tolist() == ["Target", "English", "\u0394"] * 2
    assert shown.columns.tolist() == [("", "RewardBench"), ("", "RM")] + [
        (base, name)
        for base in ("gemma", "smollm")
        for name in ("Chat", "Chat(H)", "Safety", "Reason", "Avg. [95%], n=9")
    ]


def test_hard_pairs_have_a_column_of_their_own_where_there_are_some():
    shown = display_table1(TABLE1.assign(hard=55.0, hard_low=45.0, hard_high=65.0, n_hard=94), "95%")["gemma"]
    assert list(shown.columns) == [
        "Chat",
        "Chat(H)",
        "Safety",
        "Reason",
        "Hard, n=94 pairs",
        "Avg. [95%], n=9",
    ]
    assert shown["Hard, n=94 pairs"].iloc[[0, 2]].tolist() == ["55.0 [45, 65]", "+55.0 [+45, +65]"]


def test_table_1_shows_differences_with_their_sign_and_averages_with_their_interval():
    shown = display_table1(TABLE1, "95%")["gemma"]
    same = ["60.0 [51, 69]", "62.5 [54, 72]"]
    assert shown["Chat"].tolist() == [*same, "+2.5 [-6, +12]", *same, "-2.5 [-12, +6]"]
    averages = shown["Avg. [95%], n=9"].iloc[[0, 2, 5]].tolist()
    assert averages == ["60.0 [58.7, 61.0]", "+2.5 [+1.2, +3.5]", "-2.5 [-3.8, -1.5]"]


def test_where_languages_have_unequal_numbers_of_templates_each_has_its_own():
    sizes = TABLE1["eval_language"].map({"es": 9, "ko": 7})
    shown = display_table1(TABLE1.assign(n_templates=sizes), "95%")
    assert [name.split(", ")[1] for name in shown["", "RewardBench"].unique()] == ["n=9", "n=7"]
    assert shown["gemma"].columns[-1] == "Avg. [95%]"
    assert not shown.isna().any(axis=None)


def test_an_average_over_seeds_has_its_standard_deviation():
    shown = display_table1(TABLE1.assign(n_seeds=3, avg_sd=1.24), "95%")["gemma"]
    assert shown["Avg. [95%], n=9"].iloc[0] == "60.0 \u00b1 1.2 [58.7, 61.0]"


SECTIONS = {"chat": 60.0, "chat_hard": 50.0, "safety": 40.0, "reasoning": 30.0}
ENDS = {f"{name}{end}": value for name, value in SECTIONS.items() for end in ("_low", "_high")}
SCORED = {**SECTIONS, **ENDS, "avg": 45.0, "avg_low": 41.26, "avg_high": 50.0, "n_templates": 9}


def test_table_2_has_reward_models_down_and_languages_across():
    table = pd.DataFrame([
        {**SCORED, "reward_model": name, "kind": kind, "eval_language": language, "n_templates": templates}
        for name, kind in (("z-judge", "generative"), ("a-rm", "classifier")) for language, templates in (("en", 9), ("ko", 7))
    ])  # fmt: skip
    shown = display_ready_made(table, "95%")
    assert list(shown.columns) == ["Reward model", "Kind", "English [95%], n=9", "Korean [95%], n=7"]
    assert shown["Reward model"].tolist() == ["z-judge", "a-rm"]
    assert shown["Korean [95%], n=7"].tolist() == ["45.0 [41.3, 50.0]"] * 2


def test_table_1_needs_every_row_once():
    for table in (TABLE1.iloc[1:], pd.concat([TABLE1, TABLE1.iloc[:1]])):
        with pytest.raises(ValueError, match="values to unpack"):
            display_table1(table, "95%")


def test_tables_3_to_7_name_the_base_or_the_reward_model_from_elsewhere():
    table = pd.DataFrame([
        {**SCORED, "reward_model": "my-rm", "base_model": None, "rm_training": None},
        {**SCORED, "reward_model": "gemma_ko", "base_model": "gemma", "rm_training": "ko"},
    ])  # fmt: skip
    shown = display_language_table(table, "95%")
    assert shown["Base"].tolist() == ["my-rm", "gemma"]
    assert shown["RM"].tolist() == ["", "Korean"]
    assert shown["Avg. [95%], n=9"].tolist() == ["45.0 [41.3, 50.0]"] * 2
    assert list(shown.columns) == ["Base", "RM", "Chat", "Chat(H)", "Safety", "Reason", "Avg. [95%], n=9"]
