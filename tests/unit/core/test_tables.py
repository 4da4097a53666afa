"""Tables as CSV, Markdown and LaTeX, the layout of Table 1, and the costs of jobs."""

import math
import re
from types import SimpleNamespace

import pandas as pd
import pytest

from polyreward import cli
from polyreward.artifacts.renderings import (
    write_artifact,
    write_html,
    write_latex,
    write_markdown,
)
from polyreward.core.errors import PolyrewardError
from polyreward.core.tables import (
    as_markdown,
    as_written,
    parse_score_path,
    read_csv,
    read_exact,
    read_scores,
    read_table,
    unavailable_reasons,
    write_csv,
    write_exact,
    write_scores,
    write_sealed,
    write_table,
    write_unavailable,
)
from polyreward.ops.costs import COST_COLUMNS, job_costs, jobs_run, too_little_asked
from polyreward.transfer.tables import display_language_table, display_ready_made, display_table1

TABLE = pd.DataFrame({"name": ["a", "b"], "value": [0.1, 2 / 3], "count": [1, 2]})
COLUMNS = ["name", "value", "count"]


def test_numbers_have_six_digits_and_whole_numbers_none(tmp_path):
    write_table(TABLE, tmp_path / "t.csv", COLUMNS)
    assert (tmp_path / "t.csv").read_bytes() == b"name,value,count\na,0.100000,1\nb,0.666667,2\n"


def test_a_language_called_nan_is_not_missing_and_a_name_stays_text(tmp_path):
    table = pd.DataFrame({"eval_language": ["nan", "es"], "scorer": ["001", "002"], "avg": [1.5, None]})
    write_csv(table, tmp_path / "t.csv")
    pd.testing.assert_frame_equal(read_csv(tmp_path / "t.csv"), table)


def test_a_table_is_read_back(tmp_path):
    write_table(TABLE, tmp_path / "t.csv", COLUMNS)
    pd.testing.assert_frame_equal(read_table(tmp_path / "t.csv", COLUMNS), TABLE.round(6))


@pytest.mark.parametrize(
    ("table", "message"),
    [
        (TABLE.drop(columns="value"), r"missing columns \['value'\], unknown columns \[\]"),
        (TABLE.assign(more=1), r"missing columns \[\], unknown columns \['more'\]"),
        (TABLE.iloc[:0], "t.csv: the table has no rows"),
    ],
)
def test_a_table_with_other_columns_or_no_rows_is_neither_written_nor_read(tmp_path, table, message):
    with pytest.raises(PolyrewardError, match=message):
        write_table(table, tmp_path / "t.csv", COLUMNS)
    assert list(tmp_path.iterdir()) == []
    table.to_csv(tmp_path / "t.csv", index=False)
    with pytest.raises(PolyrewardError, match=message):
        read_table(tmp_path / "t.csv", COLUMNS)


def test_an_older_table_survives_a_bad_one(tmp_path):
    write_table(TABLE, tmp_path / "t.csv", COLUMNS)
    with pytest.raises(PolyrewardError):
        write_table(TABLE.iloc[:0], tmp_path / "t.csv", COLUMNS)
    assert len(read_table(tmp_path / "t.csv", COLUMNS)) == 2


def outputs(folder):
    return SimpleNamespace(**{kind: str(folder / f"t.{kind}") for kind in ("csv", "md", "tex", "html")})


def test_an_artifact_is_written_as_csv_markdown_latex_and_html(tmp_path):
    output = outputs(tmp_path)
    write_artifact(TABLE, COLUMNS, "The caption.", "results", output)
    assert "0.666667" in (tmp_path / "t.csv").read_text()
    assert "| b      | 0.7     | 2       |" in (tmp_path / "t.md").read_text()
    assert r"\label{tab:results}" in (tmp_path / "t.tex").read_text()
    assert re.findall("<td>(.*)</td>", (tmp_path / "t.html").read_text()) == [
        "a",
        "0.1",
        "1",
        "b",
        "0.7",
        "2",
    ]


