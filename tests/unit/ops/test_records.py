"""Results that were copied without Snakemake's records, and data that changed unnoticed, are named; others
are let be."""

import os
import time
from base64 import urlsafe_b64encode
from pathlib import Path

import pytest
from small_project import run_small_project
from support import snakemake

from polyreward.core.errors import PolyrewardError
from polyreward.ops.records import check_inputs, check_records

SCORES = "results/work/5_scores/b/m/es.parquet"
RESULTS = Path("results")
LONG = f"results/work/3_translated/{'x' * 200}/es.jsonl"


@pytest.fixture
def results(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in (SCORES, LONG, "results/work/5_scores/replies/0.json", "results/work/5_scores/b/.m.tmp/ko.parquet",
                 "results/tiny/work/6_analysis/x.csv", "results/mine.parquet"):  # fmt: skip
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    return tmp_path / "results"


def record(folder, kind, path):
    """Write a record as Snakemake names it: in parts of at most 255 characters."""
    name = urlsafe_b64encode(path.encode()).decode()
    parts = [name[at : at + 254] for at in range(0, len(name), 254)]
    file = folder.joinpath(".snakemake", kind, *(f"@{part}" for part in parts[:-1]), parts[-1])
    file.parent.mkdir(parents=True, exist_ok=True)
    file.touch()


def check(folder):
    check_records((folder / "results").relative_to(folder))


def test_a_folder_without_records_is_refused_and_the_way_out_is_told(results):
    with pytest.raises(
        PolyrewardError, match=r"no record of the jobs that made 2 files here, such as .*move_results.md"
    ):
        check(results.parent)


def test_one_file_without_a_record_is_enough(results):
    record(results.parent, "metadata", SCORES)
    with pytest.raises(PolyrewardError, match="made 1 files here, such as results/work/3_translated/xxx"):
        check(results.parent)


def test_what_is_recorded_or_half_made_passes(results):
    record(results.parent, "metadata", LONG)
    record(results.parent, "incomplete", SCORES)
    (results.parent / ".snakemake/incomplete/migration_underway").touch()
    check(results.parent)


def test_an_unbundled_folder_says_itself_what_made_it(results):
    (results / "provenance.json").touch()
    check(results.parent)


def test_no_results_need_no_records(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    check(tmp_path)


@pytest.fixture
def set_back(tmp_path, monkeypatch):
    """A project whose results were made before the clock was set back by a day, as their times are to
    come."""
    monkeypatch.chdir(run_small_project(tmp_path))
    to_come = time.time() + 86400
    for path in (tmp_path / "results").rglob("*"):
        os.utime(path, (to_come, to_come))
    return tmp_path


def planned(folder):
    ran = snakemake("-n", "--quiet", "host", "--cores", "1", "results/table.csv", cwd=folder)
    assert ran.returncode == 0, ran.stdout
    return ran.stdout


def test_an_edit_after_the_clock_was_set_back_is_named_and_touching_the_file_reruns(set_back):
    check_inputs(RESULTS)
    (set_back / "raw/b.txt").write_text("other\n")
    assert "Nothing to be done" in planned(set_back)  # Snakemake alone
    with pytest.raises(
        PolyrewardError, match=r"raw/b.txt: is another than results/copy.txt was made of.*`touch raw/b.txt`"
    ):
        check_inputs(RESULTS)
    os.utime(
        set_back / "raw/b.txt", (time.time() + 2 * 86400,) * 2
    )  # as `touch` does, once the clock goes right
    check_inputs(RESULTS)
    assert "rule copy" in planned(set_back)


def test_what_was_made_anew_from_an_edit_is_let_be_and_so_is_what_is_not_there(set_back):
    (set_back / "raw/a.txt").write_text("other\n")
    os.utime(set_back / "raw/a.txt", (time.time() - 86400,) * 2)
    with pytest.raises(PolyrewardError, match="raw/a.txt: is another than results/model"):
        check_inputs(RESULTS)
    (set_back / "results/model").rename(set_back / "gone")
    check_inputs(RESULTS)


def test_another_scale_inside_and_a_damaged_record_are_let_be(set_back):
    (set_back / "results/tiny/work").mkdir(parents=True)
    (set_back / "raw/b.txt").write_text("other\n")
    (set_back / "results/copy.txt").rename(set_back / "results/tiny/copy.txt")
    records = set_back / ".snakemake/metadata"
    name = urlsafe_b64encode(b"results/copy.txt").decode()
    (records / name).rename(records / urlsafe_b64encode(b"results/tiny/copy.txt").decode())
    check_inputs(RESULTS)
    for record in records.iterdir():
        record.write_text("{")
    check_inputs(RESULTS / "tiny")
