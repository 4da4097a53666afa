"""What is made again after which edit, and what is left of a job that fails."""

import re

import pytest
from flow import TRANSFER, WANTED, planned
from support import snakemake

pytestmark = pytest.mark.slow


def test_a_second_run_of_everything_does_nothing(copy):
    assert planned(copy, "all") == {}


def test_an_edit_of_the_analysis_reruns_the_analysis_only(copy):
    path = copy / "workflow/scripts/polyreward/analysis/bootstrap.py"
    text = path.read_text(encoding="utf-8")
    path.write_text(text + "\n# a comment\n", encoding="utf-8")
    assert planned(copy, *TRANSFER) == {}
    edited = text.replace("tail = (1 - confidence) / 2", "tail = (1 - confidence) / 2.0")
    assert edited != text
    path.write_text(edited, encoding="utf-8")
    # Figure 3's judgements import what resamples, too.
    assert set(planned(copy, *TRANSFER)) == {
        "judgements",
        "transfer_comparison", "transfer_gap", "language_comparison", "ready_made_comparison", "scorer_comparison", "twin_comparison", "geometry",
        "win_rates", "gate", "table1", "table2", "transfer_claims", "compare", "language_table", "stacked_table", "figure1",
        "figure3", "executed_notebook", "training_added", "seed_differences", "printed", "printed_leads",
    }  # fmt: skip
    path.write_text(text, encoding="utf-8")


def test_a_failing_cell_is_in_the_log_and_leaves_no_notebook(copy):
    with open(copy / "workflow/notebooks/transfer.py", "a", encoding="utf-8") as stream:
        stream.write("\n# %%\nraise ValueError(source)\n")
    ran = snakemake(*WANTED, "results/tiny/notebooks/transfer.html", cwd=copy, many_jobs=True)
    assert ran.returncode != 0
    assert "ValueError: en" in (copy / "results/tiny/logs/executed_notebook/transfer.log").read_text(
        encoding="utf-8"
    )
    assert not list((copy / "results/tiny").glob("notebooks/transfer*"))


# The last one, since the evaluation set is gone after it.
def test_an_evaluation_row_with_identical_answers_stops_with_one_clear_message(copy):
    path = copy / "resources/mini/eval/chat.yaml"
    text = path.read_text(encoding="utf-8")
    start = text.index("  chosen:")
    rejected = re.search(r"^  rejected: (.*)$", text, re.MULTILINE)[1]
    broken = text[:start] + f"  chosen: {rejected}" + text[text.index("\n", start) :]
    path.write_text(broken, encoding="utf-8")
    ran = snakemake(*WANTED, "results/tiny/work/2_prepared/mini-rewardbench.jsonl", cwd=copy, many_jobs=True)
    assert ran.returncode != 0
    assert "`chosen` and `rejected` are identical" in ran.stdout
    assert not (copy / "results/tiny/work/2_prepared/mini-rewardbench.jsonl").exists()
    path.write_text(text, encoding="utf-8")
