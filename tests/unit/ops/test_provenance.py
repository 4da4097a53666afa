"""What made a file is read from the records of a real run of Snakemake, in a project of three rules."""

import hashlib

import pytest
from small_project import JOB, run_small_project

from polyreward.cli import main
from polyreward.core.codehash import code_of
from polyreward.core.errors import PolyrewardError
from polyreward.ops.provenance import chain, chain_text


def sha256(path):
    return hashlib.sha256(path.read_bytes()).hexdigest()


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    return run_small_project(tmp_path_factory.mktemp("project"))


def test_a_chain_goes_back_to_raw_data_and_has_each_file_once(made):
    found = chain(made, ["results/table.csv"])
    assert [(one.path, one.rule) for one in found] == [
        ("results/table.csv", "table"),
        ("results/copy.txt", "copy"),
        ("raw/b.txt", None),
        ("results/model", "model"),
        ("raw/a.txt", None),
    ]
    contents = ["raw/b.txt", "results/model/SHA256SUMS", "raw/a.txt"]
    assert [one.sha256 for one in found[2:]] == [sha256(made / name) for name in contents]
    assert not any(one.changes for one in found)


def test_a_job_has_its_code_log_and_seconds(made):
    table, copy, _, model, _ = chain(made, ["results/table.csv"])
    code = code_of(made / "workflow/scripts/copy.py", made / "workflow/scripts/polyreward")
    assert (table.script, table.code, copy.code) == ("workflow/scripts/copy.py", code, code)
    assert copy.parents == ("raw/b.txt", "results/model") and 0 <= copy.seconds < 600
    assert copy.log == "results/logs/copy.log"
    assert (model.script, model.code, model.log) == (None,) * 3


def test_the_command_prints_the_chain_as_text(made, monkeypatch, capsys):
    monkeypatch.chdir(made)
    assert main(["provenance", "--all", "results/table.csv"]) == 0
    text = capsys.readouterr().out
    begin = f"results/table.csv  sha256 {sha256(made / 'results/table.csv')}\n    rule table"
    assert text.startswith(f"{begin} (workflow/scripts/copy.py)")
    assert "CHANGED" not in text
    assert text.endswith(f"sha256 {sha256(made / 'requirements.lock')}\n")
    assert main(["provenance", "--all", str(made / "results/table.csv")]) == 0
    assert capsys.readouterr().out == text
    assert main(["provenance", "results/table.csv"]) == 0
    first, maker, behind, raw, changed, more = capsys.readouterr().out.splitlines()
    assert first == begin.splitlines()[0] and maker.startswith(
        "Made by: rule table (workflow/scripts/copy.py)"
    )
    assert (behind, raw) == ("Behind it: 3 files and folders by 3 rules", "Raw data: 2, such as raw/b.txt")
    assert changed == "CHANGED since: nothing" and more.startswith("--all lists")


@pytest.mark.parametrize(
    ("path", "text", "words"),
    [
        ("raw/b.txt", "c\n", "raw/b.txt changed"),
        ("workflow/scripts/copy.py", "open(snakemake.output[0], 'w').write('other')\n", "code of"),
        ("workflow/scripts/copy.py", f"# a comment\n{JOB}", None),
    ],
)
def test_what_changed_since_is_named(made, path, text, words):
    before = (made / path).read_text()
    (made / path).write_text(text)
    copy = chain(made, ["results/copy.txt"])[0]
    (made / path).write_text(before)
    assert [words in change for change in copy.changes] == ([True] if words else [])
    assert ("CHANGED since" in chain_text([copy], made)) == bool(words)


def test_without_a_record_or_a_file_there_is_an_error(made, tmp_path):
    assert chain(made, ["Snakefile"])[0].rule is None
    with pytest.raises(PolyrewardError, match="results/none.csv: no such file; make it first"):
        chain(made, ["results/none.csv"])
    with pytest.raises(PolyrewardError, match="has no .snakemake/metadata"):
        chain(tmp_path, ["results/none.csv"])
