"""A rule reruns when a setting of a section that it gets changes.

Snakemake records no param that is a pydantic object by itself, so that a change there would rerun nothing.
Rules hand sections on inside dictionaries.
"""

from collections import defaultdict
from pathlib import Path

import pytest
import yaml
from snakemake.api import SnakemakeApi
from snakemake.persistence import UNREPRESENTABLE
from snakemake.settings.types import ConfigSettings, DAGSettings, OutputSettings, Quietness, ResourceSettings
from support import ROOT, TINY

from polyreward.core.naming import ModelName
from polyreward.core.seeds import job_seed
from polyreward.ops.environments import STAGES

# {environment: rules that need it instead of their stage's}
OTHER_ENVIRONMENTS = {
    "align": {
        *("sft_policy", "dpo_policy", "grpo_policy", "sampled_responses", "labelled_pairs", "policy_answers"),
        *("locals_warmup", "locals_grpo"),
    },
    "notebook": {"executed_notebook"},
    "plot": {"carb_comparison"},
    "score": {"embedding_norms", "carb_completions", "carb_paraphrases", "carb_similarities"},
    "sources": {"instructions", "own_benchmark", "passages"},
    "translate": {"translation_quality"},
}
# {section: (an edit of one of its settings, rules that get it)}
SECTIONS = {
    "reward_model": (
        {"learning_rate": 1.0e-9},
        {"reward_model", "judge_reward_model", "taught_reward_model"},
    ),
    "alignment.sft": ({"learning_rate": 1.0e-9}, {"sft_policy"}),
    "alignment.dpo": ({"learning_rate": 1.0e-9}, {"dpo_policy"}),
    "alignment.sampling": ({"top_k": 3}, {"sampled_responses", "policy_answers"}),
    "think_as_locals.warmup": ({"learning_rate": 1.0e-9}, {"locals_warmup"}),
    "think_as_locals.grpo": ({"beta": 0.5}, {"locals_grpo"}),
    "think_as_locals.runs.full": ({"layout": 0.5}, {"locals_grpo"}),
    "think_as_locals.judge": (
        {"max_new_tokens": 7},
        # The sheet has each judge's entry.
        {"locals_scores", "locals_held_out", "locals_perturbed_scores", "scorers"},
    ),
    "carb.candidates": (
        {"per_question": 3},
        {"candidates", "grpo_answers", "grpo_start_answers", "executed_notebook"},
    ),
    "carb.grpo": ({"beta": 0.5}, {"grpo_policy"}),
    "translation.engines.tiny-gemma": ({"max_new_tokens": 7}, {"engine_sample"}),
}


def planned(*overlays):
    """Return the plan of all jobs of scale tiny, as Snakemake has it."""
    with SnakemakeApi(OutputSettings(quiet={Quietness.ALL})) as api:
        config = ConfigSettings(configfiles=[ROOT / TINY, *overlays])
        read = api.workflow(ResourceSettings(cores=1), config, snakefile=ROOT / "Snakefile")
        read.dag(DAGSettings(targets={"all", "carb"}, forceall=True)).execute_workflow(executor="dryrun")
        return read._workflow


def recorded(workflow):
    """Return {(rule, log): [(name of a param, what Snakemake records of it)]} of all jobs."""
    record = workflow.persistence._serialize_param
    return {
        (job.rule.name, *job.log): [(name, record(value)) for name, value in job.params.items()]
        for job in workflow.dag.jobs
    }


@pytest.fixture(scope="module")
def tiny_plan():
    return planned()


def test_no_param_goes_unrecorded(tiny_plan):
    before = recorded(tiny_plan)
    lost = {
        (job[0], name) for job, params in before.items() for name, value in params if value is UNREPRESENTABLE
    }
    assert len(before) > 200 and not lost


def test_a_rule_has_its_stage_s_environment_or_the_one_that_its_packages_need(tiny_plan):
    rules = [rule for rule in tiny_plan.rules if rule.script]
    files = {rule.name: (ROOT / "workflow/rules" / rule.conda_env).resolve() for rule in rules}
    assert len(files) > 80
    assert set(files.values()) == set((ROOT / "envs").glob("*.yaml"))
    assert {path.stem for path in files.values()} == set(STAGES)
    others = defaultdict(set)
    for rule in rules:
        stage = Path(rule.script).parent.name
        if files[rule.name].stem != {"prepare": "sources", "artifacts": "plot"}.get(stage, stage):
            others[files[rule.name].stem].add(rule.name)
    assert others == OTHER_ENVIRONMENTS


def test_a_setting_of_each_section_that_a_rule_gets_is_recorded(tiny_plan, tmp_path):
    edited = {}
    for section, (edit, _) in SECTIONS.items():
        inner = edited
        for key in section.split("."):
            inner = inner.setdefault(key, {})
        inner.update(edit)
    (tmp_path / "edited.yaml").write_text(yaml.safe_dump(edited), encoding="utf-8")
    before, after = recorded(tiny_plan), recorded(planned(tmp_path / "edited.yaml"))
    changed = {job[0] for job in after if after[job] != before[job]}
    assert changed == set().union(*(rules for _, rules in SECTIONS.values()))


def test_runs_of_grpo_share_a_seed_and_each_repeat_of_full_has_its_own(tiny_plan):
    jobs = [job for job in tiny_plan.dag.jobs if job.rule.name == "locals_grpo"]
    seeds = {job.wildcards.run: job.params.seed for job in jobs}
    root = yaml.safe_load((ROOT / "config.yaml").read_text(encoding="utf-8"))["seed"]
    assert seeds.pop("full-2") == job_seed(root, "locals_grpo", "2")
    assert len(seeds) > 2 and set(seeds.values()) == {job_seed(root, "locals_grpo")}


def test_a_control_flips_the_labels_of_target_languages_and_of_nobody_else(tiny_plan):
    shares = {
        (job.rule.name, job.wildcards.model): job.params.flipped["share"]
        for job in planned(ROOT / "workflow/scales/controls.yaml").dag.jobs
        if "flipped" in job.params.keys()  # noqa: SIM118
    }
    assert {rule for rule, _ in shares} == {"reward_model", "judge_reward_model", "taught_reward_model"}
    for (rule, model), share in shares.items():
        parts = ModelName.parse(model)
        assert share == (0.4 if rule == "reward_model" and parts.language != "en" else 0), model
    usual = [job.params.flipped["share"] for job in tiny_plan.dag.jobs if job.rule.name == "reward_model"]
    assert usual and set(usual) == {0}
