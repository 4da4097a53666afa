"""Results that were copied without Snakemake's records are named, and others are let be."""

from base64 import urlsafe_b64encode

import pytest

from polyreward.core.errors import PolyrewardError
from polyreward.running.records import check_records

SCORES = "results/work/5_scores/b/m/es.parquet"
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
    with pytest.raises(PolyrewardError, match=r"no record of the jobs that made 2 files here, such as .*move_results.md"):
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
