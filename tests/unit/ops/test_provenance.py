"""What made a file is read from the records of a real run of Snakemake, in a project of three rules."""

import hashlib
import json

import pytest
from small_project import JOB, run_small_project

from polyreward.cli import main
from polyreward.core.codehash import code_of
from polyreward.core.errors import PolyrewardError
from polyreward.ops.provenance import Records, chain_text


def sha256(path):
    return hashlib.sha256(path.read_bytes()).hexdigest()


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    return run_small_project(tmp_path_factory.mktemp("project"))


def test_a_chain_goes_back_to_raw_data_and_has_each_file_once(made):
    chain = Records(made).chain("results/table.csv")
    assert [one.path for one in chain] == [
        "results/table.csv",
        "results/copy.txt",
        "raw/b.txt",
        "results/model",
        "raw/a.txt",
    ]
    assert [one.rule for one in chain] == ["table", "copy", None, "model", None]
    assert [one.sha256 for one in chain[2:]] == [
        sha256(made / name) for name in ("raw/b.txt", "results/model/SHA256SUMS", "raw/a.txt")
    ]
    assert not any(one.changes for one in chain)


def test_a_job_is_told_with_its_code_settings_environment_and_seconds(made):
    table, copy, _, model, _ = Records(made).chain("results/table.csv")
    code = code_of(made / "workflow/scripts/copy.py", made / "workflow/scripts/polyreward")
    assert (table.script, table.code, copy.code) == ("workflow/scripts/copy.py", code, code)
    assert (
        table.settings
        == copy.settings
        == hashlib.sha256(json.dumps(["3"]).encode()).hexdigest()
        != model.settings
    )
    assert copy.environment == f"plot.yaml {sha256(made / 'envs/plot.yaml')}"
    assert copy.parents == ("raw/b.txt", "results/model") and 0 <= copy.seconds < 600
    assert (model.script, model.code, model.environment) == (None, None, None)


def test_the_machine_is_read_from_the_log_of_the_job(made):
    table, copy, _, model, _ = Records(made).chain("results/table.csv")
    assert (copy.log, copy.machine) == ("results/logs/copy.log", "a processor, 2 cores")
    assert (table.log, model.log, model.machine) == ("results/logs/table.log", None, None)
    assert chain_text([table, copy], made).count("    ran on a processor, 2 cores\n") == 2


def test_the_command_prints_the_chain_as_text_and_as_json(made, monkeypatch, capsys):
    monkeypatch.chdir(made)
    assert main(["provenance", "results/table.csv"]) == 0
    text = capsys.readouterr().out
    assert text.startswith(
        f"results/table.csv  sha256 {sha256(made / 'results/table.csv')}\n    rule table"
        " (workflow/scripts/copy.py)"
    )
    assert text.endswith(
        f"requirements.lock, of which envs/ is made: sha256 {sha256(made / 'requirements.lock')}\n"
    )
    assert "CHANGED" not in text
    assert main(["provenance", str(made / "results/table.csv"), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)[-1] == {
        "path": "raw/a.txt", "sha256": sha256(made / "raw/a.txt"), "parents": [], "changes": [],
        **dict.fromkeys(["rule", "script", "code", "settings", "environment", "seconds", "started", "log", "machine"]),
    }  # fmt: skip


@pytest.mark.parametrize(
    ("path", "text", "said"),
    [
        ("raw/b.txt", "c\n", "raw/b.txt is another now"),
        (
            "workflow/scripts/copy.py",
            "open(snakemake.output[0], 'w').write('other')\n",
            "code of workflow/scripts/copy.py is another",
        ),
        ("workflow/scripts/copy.py", f"# a comment\n{JOB}", None),
        ("envs/plot.yaml", "dependencies: [python =3.12]\n", None),
    ],
)
def test_what_changed_since_is_said(made, path, text, said):
    before = (made / path).read_text()
    (made / path).write_text(text)
    try:
        copy = Records(made).made("results/copy.txt")
        shown = chain_text([copy], made)
        assert [said in change for change in copy.changes] == ([True] if said else [])
        assert ("CHANGED since" in shown) == bool(said)
        assert ("one that envs/ has no more" in shown) == (path == "envs/plot.yaml")
    finally:
        (made / path).write_text(before)


def test_without_a_record_or_a_file_it_is_said(made, tmp_path):
    assert Records(made).made("Snakefile").rule is None
    with pytest.raises(PolyrewardError, match="results/none.csv: no such file; make it first"):
        Records(made).chain("results/none.csv")
    with pytest.raises(PolyrewardError, match="no records of Snakemake"):
        Records(tmp_path)
