"""What the papers' printed tables say by themselves, with answers counted by hand."""

from math import sqrt

import numpy as np
import pandas as pd
import pytest
from scipy.stats import pearsonr
from support import ROOT, refused, script

from polyreward.analysis.comparison import Benchmark
from polyreward.claims.printed_checks import COLUMNS, effective_pairs, implied_n, printed_checks
from polyreward.core.tables import read_csv, write_table
from polyreward.core.yaml_files import read_yaml
from polyreward.sheet.papers import checked_tables, read_papers
from polyreward.transfer.printed_leads import plotted_leads

FACTS = read_yaml(ROOT / "workflow/catalog/benchmarks.yaml")["rewardbench"]
BENCHMARK = Benchmark("rewardbench", FACTS["sections"], FACTS["weights"])
PAPERS = {name: paper.facts for name, paper in read_papers(ROOT).items() if paper.facts.get("checks")}
TABLES = {
    f"{name}_{table}": read_csv(ROOT / f"workflow/papers/{name}/printed/{table}.csv")
    for name, facts in PAPERS.items()
    for table in checked_tables(facts)
}
LLAMA, QWEN3, QWEN7 = "Llama-3.2-3B-Instruct", "Qwen2.5-3B-Instruct", "Qwen2.5-7B-Instruct"
PAIRS = {"chat": 358, "chat_hard": 456, "safety": 740, "reasoning": 1968**2 / (984**2 / 447 + 6 * 164)}


def of_papers(tables):
    """Tables by paper, from tables by paper and table."""
    return {
        name: {key.removeprefix(f"{name}_"): one for key, one in tables.items() if key.startswith(f"{name}_")}
        for name in PAPERS
    }


def checked(**changed):
    return printed_checks(PAPERS, of_papers({**TABLES, **changed}), BENCHMARK, 0.95)


@pytest.fixture(scope="module")
def table():
    return checked()


def rows(table, check, **keys):
    found = table[table["check"] == check]
    return found[(found[list(keys)] == pd.Series(keys)).all(axis=1)] if keys else found


def half_width(*sections_of):
    """1.96 errors of the difference of two models, from their (chat, chat_hard, safety, reasoning)."""
    variance = sum(
        p * (100 - p) / n / 16
        for sections in sections_of
        for p, n in zip(sections, PAIRS.values(), strict=True)
    )
    return 1.959964 * sqrt(variance)


# English and Spanish reward models of Qwen 7B in Table 4
IN_SPANISH = half_width((82.1, 73.7, 91.4, 73.3), (84.1, 71.5, 89.9, 78.4))


def test_a_subset_that_weighs_more_than_its_pairs_counts_as_fewer_pairs():
    sizes = TABLES["transfer_rewardbench_sizes"].set_index("subset")["pairs"]
    assert sizes.sum() == 2985
    assert effective_pairs(BENCHMARK, sizes) == pytest.approx(PAIRS)
    halves = Benchmark("made up", {"chat": ["a", "b"]}, {"a": 300})
    # Half of the accuracy rests on 100 pairs: its error is half of theirs, and half of that of 300
    found = effective_pairs(halves, pd.Series({"a": 100, "b": 300}))
    assert found["chat"] == pytest.approx(1 / (0.25 / 100 + 0.25 / 300))


def test_a_lead_is_english_minus_target_with_the_error_of_both(table):
    assert list(table) == COLUMNS and len(rows(table, "lead")) == 12
    assert list(rows(table, "lead")["base_model"].unique()) == [LLAMA, QWEN3, QWEN7]  # by size
    (row,) = rows(table, "lead", base_model=QWEN7, eval_language="es").to_dict("records")
    assert (row["value"], row["n"]) == (pytest.approx(-0.9), 2985)
    assert [row["low"], row["high"]] == pytest.approx([-0.9 - IN_SPANISH, -0.9 + IN_SPANISH], abs=1e-4)


def test_the_mean_lead_has_the_mean_of_the_errors_and_shrinks_with_size(table):
    means = rows(table, "mean lead").set_index("base_model")
    assert means["value"].to_dict() == pytest.approx({LLAMA: 4.8, QWEN3: 3.225, QWEN7: 0.425})
    width = (rows(table, "lead")["high"] - rows(table, "lead")["low"]).groupby(table["base_model"]).mean()
    assert (means["high"] - means["low"]).to_dict() == pytest.approx(width.to_dict())
    assert (means["low"] > 0).to_dict() == {LLAMA: True, QWEN3: True, QWEN7: False}
    (shrinks,) = rows(table, "lead by size").to_dict("records")
    assert shrinks["what"] == f"mean lead of {QWEN3} minus {QWEN7}"
    assert shrinks["value"] == pytest.approx(2.8)
    assert shrinks["high"] - 2.8 == pytest.approx(np.hypot(width[QWEN3], width[QWEN7]) / 2)


