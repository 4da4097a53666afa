"""A rule reruns when a setting of a section that it gets changes.

Snakemake records no param that is a pydantic object by itself, so that a change there would rerun nothing.
Rules hand sections on inside dictionaries.
"""

import pytest
import yaml
from snakemake.api import SnakemakeApi
from snakemake.persistence import UNREPRESENTABLE
from snakemake.settings.types import ConfigSettings, DAGSettings, OutputSettings, Quietness, ResourceSettings
from support import ROOT, TINY

from polyreward.ops.environments import STAGES

# {section: (an edit of one of its settings, rules that get it)}
SECTIONS = {
    "reward_model": ({"learning_rate": 1.0e-9}, {"reward_model", "judge_reward_model"}),
    "alignment.sft": ({"learning_rate": 1.0e-9}, {"sft_policy"}),
    "alignment.dpo": ({"learning_rate": 1.0e-9}, {"dpo_policy"}),
    "alignment.sampling": ({"top_k": 3}, {"sampled_responses", "policy_answers"}),
    "think_as_locals.warmup": ({"learning_rate": 1.0e-9}, {"locals_warmup"}),
    "think_as_locals.grpo": ({"beta": 0.5}, {"locals_grpo"}),
    "think_as_locals.runs.full": ({"layout": 0.5}, {"locals_grpo"}),
    "think_as_locals.judge": (
        {"max_new_tokens": 7},
        {"locals_scores", "locals_held_out", "locals_perturbed_scores"},
    ),
    "carb.candidates": (
        {"per_question": 3},
        {"candidates", "grpo_answers", "grpo_start_answers", "executed_notebook"},
    ),
    "carb.grpo": ({"beta": 0.5}, {"grpo_policy"}),
    "carb.filters": ({"near_duplicate": 0.9}, {"carb_items", "carb_training_items"}),
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


def test_every_rule_has_an_environment_and_every_environment_a_rule(tiny_plan):
    named = {rule.name: rule.conda_env for rule in tiny_plan.rules if rule.script}
    assert len(named) > 80 and all(named.values())
    folder = ROOT / "workflow/rules"
    files = {(folder / name).resolve() for name in named.values()}
    assert files == set((ROOT / "envs").glob("*.yaml")) == {ROOT / f"envs/{stage}.yaml" for stage in STAGES}


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
