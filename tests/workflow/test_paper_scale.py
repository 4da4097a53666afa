"""Scale paper against a checklist of the papers' settings, each with its source; and that it resolves."""

import pytest
import yaml
from support import ROOT, files_of_jobs, jobs_of, planned_whole, snakemake

from polyreward.settings.transfer import Dpo, RewardModelTraining
from polyreward.sheet.data import is_released
from polyreward.sheet.entries import read_models

PAPER = "workflow/scales/paper.yaml"


def load(path):
    return yaml.safe_load((ROOT / path).read_text(encoding="utf-8"))


PUBLISHED = [load(f"workflow/papers/{paper}/settings.yaml") for paper in ("transfer", "carb")]
CHECKLIST = {part: [entry for one in PUBLISHED for entry in one[part]] for part in PUBLISHED[0]}
OURS = load("tests/workflow/settings_of_ours.yaml")["ours"]
OVERLAY = load(PAPER)
CONFIG = read_models([PAPER], ROOT).settings.model_dump()
CATALOG = {
    name: load(f"workflow/catalog/{name}.yaml")
    for name in ("models", "datasets", "benchmarks", "reward_models")
}


def at(settings, key):
    """Return what a dotted key names, where names of models hold dots too."""
    parts = key.split(".")
    while parts:
        length = next(n for n in range(len(parts), 0, -1) if ".".join(parts[:n]) in settings)
        settings, parts = settings[".".join(parts[:length])], parts[length:]
    return settings


def leaves(settings, path=()):
    """Yield the dotted keys of all settings that are no dictionary, or an empty one."""
    for key, value in settings.items():
        if isinstance(value, dict) and value:
            yield from leaves(value, (*path, key))
        else:
            yield ".".join((*path, key))


@pytest.mark.parametrize("entry", CHECKLIST["set"], ids=lambda entry: entry["key"])
def test_a_setting_of_the_papers_is_set_as_they_have_it(entry):
    assert at(CONFIG, entry["key"]) == entry["value"]


@pytest.mark.parametrize("entry", CHECKLIST["catalog"], ids=lambda entry: entry["key"])
def test_a_name_of_the_papers_stands_in_the_catalog(entry):
    assert at(CATALOG, entry["key"]) == entry["value"]


def test_every_setting_of_scale_paper_has_a_source_or_is_ours():
    known = tuple(f"{key}." for key in [*(entry["key"] for entry in CHECKLIST["set"]), *OURS])
    assert not [leaf for leaf in leaves(OVERLAY) if not f"{leaf}.".startswith(known)]


def test_the_schedules_that_no_setting_changes_are_the_papers():
    assert RewardModelTraining.warmup_ratio == 0.1
    assert RewardModelTraining.lr_scheduler == Dpo.lr_scheduler == "cosine"


def test_every_setting_of_ours_is_one_and_none_of_the_papers():
    for key in OURS:
        at(CONFIG, key)
    assert not {entry["key"] for entry in CHECKLIST["set"]} & set(OURS)


def test_every_test_that_the_checklist_names_is_there():
    assert all((ROOT / entry["shown_by"]).is_file() for entry in CHECKLIST["code"])


def test_the_global_batches_are_the_papers_on_four_devices():
    rm, dpo = CONFIG["reward_model"], CONFIG["alignment"]["dpo"]
    assert 4 * rm["batch_size"] * rm["gradient_accumulation"] == 128
    assert 4 * dpo["batch_size"] * dpo["gradient_accumulation"] == 32


@pytest.mark.slow
@pytest.mark.parametrize(("overlay", "target"), [
    ("locals_14b", "think_as_locals"),
    ("locals_32b", "think_as_locals"),
    ("vllm", "all"),
    ("sources", "results/paper_sources/data_sources.csv"),
])  # fmt: skip
def test_scale_paper_resolves_with_an_overlay(overlay, target):
    files = [PAPER, f"workflow/scales/paper_{overlay}.yaml"]
    ran = snakemake("-n", "--quiet", "--cores", "2", target, "--configfile", *files)
    assert ran.returncode == 0, ran.stdout


def test_scale_paper_resolves_and_fetches_each_repository_once_at_a_recorded_commit():
    ran = planned_whole("--configfile", PAPER)
    assert ran.returncode == 0, ran.stdout
    jobs = jobs_of(ran)
    assert jobs["hub_revision"] == jobs["base_model"] + jobs["hub_model"] + jobs["dataset"] - 1  # mini-twins
    assert jobs["reward_model"] == 15
    assert jobs["dpo_policy"] == 40  # five for each labeller and language


def test_the_published_words_of_two_questions_are_fetched_only_where_they_are_wanted():
    work = "results/paper/work"
    judged = [
        f"{work}/5_scores/rewardbench/gpt-4o/ko.parquet",
        f"{work}/5_scores/alignment/judgements_ko.csv",
        f"{work}/5_scores/carb/gpt-4o/ko.parquet",
    ]
    published = planned_whole("--configfile", PAPER)
    inputs = {path: inputs for _, inputs, outputs in files_of_jobs(published) for path in outputs}
    words = [[path for path in inputs[one] if "/judge_questions/" in path] for one in judged]
    folder = f"{work}/1_sources/judge_questions"
    assert words == [[f"{folder}/rewardbench.yaml"], [f"{folder}/alpacaeval.yaml"], []]
    assert jobs_of(published)["judge_question"] == 2
    ours = snakemake("-n", "--cores", "2", *judged, "--configfile", PAPER, "--config", "judge_wordings=ours")
    assert ours.returncode == 0, ours.stdout
    assert "judge_question" not in jobs_of(ours)


def test_think_as_locals_is_evaluated_on_m_rewardbench_in_the_paper_s_languages():
    jobs = files_of_jobs(planned_whole("--configfile", PAPER))
    (inputs,) = (
        inputs
        for _, inputs, outputs in jobs
        if outputs and outputs[0].endswith("locals/full/rewardbench.parquet")
    )
    folder, cultures = "results/paper/work/3_translated/multilingual-rewardbench", ("ar", "zh", "ja")
    assert [path for path in inputs if "/3_translated/" in path] == [
        f"{folder}/{one}.jsonl" for one in cultures
    ]
    paper = read_models([PAPER], ROOT)
    released = (
        is_released(paper.settings, paper.catalog, "multilingual-rewardbench", one) for one in cultures
    )
    assert all(released)
    (inputs,) = (
        inputs
        for _, inputs, outputs in files_of_jobs(planned_whole())
        if outputs and outputs[0].endswith("locals/full/rewardbench.parquet")
    )
    judged = [path.split("/3_translated/")[1] for path in inputs if "/3_translated/" in path]
    assert judged == ["mini-rewardbench/zh.jsonl"]  # the only language of a culture that mini has
