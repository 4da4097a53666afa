"""Results move to another clone as docs/howto/move_results.md says: with their records only what is stale
is made again."""

import subprocess

import pytest
from flow import planned
from support import ROOT, checkout

PACK, UNPACK = (
    line
    for line in (ROOT / "docs/howto/move_results.md").read_text(encoding="utf-8").splitlines()
    if line.startswith("tar ")
)
TARGET = "results/tiny/table1.csv"


@pytest.fixture
def clone(table1, tmp_path, exclusive):
    """A fresh clone, whose files are newer than those of the results, with the results in it."""
    with exclusive():
        subprocess.run(
            PACK.replace("moved.tar", str(tmp_path / "moved.tar")),
            shell=True,
            cwd=table1.parents[1],
            check=True,
        )
    folder = checkout(tmp_path / "clone")
    for path in (
        path for name in ("workflow", "resources") for path in (folder / name).rglob("*") if path.is_file()
    ):
        path.touch()
    subprocess.run(
        UNPACK.replace("moved.tar", str(tmp_path / "moved.tar")), shell=True, cwd=folder, check=True
    )
    return folder


def test_in_another_clone_nothing_is_made_again_and_what_an_edit_made_stale_is(clone):
    assert planned(clone, TARGET) == {}
    path = clone / "workflow/scripts/polyreward/analysis/bootstrap.py"
    text = path.read_text(encoding="utf-8")
    path.write_text(
        text.replace("tail = (1 - confidence) / 2", "tail = (1 - confidence) / 2.0"), encoding="utf-8"
    )
    assert set(planned(clone, TARGET)) == {"transfer_comparison", "table1"}
