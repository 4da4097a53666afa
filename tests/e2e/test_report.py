"""The page of everything that was made, and Snakemake's own report on it."""

import html
import json
import re
from itertools import chain

import pytest
from flow import REGISTRY, SCALE, remote
from support import ROOT, snakemake

from polyreward.report.page import write_page
from polyreward.report.results import read_results

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def report(tiny):
    ran = snakemake(
        "--report", "results/tiny/snakemake_report.html", "all", "--configfile", *SCALE, cwd=tiny.parents[1]
    )
    assert ran.returncode == 0, ran.stdout
    return (tiny / "snakemake_report.html").read_text(encoding="utf-8")


def held(report, name):
    """Return one of the objects that the report's page holds."""
    return json.loads(re.search(rf"^\s*var {name} = ([\"{{].*);$", report, re.MULTILINE)[1])


def test_the_report_shows_every_artifact_with_its_number_and_caption(report):
    shown = held(report, "results")
    for name, artifact in REGISTRY.items():
        found = shown[f"results/tiny/{artifact['target']}"]
        caption = artifact["caption"].format(
            confidence="95%", check="Random models: the numbers mean nothing."
        )
        assert caption in html.unescape(found["caption"]), name
        assert found["labels"]["number"] == artifact["number"]
        assert found["data_uri"].startswith("data:")
    assert shown["results/tiny/table1.html"]["mime_type"] == "text/html"  # it opens in the page


def test_the_reports_entries_are_told_apart_by_their_labels(report):
    shown = held(report, "results")
    categories = [list(chain(*of.values())) for of in held(report, "categories").values()]
    assert len(categories) == 3  # each of the two papers has a Figure 1
    for listed in categories:
        labels = [tuple(shown[path]["labels"].values()) for path in listed]
        assert len(set(labels)) == len(labels)
    assert sorted(path for listed in categories for path in listed) == sorted(shown)


def test_the_report_has_a_front_page_the_rules_and_their_times_and_loads_nothing(report, tiny):
    front = held(report, "workflow_desc")
    assert "tiny-gemma and tiny-llama" in front and "system-message" not in front
    assert {"reward_model", "table1", "executed_notebook"} <= held(report, "rules").keys()
    assert all("reward_model" in str(held(report, name)) for name in ("rulegraph_spec", "runtimes_spec"))
    # It is read offline, and anywhere.
    assert remote(report) == []
    assert str(tiny.parents[1]) not in report


def test_the_page_shows_every_artifact_in_a_file_small_enough_to_send(report, tiny):
    results = read_results(tiny, SCALE, ROOT)
    assert write_page(results, tiny / "report.html", ROOT) == []
    page = (tiny / "report.html").read_text(encoding="utf-8")
    for name in REGISTRY:
        assert f'<article id="{name}"' in page, name
    assert page.count("<img ") == sum(target.endswith(".png") for target in results.targets.values())
    assert 'href="snakemake_report.html"' in page
    assert "Not made yet" not in page and remote(page) == [] and str(tiny.parents[1]) not in page
    assert len(page) < 5_000_000
