"""The settings' files: where a setting stands, and the schema and the reference that are written from the
classes."""

import json
from types import SimpleNamespace

import jsonschema
import pytest
from settings_data import LEFT_OUT, changed, load
from support import ROOT

from polyreward.core.errors import PolyrewardError
from polyreward.settings.base import Section
from polyreward.settings.messages import Places, parsed_settings
from polyreward.settings.reference import PAGE, SCHEMA, reference


@pytest.fixture
def files(tmp_path):
    (tmp_path / "config.yaml").write_text(
        "# comment\nseed: 1\npool:\n  datasets: [a, b]\n  dev_share: 0\nlist:\n  - x\n  - y\n"
    )
    (tmp_path / "one.yaml").write_text("seed: 2\npool: {dev_share: 1}\nq.5: {a: 1}\n")
    (tmp_path / "two.yaml").write_text("\n\nseed: 3\n")
    return tmp_path


@pytest.mark.parametrize(("key", "place"), [
    (("seed",), "two.yaml:3"),
    (("pool", "dev_share"), "one.yaml:2"),
    (("pool", "datasets"), "config.yaml:4"),
    (("pool", "datasets", 1), "config.yaml:4"),
    (("pool", "max_pairs"), "one.yaml:2"),  # missing: where its section is
    (("list", 1), "config.yaml:8"),
    (("q.5", "a"), "one.yaml:3"),
    (("gate",), "config.yaml"),
    (("bases",), "--config"),
    (("think_as_locals", "base"), "--config"),
])  # fmt: skip
def test_a_setting_is_found_in_the_file_that_counts(files, monkeypatch, key, place):
    monkeypatch.chdir(files)
    given = SimpleNamespace(config={"bases": ["x"], "think_as_locals": {"base": "x"}})
    overlays = [files / "one.yaml", files / "two.yaml"]
    workflow = SimpleNamespace(
        overwrite_configfiles=overlays, configfiles=[*overlays, "config.yaml"], config_settings=given
    )
    assert Places.given(workflow).of(key) == place


def test_a_file_that_is_no_yaml_has_no_lines(tmp_path):
    (tmp_path / "a.yaml").write_text("{a: [")
    assert Places([tmp_path / "a.yaml"]).of(("a",)) == str(tmp_path / "a.yaml")


def test_problems_are_listed_in_the_order_of_the_files(files):
    overlay = files / "overlay.yaml"
    overlay.write_text("gate: {seeds: x}\nsed: 1\n")
    places = Places([overlay, files / "config.yaml"])
    with pytest.raises(PolyrewardError) as caught:
        parsed_settings(changed(gate__seeds="x", sed=1, seed="y"), places)
    heading, *listed = str(caught.value).splitlines()
    assert heading == "configuration: 3 problems"
    assert [line.split(": ")[:2] for line in listed] == [
        [f"  - {overlay}:1", "gate.seeds"], [f"  - {overlay}:2", "sed"], [f"  - {files / 'config.yaml'}:2", "seed"],
    ]  # fmt: skip


# --- what is written from the classes


def test_the_schema_and_the_reference_page_are_up_to_date():
    for path, text in reference().items():
        assert (ROOT / path).read_text(encoding="utf-8") == text, f"{path}: run `polyreward settings`"
    first = (ROOT / "config.yaml").read_text(encoding="utf-8").splitlines()[0]
    assert first == f"# yaml-language-server: $schema={SCHEMA}"


def test_the_schema_takes_the_configuration_and_refuses_what_the_classes_refuse():
    validator = jsonschema.Draft202012Validator(json.loads(reference()[SCHEMA]))
    validator.check_schema(validator.schema)
    assert list(validator.iter_errors(load("config.yaml"))) == []
    for change in (
        {"sed": 1}, {"gate": LEFT_OUT}, {"seed": "minus"}, {"bases": ["a", "a"]}, {"reward_model__epochs": 0},
        {"reward_models": {"r": {"kind": "classifier"}}}, {"reward_models": {"r": {"kind": "x", "path": "x"}}},
    ):  # fmt: skip
        assert list(validator.iter_errors(changed(**change))), change


def test_the_page_has_every_key_with_its_default_and_its_meaning():
    page = reference()[PAGE]
    assert "| `seed` | integer >= 0 |  | Root seed;" in page
    assert "| `think_as_locals.grpo.lora.rank` | integer >= 1 | `8` |" in page
    assert "| `reward_models.<name>.server.url` |" in page and "optional" in page


def test_every_setting_has_a_description():
    todo = [Section]
    for section in todo:
        todo += section.__subclasses__()
        for name, field in section.model_fields.items():
            assert field.description and field.description.endswith("."), f"{section.__name__}.{name}"