def test_the_best_source_is_named_with_the_languages_in_which_it_leads(table):
    found = rows(table, "best source", base_model=QWEN7).set_index("what")
    assert found.loc["trained in es", "value"] == pytest.approx(76.975)
    assert found.loc["trained in en", "value"] == pytest.approx(76.025)
    best = found.index[found["note"].str.startswith("Best mean")]
    assert list(best) == ["trained in es"]
    assert "Best in 3 of 4 languages: es, it, zh." in found.loc["trained in es", "note"]
    assert "Best in 1 of 4 languages: ko." in found.loc["trained in en", "note"]
    lead = found.loc["trained in es minus trained in en"]
    assert lead["value"] == pytest.approx(0.95) and lead["low"] < 0 < lead["high"]
    for base in (LLAMA, QWEN3):
        notes = rows(table, "best source", base_model=base, what="trained in en")["note"]
        assert notes.item().startswith("Best mean of this base. Best in 4 of 4 languages")


def test_a_tie_is_best_twice():
    tied = TABLES["transfer_tables3to7"].copy()
    korean = (tied["eval_language"] == "ko") & (tied["base_model"] == QWEN7)
    tied.loc[korean & (tied["rm_language"] == "es"), "avg"] = 73.3  # as English
    found = rows(checked(transfer_tables3to7=tied), "best source", base_model=QWEN7).set_index("what")
    assert "4 of 4" in found.loc["trained in es", "note"] and "1 of 4" in found.loc["trained in en", "note"]


def test_averages_further_off_than_rounding_are_counted(table):
    found = rows(table, "average").set_index("tables")
    assert list(found.index) == ["Table 1", *(f"Table {n}" for n in range(3, 8)), "Think-as-Locals"]
    assert (found["value"] == 0).all() and found["n"].tolist() == [16] * 6 + [7]
    wrong = TABLES["carb_think_as_locals"].copy()
    wrong.loc[0, "avg"] = 69.9 + 0.06  # 0.11 from 69.85
    wrong.loc[1, "avg"] = 79.7  # 0.1 from 79.6: what rounding allows
    found = rows(checked(carb_think_as_locals=wrong), "average", tables="Think-as-Locals")
    assert found["value"].item() == 1 and "0.110" in found["note"].item()


def test_rows_with_two_sections_alike_are_named(table):
    found = rows(table, "copied").set_index("tables")
    assert found["value"].to_dict() == {"Table 5": 1} | dict.fromkeys(found.index.drop("Table 5"), 0)
    said = f"{LLAMA} it and {LLAMA} zh: chat 75.4, chat_hard 62.5."
    assert said in found.loc["Table 5", "note"] and found.loc["Table 5", "n"] == 16 * 15 / 2
    assert found.loc["Table 5", "note"].startswith("By chance: 0.")


def test_numbers_that_two_tables_print_differently_are_counted(table):
    found = rows(table, "same numbers")
    assert (found["value"].tolist(), found["n"].tolist()) == ([0, 0], [80, 5])
    other = TABLES["transfer_tables3to7"].copy()
    other.loc[other["eval_language"] == "zh", ["safety", "avg"]] += 0.1
    found = rows(checked(transfer_tables3to7=other), "same numbers")
    assert found["value"].tolist() == [2 * 4, 1]


def test_neighbours_of_the_leaderboard_differ_by_their_binomial_error(table):
    found = rows(table, "rank")
    assert found["value"].tolist() == pytest.approx([0.6, 1.2, 0.2, 1.5, 2.0])
    reach = 1.959964 * 100 * sqrt((0.765 * 0.235 + 0.759 * 0.241) / 8576)
    assert found["high"].iloc[0] == pytest.approx(0.6 + reach, abs=1e-4)
    assert (found["low"] > 0).tolist() == [False, False, False, True, True]


