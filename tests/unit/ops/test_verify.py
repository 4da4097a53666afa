"""Results are compared with their checksums and with a rebuild, and what differs is named to the line."""

import sys

import pandas as pd
import pytest

from polyreward.artifacts.sums import artifact_files, write_sums
from polyreward.cli import main
from polyreward.core.errors import PolyrewardError
from polyreward.core.seals import sealed_folder
from polyreward.core.tables import write_sealed
from polyreward.ops import verify
from polyreward.ops.verify import check_rebuild, difference

TABLE = "name,value,n\na,0.500000,3\nb,0.250000,4\n"


@pytest.fixture
def results(tmp_path, monkeypatch):
    """A project with results of one table, one figure, one file of scores and one model."""
    monkeypatch.chdir(tmp_path)
    overlay = "workflow/scales/tiny.yaml"
    files = {"Snakefile": "", "config.yaml": "results: results\n", overlay: "results: results/tiny\n"}
    (tmp_path / overlay).parent.mkdir(parents=True)
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    folder = tmp_path / "results/tiny"
    (folder / "compare").mkdir(parents=True)
    for name in ("table1.csv", "compare/table1.csv", "figure1.csv"):
        (folder / name).write_text(TABLE)
    (folder / "figure1.png").write_bytes(b"\x89PNG\x00\xff")
    (folder / "report.html").write_text("made at noon")
    write_sealed(pd.DataFrame({"id": ["a"]}), folder / "work/5_scores/b/m/es.parquet")
    with sealed_folder(folder / "work/4_models/m") as model:
        (model / "model.safetensors").write_bytes(b"weights")
    (folder / "work/4_models/checkpoints/m").mkdir(parents=True)
    (folder / "work/4_models/checkpoints/m/model.safetensors").write_bytes(b"of a killed run")
    write_sums(folder, ["table1.csv", "figure1.png", "compare/table1.csv"], folder / "SHA256SUMS")
    return folder


def test_the_sums_are_of_each_artifact_in_any_format_and_sorted(results):
    for name in ("table10.csv", "table1_more.csv", "table1.parquet", "table1.csv.old", "table1.md"):
        (results / name).touch()
    assert artifact_files(results, ["table1.csv"]) == ["table1.csv", "table1.md"]
    (results / "table1.md").unlink()
    text = (results / "SHA256SUMS").read_text()
    names = [line.split("  ")[1] for line in text.splitlines()]
    assert names == ["compare/table1.csv", "figure1.csv", "figure1.png", "table1.csv"]
    write_sums(results, ["compare/table1.csv", "figure1.png", "table1.csv"], results / "again")
    assert (results / "again").read_text() == text


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("table1.csv", TABLE.replace("3", "4").encode(), "table1.csv: changed"),
        ("figure1.png", None, "figure1.png: missing"),
        ("work/5_scores/b/m/es.parquet", b"PAR1", "es.parquet: changed, or has no checksum"),
        ("work/4_models/m/model.safetensors", b"weighty", "m: model.safetensors: its content is another"),
    ],
)
def test_what_changed_is_named(results, capsys, name, content, said):
    (results / name).unlink() if content is None else (results / name).write_bytes(content)
    assert main(["verify", "results/tiny"]) == 1
    assert said in capsys.readouterr().err


def test_without_sums_or_with_an_artifact_that_is_not_there_it_is_said(results, capsys):
    assert main(["verify", "results/tiny"]) == 0
    assert "as made are 4 files of artifacts, 1 of scores and states, 1 models" in capsys.readouterr().out
    (results / "SHA256SUMS").unlink()
    assert main(["verify", "results/tiny"]) == 1
    assert "make results/tiny/SHA256SUMS" in capsys.readouterr().err
    assert main(["verify", "results/tiny", "table9.csv"]) == 1
    assert "table9.csv: no such file in results/tiny; make it first" in capsys.readouterr().err
    assert main(["verify", "results/tiny", "table1.csv"]) == 1
    out, err = capsys.readouterr()
    assert "as made are 0 files of artifacts, 1 of scores and states, 1 models" in out
    assert "results/tiny/table1.csv: not checked, as there is no results/tiny/SHA256SUMS" in err
    assert main(["verify", "results", "table1.csv"]) == 1
    assert "or name a folder that has it: RESULTS=results/tiny" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("rebuilt", "words", "name"),
    [
        (TABLE, None, "t.csv"),
        (TABLE.replace("0.25", "0.26"), "line 3: `b,0.250000,4` here, `b,0.260000,4` rebuilt", "t.csv"),
        (TABLE.rstrip("\n"), "line 4: `` here, nothing rebuilt", "t.csv"),
        (TABLE.replace("a,", "x,"), "differs from byte 13 of 39 on", "t.png"),
    ],
)
def test_a_difference_is_named_to_the_line(tmp_path, rebuilt, words, name):
    for folder, text in (("here", TABLE), ("again", rebuilt)):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / name).write_bytes(text.encode())
    assert difference(tmp_path / "here" / name, tmp_path / "again" / name) == words
    none = tmp_path / "none.csv"
    assert difference(tmp_path / "here" / name, none) == f"there is no {none}"


BUILDER = """
import pathlib, sys

assert pathlib.Path("Snakefile").is_file() and not pathlib.Path("results").exists()
assert not pathlib.Path("workflow").is_symlink() and pathlib.Path("mine").is_symlink()
for path in map(pathlib.Path, sys.argv[sys.argv.index("--") + 1 :]):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes({text!r}.encode())
sys.exit({code})
"""


@pytest.fixture
def builder(tmp_path, monkeypatch):
    """Return a function that puts in Snakemake's place a program that writes a text into each file."""

    run = verify.subprocess.run

    def builds(text, code=0):
        program = [sys.executable, "-c", BUILDER.format(text=text, code=code)]
        instead = lambda command, **more: run([*program, *command[3:]], **more)  # noqa: E731
        monkeypatch.setattr(verify.subprocess, "run", instead)

    (tmp_path / "mine").mkdir()
    monkeypatch.setattr(verify.tempfile, "tempdir", str(tmp_path / "scratch"))
    (tmp_path / "scratch").mkdir()
    return builds


def test_an_equal_rebuild_leaves_nothing_and_one_that_differs_is_named_and_kept(
    results, builder, tmp_path, capsys
):
    builder(TABLE)
    words = check_rebuild(results, ["table1.csv"], tmp_path, ["workflow/scales/tiny.yaml"], "1")
    assert "1 files of artifacts are byte for byte what a rebuild from nothing gives" in words
    assert list((tmp_path / "scratch").iterdir()) == []
    builder(TABLE.replace("0.25", "0.26"))
    assert main(["verify", "results/tiny", "--rebuild", "--cores", "1"]) == 1
    printed = capsys.readouterr().err
    assert "4 problems" in printed and "table1.csv: line 3: `b,0.250000,4` here, `b,0.260" in printed
    (kept,) = (tmp_path / "scratch").iterdir()
    assert str(kept) in printed and (kept / "results/tiny/table1.csv").is_file()


def test_a_rebuild_that_fails_is_an_error(results, builder, tmp_path):
    builder(TABLE, code=1)
    with pytest.raises(PolyrewardError, match="the rebuild in .* failed"):
        check_rebuild(results, ["table1.csv"], tmp_path, [], "1")
