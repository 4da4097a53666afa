"""What the documents name is there: files, make targets; and the README stays short."""

import re

import pytest
import yaml
from support import ROOT

PATHS = [
    ROOT / "README.md",
    ROOT / "CONTRIBUTING.md",
    ROOT / "benchmarks/README.md",
    *(path for path in ROOT.glob("docs/**/*.md") if "data" not in path.parts),
]
DOCUMENTS = sorted(path.relative_to(ROOT) for path in PATHS)
# A path in backticks may be short for one in these folders.
NEAR = [
    "",
    "benchmarks",
    *(f"workflow/{name}" for name in ("scripts/polyreward", "rules", "scripts", "notebooks")),
]
# Made by a run, by a reader, or more than one
MADE = re.compile(r"(results|work|\.venv|out)/|~|\*|<|table\d|figure\d|/fr\.|/de/")


def text(document):
    return (ROOT / document).read_text(encoding="utf-8")


def test_the_readme_is_short():
    by_hand = re.sub(r"<!-- table .*?<!-- end -->|<!--.*?-->", " ", text("README.md"), flags=re.DOTALL)
    assert len(by_hand.split()) <= 700


@pytest.mark.parametrize("document", DOCUMENTS, ids=str)
def test_each_link_leads_to_a_file(document):
    for target in re.findall(r"\]\((?!https?:)([^)#]+)", text(document)):
        assert (ROOT / document).parent.joinpath(target).exists(), target


@pytest.mark.parametrize("document", DOCUMENTS, ids=str)
def test_each_path_in_backticks_is_there(document):
    for path in re.findall(r"`([\w./-]+/[\w.-]+\.(?:py|smk|yaml|toml|md|sh|po|jsonl))`", text(document)):
        if not MADE.search(path):
            assert any((ROOT / folder / path).exists() for folder in NEAR), path


@pytest.mark.parametrize("document", DOCUMENTS, ids=str)
def test_each_make_target_is_one(document):
    makefile = text("Makefile")
    for target in re.findall(r"^make ([a-z][\w-]*)|`make ([a-z][\w-]*)", text(document), re.MULTILINE):
        name = "".join(target)
        assert name == "results" or re.search(rf"^[^\t#\n]*\b{name}\b[^\n=]*:", makefile, re.MULTILINE), name


@pytest.mark.parametrize("document", DOCUMENTS, ids=str)
def test_no_file_follows_the_logger_which_snakemake_would_take_for_another_logger(document):
    assert re.findall(r"--logger polyreward (?!-)\S+", text(document)) == []


def test_the_citation_and_the_workflows_are_yaml():
    cited = yaml.safe_load(text("CITATION.cff"))
    assert cited["cff-version"] == "1.2.0" and len(cited["references"]) == 2
    assert yaml.safe_load(text(".github/workflows/ci.yml"))["jobs"]
    assert yaml.safe_load(text(".pre-commit-config.yaml"))["repos"]
