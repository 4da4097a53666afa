"""A run of Snakemake as a crate: what it holds and tells, and what its validator says of it.

The library and its validator are installed by `make crate` and `make crate-check`; without them these tests
are skipped."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from small_project import run_small_project
from support import ROOT

from polyreward.core.errors import PolyrewardError
from polyreward.core.files import sha256_of
from polyreward.ops.crate import write_crate
from polyreward.ops.provenance import Records

VALIDATOR = Path(sys.prefix) / "crate-check/bin/python"
METADATA = "ro-crate-metadata.json"


@pytest.fixture(scope="module")
def project(tmp_path_factory):
    return run_small_project(tmp_path_factory.mktemp("project"))


@pytest.fixture
def inside(project, monkeypatch):
    monkeypatch.chdir(project)
    return project


@pytest.fixture
def crate(inside, tmp_path):
    pytest.importorskip("rocrate", reason="rocrate is not installed; `make crate` installs it")
    assert write_crate(Path("results"), ["table.csv"], Records(inside), tmp_path / "crate") == 3
    return tmp_path / "crate"


def graph(folder):
    return {
        entity["@id"]: entity
        for entity in json.loads((folder / METADATA).read_text(encoding="utf-8"))["@graph"]
    }


def ids(entity, key):
    found = entity[key] if isinstance(entity[key], list) else [entity[key]]
    return [one["@id"] for one in found]


def test_it_holds_artifacts_and_code_and_names_the_rest_with_its_sha256(crate, inside):
    found = graph(crate)
    held = {path.relative_to(crate).as_posix() for path in crate.rglob("*") if path.is_file()} - {METADATA}
    assert {
        "Snakefile",
        "results/table.csv",
        "workflow/scripts/copy.py",
        "envs/plot.yaml",
        "requirements.lock",
    } <= held
    assert not any(path.startswith(("results/copy", "results/model", "raw")) for path in held)
    for path in held:
        assert found[path]["sha256"] == sha256_of(crate / path) == sha256_of(inside / path)
    for path in ("#raw/a.txt", "#results/copy.txt"):
        assert found[path]["sha256"] == sha256_of(inside / path.removeprefix("#"))
    assert found["#results/model"]["sha256"] == sha256_of(inside / "results/model/SHA256SUMS")


def test_each_job_is_told_with_its_inputs_outputs_script_machine_and_times(crate):
    found = graph(crate)
    copy = found["#job/results/logs/copy.log"]
    assert sorted(ids(copy, "object")) == ["#raw/b.txt", "#results/model"]
    assert ids(copy, "result") == ["#results/copy.txt"]
    assert ids(copy, "instrument") == ["workflow/scripts/copy.py"]
    assert "on a processor, 2 cores; code " in copy["description"]
    assert copy["startTime"] <= copy["endTime"] <= found["#run"]["endTime"] == found["./"]["datePublished"]
    assert ids(found["#job/results/model"], "instrument") == ["#rule/model"]
    assert ids(found["#run"], "result") == ["results/table.csv"]
    assert sorted(ids(found["#run"], "object")) == ["#raw/a.txt", "#raw/b.txt"]


def test_equal_results_and_records_give_equal_bytes(crate, inside, tmp_path):
    write_crate(Path("results"), ["table.csv"], Records(inside), tmp_path / "again")
    assert (tmp_path / "again" / METADATA).read_bytes() == (crate / METADATA).read_bytes()
    assert str(inside).encode() not in (crate / METADATA).read_bytes()


def test_what_is_not_as_it_was_made_is_refused(inside, tmp_path):
    pytest.importorskip("rocrate")
    before = (inside / "raw/b.txt").read_text()
    (inside / "raw/b.txt").write_text("other\n")
    try:
        with pytest.raises(PolyrewardError, match="results/copy.txt: raw/b.txt is another now"):
            write_crate(Path("results"), ["table.csv"], Records(inside), tmp_path / "crate")
    finally:
        (inside / "raw/b.txt").write_text(before)
    assert not (tmp_path / "crate").exists()


def test_a_folder_that_is_there_is_kept(crate, inside):
    with pytest.raises(PolyrewardError, match="is there already"):
        write_crate(Path("results"), ["table.csv"], Records(inside), crate)


def test_a_missing_library_is_said(inside, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "rocrate.rocrate", None)
    with pytest.raises(PolyrewardError, match="`make crate` installs it"):
        write_crate(Path("results"), ["table.csv"], Records(inside), tmp_path / "crate")


def found_wrong(folder):
    """Return what the validator says of a crate."""
    command = [VALIDATOR, ROOT / "tests/unit/crate_validator.py", folder]
    return json.loads(
        subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()[-1]
    )


@pytest.mark.slow
@pytest.mark.skipif(
    not VALIDATOR.exists(), reason="rocrate-validator is not installed; `make crate-check` installs it"
)
def test_the_validator_of_the_profile_finds_nothing_wrong_and_would(crate):
    assert found_wrong(crate) == []
    text = (crate / METADATA).read_text(encoding="utf-8")
    for name, damaged in {
        "no main entity": text.replace('"mainEntity"', '"name"', 1),
        "a term that is none": text.replace('"actionStatus"', '"actionState"'),
        "no profile": text.replace("wfrun/provenance/0.5", "wfrun/other/0.5"),
    }.items():
        (crate / METADATA).write_text(damaged, encoding="utf-8")
        assert found_wrong(crate), name
    (crate / METADATA).write_text(text, encoding="utf-8")
    (crate / "results/table.csv").unlink()
    assert found_wrong(crate), "a file that is not there"
