"""The page in a real browser: it runs without complaint, sorts and filters, also narrow, dark, by keyboard
and on paper."""

import base64
import time

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
    chromium.said.clear()
    chromium.asked.clear()
    chromium.open(path)
    return chromium


def focused(page):
    return page.run("document.activeElement.id || document.activeElement.textContent.trim()")


def test_it_loads_without_complaint_or_request(page, path):
    assert page.run(WHOLE)
    assert page.said == []
    assert page.asked == [path.resolve().as_uri()]


def test_the_policy_stops_what_a_file_might_smuggle_in(page):
    page.run(
        "document.body.append(Object.assign(document.createElement('img'), {src:"
        " 'http://127.0.0.1:9/x.png'}))"
    )
    page.run(
        "document.body.append(Object.assign(document.createElement('script'), {textContent: 'window.smuggled"
        " = 1'}))"
    )
    assert page.run("typeof window.smuggled") == "undefined"
    assert any("Content Security Policy" in text for text in page.said)


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
    page.run(
        f"{box}.querySelector('input').value = 'B 9.2'; {box}.querySelector('input').dispatchEvent(new"
        " Event('input'))"
    )
    assert page.run(f"[...{box}.querySelectorAll('tbody tr')].map((row) => row.hidden)") == [
        True,
        False,
        True,
    ]
    assert page.run(f"{box}.querySelector('[role=status]').textContent") == "1 of 3 rows"


def test_a_verdict_filters_the_claims(page):
    click = "document.querySelector('button[data-verdict=fails]').click()"
    page.run(click)
    assert page.run(SHOWN) == ["claim-transfer-worse"]
    page.run(click)
    assert len(page.run(SHOWN)) == 4


def test_it_can_be_used_by_keyboard_alone(page):
    page.press("Tab", 9)
    assert focused(page) == "Skip to the claims"
    page.press("Enter", 13, "\r")
    assert page.run("location.hash") == "#part-claims"
    page.press("Tab", 9)
    assert page.run("document.activeElement.dataset.verdict") == "holds"
    assert page.run("getComputedStyle(document.activeElement).outlineStyle") == "solid"
    page.press("Enter", 13, "\r")
    assert page.run(SHOWN) == ["claim-transfer-english_beats_target"]
    page.run("document.querySelector('#table1 thead button').focus()")
    page.press(" ", 32, " ")
    assert (
        page.run("document.querySelector('#table1 thead [aria-sort]').getAttribute('aria-sort')")
        == "ascending"
    )


@pytest.mark.parametrize(
    ("width", "media"), [(320, ""), (390, ""), (768, ""), (940, ""), (1280, ""), (700, "print")]
)
def test_whatever_the_width_nothing_is_cut_and_claims_can_be_read(page, path, width, media):
    page.open(path, width=width, media=media)
    assert page.run("document.documentElement.scrollWidth") <= width
    assert page.run("document.querySelector('.claims td:nth-child(2)').clientWidth") > 200


def test_dark_is_dark_and_light_is_light(page, path):
    colour = "getComputedStyle(document.body).backgroundColor"
    assert page.run(colour) == "rgb(255, 255, 255)"
    page.open(path, dark=True)
    assert page.run(colour) == "rgb(20, 23, 26)"


def test_on_paper_all_is_open_and_nothing_is_cut(page, path, tmp_path):
    page.run("dispatchEvent(new Event('beforeprint'))")
    assert page.run("[...document.querySelectorAll('details')].every((one) => one.open)")
    page.open(path, media="print")
    assert page.run("getComputedStyle(document.querySelector('nav')).display") == "none"
    assert page.run("getComputedStyle(document.querySelector('.scroll')).overflow") == "visible"
    printed = base64.b64decode(page.call("Page.printToPDF")["data"])
    assert printed.startswith(b"%PDF") and len(printed) > 10_000


def test_a_picture_of_it_is_not_blank(page, tmp_path):
    from PIL import Image

    time.sleep(0.2)
    page.screenshot(tmp_path / "page.png")
    with Image.open(tmp_path / "page.png") as picture:
        assert picture.size == (1280, 800)
        assert len(picture.convert("RGB").getcolors(1 << 24)) > 50
