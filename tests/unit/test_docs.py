"""What the documents name is there: files, make targets; and the README stays short."""

import re

import pytest
import yaml
from support import ROOT

PAGES = ["README.md", "CONTRIBUTING.md", "benchmarks/README.md"]
PAGES += [path.relative_to(ROOT).as_posix() for path in ROOT.glob("docs/**/*.md") if "data" not in path.parts]
each_page = pytest.mark.parametrize("document", sorted(PAGES))
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


@each_page
def test_each_link_path_and_make_target_is_there(document):
    page, makefile = text(document), text("Makefile")
    links = re.findall(r"\]\((?!https?:)([^)#]+)", page)
    assert [link for link in links if not (ROOT / document).parent.joinpath(link).exists()] == []
    paths = re.findall(r"`([\w./-]+/[\w.-]+\.(?:py|smk|yaml|toml|md|sh|po|jsonl))`", page)
    paths = [path for path in paths if not MADE.search(path)]
    assert [path for path in paths if not any((ROOT / near / path).exists() for near in NEAR)] == []
    for target in re.findall(r"^make ([a-z][\w-]*)|`make ([a-z][\w-]*)", page, re.MULTILINE):
        name = "".join(target)
        assert name == "results" or re.search(rf"^[^\t#\n]*\b{name}\b[^\n=]*:", makefile, re.MULTILINE), name
    # Snakemake would take a file after this for another logger.
    assert re.findall(r"--logger polyreward (?!-)\S+", page) == []


def test_the_citation_and_the_workflows_are_yaml():
    cited = yaml.safe_load(text("CITATION.cff"))
    assert cited["cff-version"] == "1.2.0" and len(cited["references"]) == 2
    assert yaml.safe_load(text(".github/workflows/ci.yml"))["jobs"]
    assert yaml.safe_load(text(".pre-commit-config.yaml"))["repos"]


def test_words_that_a_newcomer_looked_up_are_in_the_glossary():
    looked_up = "CARB, GRPO, DPO, section, subset, passage, KS, CKA, knock-out, topic, target language, policy, cell, n, McNemar"
    terms = re.findall(r"^\| ([^|]+) \|", text("docs/glossary.md"), re.MULTILINE)
    assert set(looked_up.split(", ")) <= set(terms)
    assert terms[2:] == sorted(terms[2:], key=str.lower)
