"""The page of errors in a real browser: it narrows by filters and words, by keyboard, and fits a phone."""

import browser
import pytest
from made_up_scores import errors_of, write_carb, write_pairs

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(browser.CHROMIUM is None, reason="needs Chromium: apt-get install chromium"),
]
SHOWN = (
    "[...document.querySelectorAll('#part-pairs article')].filter((one) => !one.hidden).map((one) => one.id)"
)
ALL = ["tiny-gemma-pair-3", "tiny-gemma-pair-5", "tiny-llama-pair-0"]


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    results = tmp_path_factory.mktemp("errors") / "results/tiny"
    write_pairs(results)
    write_carb(results)
    errors_of(results)
    return results / "errors.html"


@pytest.fixture(scope="module")
def chromium():
    with browser.Browser() as opened:
        yield opened


def test_filters_words_and_keys_narrow_the_pairs_without_complaint_or_request(chromium, path):
    chromium.open(path)
    assert chromium.run(SHOWN) == ALL
    form = "document.querySelector('#part-pairs form')"
    notify = f"{form}.dispatchEvent(new Event('input'))"
    for key, value, expected in (
        ("base", "tiny-llama", ALL[2:]),
        ("subset", "refuse", ALL[1:2]),
        ("languages", "ko", ALL[:2]),
    ):
        chromium.run(f"{form}.querySelector('[data-key={key}]').value = '{value}'; {notify}")
        assert chromium.run(SHOWN) == expected
        if key == "languages":
            cards = "[...document.querySelectorAll('#tiny-gemma-pair-3 .card')].filter((one) => !one.hidden)"
            assert chromium.run(f"{cards}.map((one) => one.dataset.language)") == ["en", "ko"]
        chromium.run(f"{form}.querySelector('[data-key={key}]').value = ''; {notify}")
    chromium.run(f"{form}.querySelector('[type=search]').focus()")
    chromium.call("Input.insertText", text="GOOD refuse")
    assert chromium.run(SHOWN) == ALL[1:2]
    assert chromium.run(f"{form}.querySelector('[role=status]').textContent") == "1 of 3 shown"
    chromium.run(f"{form}.querySelector('[type=search]').value = ''")
    chromium.press("Tab", 9)
    assert chromium.run("document.activeElement.type") == "checkbox"
    chromium.press(" ", 32, " ")
    assert chromium.run(SHOWN) == ALL[:2]
    assert chromium.said == []
    assert chromium.asked == [path.resolve().as_uri()]


@pytest.mark.parametrize(("width", "side_by_side"), [(320, 1), (390, 1), (1280, 5)])
def test_languages_stand_side_by_side_or_on_a_phone_one_below_another(chromium, path, width, side_by_side):
    chromium.open(path, width=width)
    assert chromium.run("document.documentElement.scrollWidth") <= width
    lefts = (
        "[...document.querySelectorAll('#tiny-gemma-pair-3 .card')].map((one) =>"
        " one.getBoundingClientRect().left)"
    )
    assert len(set(chromium.run(lefts))) == side_by_side
