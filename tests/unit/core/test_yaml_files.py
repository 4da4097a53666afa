"""YAML of strangers: a key that appears twice is named with its line, and tags are refused."""

import pytest
import yaml
from support import ROOT, checkout, refused, snakemake

from polyreward.core.yaml_files import check_settings_files, parsed_yaml, read_yaml


@pytest.fixture
def written(tmp_path):
    def write(text, name="a.yaml"):
        (tmp_path / name).write_text(text, encoding="utf-8")
        return tmp_path / name

    return write


@pytest.mark.parametrize("text", [
    "a: 1\nb: {c: [1, {d: 2}]}\n", "", "- 1\n", "1: a\n'1': b\n", "x: &x {a: 1}\ny: {<<: *x, a: 2}\n", "a: &a [*a]",
])  # fmt: skip
def test_what_has_no_key_twice_is_read_as_ever(text):
    assert repr(parsed_yaml(text)) == repr(yaml.safe_load(text))


def test_every_key_that_stands_twice_is_named_with_both_lines(written):
    path = written("seed: 1\na:\n  b: 1\n  c: 2\n  b: 3\nlist:\n  - {x: 1, x: 2}\nseed: 2\n")
    assert refused(read_yaml, path) == (
        f"{path}: line 8: `seed` appears twice, first in line 1; line 5: `b` appears twice, first in line 3; "
        "line 7: `x` appears twice, first in line 7; keep one"
    )


@pytest.mark.parametrize(("text", "said"), [
    ("b: !!python/object/apply:os.mkdir [injected]\n", "a.yaml: not YAML (could not determine a constructor"),
    ("a: !!python/name:os.system\n", "line 1"),
    ("a: !mine 1\n", "!mine"),
    ("a: [", "not YAML"),
    ("a: 2024-99-99", "month must be in 1..12"),
    ("[" * 300_000 + "]" * 300_000, "nested more than 100 deep"),
])  # fmt: skip
def test_what_is_not_plain_yaml_is_refused_with_its_file_and_runs_nothing(
    written, tmp_path, monkeypatch, text, said
):
    monkeypatch.chdir(tmp_path)
    text = refused(read_yaml, written(text))
    assert said in text and "\n" not in text
    assert not (tmp_path / "injected").exists()


def test_a_file_that_is_not_there_or_not_utf_8_is_said(tmp_path):
    (tmp_path / "a.yaml").write_bytes("a: \u00e1".encode("latin-1"))
    for name, said in (("a.yaml", "not UTF-8"), ("b.yaml", "no such file")):
        assert said in refused(read_yaml, tmp_path / name)


def test_all_problems_of_the_settings_files_are_said_at_once(written):
    files = {"a.yaml": "a: 1\na: 2\n", "b.yaml": "__use_yte__: true\na: 1\n", "c.json": '{"a": 1, "a": 2}'}
    paths = [written(text, name) for name, text in files.items()]
    said = refused(check_settings_files, [*paths, paths[0], written("a: 1\n", "d.yaml")])
    assert said.startswith("settings: 3 problems")
    for words in ("a.yaml: line 2: `a` appears twice", "b.yaml: `__use_yte__`", "c.json: `a` appears twice"):
        assert words in said


def test_the_projects_own_files_have_no_key_twice():
    folders = ("workflow", "resources", "envs", "tests")
    files = [path for folder in folders for path in (ROOT / folder).rglob("*.yaml")]
    assert len(files) > 40
    for path in [ROOT / "config.yaml", *files]:
        read_yaml(path)


@pytest.mark.parametrize(("name", "text", "said"), [
    ("overlay.yaml", "seed: 1\nseed: 2\n", "overlay.yaml: line 2: `seed` appears twice, first in line 1; keep one"),
    ("workflow/catalog/models.yaml", "\ntiny-gemma: {}\n", "`tiny-gemma` appears twice"),
])  # fmt: skip
def test_a_run_stops_at_a_key_that_stands_twice(tmp_path, name, text, said):
    clone = checkout(tmp_path / "polyreward")
    with open(clone / name, "a", encoding="utf-8") as stream:
        stream.write(text)
    overlay = ["--configfile", name] if name == "overlay.yaml" else []
    ran = snakemake("-n", "results/table1.csv", *overlay, cwd=clone)
    assert ran.returncode != 0
    assert said in ran.stdout and "Traceback" not in ran.stdout
