"""Results move to another clone as docs/howto/move_results.md says: with their records only what is stale
is made again."""

import shlex
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
    moved = shlex.quote(str(tmp_path / "moved.tar"))
    pack, unpack = (line.replace("moved.tar", moved) for line in (PACK, UNPACK))
    with exclusive():
        subprocess.run(pack, shell=True, cwd=table1.parents[1], check=True)
    folder = checkout(tmp_path / "clone")
    for name in ("workflow", "resources"):
        for path in (folder / name).rglob("*"):
            path.touch()
    subprocess.run(unpack, shell=True, cwd=folder, check=True)
    return folder


def test_in_another_clone_nothing_is_made_again_and_what_an_edit_made_stale_is(clone):
    assert planned(clone, TARGET) == {}
    path = clone / "workflow/scripts/polyreward/analysis/bootstrap.py"
    text = path.read_text(encoding="utf-8")
    edited = text.replace("tail = (1 - confidence) / 2", "tail = (1 - confidence) / 2.0")
    path.write_text(edited, encoding="utf-8")
    assert set(planned(clone, TARGET)) == {"transfer_comparison", "table1"}
