"""What made a file is read from the records of a real run of Snakemake, in a project of three rules."""

import hashlib
import json

import pytest
from support import snakemake

from polyreward.cli import main
from polyreward.core.errors import PolyrewardError
from polyreward.running.codehash import Library
from polyreward.running.provenance import Records, chain_text

SNAKEFILE = """
from pathlib import Path
from polyreward.running.codehash import Library

CODE = Library(Path("workflow/scripts/polyreward")).code(Path("workflow/scripts/copy.py"))

rule model:
    input: "raw/a.txt"
    output: directory("results/model")
    shell: "mkdir {output} && cp {input} {output} && cd {output} && sha256sum a.txt > SHA256SUMS"

rule copy:
    input: "results/model", "raw/b.txt"
    output: "results/copy.txt"
    conda: "envs/plot.yaml"
    params: code=CODE, size=3
    script: "workflow/scripts/copy.py"

use rule copy as table with:
    input: "results/copy.txt"
    output: "results/table.csv"
"""


def sha256(path):
    return hashlib.sha256(path.read_bytes()).hexdigest()


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    root = tmp_path_factory.mktemp("project")
    for folder in ("raw", "envs", "workflow/scripts/polyreward"):
        (root / folder).mkdir(parents=True)
    for name in "ab":
        (root / f"raw/{name}.txt").write_text(f"{name}\n")
    (root / "envs/plot.yaml").write_text("dependencies: [python =3.11]\n")
    (root / "requirements.lock").write_text("x==1\n")
    (root / "workflow/scripts/polyreward/__init__.py").touch()
    (root / "workflow/scripts/copy.py").write_text("open(snakemake.output[0], 'w').write('done')\n")
    (root / "Snakefile").write_text(SNAKEFILE)
    ran = snakemake("--cores", "1", "results/table.csv", cwd=root)
    assert ran.returncode == 0, ran.stdout
    return root


def test_a_chain_goes_back_to_raw_data_and_has_each_file_once(made):
    chain = Records(made).chain("results/table.csv")
    assert [one.path for one in chain] == ["results/table.csv", "results/copy.txt", "raw/b.txt", "results/model", "raw/a.txt"]
    assert [one.rule for one in chain] == ["table", "copy", None, "model", None]
    assert [one.sha256 for one in chain[2:]] == [
        sha256(made / name) for name in ("raw/b.txt", "results/model/SHA256SUMS", "raw/a.txt")
    ]
    assert not any(one.changes for one in chain)


def test_a_job_is_told_with_its_code_settings_environment_and_seconds(made):
    table, copy, _, model, _ = Records(made).chain("results/table.csv")
    code = Library(made / "workflow/scripts/polyreward").code(made / "workflow/scripts/copy.py")
    assert (table.script, table.code, copy.code) == ("workflow/scripts/copy.py", code, code)
    assert table.settings == copy.settings == hashlib.sha256(json.dumps(["3"]).encode()).hexdigest() != model.settings
    assert copy.environment == f"plot.yaml {sha256(made / 'envs/plot.yaml')}"
    assert copy.parents == ("raw/b.txt", "results/model") and 0 <= copy.seconds < 600
    assert (model.script, model.code, model.environment) == (None, None, None)


def test_the_command_prints_the_chain_as_text_and_as_json(made, monkeypatch, capsys):
    monkeypatch.chdir(made)
    assert main(["provenance", "results/table.csv"]) == 0
    text = capsys.readouterr().out
    assert text.startswith(
        f"results/table.csv  sha256 {sha256(made / 'results/table.csv')}\n    rule table (workflow/scripts/copy.py)"
    )
    assert text.endswith(f"requirements.lock, of which envs/ is made: sha256 {sha256(made / 'requirements.lock')}\n")
    assert "CHANGED" not in text
    assert main(["provenance", str(made / "results/table.csv"), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)[-1] == {
        "path": "raw/a.txt", "sha256": sha256(made / "raw/a.txt"), "parents": [], "changes": [],
        **dict.fromkeys(["rule", "script", "code", "settings", "environment", "seconds"]),
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
        ("workflow/scripts/copy.py", "# a comment\nopen(snakemake.output[0], 'w').write('done')\n", None),
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