def test_r_squared_and_p_imply_the_n_of_a_correlation(table):
    x, y = np.random.default_rng(3).normal(size=(2, 23))
    r, p = pearsonr(x, y)
    assert implied_n(r**2, p) == pytest.approx(23)
    found = rows(table, "correlation").set_index("what")
    assert found.loc["n of CARB and BLEnD", "value"] == pytest.approx(17, abs=0.05)
    assert found.loc["n that all rows allow", ["value", "note"]].tolist() == [17, "Whole numbers that fit all 4 rows: 17."]  # fmt: skip
    wrong = TABLES["carb_correlation"].copy()
    wrong.loc[0, "p_value"] = 9.43e-4
    row = rows(checked(carb_correlation=wrong), "correlation", what="n that all rows allow").iloc[0]
    assert np.isnan(row["value"]) and row["note"].endswith("rows: none.")


def test_a_gain_is_the_trained_judge_minus_its_base(table):
    found = rows(table, "gain")
    assert found["value"].tolist() == pytest.approx([3.3, 16.2, 3.6, 18.5, 3.5, 12.9])
    assert found["low"].isna().all() and found["note"].str.startswith("No interval").all()


def test_a_third_paper_is_checked_by_what_its_folder_says():
    facts = {
        "arxiv": "2601.00001",
        "tables": {"board": {"where": "Table 9", "keys": ["name"], "averages": {"mean": ["a", "b"]}}},
        "checks": {
            "average": {"tables": ["board"]},
            "rank": {
                "table": "board",
                "called": "its board",
                "column": "mean",
                "items": 100,
                "note": "Made up.",
            },
        },
    }
    board = pd.DataFrame({"name": ["x", "y"], "a": [80.0, 60.0], "b": [70.0, 50.0], "mean": [75.0, 50.0]})
    found = printed_checks({"third": facts}, {"third": {"board": board}}, BENCHMARK, 0.95)
    assert set(found["paper"]) == {"third"} and found["check"].tolist() == ["average", "rank"]
    assert found["tables"].tolist() == ["Table 9", "its board"] and found["value"].tolist() == [1, 25]
    reach = 1.959964 * 100 * sqrt((0.75 * 0.25 + 0.5 * 0.5) / 100)
    assert found["high"].iloc[1] == pytest.approx(25 + reach, abs=1e-4)
    said = refused(
        printed_checks, {"third": facts}, {"third": {"board": board.drop(columns="b")}}, BENCHMARK, 0.95
    )
    assert "workflow/papers/third/printed/board.csv: no column `b`" in said


def test_all_that_is_wrong_in_the_files_is_named_at_once():
    bad = {
        "transfer_table1": TABLES["transfer_table1"].drop(columns="safety"),
        "carb_leaderboard": TABLES["carb_leaderboard"].assign(carb_avg="about 70"),
        "transfer_rewardbench_sizes": TABLES["transfer_rewardbench_sizes"].query("subset != 'math-prm'"),
    }
    said = refused(checked, **bad)
    assert "3 problems" in said
    assert "workflow/papers/transfer/printed/table1.csv: no column `safety`" in said
    assert (
        "workflow/papers/carb/printed/leaderboard.csv:2: `carb_avg` is no number; run `git checkout workflow/papers/carb/printed/leaderboard.csv`"
        in said
    )
    assert "rewardbench_sizes.csv: no row of `math-prm`" in said
    tables = {file: table for file, table in TABLES.items() if file != "carb_correlation"}
    assert "carb/printed/correlation.csv: no such file" in refused(
        printed_checks, PAPERS, of_papers(tables), BENCHMARK, 0.95
    )


def test_the_table_for_readers_has_signs_counts_and_intervals(table):
    shown = script("artifacts/printed").display_checks(table, "95%")
    assert len(shown) == len(table) and not shown.isna().any().any()
    values = shown.set_index(["Check", "Base", "What"])["Value [95%]"]
    assert values["mean lead", QWEN7, "English minus target, mean over languages"] == "+0.4 [-2.1, +2.9]"
    assert set(shown[shown["Check"] == "average"]["Value [95%]"]) == {"0"}


def test_the_figure_plots_the_leads_and_their_means(table):
    leads = plotted_leads(table)
    assert len(leads) == 15 and leads["eval_language"].tolist()[-3:] == ["mean"] * 3


def test_the_table_of_the_documents_is_what_the_printed_tables_say(table, tmp_path):
    """Renew it as docs/results/printed.md says."""
    write_table(table, tmp_path / "printed.csv", COLUMNS)
    assert (tmp_path / "printed.csv").read_bytes() == (ROOT / "docs/data/printed/printed.csv").read_bytes()
