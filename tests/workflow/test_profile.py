"""The SLURM profile against the workflow's rules."""

import re
from graphlib import TopologicalSorter

import pytest
import yaml
from support import ROOT, TINY, files_of_jobs, planned_whole, snakemake

PAPER = "workflow/scales/paper.yaml"
PROFILE = yaml.safe_load((ROOT / "workflow/profiles/slurm/config.yaml").read_text(encoding="utf-8"))
RULES = "\n".join(path.read_text("utf-8") for path in sorted((ROOT / "workflow/rules").glob("*.smk")))
BLOCKS = {
    re.match(r"(?:use rule \w+ as|rule) (\w+)", block)[1]: block
    for block in re.split(r"^(?=rule |use rule )", RULES, flags=re.MULTILINE)[1:]
}


def declared(rule):
    """Return the resources of a rule as its text has them, its own or those of the rule that it is made of."""
    found = re.search(r"^ +resources:\n +(.*)$", BLOCKS[rule], re.MULTILINE)
    original = re.match(r"use rule (\w+) as", BLOCKS[rule])
    return found[1] if found else declared(original[1]) if original else None


def test_the_profile_groups_rules_that_there_are_and_ask_for_no_gpu():
    assert set(PROFILE["groups"]) <= set(BLOCKS)
    assert set(PROFILE["group-components"]) <= set(PROFILE["groups"].values())
    texts = {rule: declared(rule) or "" for rule in PROFILE["groups"]}
    assert [
        rule for rule, text in texts.items() if "for_models(" in text and "on_gpu=False" not in text
    ] == []


def test_every_rule_with_threads_of_its_own_says_what_it_needs_on_a_cluster():
    heavy = [rule for rule, block in BLOCKS.items() if re.search(r"^ +threads:", block, re.MULTILINE)]
    assert len(heavy) > 20
    assert [rule for rule in heavy if "for_" not in (declared(rule) or "")] == []


def test_a_job_asks_a_cluster_for_what_its_rule_says(monkeypatch, tmp_path):
    site = {
        "account": "lab",
        "partition": "cpu",
        "gpu_partition": "gpu",
        "gpu_type": "a100",
        "status_command": "squeue",
    }
    (tmp_path / "site.yaml").write_text(yaml.safe_dump(site), encoding="utf-8")
    monkeypatch.setenv("POLYREWARD_SITE", str(tmp_path / "site.yaml"))
    model = "results/tiny/work/4_models/tiny-llama_es"
    profile = ["--profile", "workflow/profiles/slurm", "--configfile", TINY]
    ran = snakemake("-n", "--forceall", *profile, "--", model)
    assert ran.returncode == 0, ran.stdout
    asked = {
        rule: dict(one.split("=") for one in resources.split(", "))
        for rule, resources in re.findall(r"rule (\w+):\n(?:    .*\n)*?    resources: (.*)\n", ran.stdout)
    }
    wanted = {"slurm_account": "lab", "slurm_partition": "gpu", "gpu": "1", "gpu_model": "a100"}
    training = asked["reward_model"]
    assert {**training, **wanted, "mem_mb": "4000", "runtime": "1440"} == training
    pool = asked["training_pool"]
    assert {
        **pool,
        "slurm_partition": "cpu",
        "mem_mb": "16000",
        "runtime": "60",
    } == pool and "gpu" not in pool


@pytest.mark.parametrize(
    "scale", [[], ["--configfile", TINY], ["--configfile", PAPER]], ids=["mini", "tiny", "paper"]
)
def test_no_group_waits_for_a_job_that_waits_for_it(scale):
    planned = files_of_jobs(planned_whole(*scale))
    rules = {path: rule for rule, _, outputs in planned for path in outputs}
    groups = {rule: PROFILE["groups"].get(rule, rule) for rule, _, _ in planned}
    assert len(groups) > 50
    needs: dict = {}
    for rule, inputs, _ in planned:
        before = {groups[rules[path]] for path in inputs if path in rules} - {groups[rule]}
        needs.setdefault(groups[rule], set()).update(before)
    assert sum(map(len, needs.values())) > 50
    list(TopologicalSorter(needs).static_order())  # raises CycleError
