"""Only what changed reruns: for each kind of edit the rules that it touches, and what is made of what they
make, and no other.

The run is a made-up one (made_up_run.py): what reruns does not depend on what the files hold."""

import re

import pytest
from flow import WANTED
from made_up_run import finish
from recorded import dependents, jobs_made
from support import checkout, snakemake

TARGETS = [
    f"results/tiny/{name}" for name in ("table1.csv", "figure2.png", "figure3.csv", "data_sources.csv")
]
LIBRARY = "workflow/scripts/polyreward"
SCORERS = {"reward_scores", "labelled_pairs"}
# {edit: (file, what stands there, what is put there, rules that rerun by themselves)}; of a rule that gets
# new inputs anyway Snakemake does not say whether its code or settings changed, too.
EDITS = {
    "a comment in the library": (f"{LIBRARY}/core/seeds.py", "    digest =", "    # why\n    digest =", set()),
    "a comment in a script": ("workflow/scripts/artifacts/table1.py", "from polyreward", "# why\nfrom polyreward", set()),
    "words of an error": (f"{LIBRARY}/alignment/sampling.py", "distinct prompts, not", "other prompts, not", {"sampled_responses"}),
    "logic of training": (f"{LIBRARY}/training/policies.py", '"loss" in entry', 'bool("loss" in entry)', {"sft_policy"}),
    "logic of scoring": (f"{LIBRARY}/models/batches.py", "> budget", ">= budget", {"translated_rows"}),
    "logic of a figure": (f"{LIBRARY}/transfer/figure3.py", "EVEN = 50", "EVEN = 51", {"figure3"}),
    "a constant that nobody uses": (f"{LIBRARY}/transfer/figure3.py", "EVEN = 50", "ODD = 51\nEVEN = 50", {"figure3"}),
    "a setting of DPO": ("workflow/scales/tiny.yaml", "  dpo: {", "  dpo: {beta: 0.2, ", {"dpo_policy"}),
    "a setting of scoring": ("config.yaml", "scoring:\n  max_length: 512", "scoring:\n  max_length: 500", SCORERS),
    "a reward model of one's own": ("config.yaml", "reward_models: {}", "reward_models: {mine: {kind: implicit, model: tiny-gemma}}", {"scorers"}),
    "threads of a job": ("config.yaml", "seed: 42", "threads: {train: 2}\nseed: 42", set()),
    "a comment in the settings": ("config.yaml", "seed: 42", "seed: 42 # why", set()),
    "a model of the catalog": ("workflow/catalog/models.yaml", "hidden_size: 32", "hidden_size: 64", {"random_base_model"}),
    "a row of data": ("resources/mini/eval/chat.yaml", "frozen chicken", "frozen duck", {"dataset"}),
    "a translation": ("resources/mini/catalogs/es.po", "Solo tengo huevos", "Tengo huevos", {"translated_rows"}),
    "a pin of an environment": ("envs/score.yaml", "anyio==", "anyio==9", set()),
    "a caption": ("workflow/artifacts.yaml", "caption: >-\n", "caption: >-\n    New.\n", {"table1"}),
}  # fmt: skip
BY_ITSELF = (
    "have changed since last execution",
    "Updated input files",
)  # next to another job's update of an input
SAMPLE = ("a comment in the library", "a setting of DPO", "a row of data")


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    """A checkout in which all is made, and its jobs."""
    folder = checkout(tmp_path_factory.mktemp("edits") / "polyreward")
    finish(folder, *WANTED[:-2], "--", *TARGETS)
    return folder, jobs_made(folder)


def check(finished, edit):
    """Make an edit, compare what would rerun with the table, and take the edit back."""
    (folder, jobs), (name, old, new, touched) = finished, EDITS[edit]
    text = (folder / name).read_text(encoding="utf-8")
    assert old in text
    (folder / name).write_text(text.replace(old, new, 1), encoding="utf-8")
    try:
        reasons = planned(folder)
    finally:
        (folder / name).write_text(text, encoding="utf-8")
    rules = {job.log: job.rule for job in jobs}
    by_itself = {log for log, reason in reasons.items() if any(words in reason for words in BY_ITSELF)}
    print(
        f"{edit}: {len(reasons)} of {len(jobs)} jobs;"
        f" {' '.join(sorted({rules[log] for log in by_itself})) or 'none'}"
    )
    assert {rules[log] for log in by_itself} == touched
    assert set(reasons) == dependents(jobs, by_itself)


def planned(folder):
    """Return {log: why} of the jobs of a dry run."""
    ran = snakemake(*WANTED, "-n", *TARGETS, cwd=folder)
    assert ran.returncode == 0, ran.stdout
    return dict(re.findall(r"^    log: (\S+)$(?:\n    .*)*?\n    reason: (.*)$", ran.stdout, re.MULTILINE))


@pytest.mark.slow
@pytest.mark.parametrize("edit", SAMPLE)
def test_an_edit_reruns_what_it_touches_and_no_other(finished, edit):
    check(finished, edit)


@pytest.mark.matrix
@pytest.mark.parametrize("edit", EDITS)
def test_each_kind_of_edit_reruns_what_it_touches_and_no_other(finished, edit):
    check(finished, edit)
