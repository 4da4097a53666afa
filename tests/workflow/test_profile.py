"""The SLURM profile against the workflow's rules."""

import re
from graphlib import TopologicalSorter

import pytest
import yaml
from support import ROOT, TINY, snakemake

from polyreward.planning.scale import read_scale
from polyreward.planning.work import work

PAPER = "workflow/scales/paper.yaml"
PROFILE = yaml.safe_load((ROOT / "workflow/profiles/slurm/config.yaml").read_text(encoding="utf-8"))
ASKED = PROFILE["__variables__"]["asked"]
RULES = "\n".join(path.read_text(encoding="utf-8") for path in sorted((ROOT / "workflow/rules").glob("*.smk")))
NAMES = set(re.findall(r"^(?:rule|use rule \w+ as) (\w+)(?: with)?:", RULES, re.MULTILINE))


def test_the_profile_names_rules_that_there_are():
    toys = {"cluster_check_cpu", "cluster_check_gpu"}
    assert set(ASKED) - toys <= NAMES
    assert set(PROFILE["groups"]) <= NAMES
    assert set(PROFILE["group-components"]) <= set(PROFILE["groups"].values())


def test_every_heavy_rule_says_what_it_needs_on_a_cluster():
    """Heavy: its rule sets threads or memory, or it is another rule with other files."""
    blocks = re.split(r"^(?=rule |use rule )", RULES, flags=re.MULTILINE)[1:]
    heavy = {
        re.match(r"(?:use rule \w+ as|rule) (\w+)", block)[1]
        for block in blocks
        if re.search(r"^    (threads:|resources:)", block, re.MULTILINE)
    }
    for original, name in re.findall(r"^use rule (\w+) as (\w+) with:", RULES, re.MULTILINE):
        heavy |= {name} if original in heavy else set()
    assert heavy - set(ASKED) == set()


def test_what_is_grouped_asks_for_no_gpu():
    assert [rule for rule in PROFILE["groups"] if ASKED.get(rule, [0])[0]] == []


def test_every_rule_that_the_plan_says_runs_a_model_asks_for_a_gpu():
    models = [work(read_scale(scale, ROOT)) for scale in ([], [PAPER])]
    rules = {rule for table in models for rule in table.loc[table["kind"] != "server", "rule"]}
    assert len(rules) > 15
    assert [rule for rule in sorted(rules) if not ASKED.get(rule, [0])[0]] == []


@pytest.mark.parametrize("scale", [[], ["--configfile", TINY], ["--configfile", PAPER]], ids=["mini", "tiny", "paper"])
def test_no_group_waits_for_a_job_that_waits_for_it(scale):
    ran = snakemake("--rulegraph", "dot", "--forceall", "--quiet", "all", *scale)
    assert ran.returncode == 0, ran.stdout
    names = dict(re.findall(r"(\d+)\[label = \"(\w+)", ran.stdout))
    groups = {name: PROFILE["groups"].get(name, name) for name in names.values()}
    needs = {group: set() for group in groups.values()}
    for before, after in re.findall(r"(\d+) -> (\d+)", ran.stdout):
        pair = groups[names[before]], groups[names[after]]
        if pair[0] != pair[1]:
            needs[pair[1]].add(pair[0])
    assert len(names) > 50
    list(TopologicalSorter(needs).static_order())  # raises CycleError
