"""The documents as a site: links and anchors lead somewhere, no page asks the network for anything, and all
fit a phone."""

import os
import re
import shutil
import subprocess
import sys

import pytest
from flow import remote
from support import ROOT, registry

pytest.importorskip("mkdocs", reason="needs the packages of `pip install -e .[docs]`")
sys.path.insert(0, str(ROOT / "docs/site"))

from rule_graph import STAGES, rules_of  # noqa: E402


def build(root, folder):
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(folder)]
    how = {"text": True, "stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}
    return subprocess.run(command, cwd=root, env={**os.environ, "NO_MKDOCS_2_WARNING": "1"}, **how)


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    site = tmp_path_factory.mktemp("site")
    ran = build(ROOT, site)
    assert ran.returncode == 0, ran.stdout
    return {path.relative_to(site).as_posix(): path.read_text("utf-8") for path in site.rglob("*.html")}


def test_no_page_loads_anything_from_elsewhere(pages):
    assert len(pages) > 18
    asked = {name: [one for one in remote(page) if "//" in one] for name, page in pages.items()}
    assert {name: found for name, found in asked.items() if found} == {}


def test_the_home_page_is_the_readme_with_links_that_work(pages):
    home = pages["index.html"]
    assert 'href="limitations.html"' in home and 'href="contributing.html"' in home
    assert [link for link in re.findall(r'href="([^"]*)"', home) if link.startswith("docs/")] == []
    assert "NOTICE" in home and 'href="NOTICE"' not in home


def test_marks_of_filled_numbers_are_not_on_the_pages_and_their_text_is(pages):
    assert [
        name for name, page in pages.items() if re.search("<!-- (?:value|mean|table|part|end) ", page)
    ] == []
    assert "Averages in Table 1 above chance (50%)" in pages["results/transfer.html"]


def test_each_artifact_is_on_the_page_with_its_command_and_its_rules_from_the_sources_on(pages):
    page = pages["reference/artifacts.html"]
    for name, entry in registry().items():
        part = page.split(f'<a id="{name}"></a>')[1].split("<a id=")[0]
        assert f"make results/{entry['target']}" in part
        assert f"<code>{entry['rule']}</code>" in part, name
    way = page.split('<a id="table1"></a>')[1].split("<a id=")[0].split("The rules on the way")[1]
    assert re.findall(r"<strong>(\w+)</strong>", way) == list(STAGES.values())
    assert "<strong>models</strong> <code>truncated_base</code>, <code>reward_model</code> " in way


def test_each_rule_is_on_the_page_of_the_design_with_what_it_does(pages):
    rules, page = rules_of(ROOT), pages["design.html"]
    assert page.count('class="stage"') == len(STAGES)
    for rule in rules.stages:
        assert re.search(rf"<td><code>{rule}(_\w+)?</code></td>\n<td>[A-Z]", page), rule


def test_each_link_that_leads_nowhere_fails_and_is_named(tmp_path):
    for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md", "mkdocs.yml", "config.yaml"):
        shutil.copy2(ROOT / name, tmp_path)
    shutil.copytree(ROOT / "docs", tmp_path / "docs")
    for name in ("workflow", "resources"):
        (tmp_path / name).symlink_to(ROOT / name)
    path = tmp_path / "docs/design.md"  # its drawing asks Snakemake
    path.write_text(path.read_text(encoding="utf-8").replace("{{ rule drawing }}", ""), encoding="utf-8")
    with open(tmp_path / "docs/limitations.md", "a", encoding="utf-8") as stream:
        stream.write("\n[there](glossary.md#no-such-heading) [and there](nowhere.md)\n")
    ran = build(tmp_path, tmp_path / "built")
    assert ran.returncode == 1 and "Aborted with 2 warnings in strict mode" in ran.stdout
    for link in ("no-such-heading", "nowhere.md"):
        assert re.search(rf"WARNING.*limitations\.md.*{link}", ran.stdout), link
