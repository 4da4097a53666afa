"""A bundle holds what it should, gives it back, and is refused where anything in it was changed."""

import json
import zipfile

import pandas as pd
import pytest

from polyreward.cli import main
from polyreward.core.errors import PolyrewardError
from polyreward.core.seals import sealed_folder
from polyreward.core.tables import write_sealed
from polyreward.ops.bundle import pack, unpack
from polyreward.ops.provenance import Made

TABLES = ["table1.csv", "table1.md"]
PACKED = ["provenance.json", *TABLES, "work/5_scores/b/m/es.parquet", "work/6_analysis/transfer.csv"]


@pytest.fixture
def results(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    folder = tmp_path / "results"
    left_out = ["replies/judge/0.json", "base.safetensors", "b/.m.tmp/es.csv"]
    for name in (*TABLES, "work/6_analysis/transfer.csv", *(f"work/5_scores/{name}" for name in left_out)):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(f"{name}\n")
    write_sealed(pd.DataFrame({"id": ["a"]}), folder / "work/5_scores/b/m/es.parquet")
    with sealed_folder(folder / "work/4_models/m") as model:
        (model / "model.safetensors").write_bytes(b"weights")
    return folder


def packed_to(results, path):
    made = [Made((results / name).as_posix(), "1" * 64, "table1", parents=("raw.yaml",)) for name in TABLES]
    pack(results, TABLES, [*made, Made("raw.yaml", "2" * 64)], path)
    return path


@pytest.fixture
def bundle(results, tmp_path):
    return packed_to(results, tmp_path / "bundle.zip")


def changed(bundle, path, changes):
    """Write a copy of a bundle in which members have another content; None: there is no such member."""
    with zipfile.ZipFile(bundle) as before, zipfile.ZipFile(path, "w") as after:
        for member, content in {**{name: before.read(name) for name in before.namelist()}, **changes}.items():
            if content is not None:
                after.writestr(member, content)
    return path


def test_it_gives_back_what_was_packed_and_neither_weights_nor_replies(results, bundle, tmp_path, capsys):
    assert bundle.read_bytes() == packed_to(results, tmp_path / "again.zip").read_bytes()
    assert main(["unbundle", str(bundle), "out"]) == 0
    files = [path for path in (tmp_path / "out").rglob("*") if path.is_file()]
    names = sorted(path.relative_to(tmp_path / "out").as_posix() for path in files)
    assert names == ["SHA256SUMS", *PACKED]
    made = json.loads((tmp_path / "out/provenance.json").read_text())
    assert [one["rule"] for one in made] == ["table1", "table1", None]
    for name in PACKED[1:]:
        assert (tmp_path / "out" / name).read_bytes() == (results / name).read_bytes()
    assert main(["unbundle", str(bundle), "out"]) == 1
    assert "out: is there already" in capsys.readouterr().err


def test_a_part_is_packed_by_name_and_without_a_name_sums_are_asked_for(
    results, tmp_path, monkeypatch, capsys
):
    (results / "figure1.png").write_bytes(b"not asked for")
    (results / "work/5_scores/base.safetensors").unlink()  # has no checksum
    monkeypatch.setattr(
        "polyreward.ops.provenance.chain",
        lambda root, paths: [Made(path, "1" * 64, "table1") for path in paths],
    )
    assert main(["bundle", "results"]) == 1
    assert "make results/SHA256SUMS" in capsys.readouterr().err
    assert main(["bundle", "results", "table9.csv"]) == 1
    assert "table9.csv: no such file in results; make it first" in capsys.readouterr().err
    assert main(["bundle", "results", "table1.csv"]) == 0
    with zipfile.ZipFile(tmp_path / "bundle.zip") as packed:
        assert sorted(packed.namelist()) == ["SHA256SUMS", *PACKED]


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"table1.csv": b"better\n"}, "table1.csv: its content changed"),
        ({"work/5_scores/b/m/es.parquet": None}, "es.parquet: missing"),
        ({"SHA256SUMS": None}, "SHA256SUMS: missing"),
        ({"SHA256SUMS": b"nothing\n"}, "SHA256SUMS: damaged"),
        ({"new.csv": b"x"}, "new.csv: is not in SHA256SUMS"),
        ({"../out.csv": b"x"}, "../out.csv: would be written outside the folder"),
        ({"/tmp/out.csv": b"x"}, "/tmp/out.csv: would be written outside the folder"),
    ],
)
def test_a_tampered_bundle_is_refused_with_the_file_named(bundle, tmp_path, changes, words):
    with pytest.raises(PolyrewardError, match=words):
        unpack(changed(bundle, tmp_path / "tampered.zip", changes), tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_a_flipped_byte_or_a_cut_is_refused(bundle, tmp_path):
    whole = bundle.read_bytes()
    for place in range(0, len(whole), 7):
        flipped = whole[:place] + bytes([whole[place] ^ 255]) + whole[place + 1 :]
        (tmp_path / "flipped.zip").write_bytes(flipped)
        try:
            unpack(tmp_path / "flipped.zip", tmp_path / f"out{place}")
        except PolyrewardError:
            continue
        for name in PACKED[1:]:  # the byte is not of the content, but of a member's date or the like
            content = (tmp_path / f"out{place}" / name).read_bytes()
            assert content == (tmp_path / "results" / name).read_bytes()
    (tmp_path / "cut.zip").write_bytes(whole[: len(whole) // 2])
    with pytest.raises(PolyrewardError, match="no bundle, or a damaged one"):
        unpack(tmp_path / "cut.zip", tmp_path / "out")


def test_damaged_scores_are_not_packed(results, tmp_path):
    (results / "work/5_scores/b/m/es.parquet").write_bytes(b"PAR1")
    with pytest.raises(PolyrewardError, match="es.parquet: changed since it was made"):
        packed_to(results, tmp_path / "bundle.zip")
    assert not (tmp_path / "bundle.zip").exists()
