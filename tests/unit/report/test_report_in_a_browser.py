"""The page in a real browser: it runs without complaint, sorts and filters, also narrow and on paper."""

import browser
import pytest
from made_up_results import page_of, write_made_up

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(browser.CHROMIUM is None, reason="needs Chromium: apt-get install chromium"),
]
FIRST_COLUMN = "[...document.querySelector('#table1 tbody').rows].map((row) => row.cells[1].textContent)"
SHOWN = (
    "[...document.querySelectorAll('#part-claims tbody tr')].filter((row) => !row.hidden).map((row) =>"
    " row.id)"
)
WHOLE = "document.readyState === 'complete' && [...document.images].every((one) => one.naturalWidth > 0)"


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    results = write_made_up(tmp_path_factory.mktemp("report"))
    page_of(results)
    return results / "report.html"


@pytest.fixture(scope="module")
def chromium():
    with browser.Browser() as opened:
        yield opened


@pytest.fixture
def page(chromium, path):
    chromium.open(path)
    return chromium


def test_it_loads_without_complaint_or_request(page, path):
    assert page.run(WHOLE)
    assert page.said == []
    assert page.asked == [path.resolve().as_uri()]


def test_a_head_sorts_its_column_up_down_and_back(page):
    head = "document.querySelector('#table1 thead tr:last-child th:last-child')"
    original = ["10.5 [9, 12]", "9.2 [8, 10]", "-3.0 [-4, -2]"]
    assert page.run(FIRST_COLUMN) == original
    for order, expected in (("ascending", original[::-1]), ("descending", original), ("none", original)):
        page.run(f"{head}.querySelector('button').click()")
        assert page.run(f"{head}.getAttribute('aria-sort')") == order
        assert page.run(FIRST_COLUMN) == expected


def test_words_filter_rows_and_say_how_many_are_left(page):
    box = "document.querySelector('#table1 .sortable')"
    page.run(f"{box}.querySelector('input').value = 'B 9.2'")
    page.run(f"{box}.querySelector('input').dispatchEvent(new Event('input'))")
    hidden = page.run(f"[...{box}.querySelectorAll('tbody tr')].map((row) => row.hidden)")
    assert hidden == [True, False, True]
    assert page.run(f"{box}.querySelector('[role=status]').textContent") == "1 of 3 rows"


def test_a_verdict_filters_the_claims(page):
    click = "document.querySelector('button[data-verdict=fails]').click()"
    page.run(click)
    assert page.run(SHOWN) == ["claim-transfer-worse"]
    page.run(click)
    assert len(page.run(SHOWN)) == 4


@pytest.mark.parametrize(
    ("width", "media"), [(320, ""), (390, ""), (768, ""), (940, ""), (1280, ""), (700, "print")]
)
def test_whatever_the_width_nothing_is_cut_and_claims_can_be_read(page, path, width, media):
    page.open(path, width=width, media=media)
    assert page.run("document.documentElement.scrollWidth") <= width
    assert page.run("document.querySelector('.claims td:nth-child(2)').clientWidth") > 200