def test_markdown_has_the_caption_above_and_text_as_it_is(tmp_path):
    write_markdown(pd.DataFrame({"a": ["1.50", "+2"], "b": ["x", ""]}), "A caption", tmp_path / "t.md")
    lines = (tmp_path / "t.md").read_text().splitlines()
    assert lines[:2] == ["A caption", ""]
    assert [cell.strip() for cell in lines[4].strip("|").split("|")] == [
        "1.50",
        "x",
    ]  # a number keeps its digits
    assert [cell.strip() for cell in lines[5].strip("|").split("|")] == ["+2", ""]


def test_markdown_escapes_a_bar(tmp_path):
    write_markdown(pd.DataFrame({"a": ["x|y"]}), "A caption", tmp_path / "t.md")
    assert r"x\|y" in (tmp_path / "t.md").read_text()


@pytest.mark.parametrize(
    ("text", "escaped"),
    [
        ("a_b", r"a\_b"), ("R&D", r"R\&D"), ("5%", r"5\%"), ("$1", r"\$1"), ("#1", r"\#1"),
        ("\u0394", r"$\Delta$"), ("\u22121.5", "$-$1.5"),
    ],
)  # fmt: skip
def test_latex_escapes_cells_headings_and_captions(tmp_path, text, escaped):
    table = pd.DataFrame({f"head {text}": [f"cell {text}"], "other": ["x"]})
    write_latex(table, f"caption {text}", "tab:t", tmp_path / "t.tex")
    written = (tmp_path / "t.tex").read_text()
    assert all(f"{place} {escaped}" in written for place in ("head", "cell", "caption"))


@pytest.mark.parametrize("character", ["{", "}", "\\", "~", "^"])
def test_latex_escapes_every_special_character(tmp_path, character):
    write_latex(pd.DataFrame({"a": [f"x{character}y"], "b": ["z"]}), "caption", "tab:t", tmp_path / "t.tex")
    assert f"x{character}y" not in (tmp_path / "t.tex").read_text()


def test_html_escapes_what_it_shows_and_cuts_nothing(tmp_path):
    write_html(
        pd.DataFrame({"a<b": ["R&D " * 40], "c": ["\u0394"]}), "caption 1 < 2", "table1", tmp_path / "t.html"
    )
    written = (tmp_path / "t.html").read_text(encoding="utf-8")
    assert (
        "<p>caption 1 &lt; 2</p>" in written and "<th>a&lt;b</th>" in written and "<td>\u0394</td>" in written
    )
    assert written.count("R&amp;D") == 40


def test_html_has_both_levels_of_a_heading(tmp_path):
    columns = pd.MultiIndex.from_tuples([("", "RM"), ("gemma", "Chat"), ("gemma", "Safety")])
    write_html(pd.DataFrame([["x", "y", "z"]], columns=columns), "caption", "table1", tmp_path / "t.html")
    assert re.search('<th colspan="2".*>gemma</th>', (tmp_path / "t.html").read_text())


PAIRS = pd.DataFrame({"id": ["a", "b"], "score_chosen": [0.1 + 0.2, 1.0], "score_rejected": [-1e-9, 0.0]})
MINE = {"benchmark": "bench", "scorer": "rm", "language": "es"}


def score_files(folder, **tables):
    """Write a score file for each {scorer: table} and return the paths."""
    for scorer, table in tables.items():
        write_scores(table, folder / f"{scorer}.parquet", **MINE | {"scorer": scorer})
    return [folder / f"{scorer}.parquet" for scorer in tables]


def test_a_score_file_says_what_it_is_and_loses_no_digit(tmp_path):
    write_scores(PAIRS, tmp_path / "s.parquet", **MINE)
    expected = PAIRS.assign(**MINE)[[*MINE, *PAIRS]]
    for table in (pd.read_parquet(tmp_path / "s.parquet"), read_scores(tmp_path / "s.parquet")):
        pd.testing.assert_frame_equal(table, expected, check_exact=True)


def test_rows_of_several_languages_keep_their_own(tmp_path):
    write_scores(PAIRS.assign(language=["es", "ko"]), tmp_path / "s.parquet", benchmark="bench", scorer="rm")
    assert read_scores(tmp_path / "s.parquet")["language"].tolist() == ["es", "ko"]


