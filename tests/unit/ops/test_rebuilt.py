"""A table is made again from a bundle's scores, with no model, by a real run of Snakemake."""

import zipfile
from pathlib import Path

import pandas as pd
import pytest
from support import snakemake

from polyreward.cli import main
from polyreward.core.tables import read_sealed
from polyreward.ops.bundle import pack
from polyreward.ops.provenance import chain

SNAKEFILE = """
configfile: "config.yaml"
W = config["results"] + "/work/"

rule model:
    output: directory(W + "4_models/m")
    shell: "echo made >> trained; mkdir -p {output}"

rule scores:
    input: W + "4_models/m", rows=W + "3_translated/rows.jsonl"
    output: W + "5_scores/b/m/es.parquet", states=W + "5_scores/states.safetensors"
    run:
        import pandas as pd
        from polyreward.core.tables import write_sealed
        write_sealed(pd.DataFrame({"id": ["a", "b"], "score": [0.25, 0.5]}), output[0])
        open(output.states, "w").write("states")

rule rows:
    output: W + "3_translated/rows.jsonl"
    shell: "echo '{{}}' > {output}; echo made >> trained"

rule transfer:
    input: W + "5_scores/b/m/es.parquet", rows=W + "3_translated/rows.jsonl"
    output: W + "6_analysis/transfer.csv"
    run:
        import pandas as pd
        pd.read_parquet(input[0]).to_csv(output[0], index=False)

rule geometry:
    input: W + "5_scores/states.safetensors"
    output: W + "6_analysis/geometry.csv"
    shell: "wc -c < {input} > {output}"

rule table1:
    input: W + "6_analysis/transfer.csv", W + "6_analysis/geometry.csv"
    output: config["results"] + "/table1.csv"
    shell: "cat {input} > {output}"
"""
TABLE = ["results/tiny/table1.csv"]


@pytest.fixture(scope="module")
def packed(tmp_path_factory):
    """A bundle, and a project like the one that it was made in, without results."""
    folder = tmp_path_factory.mktemp("made")
    made, clone = folder / "made", folder / "clone"
    for root in (made, clone):
        (root / "workflow/scales").mkdir(parents=True)
        (root / "workflow/scripts/polyreward").mkdir(parents=True)
        (root / "Snakefile").write_text(SNAKEFILE)
        (root / "config.yaml").write_text("results: results\n")
        (root / "workflow/scales/tiny.yaml").write_text("results: results/tiny\n")
    ran = snakemake("--cores", "1", *TABLE, "--configfile", "workflow/scales/tiny.yaml", cwd=made)
    assert ran.returncode == 0, ran.stdout
    with pytest.MonkeyPatch.context() as here:
        here.chdir(made)
        pack(Path("results/tiny"), ["table1.csv"], chain(made, TABLE), folder / "bundle.zip")
    return folder / "bundle.zip", clone


@pytest.fixture
def project(packed, monkeypatch, tmp_path):
    monkeypatch.chdir(packed[1])
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    return packed[1]


def test_tables_are_made_again_from_scores_with_the_rows_that_analysis_reads_and_no_model_is(
    packed, project, tmp_path, capfd
):
    with zipfile.ZipFile(packed[0]) as archive:
        assert sorted(name for name in archive.namelist() if name.startswith("work/")) == [
            "work/3_translated/rows.jsonl", "work/5_scores/b/m/es.parquet", "work/6_analysis/geometry.csv",
            "work/6_analysis/transfer.csv",
        ]  # fmt: skip
    assert main(["unbundle", str(packed[0]), str(tmp_path / "out"), "--rebuild", "--cores", "1"]) == 0
    said = "1 files of tables and figures, made again with 1 files of analysis from the scores, are byte for byte"
    assert said in capfd.readouterr().out
    assert not list(tmp_path.rglob("trained"))
    assert len(read_sealed(tmp_path / "out/work/5_scores/b/m/es.parquet")) == 2


def test_a_table_that_its_scores_do_not_give_is_named_to_the_line(
    packed, project, tmp_path, capfd, monkeypatch
):
    made = packed[1].parent / "made"
    kept = (made / "results/tiny/table1.csv").read_text()
    (made / "results/tiny/table1.csv").write_text(kept.replace("0.25", "0.75"))
    with monkeypatch.context() as there:
        there.chdir(made)
        pack(Path("results/tiny"), ["table1.csv"], chain(made, TABLE), tmp_path / "better.zip")
    (made / "results/tiny/table1.csv").write_text(kept)
    better, out = str(tmp_path / "better.zip"), str(tmp_path / "out")
    assert main(["unbundle", better, out, "--rebuild", "--cores", "1"]) == 1
    assert "table1.csv: line 2: `a,0.75` here, `a,0.25` rebuilt" in capfd.readouterr().err
    assert pd.read_csv(tmp_path / "out/table1.csv")["score"][0] == 0.75
