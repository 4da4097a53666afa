"""The registry, the rules, the catalogs and the schemas say the same."""

import re
import subprocess

import jsonschema
import pytest
import yaml
from referencing import Registry, Resource
from support import ROOT, planned_whole

WORKFLOW = ROOT / "workflow"
CATALOGS = {
    "artifacts.yaml": "artifacts",
    "catalog/models.yaml": "models",
    "catalog/reward_models.yaml": "reward_models",
    "catalog/datasets.yaml": "datasets",
    "catalog/benchmarks.yaml": "benchmarks",
    "claims.yaml": "claims",
}


REWARD_MODEL = "reward_models.schema.yaml"


def checked(data, schema):
    """Validate; the configuration's schema refers to that of the catalog of reward models."""
    registry = Registry().with_resource(REWARD_MODEL, Resource.from_contents(load(f"schemas/{REWARD_MODEL}")))
    jsonschema.Draft202012Validator(schema, registry=registry).validate(data)


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


def test_config_fits_its_schema_with_each_scale_and_no_key_may_be_missing():
    schema = load("schemas/config.schema.yaml")
    config = yaml.safe_load((ROOT / "config.yaml").read_text(encoding="utf-8"))
    checked(config, schema)
    for key in config:
        with pytest.raises(jsonschema.ValidationError):
            checked({k: v for k, v in config.items() if k != key}, schema)


def test_each_artifact_is_made_by_the_rule_that_the_registry_names():
    registry = load("artifacts.yaml")
    jobs = re.findall(r"rule (\w+):\n(?:(?!.*rule ).*\n)*?\s+output: (.*)", planned_whole().stdout)
    made = {(rule, path) for rule, outputs in jobs for path in outputs.split(", ")}
    for name, artifact in registry.items():
        rule, target = artifact["rule"], artifact["target"]
        assert (rule, f"results/{target}") in made, f"{name}: rule {rule} does not make {target}"


def test_each_rule_has_a_script_of_its_name():
    scripts = {path.stem for path in (WORKFLOW / "scripts").glob("*.py")}
    own = {name for name, renamed in rules() if not renamed}
    assert own == scripts


def test_each_printed_number_file_is_there_and_named_by_its_source():
    readme = (ROOT / "resources/published/README.md").read_text(encoding="utf-8")
    for artifact in load("artifacts.yaml").values():
        if artifact["published"]:
            assert (ROOT / artifact["published"]).exists()
    for path in (ROOT / "resources/published").glob("*.csv"):
        assert path.name in readme


def test_every_subset_of_our_data_is_in_a_benchmark_and_the_other_way_round():
    benchmarks = load("catalog/benchmarks.yaml")
    for benchmark, folder in (("mini-rewardbench", "eval"), ("mini-twins", "twins")):
        written = {
            item["subset"]
            for path in (ROOT / "resources/mini" / folder).glob("*.yaml")
            for item in yaml.safe_load(path.read_text(encoding="utf-8"))
        }
        assert written == {s for subsets in benchmarks[benchmark]["sections"].values() for s in subsets}


def test_no_result_is_committed():
    tracked = subprocess.run(["git", "ls-files", "results"], cwd=ROOT, text=True, capture_output=True).stdout
    assert tracked == ""
