"""The documents' numbers come from docs/data/: markers are filled, and no page types a measurement by hand."""

import os
import re
import subprocess
import sys
from types import SimpleNamespace

import pytest
from support import ROOT

sys.path.insert(0, str(ROOT / "docs"))

import fill  # noqa: E402
import pandas as pd  # noqa: E402

from polyreward.core.errors import PolyrewardError  # noqa: E402
from polyreward.core.files import sha256_of  # noqa: E402
from polyreward.core.seals import read_sums  # noqa: E402

TABLE = "name,count,of,low\na,2,16,-0.26\nb,14,16,\n"


@pytest.fixture
def data(tmp_path):
    (tmp_path / "mini").mkdir()
    (tmp_path / "mini/summary.csv").write_text(TABLE)
    (tmp_path / "mini/p.csv").write_text(
        "model,p,p_holm\n1.10,3.00e-09,0.012300\nnan,,\n0.1234567,0.500000,1.000000\n"
    )
    (tmp_path / "mini/table1.md").write_text("A caption.\n\n| x |\n|---|\n| 1 |\n")
    return tmp_path


def value(marker: str, data, kind: str = "value") -> str:
    return fill.page(f"There are <!-- {kind} {marker} -->old<!-- end -->.", data)


@pytest.mark.parametrize(
    ("marker", "shown"),
    [
        ("mini/summary.csv name=a: {count:word} of {of}", "two of 16"),
        ("mini/summary.csv name=b: {count:word}", "14"),
        ("mini/summary.csv name=a: {low:+.1f}", "-0.3"),
        ("mini/summary.csv name!=a: {name} [{low:.1f}]", "b []"),
        ("mini/summary.csv name=a: {count:time}", "2 s"),
        ("mini/p.csv model=1.10: {model} {p:p} ({p_holm:p})", "1.10 &lt;0.001 (0.012)"),
        ("mini/p.csv model=nan: {model} {p:p}{p_holm:p}", "nan "),
        ("mini/p.csv model=0.1234567: {model} {p:.3f}", "0.1234567 0.500"),
        ("mini/none.csv name=a: {count}", "*not run yet*"),
        ("mini/summary.csv+table1.md name=a: {count}", "2"),
        ("mini/summary.csv+table2.csv name=a: {count}", "*not run yet*"),
    ],
)
def test_a_value_is_put_between_its_marks_and_filling_again_changes_nothing(data, marker, shown):
    once = value(marker, data)
    assert once == f"There are <!-- value {marker} -->{shown}<!-- end -->."
    assert fill.page(once, data) == once


def test_a_table_has_the_columns_that_its_marker_names_or_those_of_the_run(data):
    marker = "<!-- table mini/summary.csv name=a,b: Name = {name} | Share = {count} of {of} -->"
    rows = "| Name | Share |\n| --- | --- |\n| a | 2 of 16 |\n| b | 14 of 16 |"
    page = fill.page(f"{marker}\nold\n<!-- end -->\n", data)
    assert page == f"{marker}\n\n{rows}\n\n<!-- end -->\n"
    assert fill.page(page, data) == page
    after = "After: <!-- value mini/summary.csv name=a: {of} --><!-- end -->."
    rendered = fill.page(f"<!-- table mini/table1.md -->\n<!-- end -->\n\n{after}", data)
    assert rendered.split("\n\n")[1] == "| x |\n|---|\n| 1 |"
    assert rendered.split("<!-- end -->\n\n")[1].startswith("After: ")


def test_a_mean_is_of_all_rows_that_meet_the_conditions_and_needs_numbers(data):
    assert "-->8.0 of 16<!--" in value("mini/summary.csv: {count:.1f} of {of}", data, "mean")
    assert "-->14<!--" in value("mini/summary.csv name=b: {count}", data, "mean")
    for column in ("low", "name"):  # an empty cell, a text
        with pytest.raises(PolyrewardError, match="cannot be filled"):
            value(f"mini/summary.csv: {{{column}}}", data, "mean")


def test_a_count_is_of_all_rows_or_of_those_that_meet_other_conditions(data):
    (data / "mini/table1.csv").write_text("kind,low\na,0.5\na,0\na,-1\na,\nb,2\n")

    def counted(conditions: str) -> str:
        text = value(f"mini/table1.csv {conditions}: {{count}} of {{of}}", data, "count")
        return text.split("-->")[1].removesuffix("<!-- end ")

    assert counted("low>0 of kind=a") == "1 of 4"
    assert counted("low<0 of kind=a low!=") == "1 of 3"
    assert counted("kind!=a low>1.5") == "1 of 5"
    assert counted("low=7 of kind=b") == "0 of 1"


def test_a_rendered_table_may_leave_out_rows(data):
    (data / "mini/power.md").write_text("| Claim |\n|---|\n| carb 1: a |\n| carb 4: b |\n")
    page = fill.page("<!-- table mini/power.md without=carb~4 -->\n<!-- end -->", data)
    assert page.split("\n\n")[1] == "| Claim |\n|---|\n| carb 1: a |"
    with pytest.raises(PolyrewardError, match="no row of the table begins with `| carb 5`"):
        fill.page("<!-- table mini/power.md without=carb~5 -->\n<!-- end -->", data)


