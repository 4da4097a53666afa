"""Every table, figure and notebook of the transfer paper, from the whole flow."""

import pandas as pd
import pytest
from flow import LANGUAGES, check_pages, outputs_of
from support import texts_that_may_be_numbers

from polyreward.analysis.verdicts import VERDICTS

pytestmark = pytest.mark.slow


@pytest.mark.parametrize(("number", "language"), [(3, "en"), (4, "es"), (6, "ko")])
def test_tables_3_to_7_hold_every_reward_model_and_table_1_to_the_digit(tiny, number, language):
    table = pd.read_csv(tiny / f"table{number}.csv").set_index(["base_model", "rm_training"])
    assert set(table["eval_language"]) == {language}
    assert len(table) == 6 + 1  # and the judge off the shelf
    table1 = pd.read_csv(tiny / "table1.csv")
    rows = table1[(table1["eval_language"] == language) & (table1["rm_training"] != "delta")]
    for row in rows.to_dict("records"):
        same = table.loc[(row["base_model"], "en" if row["rm_training"] == "english" else language)]
        for column in ("chat", "chat_hard", "safety", "reasoning", "avg", "avg_low", "avg_high", "n_pairs"):
            assert same[column] == row[column]


def test_every_table_and_figure_has_its_renderings(tiny):
    figures = {path.stem for path in tiny.glob("*.png")}
    assert {"figure1", "figure2", "figure3"} <= figures
    for path in set(tiny.glob("*.csv")) - {
        tiny / "figure2_ks.csv",
        tiny / "figure3_judge.csv",
        tiny / "figure3_labels.csv",
        tiny / "carb_taught_cost.csv",
    }:
        if path.stem in figures:
            assert path.with_suffix(".pdf").read_bytes().startswith(b"%PDF")
            assert path.with_suffix(".png").read_bytes().startswith(b"\x89PNG")
        else:
            assert path.with_suffix(".md").read_text(encoding="utf-8").count("|") > 4
            assert "\\toprule" in path.with_suffix(".tex").read_text(encoding="utf-8")
            assert "</table>" in path.with_suffix(".html").read_text(encoding="utf-8")


def test_figure_1_holds_every_model_and_its_csv_what_is_drawn(tiny):
    table = pd.read_csv(tiny / "figure1.csv").fillna("")
    shares = table[table["quantity"] == "share"].set_index(["base_model", "rm_training"])
    assert len(shares) == 2 * 4
    spectrum = table[table["quantity"] == "spectrum"]
    assert spectrum.groupby(["base_model", "rm_training"])["value"].sum().round(5).eq(1).all()
    assert table[table["quantity"] == "cka"].groupby(["base_model", "rm_training"]).size().eq(3).all()
    assert shares["n_passages"].eq(100).all()


def test_figure_2_has_disjoint_tokens_and_a_test_for_each_language(tiny):
    norms = pd.read_csv(tiny / "figure2.csv")
    of_all = norms[(norms["panel"] == "all") & (norms["base_model"] == "tiny-llama")]
    assert of_all["token_id"].is_unique
    assert set(of_all["eval_language"]) == set(LANGUAGES)
    ks = pd.read_csv(tiny / "figure2_ks.csv")
    assert ks.groupby(["base_model", "panel"])["eval_language"].nunique().eq(2).all()


def test_table_2_holds_every_language_of_what_was_not_trained_here(tiny):
    table = pd.read_csv(tiny / "table2.csv").set_index(["reward_model", "eval_language"])
    scorers = {"tiny-judge", "loglik-tiny-gemma", "loglik-tiny-llama"}
    assert set(table.index) == {(name, language) for name in scorers for language in LANGUAGES}
    baselines = pd.read_csv(tiny / "baselines.csv").query(
        "slice == 'all' and benchmark == 'mini-rewardbench'"
    )
    same = baselines.set_index(["scorer", "eval_language"]).loc[table.index, "avg"]
    assert (table["avg"] - same).abs().max() < 1e-5


