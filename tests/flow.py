"""Targets and page checks that the end-to-end tests share."""

import json
import re
from html.parser import HTMLParser

from support import ROOT, TINY, jobs_of, registry, snakemake

# Scale tiny in three of its five languages: each has the same rules, and nearly all that a job takes is to
# load PyTorch.
LANGUAGES = ["en", "es", "ko"]
SCALE = [TINY, str(ROOT / "tests/three_languages.yaml")]
WANTED = ["--configfile", *SCALE, "--cores", "2"]
REGISTRY = {
    name: artifact for name, artifact in registry().items() if artifact.get("language", "en") in LANGUAGES
}
# All but CARB, and claims.csv, which needs it.
TRANSFER = ["transfer", *(
    f"results/tiny/{artifact['target']}"
    for name, artifact in REGISTRY.items()
    if artifact["paper"] == "polyreward" and name != "claims" and not name.startswith("carb_")
)]  # fmt: skip


def planned(folder, *targets):
    """Return {rule: jobs} of a dry run."""
    ran = snakemake(*WANTED, "-n", *targets, cwd=folder)
    assert ran.returncode == 0, ran.stdout
    return {rule: jobs for rule, jobs in jobs_of(ran).items() if rule not in ("all", "transfer", "total")}


def outputs_of(ipynb):
    """Return the outputs of a notebook, after checking that it ran and shows only tables and figures."""
    code = [
        cell for cell in json.loads(ipynb.read_text(encoding="utf-8"))["cells"] if cell["cell_type"] == "code"
    ]
    assert [cell["execution_count"] for cell in code] == list(range(1, len(code) + 1))
    outputs = [output for cell in code for output in cell["outputs"]]
    assert {output["output_type"] for output in outputs} == {"execute_result", "display_data"}
    return outputs


def check_pages(folder):
    """Check that notebooks below results/<scale> have no path and no time, and load nothing from elsewhere."""
    for path in folder.glob("notebooks/*"):
        text = path.read_text(encoding="utf-8")
        assert str(folder.parents[1]) not in text
        assert "iopub.execute_input" not in text
        assert remote(text) == []


class Loaded(HTMLParser):
    """Collect what a page loads from elsewhere."""

    def __init__(self):
        super().__init__()
        self.urls = []

    def handle_starttag(self, tag, attrs):
        self.urls += [
            url
            for name, url in attrs
            if (name == "src" or (tag, name) == ("link", "href")) and not url.startswith("data:")
        ]


def remote(page):
    """Return what a page loads from elsewhere, by its tags and styles."""
    loaded = Loaded()
    loaded.feed(page)
    return loaded.urls + re.findall(r"""@import|url\(["']?https?:.*""", page)
