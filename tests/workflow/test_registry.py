"""The registry, the rules, the catalogs and the schemas say the same."""

import re
import subprocess

import jsonschema
import pytest
import yaml
from support import ROOT, planned_whole, registry

from polyreward.sources.templates import subsets_of

WORKFLOW = ROOT / "workflow"
CATALOGS = {
    "artifacts.yaml": "artifacts",
    "catalog/models.yaml": "models",
    "catalog/datasets.yaml": "datasets",
    "catalog/benchmarks.yaml": "benchmarks",
}


def load(name):
    return yaml.safe_load((WORKFLOW / name).read_text(encoding="utf-8"))


def rules():
    text = "\n".join(path.read_text(encoding="utf-8") for path in (WORKFLOW / "rules").glob("*.smk"))
    return re.findall(r"^(?:use )?rule (\w+)(?: as (\w+))?", text, re.MULTILINE)


@pytest.mark.parametrize("name", CATALOGS)
def test_a_catalog_fits_its_schema_and_an_unknown_key_does_not(name):
    schema = load(f"schemas/{CATALOGS[name]}.schema.yaml")
    data = load(name)
    jsonschema.validate(data, schema)
    first = next(iter(data))
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate({**data, first: {**data[first], "colour": "red"}}, schema)


def test_each_judge_of_the_catalog_on_a_server_is_a_dated_snapshot():
    entries = [entry for entry in load("catalog/reward_models.yaml").values() if "server" in entry]
    undated = [one for one in entries if not re.search(r"-\d{4}(-\d{2}-\d{2})?$", one["server"]["model"])]
    assert len(entries) > 5 and not undated


def test_each_artifact_is_made_by_the_rule_that_the_registry_names():
    jobs = re.findall(r"rule (\w+):\n(?:(?!.*rule ).*\n)*?\s+output: (.*)", planned_whole().stdout)
    made = {(rule, path) for rule, outputs in jobs for path in outputs.split(", ")}
    for name, artifact in registry().items():
        rule, target = artifact["rule"], artifact["target"]
        assert (rule, f"results/{target}") in made, f"{name}: rule {rule} does not make {target}"


def test_each_rule_has_a_script_of_its_name():
    library = ("polyreward", "snakemake_logger_plugin_polyreward")
    found = [path for path in (WORKFLOW / "scripts").glob("*/*.py") if path.parent.name not in library]
    scripts = {path.stem for path in found}
    own = {name for name, renamed in rules() if not renamed}
    assert own == scripts


def test_each_printed_table_of_the_registry_is_there():
    for artifact in load("artifacts.yaml").values():
        if artifact["published"]:
            assert (ROOT / artifact["published"]).exists()


def test_every_subset_of_our_data_is_in_a_benchmark_and_the_other_way_round():
    benchmarks = load("catalog/benchmarks.yaml")
    datasets = load("catalog/datasets.yaml")
    for benchmark in ("mini-rewardbench", "mini-unseen-kinds", "mini-twins"):
        entry = datasets[benchmarks[benchmark]["dataset"]]
        written = {
            subset
            for path in (ROOT / entry["path"]).glob("*.yaml")
            for item in yaml.safe_load(path.read_text(encoding="utf-8"))
            for subset in subsets_of(item)
        }
        listed = {subset for subsets in benchmarks[benchmark]["sections"].values() for subset in subsets}
        assert written == listed


def test_no_result_is_committed():
    tracked = subprocess.run(["git", "ls-files", "results"], cwd=ROOT, text=True, capture_output=True).stdout
    assert tracked == ""