def test_figure_3_comes_from_every_instruction_run_and_policy(tiny):
    judged = pd.read_csv(tiny / "work/6_analysis/judgements.csv")
    assert judged.groupby(["language", "policy", "run"])["id"].nunique().eq(12).all()
    assert len(judged) == 2 * 3 * 2 * 12
    table = pd.read_csv(tiny / "figure3.csv").set_index(["language", "policy", "quantity"])["value_pct"]
    wins = judged.query("language == 'es' and policy == 'base'")["win"]
    assert table["es", "base", "win rate"] == pytest.approx(100 * wins.mean())
    lead = table["ko", "english", "win rate"] - table["ko", "target", "win rate"]
    assert table["ko", "english - target", "win rate"] == pytest.approx(lead, abs=1e-4)
    for language in ("es", "ko"):
        counts = pd.read_csv(tiny / f"work/4_models/policy_data/pairs_{language}.csv")
        assert (counts["identical"] + counts["tied"] + counts["pairs"]).eq(6).all()


def test_claims_have_a_verdict_each_and_agree_with_tables_and_figures(tiny):
    claims = pd.read_csv(tiny / "transfer_claims.csv").set_index("claim")
    assert set(claims["paper"]) == {"transfer"}
    assert claims["verdict"].isin(VERDICTS).all()
    leads = pd.read_csv(tiny / "table1.csv").query("rm_training == 'delta'")["avg"]
    shares = (
        pd.read_csv(tiny / "figure1.csv").query("quantity == 'share'").groupby("rm_training")["value"].mean()
    )
    rates = pd.read_csv(tiny / "figure3.csv").query("policy == 'english - target' and quantity == 'win rate'")
    expected = {
        "english_beats_target": leads.mean(),
        "english_beats_target_everywhere": leads.min(),
        "korean_collapses_most": (shares["ko"] - shares.drop("ko")).min(),
        "english_labels_beat_or_tie": rates["value_pct"].mean(),
    }
    assert claims.loc[list(expected), "estimate"].to_dict() == pytest.approx(expected, abs=1e-5)
    note = claims.loc["multilingual_norms_are_alike", "note"]
    assert note.startswith("Cannot be tested here")  # random bases


def test_printed_tables_are_next_to_ours(tiny):
    for name in ("table1", "table2", "table3", "table6", "carb_leaderboard", "carb_think_as_locals"):
        table = pd.read_csv(tiny / f"compare/{name}.csv")
        assert (table["ours"] - table["printed"] - table["difference"]).abs().max() < 1e-5, name
        assert set(table["pairing"]) == {"models and scale differ"}, name


def test_every_column_of_texts_is_read_as_texts(tiny):
    # read_sheet reads every column of the sheet as texts.
    paths = [path for path in tiny.rglob("*.csv") if path.name != "scorers.csv"]
    found = {path.name: texts_that_may_be_numbers(path) for path in paths}
    assert {name: columns for name, columns in found.items() if columns} == {
        "carb_locals_curves.csv": ["run"]
    }


def test_scores_have_the_contracts_columns(tiny):
    for path in tiny.glob("work/5_scores/mini-*/*/*.parquet"):
        columns = list(pd.read_parquet(path).columns)
        assert columns[:5] == ["benchmark", "scorer", "language", "id", "template"]


def test_answer_only_scorers_are_at_chance_on_twins_by_construction(tiny):
    twins = pd.read_csv(tiny / "twins.csv").set_index("scorer")
    for scorer in ("length", "tfidf-answer"):
        assert twins.loc[scorer, "pair_accuracy_pct"].eq(50).all()
        assert twins.loc[scorer, "both_right_pct"].eq(0).all()
        assert twins.loc[scorer, "sum_right_pct"].eq(50).all()


def test_no_path_and_no_clock_in_artifacts_and_notebooks(tiny):
    check_pages(tiny)
    for path in [*tiny.glob("*.csv"), *tiny.glob("*.md"), *tiny.glob("work/4_models/*/training.json")]:
        text = path.read_text(encoding="utf-8")
        assert str(tiny.parents[1]) not in text
        assert "runtime" not in text


def test_each_job_wrote_its_log_and_cost(tiny):
    logs = list(tiny.glob("logs/reward_model/*.log"))
    assert len(logs) == 7  # six, and a second seed for the gate
    assert all("loss" in path.read_text(encoding="utf-8") for path in logs)
    assert len(list(tiny.glob("benchmarks/reward_model/*.tsv"))) == 7


def test_the_transfer_notebook_ran_to_its_end(tiny):
    outputs = outputs_of(tiny / "notebooks/transfer.ipynb")
    assert sum("image/png" in output["data"] for output in outputs) == 4
    (first, *_) = pd.read_csv(tiny / "table1.csv").to_dict("records")
    assert f"{first['avg']:.1f} [{first['avg_low']:.1f}, {first['avg_high']:.1f}]" in str(outputs)
