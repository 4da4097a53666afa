"""A transfer matrix's page in a real browser: it asks for nothing, and fits a phone."""

import browser
import numpy as np
import pandas as pd
import pytest

from polyreward.analysis.bootstrap import Interval
from polyreward.analysis.comparison import Benchmark
from polyreward.evaluation.matrix import LENGTH, MODEL, PMI, transfer_matrix
from polyreward.evaluation.matrix_shown import write_matrix
from polyreward.report.matrix import write_matrix_page

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(browser.CHROMIUM is None, reason="needs Chromium: apt-get install chromium"),
]
BENCHMARK = Benchmark("b", {"chat": ["advice"], "chat_hard": ["hard"], "safety": ["refuse"]}, {})


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    generator, folder = np.random.default_rng(1), tmp_path_factory.mktemp("matrix")
    subsets = ["advice", "hard", "refuse"] * 20
    rows = [
        {"id": f"i{n}", "subset": one, "template": f"t{n}", "prompt": "q"} for n, one in enumerate(subsets)
    ]
    languages = ["en", "es", "it", "ko", "zh"]
    table = pd.DataFrame(rows)[["id", "subset", "template"]].assign(score_rejected=0.5)
    scores = {
        (scorer, kind, language): table.assign(score_chosen=generator.random(60) + 0.2)
        for scorer, kind in (("my-rm", MODEL), ("length", LENGTH), ("PMI of gemma-3-270m", PMI))
        for language in languages
    }
    found = transfer_matrix(
        "my-rm", scores, dict.fromkeys(languages, rows), BENCHMARK, interval=Interval(200, 0.95, 1)
    )
    write_matrix(found, folder)
    return write_matrix_page(found, folder)


@pytest.fixture(scope="module")
def chromium():
    with browser.Browser() as opened:
        yield opened


@pytest.mark.parametrize(("width", "media"), [(390, ""), (1280, ""), (700, "print")])
def test_the_page_is_whole_whatever_the_width(chromium, path, width, media):
    chromium.open(path, width=width, media=media)
    assert chromium.said == [] and chromium.asked == [path.resolve().as_uri()]
    assert chromium.run("document.images[0].naturalWidth > 0")
    assert chromium.run("document.documentElement.scrollWidth") <= width
    assert chromium.run("document.querySelectorAll('table').length") == 3


def test_languages_sort_by_what_is_lost(chromium, path):
    chromium.open(path)
    column = "[...document.querySelector('tbody').rows].map((row) => row.cells[2].textContent)"
    chromium.run("document.querySelectorAll('#part-languages thead th')[2].querySelector('button').click()")
    lost = [float(text.split()[0]) for text in chromium.run(column) if text]
    assert lost == sorted(lost) and len(lost) == 4
