"""Figures 1 to 3 of the CARB paper: glyphs of every script, what is plotted, and files that are the same from
run to run."""

import importlib.util
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from carb_data import score_table
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from support import refused, script

from polyreward.analysis.bootstrap import Interval
from polyreward.artifacts import fonts
from polyreward.artifacts.figures import save_figure
from polyreward.carb.figures import figure1, figure2, figure3
from polyreward.carb.figures.figure1 import COLUMNS, filled, first_lines, wrapped
from polyreward.carb.leaderboard import Leaderboard

comparison = script("analyse/carb_comparison")

CULTURES, DOMAINS = ["ar", "en"], ["values", "safety"]
LANGUAGES = {"ar": {"resource_class": 5, "family": "Afro-Asiatic", "script": "Arab"},
             "en": {"resource_class": 5, "family": "Indo-European", "script": "Latn"}}  # fmt: skip
KINDS = {**dict.fromkeys(("a_en", "b_en"), "classifier"), **dict.fromkeys(("judge", "judge-knockout"), "generative"),
         "length": "baseline"}  # fmt: skip
TEXTS = {"ar": "في أي يوم يبدأ الأسبوع في مصر؟", "zh": "直角", "ja": "直角です", "ko": "신발을 벗다", "th": "น้ำ ผู้ใหญ่",
         "vi": "Ở Việt Nam", "ru": "ёж"}  # fmt: skip
WITH_FONTS = pytest.mark.skipif(
    importlib.util.find_spec("justmytype_intl_cjk") is None, reason="fonts are not installed"
)
ITEMS = [
    {"id": f"{domain}-{n}_{culture}", "culture": culture, "domain": domain, "prompt": TEXTS.get(culture, "Where?"),
     "answers": [f"answer {k}" for k in range(4)], "chosen": 1,
     "references": [{"value": "v", "culture": c} for c in ("ja", culture, "de", "ru")]}
    for culture in CULTURES for domain in DOMAINS for n in range(3)
]  # fmt: skip


@pytest.fixture(scope="module")
def scores() -> dict[str, pd.DataFrame]:
    generator = np.random.default_rng(3)
    keys = [(item["id"], item["id"].partition("_")[0], item["culture"], item["domain"]) for item in ITEMS]
    return {
        name: score_table({key: generator.normal(size=4) + [0, 1, 0, 0] for key in keys}, chosen=1)
        for name in KINDS
    }


@pytest.fixture(scope="module")
def board(scores) -> Leaderboard:
    groups = comparison.sections_of(comparison.language_groups(LANGUAGES, CULTURES))
    return Leaderboard(scores, KINDS, CULTURES, DOMAINS, Interval(100, 0.95, 1), groups)


@WITH_FONTS
def test_every_script_has_its_glyphs_and_its_own_font_while_it_is_drawn(recwarn, tmp_path):
    before = list(fonts.fontManager.ttflist)
    with fonts.fonts_for(TEXTS) as families:
        figure = Figure()
        for place, (language, text) in enumerate(TEXTS.items()):
            figure.text(0.1, place / 9, text, family=families[language])
        save_figure(figure, tmp_path / "f.png", tmp_path / "f.pdf")
        # A PDF holds fonts in the order of their paths, which must not depend on where matplotlib is.
        assert len({Path(fonts.findfont(name)).parent for name in (fonts.OWN, families["ja"][0])}) == 1
    assert fonts.fontManager.ttflist == before and Path(fonts.findfont(fonts.OWN)).exists()
    assert not [warning for warning in recwarn if "missing from font" in str(warning.message)]
    assert families["vi"] == [fonts.OWN]
    assert len({families[language][0] for language in ("ar", "zh", "ja", "ko", "th")}) == 5


@WITH_FONTS
def test_a_right_to_left_word_begins_on_the_right_and_is_joined():
    """Alef is a tall stroke, and beh a flat one; a joined pair is narrower than the two apart."""
    with fonts.fonts_for({"ar": "\u0627\u0628"}) as families:
        texts = ("\u0627\u0628\u0628", "\u0628\u200c\u0628", "\u0628\u0628")
        tall_first, apart, joined = (ink(text, families["ar"]) for text in texts)
    edge = tall_first.shape[1] // 10
    right, left = (part.any(axis=1).sum() for part in (tall_first[:, -edge:], tall_first[:, :edge]))
    assert right > 2 * left
    assert joined.shape[1] < apart.shape[1]


def ink(text: str, family: list[str]) -> np.ndarray:
    """Return where a text has ink (rows, columns), cut to it."""
    figure = Figure(dpi=200)
    figure.text(0.1, 0.5, text, family=family, fontsize=40)
    canvas = FigureCanvasAgg(figure)
    canvas.draw()
    dark = np.asarray(canvas.buffer_rgba())[:, :, 0] < 128
    rows, columns = np.flatnonzero(dark.any(axis=1)), np.flatnonzero(dark.any(axis=0))
    return dark[rows[0] : rows[-1] + 1, columns[0] : columns[-1] + 1]


