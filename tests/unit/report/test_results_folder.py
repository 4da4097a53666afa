"""The scale of a results folder, and how its files are made."""

import pytest
from tiny_models import ROOT

from polyreward.core.errors import PolyrewardError
from polyreward.report.results import about_scale, read_results

TINY, PAPER, VLLM = (f"workflow/scales/{name}.yaml" for name in ("tiny", "paper", "paper_vllm"))


def test_a_folder_of_no_scale_needs_its_overlays(tmp_path):
    (tmp_path / "mine").mkdir()
    with pytest.raises(PolyrewardError, match="mine: no scale has a folder of that name; add --configfile"):
        read_results(tmp_path / "mine", [], ROOT)
    for given in (TINY, str(ROOT / TINY)):
        assert read_results(tmp_path / "mine", [given], ROOT).configfiles == [TINY]


def test_a_scale_with_an_overlay_of_ones_own_is_made_by_snakemake(tmp_path):
    mine = tmp_path / "mine.yaml"
    mine.write_text("results: results/mine\n", encoding="utf-8")
    found = read_results(tmp_path, [TINY, str(mine)], ROOT)
    own = f"--configfile {TINY} {mine}"
    assert found.command("table1.csv") == f"snakemake --cores all results/mine/table1.csv {own}"
    mine.write_text("seed: 2\n", encoding="utf-8")  # in tiny's folder, but not tiny
    found = read_results(tmp_path, [TINY, str(mine)], ROOT)
    assert found.command("table1.csv") == f"snakemake --cores all results/tiny/table1.csv {own}"


@pytest.mark.parametrize(("folder", "configfiles", "said"), [
    ("results/none", [], "results/none: no such folder"),
    ("results/tiny", ["none.yaml"], "none.yaml: no such file"),
])  # fmt: skip
def test_a_wrong_path_is_named(results, folder, configfiles, said):
    with pytest.raises(PolyrewardError, match=said):
        read_results(results.parents[1] / folder, configfiles, ROOT)


ALL_OF_TINY = f"snakemake --cores all all --configfile {TINY}"


@pytest.mark.parametrize(
    ("folder", "overlays", "command", "of_all"),
    [
        ("results", [], "make results/table1.csv", "make"),
        ("a/results", [], "make results/table1.csv", "make"),
        ("results/tiny", [TINY], "make results/tiny/table1.csv", ALL_OF_TINY),
        ("b/results/tiny/", [TINY], "make results/tiny/table1.csv", ALL_OF_TINY),
        (
            "results/paper",
            [PAPER],
            "make results/paper/table1.csv",
            f"snakemake --cores all all --configfile {PAPER}",
        ),
        (
            "results/paper_vllm",
            [PAPER, VLLM],
            "make results/paper_vllm/table1.csv",
            f"snakemake --cores all all --configfile {PAPER} {VLLM}",
        ),
    ],
)
def test_a_folders_path_tells_its_scale_and_its_commands(tmp_path, folder, overlays, command, of_all):
    (tmp_path / folder).mkdir(parents=True)
    found = read_results(tmp_path / folder, [], ROOT)
    assert (found.configfiles, found.command("table1.csv"), found.command_of_all) == (
        overlays,
        command,
        of_all,
    )


def test_a_scale_says_what_it_is(tmp_path):
    mini, tiny, mine = ROOT / "config.yaml", ROOT / TINY, tmp_path / "mine.yaml"
    mine.write_text("seed: 1\n", encoding="utf-8")
    assert about_scale([mini]).endswith("an instrument check, not a replication of the papers.")
    assert about_scale([mini, tiny]).endswith("Its numbers mean nothing.")
    assert about_scale([mini, mine]) == f"{about_scale([mini])} On top of it: mine.yaml."
    assert about_scale([mini, tiny, mine]) == f"{about_scale([mini, tiny])} On top of it: mine.yaml."