@pytest.mark.parametrize(
    ("marker", "problem"),
    [
        ("mini/summary.csv nme=a: {count}", "has no column `nme`; it has name, count, of, low"),
        ("mini/summary.csv name=c: {count}", "has no row with name=c"),
        ("mini/summary.csv of=16: {count}", "2 rows have of=16; a value needs one"),
        ("mini/summary.csv name=a: {cnt}", "cannot be filled"),
        ("mini/summary.csv name~a: {count}", "`name~a` is no condition, such as column=value or column>0"),
        ("mini/summary.csv name>0: {count}", "name>0 compares what is no number"),
        ("mini/summary.csv name=a: {of} --> and <!-- table mini/table1.md", "no <!-- end -->"),
    ],
)
def test_a_wrong_marker_is_named(data, marker, problem):
    with pytest.raises(PolyrewardError, match=re.escape(problem)):
        value(marker, data)


def test_the_rules_of_verdicts_are_counted_by_when_they_were_written(data, tmp_path, monkeypatch):
    for paper, written in (("transfer", ["before", "later"]), ("carb", ["known", "later"])):
        folder = tmp_path / "workflow/papers" / paper
        folder.mkdir(parents=True)
        text = "".join(f"claim_{place}: {{written: {one}}}\n" for place, one in enumerate(written))
        (folder / "claims.yaml").write_text(text)
    monkeypatch.setattr(fill, "ROOT", tmp_path)
    shown = value("rules: {later:word} of {all} later, {known} known", data)
    assert "-->two of 4 later, 1 known<!--" in shown


def planned(monkeypatch, *artifacts: str) -> None:
    """Let the plan of every scale have these artifacts."""
    files = {"input": [f"results/{name}" for name in artifacts], "output": ["results/SHA256SUMS"]}
    sums = SimpleNamespace(rule=SimpleNamespace(name="artifact_sums"), **files)
    monkeypatch.setattr(fill, "planned_jobs", lambda overlays: [sums])


def test_a_run_that_is_not_whole_is_refused_before_anything_is_copied(tmp_path, monkeypatch):
    (tmp_path / "project/results").mkdir(parents=True)
    (tmp_path / "project/results/table1.csv").touch()
    planned(monkeypatch, "table1.csv", "table2.csv", "compare/table1.csv")
    said = "2 tables and figures are missing: compare/table1.csv, table2.csv"
    with pytest.raises(PolyrewardError, match=said):
        fill.take(tmp_path / "project/results", tmp_path / "docs/data")
    assert not (tmp_path / "docs").exists()


@pytest.mark.parametrize("partial", [False, True])
def test_a_run_s_tables_costs_machine_and_commit_are_copied(tmp_path, monkeypatch, partial):
    results = tmp_path / "project/results"
    for name, text in {
        "table1.csv": "a\n1\n",
        "table1.md": "| a |\n",
        "table2.md": "| not shown |\n",
        "large.csv": "x" * (fill.LARGEST + 1),
        "benchmarks/train/one.tsv": "s\tmax_rss\tcpu_time\n30\t100\t20\n",
        "logs/train/one.log": "asked for: mem_mb=800\nran on: a processor, 2 cores\n",
    }.items():
        (results / name).parent.mkdir(parents=True, exist_ok=True)
        (results / name).write_text(text)
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", os.devnull)  # a user's may ask for signatures
    git = ["git", "-C", str(results), "-c", "user.name=x", "-c", "user.email=x@x"]
    for words in (["init", "-q"], ["commit", "-q", "--allow-empty", "-m", "One"]):
        subprocess.run([*git, *words], check=True)
    planned(monkeypatch, "table1.csv", *(["table2.csv"] if partial else []))
    times = pd.DataFrame({"artifact": ["table1.csv"]})
    monkeypatch.setattr(fill, "artifact_times", lambda jobs, planned: times)
    page = tmp_path / "page.md"
    page.write_text("<!-- table mini/table1.md -->\n\n<!-- end -->\n")
    monkeypatch.setattr(fill, "pages", lambda: [page])
    data = tmp_path / "docs/data"
    (data / "mini").mkdir(parents=True)
    (data / "mini/old.csv").touch()
    fill.take(results, data, partial)
    names = ["SHA256SUMS", "costs.csv", "run.csv", "table1.csv", "table1.md", "times.csv"]
    assert sorted(path.name for path in (data / "mini").iterdir()) == names
    (run,) = pd.read_csv(data / "mini/run.csv", dtype=str).to_dict("records")
    assert (run["machine"], run["jobs"], run["seconds"]) == ("a processor, 2 cores", "1", "30")
    assert re.fullmatch("[0-9a-f]{8}", run["commit"])


def test_all_pages_are_filled_from_what_docs_data_has_and_no_value_begins_a_line():
    texts = {path.name: path.read_text("utf-8") for path in fill.pages()}
    assert [name for name, text in texts.items() if fill.page(text) != text] == [], "run `make docs-fill`"
    # GitHub would take such a line for HTML.
    begin = re.compile(r"^\s*(?:[-*] )?<!-- (?:value|mean|count)", re.MULTILINE)
    assert [name for name, text in texts.items() if begin.search(text)] == []


@pytest.mark.parametrize("folder", sorted(path.name for path in fill.DATA.iterdir()))
def test_each_table_of_docs_data_is_as_it_was_taken(folder):
    sums = read_sums(fill.DATA / folder / "SHA256SUMS")
    assert {name: sha256_of(fill.DATA / folder / name) for name in sums} == sums
    assert {path.name for path in (fill.DATA / folder).glob("*.csv")} <= set(sums)