def test_several_score_files_are_one_table_in_their_order(tmp_path):
    paths = score_files(tmp_path, b=PAIRS, a=PAIRS.assign(within_noise=True))
    assert read_scores(paths)["scorer"].tolist() == ["b", "b", "a", "a"]
    assert read_scores(map(str, paths))["within_noise"].isna().sum() == 2


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_a_score_that_is_not_finite_is_neither_written_nor_read(tmp_path, value):
    bad = PAIRS.assign(score_rejected=[0.0, value])
    message = r"rm.parquet: 1 values of score_rejected are NaN or infinite \(first: id b\). Delete the file"
    with pytest.raises(PolyrewardError, match=message):
        score_files(tmp_path, rm=bad)
    assert list(tmp_path.iterdir()) == []
    write_sealed(bad.assign(**MINE), tmp_path / "rm.parquet")
    with pytest.raises(PolyrewardError, match=message):
        read_scores([tmp_path / "rm.parquet"])


def test_all_problems_of_score_files_are_told_at_once(tmp_path):
    for name, missing in (("one", "id"), ("two", "scorer")):
        write_sealed(PAIRS.assign(**MINE).drop(columns=missing), tmp_path / f"{name}.parquet")
    with pytest.raises(
        PolyrewardError, match=r"(?s)2 problems.*one.parquet: no column id.*two.parquet: no column"
    ):
        read_scores([tmp_path / "one.parquet", tmp_path / "two.parquet"])


def test_the_same_pair_twice_is_an_error_that_names_both_files(tmp_path):
    write_scores(PAIRS, tmp_path / "one.parquet", **MINE)
    write_scores(PAIRS.iloc[1:], tmp_path / "two.parquet", **MINE)
    with pytest.raises(
        PolyrewardError, match="one.parquet and .*two.parquet: bench, rm, es, b has two scores"
    ):
        read_scores([tmp_path / "one.parquet", tmp_path / "two.parquet"])


def test_scores_of_pairs_and_of_items_are_not_read_together(tmp_path):
    items = pd.DataFrame({"id": ["a", "a"], "candidate": [0, 1], "score": [1.0, 2.0]})
    with pytest.raises(
        PolyrewardError, match="b.parquet has score, but .*a.parquet has score_chosen, score_rej"
    ):
        read_scores(score_files(tmp_path, a=PAIRS, b=items))


def test_a_file_without_rows_says_whose_scores_are_unavailable_and_why(tmp_path):
    paths = [*score_files(tmp_path, rm=PAIRS), tmp_path / "gone.parquet"]
    write_unavailable("the hub has no such model", paths[1], **MINE | {"scorer": "gone"})
    assert read_scores(paths)["scorer"].unique().tolist() == ["rm"]
    assert unavailable_reasons(paths) == {"gone": "the hub has no such model"}
    assert read_scores(paths[1]).empty and unavailable_reasons(paths[0]) == {}


def test_a_path_of_scores_names_what_the_file_holds():
    assert parse_score_path("results/work/5_scores/bench/rm/es.parquet") == MINE


def test_scores_are_of_the_file_as_it_was_written(tmp_path):
    (path,) = score_files(tmp_path, rm=PAIRS)
    path.write_bytes(path.read_bytes().replace(b"rm", b"rn", 1))
    with pytest.raises(PolyrewardError, match="changed since it was made"):
        read_scores([path])


