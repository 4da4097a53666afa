"""Tables as the page shows them."""

import pandas as pd
import pytest
from support import ROOT

from polyreward.artifacts.renderings import write_html
from polyreward.report.artifacts import printed_table
from polyreward.report.tables import read_csv_table, read_rendered, table_of


@pytest.mark.parametrize(
    ("cells", "numeric"),
    [
        (["1", "-2.5", "+0.0"], True),
        (["50.0 [39.9, 58.5]", "61.5 ± 2.0 [40, 78]", ""], True),
        (["1,024", "12%", "\u22123", "0.010 (0.200)", "<0.001 (0.200)", "1e-05"], True),
        (["", ""], False),
        (["3B", "7"], False),
        (["12 templates"], False),
        (["2024-05-01"], False),
    ],
)
def test_a_column_is_of_numbers_where_every_cell_is(cells, numeric):
    assert table_of([], ["x"], [[cell] for cell in cells]).numeric == [numeric]


def test_a_rendered_table_is_read_back_as_it_was_written(tmp_path):
    cells = [["<b>&amp;", "1.0 [0, 2]"], ["x y", ""]]
    shown = pd.DataFrame(cells, columns=pd.MultiIndex.from_tuples([("top", "a & b"), ("top", "c")]))
    write_html(shown, "<p>A caption.", "name", tmp_path / "t.html")
    found = read_rendered(tmp_path / "t.html")
    assert (found.above, found.heads, found.rows) == ([[("top", 2)]], ["a & b", "c"], cells)
    assert found.numeric == [False, True]


def test_data_alone_is_shown_with_one_digit(tmp_path):
    (tmp_path / "t.csv").write_text("name,share,n\na,0.25,3\n,1.0,4\n", encoding="utf-8")
    found = read_csv_table(tmp_path / "t.csv")
    assert (found.heads, found.rows) == (["name", "share", "n"], [["a", "0.2", "3"], ["", "1.0", "4"]])
    (tmp_path / "t.csv").write_text("reward_model,share\nNA,0.25\n1.10,0.25\n", encoding="utf-8")
    assert read_csv_table(tmp_path / "t.csv").rows == [["NA", "0.2"], ["1.10", "0.2"]]


def test_the_average_is_the_first_number_under_each_head():
    above = [[("", 1), ("A", 3), ("B", 2)]]
    found = table_of(
        above, ["RM", "Chat", "Code", "Avg. [95%]", "Chat", "Average"], [["x", "1", "2", "3", "4", "5"]]
    )
    assert found.heads == ["RM", "Avg. [95%]", "Chat", "Code", "Average", "Chat"]
    assert (found.above, found.rows) == (above, [["x", "3", "1", "2", "5", "4"]])
    assert table_of([], ["Average price", "n"], [["high", "1"]]).heads == ["Average price", "n"]  # no number


def test_printed_numbers_are_in_the_words_of_our_tables(tmp_path):
    path = tmp_path / "p.csv"
    path.write_text(
        "table,eval_language,base_model,rm_training,chat,avg\n4,es,b,target,1,2\n4,ko,b,delta,3,4\n"
    )
    whole, spanish = printed_table(path, None), printed_table(path, "es")
    assert whole.heads == ["RewardBench", "Base", "RM", "Avg.", "Chat"]
    assert whole.rows == [["Spanish", "b", "Target", "2", "1"], ["Korean", "b", "\u0394", "4", "3"]]
    assert (spanish.heads, spanish.rows) == (["Base", "RM", "Avg.", "Chat"], [["b", "Target", "2", "1"]])
    for name in (
        "transfer/printed/table2",
        "carb/printed/think_as_locals",
        "carb/printed/perturbation",
        "carb/printed/correlation",
        "carb/printed/leaderboard",
    ):
        heads = printed_table(ROOT / f"workflow/papers/{name}.csv", None).heads
        assert not [head for head in heads if "_" in head or head.islower() and head != "p"], heads
