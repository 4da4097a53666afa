"""Another workflow uses this one as a module, in a folder of its own, as docs/howto/module.md says."""

import pytest
from support import ROOT, jobs_of, snakemake, unused_checkout

OUTER = (ROOT / "docs/howto/module.md").read_text(encoding="utf-8").split("```python\n")[1].split("```")[0]
LINES, TWINS = "results/lines.txt", "results/tiny/work/1_sources/data/mini-twins.jsonl"


@pytest.fixture
def outer(tmp_path):
    """The folder of a workflow with the page's Snakefile, next to a link to a checkout."""
    (tmp_path / "outer").mkdir()
    (tmp_path / "outer/Snakefile").write_text(OUTER, encoding="utf-8")
    (tmp_path / "outer/polyreward").symlink_to(unused_checkout())
    return tmp_path / "outer"


def test_a_module_makes_a_file_and_asks_for_nothing_after_that(outer):
    ran = snakemake("--cores", "1", TWINS, cwd=outer)
    assert ran.returncode == 0, ran.stdout
    assert str(outer) not in (outer / TWINS).read_text(encoding="utf-8")
    assert "Nothing to be done" in snakemake("-n", "--cores", "1", TWINS, cwd=outer).stdout


def test_a_module_plans_what_the_page_asks_for_and_the_claims(outer):
    ran = snakemake("-n", "--cores", "all", cwd=outer)
    assert ran.returncode == 0, ran.stdout
    wanted = {"lines": 1, "polyreward_table1": 1, "polyreward_reward_model": 10}
    assert wanted.items() <= jobs_of(ran).items(), ran.stdout
    assert "input: results/tiny/table1.csv" in ran.stdout
    (outer / "Snakefile").write_text(OUTER.replace("tiny/table1.csv", "tiny/claims.csv"), encoding="utf-8")
    ran = snakemake("-n", "--cores", "1", cwd=outer)
    assert ran.returncode == 0, ran.stdout
    assert jobs_of(ran)["polyreward_claims"] == 1