def table1_row(base, language, training, value):
    sections = {}
    for name in ("chat", "chat_hard", "safety", "reasoning"):
        sections |= {name: value, f"{name}_low": value - 9, f"{name}_high": value + 9}
    row = {"base_model": base, "eval_language": language, "rm_training": training, **sections}
    over_seeds = {
        "n_seeds": 1,
        "avg_sd": float("nan"),
        "avg_se": 4.0,
        "avg_se_trainings": 0.0,
        "p_seeds": float("nan"),
    }
    return {**row, **over_seeds, "avg": value, "avg_low": value - 1.26, "avg_high": value + 1, "n_pairs": 10, "n_templates": 9,
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


def test_table_1_shows_differences_with_their_sign_and_averages_with_their_interval():
    shown = display_table1(TABLE1, "95%")["gemma"]
    assert shown["Chat"].tolist() == [
        "60.0 [51, 69]",
        "62.5 [54, 72]",
        "+2.5 [-6, +12]",
        "60.0 [51, 69]",
        "62.5 [54, 72]",
        "-2.5 [-12, +6]",
    ]
    assert shown["Avg. [95%], n=9"].iloc[[0, 2, 5]].tolist() == [
        "60.0 [58.7, 61.0]",
        "+2.5 [+1.2, +3.5]",
        "-2.5 [-3.8, -1.5]",
    ]


def test_where_languages_have_unequal_numbers_of_templates_each_has_its_own():
    shown = display_table1(
        TABLE1.assign(n_templates=TABLE1["eval_language"].map({"ko": 7}).fillna(9).astype(int)), "95%"
    )
    assert [name.split(", ")[1] for name in shown["", "RewardBench"].unique()] == ["n=9", "n=7"]
    assert shown["gemma"].columns[-1] == "Avg. [95%]"
    assert not shown.isna().any(axis=None)


def test_an_average_over_seeds_has_its_standard_deviation():
    shown = display_table1(TABLE1.assign(n_seeds=3, avg_sd=1.24), "95%")["gemma"]
    assert shown["Avg. [95%], n=9"].iloc[0] == "60.0 \u00b1 1.2 [58.7, 61.0]"


def test_table_2_has_reward_models_down_and_languages_across():
    row = {
        "chat": 60.0,
        "chat_hard": 50.0,
        "safety": 40.0,
        "reasoning": 30.0,
        "avg": 45.0,
        "avg_low": 41.26,
        "avg_high": 50.0,
    }
    table = pd.DataFrame([
        {**row, "reward_model": name, "kind": kind, "eval_language": language, "n_templates": templates}
        for name, kind in (("z-judge", "generative"), ("a-rm", "classifier")) for language, templates in (("en", 9), ("ko", 7))
    ])  # fmt: skip
    shown = display_ready_made(table, "95%")
    assert list(shown.columns) == ["Reward model", "Kind", "English [95%], n=9", "Korean [95%], n=7"]
    assert shown["Reward model"].tolist() == ["z-judge", "a-rm"]
    assert shown["Korean [95%], n=7"].tolist() == ["45.0 [41.3, 50.0]"] * 2


def test_table_1_needs_every_row_once():
    with pytest.raises(ValueError):
        display_table1(TABLE1.iloc[1:], "95%")


def test_tables_3_to_7_name_the_base_or_the_reward_model_from_elsewhere():
    sections = {"chat": 60.0, "chat_hard": 50.0, "safety": 40.0, "reasoning": 30.0}
    ends = {f"{name}{end}": value for name, value in sections.items() for end in ("_low", "_high")}
    row = {**sections, **ends, "avg": 45.0, "avg_low": 41.26, "avg_high": 50.0, "n_templates": 9}
    table = pd.DataFrame([
        {**row, "reward_model": "my-rm", "base_model": None, "rm_training": None},
        {**row, "reward_model": "gemma_ko", "base_model": "gemma", "rm_training": "ko"},
    ])  # fmt: skip
    shown = display_language_table(table, "95%")
    assert shown["Base"].tolist() == ["my-rm", "gemma"]
    assert shown["RM"].tolist() == ["", "Korean"]
    assert shown["Avg. [95%], n=9"].tolist() == ["45.0 [41.3, 50.0]"] * 2
    assert list(shown.columns) == ["Base", "RM", "Chat", "Chat(H)", "Safety", "Reason", "Avg. [95%], n=9"]


def job(folder, rule, name, seconds, cpu, memory):
    (folder / rule).mkdir(exist_ok=True)
    (folder / rule / f"{name}.tsv").write_text(
        f"s\th:m:s\tmax_rss\tcpu_time\n{seconds}\t0:00:01\t{memory}\t{cpu}\n"
    )


def log(folder, rule, name, text):
    path = folder.parent / "logs" / rule / f"{name}.log"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def test_what_was_asked_for_stands_beside_what_was_taken(tmp_path):
    folder = tmp_path / "benchmarks"
    folder.mkdir()
    for name, taken, asked in (("a", 1000, "mem_mb=1048"), ("b", 2000, "mem_mb=2098 gpu=1"), ("c", 500, "")):
        job(folder, "train", name, 10, 20, taken)
        log(folder, "train", name, f"asked for: {asked}\nasked for: mem_mb=1\n")
    job(folder, "score", "a", 1, 1, 300)
    log(folder, "score", "a", "INFO: nothing of the kind\n")
    job(folder, "table", "a", 0.5, 1, "-")
    log(folder, "table", "a", "asked for: mem_mb=500\n")
    table = job_costs(jobs_run(folder)).set_index("rule")
    assert table.loc["train", ["asked_mb", "jobs_over"]].tolist() == [2098, 1]  # a took 1,048.6
    assert table.loc["train", "peak_mb"] == pytest.approx(2097.152)
    assert math.isnan(table.loc["score", "asked_mb"])
    assert table["jobs_over"].sum() == 1
    assert "- train a: took 1,049 MB and asked for 1,048" in too_little_asked(jobs_run(folder))
    assert too_little_asked(jobs_run(folder)).count("\n") == 1


def test_a_folder_without_costs_is_named_with_what_to_do(tmp_path, capsys):
    (tmp_path / "benchmarks").mkdir()
    job(tmp_path / "benchmarks", "train", "a", 5, 4, 100)
    assert cli.main(["costs", str(tmp_path)]) == 0
    assert "| train  |      1 |" in capsys.readouterr().out
    for folder, words in (
        ("none", "no such folder"),
        ("benchmarks", "no benchmark files; make a table first"),
    ):
        assert cli.main(["costs", str(tmp_path / folder)]) == 1
        assert f"{folder}/benchmarks: {words}, or name another results folder" in capsys.readouterr().err


def test_a_name_like_a_number_stays_text_where_it_is_printed_and_read(tmp_path):
    table = pd.DataFrame({"subset": ["001", "1e3", "NA"], "accuracy_pct": [50.0, 75.0, 100.0]})
    assert [line.split("|")[1].strip() for line in as_markdown(table, floatfmt=".1f").splitlines()[2:]] == [
        "001", "1e3", "NA",
    ]  # fmt: skip
    assert "50.0 |" in as_markdown(table, floatfmt=".1f")
    write_table(table, tmp_path / "a.csv", list(table.columns))
    read = read_table(tmp_path / "a.csv", list(table.columns))
    assert read["subset"].tolist() == ["001", "1e3", "NA"] and read["accuracy_pct"].sum() == 225


def test_costs_are_summed_per_rule_the_dearest_first(tmp_path):
    job(tmp_path, "score", "a", 5, 4, 100)
    job(tmp_path, "train", "a", 10, 20, 300)
    job(tmp_path, "train", "b", 30, 50, 200)
    job(tmp_path, "train", "not measured", 10, "-", "-")
    table = job_costs(jobs_run(tmp_path))
    assert table.columns.tolist() == COST_COLUMNS
    assert table[COST_COLUMNS[:5]].values.tolist() == [["train", 3, 50, 30, 70], ["score", 1, 5, 5, 4]]
    assert table["peak_mb"].tolist() == pytest.approx([300 * 1.048576, 100 * 1.048576])
    assert too_little_asked(jobs_run(tmp_path)) == ""


def test_a_table_for_later_steps_keeps_every_digit_and_what_is_missing(tmp_path):
    table = pd.DataFrame(
        {"name": ["a", None], "value": [1 / 3, float("nan")], "count": pd.array([1, None], dtype="Int64")}
    )
    write_exact(table, tmp_path / "t.parquet", ["name", "value", "count"])
    again = read_exact(tmp_path / "t.parquet", ["name", "value", "count"])
    pd.testing.assert_frame_equal(again, table)
    with pytest.raises(PolyrewardError, match="unknown columns \\['count'\\]"):
        read_exact(tmp_path / "t.parquet", ["name", "value"])
    with pytest.raises(PolyrewardError, match="missing columns \\['more'\\]"):
        write_exact(table, tmp_path / "t.parquet", ["name", "value", "count", "more"])


def test_what_is_drawn_has_the_digits_of_its_csv_file(tmp_path):
    table = pd.DataFrame({"name": ["a", "b"], "value": [2 / 3, 1e-7]})
    assert as_written(table)["value"].tolist() == [0.666667, 0.0]