def test_a_missing_glyph_and_a_missing_package_are_named(monkeypatch):
    def fonts_for(texts):
        with fonts.fonts_for(texts):
            pass

    error = refused(fonts_for, {"km": "ក"})
    assert "no glyph in DejaVu Sans for" in error and "U+1780" in error and "(km)" in error
    monkeypatch.setattr(fonts.importlib.util, "find_spec", lambda name: None)
    assert "pip install justmytype-intl-cjk" in refused(fonts_for, {"ja": "直", "ko": "신"})


@pytest.mark.parametrize(
    ("text", "width", "lines"),
    [
        ("one two three four", 9, "one two\nthree\nfour"),
        ("在中国进门时", 6, "在中国\n进门时"),  # each counts two
        ("在中国，进门", 6, "在中\n国，进\n门"),  # no line begins with a comma
        ("在中国 进门时应该脱鞋", 8, "在中国\n进门时应\n该脱鞋"),  # both in one text
    ],
)
def test_lines_break_at_spaces_or_between_characters(text, width, lines):
    assert wrapped(text, width) == lines


def test_marks_and_parts_of_names_stay_together_and_of_a_long_text_the_first_lines_are_shown():
    assert all(not line.startswith(("\u0e34", "\u0e49")) for line in wrapped("น้ำผู้ใหญ่กี่คน", 3).split("\n"))
    assert filled(["judge-", "smollm2-", "x"], 15) == "judge-smollm2-x"
    assert first_lines("one\ntwo", 2) == "one\ntwo"
    assert first_lines("one\ntwo,\nthree", 2) == "one\ntwo \u2026"


def test_figure_1_shows_the_item_that_divides(board, scores):
    item = comparison.example_item(board, ITEMS, "ar")
    arabic = [item["id"] for item in ITEMS if item["culture"] == "ar"]
    shares = board.right.loc[arabic, board.reward_models()].mean(axis=1)
    assert abs(shares[item["id"]] - 0.5) == (shares - 0.5).abs().min()
    table = comparison.glance_table(board, ITEMS, scores, "en")
    assert list(table.columns) == COLUMNS
    assert set(table.loc[table["panel"] == "count", "n_items"]) == {3}
    shown = table[table["panel"] == "score"]
    assert len(shown) == 16 and set(shown["scorer"]) == set(KINDS) - {"length"}
    assert set(shown.loc[shown["is_chosen"].astype(bool), "from_culture"]) == {"en"}
    for row in shown.itertuples():
        of = scores[row.scorer].query("id == @row.item and candidate == @row.candidate")
        assert row.score == of["score"].item()


def test_a_score_s_axis_does_not_make_a_small_difference_look_large():
    axis = Figure().subplots()
    scores = pd.DataFrame(
        {"score": [-1.3924, -1.3913, -1.392, -1.392], "is_chosen": [False, True, False, False]}
    )
    figure1._draw_scores(axis, scores, "judge")
    low, high = axis.get_xlim()
    assert high - low == pytest.approx(0.02) and low < -1.3924 < -1.3913 < high
    assert [label.get_text() for label in axis.get_xticklabels()] == ["\u22121.39"]


@WITH_FONTS
def test_figure_1_says_whose_each_answer_is_and_is_the_same_from_run_to_run(board, scores, tmp_path):
    names = figure1.own_names(CULTURES)
    table = comparison.glance_table(board, ITEMS, scores, "ar")
    wrong = table["panel"].eq("score") & ~table["is_chosen"].eq(True)
    # Another answer of the item's own culture is as wrong as one of none.
    of = dict(zip(table.loc[wrong, "candidate"].unique(), ["ar", "de", None], strict=True))
    table.loc[wrong, "from_culture"] = table["candidate"].map(of)
    for name in ("one", "two"):
        with fonts.fonts_for(figure1.texts_by_culture(table, names)) as families:
            figure = figure1.draw_figure1(table, names, families)
            save_figure(figure, tmp_path / f"{name}.png", tmp_path / f"{name}.pdf")
    texts = [text.get_text() for axis in figure.axes for text in axis.texts]
    found = [text for text in texts if text.startswith(("wrong", "right for"))]
    assert sorted(found) == ["right for\nArabic", "right for\nGerman", "wrong", "wrong"]
    for kind in ("png", "pdf"):
        assert (tmp_path / f"one.{kind}").read_bytes() == (tmp_path / f"two.{kind}").read_bytes()


def test_figures_2_and_3_plot_their_tables(board):
    table = comparison.group_table(board, comparison.language_groups(LANGUAGES, CULTURES))
    panels = {axis.get_title(): axis for axis in figure2.draw_figure2(table, 25, "95%").axes}
    drawn = panels["language family"].collections[0].get_offsets()[:, 1]
    rows = table[(table["panel"] == "family") & (table["kind"] == "classifier")]
    assert sorted(drawn) == pytest.approx(sorted(rows["score_pct"]))
    best = comparison.domain_table(board, figure3.BEST_KINDS, figure3.BEST)
    axis = figure3.draw_figure3(best, 25, "95%").axes[0]
    assert len(axis.containers) == best["scorer"].nunique() == 4
    assert "values\nn=6" in [label.get_text() for label in axis.get_xticklabels()]
