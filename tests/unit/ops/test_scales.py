"""The scale of a results folder, and the overlays of a file in it."""

from pathlib import Path

import pytest
from support import refused

from polyreward.cli import main
from polyreward.ops.scales import overlays_of, overlays_of_file, scale_of

FILES = {
    "Snakefile": "",
    "config.yaml": "results: results\n",
    "workflow/scales/big.yaml": "results: results/large\n",
    "workflow/scales/big_two.yaml": "results: results/large_two\n",
    "workflow/scales/seeds.yaml": "seed: 3\n",
    "workflow/scales/nothing.yaml": "# yet\n",
}
BIG, TWO = ["workflow/scales/big.yaml"], ["workflow/scales/big.yaml", "workflow/scales/big_two.yaml"]


@pytest.fixture
def root(tmp_path, monkeypatch):
    """A project whose folders are not named like its files; two overlays have no folder."""
    for name, text in FILES.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize(("file", "scale", "overlays"), [
    ("results/table1.csv", "mini", []),
    ("results/work/5_scores/b/m/en.parquet", "mini", []),
    ("results/large/table1.csv", "big", BIG),
    ("results/large/notebooks/carb.html", "big", BIG),
    ("results/large_two/table1.csv", "big_two", TWO),
])  # fmt: skip
def test_the_key_results_tells_the_scale_of_a_file_and_of_its_folder(root, file, scale, overlays, capsys):
    assert overlays_of_file(Path(file), root) == overlays
    folder = Path(*Path(file).parts[: 2 if scale != "mini" else 1])
    assert (scale_of(folder, root), overlays_of(folder, root)) == (scale, overlays)
    assert overlays_of(folder, root, [str(root / TWO[1])]) == [TWO[1]]
    assert main(["overlays", file]) == 0
    assert capsys.readouterr().out == (f"--configfile {' '.join(overlays)}\n" if overlays else "\n")


@pytest.mark.parametrize("file", ["results/big/table1.csv", "results/large/more/table1.csv"])
def test_a_folder_of_no_scale_is_named_with_the_scales_that_there_are(root, file):
    said = refused(overlays_of_file, Path(file), root)
    assert said.startswith(f"{file}: no scale has the results folder {Path(file).parent}. Correct the path")
    assert said.endswith(f"{file} --configfile FILE. Scales: mini, big, big_two, nothing, seeds")
    assert scale_of(Path(file).parent, root) is None
    assert "no scale has a folder of that name" in refused(overlays_of, Path(file).parent, root)
