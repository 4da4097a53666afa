"""Figures 1 to 3, drawn from made-up tables of real size: one look of each language, n and level."""

import importlib.util
import re
from functools import cache
from itertools import combinations, product

import matplotlib
import numpy as np
import pandas as pd
import pytest
from made_up_figures import FIGURES, LANGUAGES, geometry
from matplotlib.colors import to_hex, to_rgb
from matplotlib.figure import Figure
from matplotlib.text import Text
from support import ROOT

from polyreward.artifacts import figures as style
from polyreward.artifacts.figures import save_figure
from polyreward.core.kinds import REWARD_KINDS
from polyreward.transfer.figure1 import draw_figure1

WITH_INTERVALS = ("figure1", "figure3", "printed_leads")


@cache
def drawn(name: str) -> Figure:
    figure = FIGURES[name]()
    figure.draw_without_rendering()
    return figure


def texts(figure: Figure) -> list[Text]:
    return [text for text in figure.findobj(Text) if text.get_text().strip() and text.get_visible()]


def lightness(colour: str) -> float:
    """CIE L* of a colour, 0 to 100: how light it is in grey."""
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in to_rgb(colour)]
    return 116 * np.cbrt(np.dot(linear, [0.2126, 0.7152, 0.0722])) - 16


@pytest.mark.parametrize("looks", [list(style.LANGUAGES.values()), list(style.OTHERS)])
def test_any_two_looks_differ_in_grey(looks):
    """By lightness, or by both marker and dashes."""
    for one, other in combinations(looks, 2):
        by_lightness = abs(lightness(one.colour) - lightness(other.colour)) > 15
        assert by_lightness or one.marker != other.marker, (one, other)
        assert (one.colour, one.dashes) != (other.colour, other.dashes)
        assert one.marker != other.marker


def test_any_two_kinds_of_reward_models_have_another_colour_and_another_marker():
    for one, other in combinations(REWARD_KINDS.values(), 2):
        assert one.colour != other.colour and one.marker != other.marker
        assert one.shades != other.shades or not one.shades


def test_a_language_has_one_look_whatever_stands_beside_it():
    assert style.language_look("ko") is style.LANGUAGES["ko"]
    assert style.language_look("sw") == style.language_look("sw")  # not listed
    assert style.language_look("sw") not in style.LANGUAGES.values()


def test_the_colour_of_a_language_is_the_same_in_every_figure():
    bars = {tick.get_text(): bar.get_facecolor() for axis in drawn("figure1").axes[:1]
            for tick, bar in zip(axis.get_xticklabels(), axis.containers[-1], strict=True)}  # fmt: skip
    one = drawn("figure2").axes
    lines = {label.split(":")[0]: line.get_color() for axis in one for label, line in zip(
        [text.get_text() for text in axis.get_legend().get_texts()], axis.get_legend().get_lines(), strict=False)}  # fmt: skip
    for language in LANGUAGES:
        colour = style.LANGUAGES[language].colour
        assert to_hex(bars[style.language_name(language)]).upper() == colour
        assert lines[style.language_name(language)] == colour
    places = drawn("figure3").axes[1]
    shown = [container[0].get_color() for container in places.containers]
    assert shown == [style.LANGUAGES[language].colour for language in LANGUAGES[1:]]
    marks = drawn("printed_leads").axes[0].collections
    colours = {
        mark.get_label(): to_hex(mark.get_facecolor()[0]).upper()
        for mark in marks
        if len(mark.get_facecolor())
    }
    for language in LANGUAGES[1:]:
        assert colours[style.language_name(language)] == style.LANGUAGES[language].colour


@pytest.mark.parametrize("name", FIGURES)
def test_n_is_in_the_picture_and_the_level_where_there_are_intervals(name):
    said = " ".join(text.get_text() for text in texts(drawn(name)))
    assert re.search(r"n ?= ?\d", said), said
    assert name not in WITH_INTERVALS or "95%" in said


def test_the_picture_of_table_1_has_the_languages_colours_and_every_difference():
    bases = ["gemma-3-270m", "smollm2-135m-instruct"]
    keys = list(product(bases, LANGUAGES[1:], ["target", "english", "delta"]))
    table = pd.DataFrame(keys, columns=["base_model", "eval_language", "rm_training"])
    table = table.assign(avg=[-2.04 if training == "delta" else 51.0 for *_, training in keys])
    table = table.assign(avg_low=table["avg"] - 6, avg_high=table["avg"] + 6)
    spec = importlib.util.spec_from_file_location("draw", ROOT / "docs/images/draw.py")
    draw = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(draw)
    figure = draw.draw_table1(table)
    found = texts(figure)
    assert [text.get_text() for text in found].count("\u0394 \u22122.0 [\u22128.0, +4.0]") == 8
    markers = {line.get_color() for line in figure.axes[0].lines if line.get_marker() == "s"}
    assert markers == {style.LANGUAGES[language].colour for language in LANGUAGES[1:]}


def test_intervals_are_drawn_as_the_table_has_them():
    table = geometry()
    cka = table.query("base_model == 'gemma-3-270m' and quantity == 'cka' and rm_training == 'ko'")
    container = drawn("figure1").axes[4].containers[LANGUAGES.index("ko")]
    segments = container[2][0].get_segments()
    assert np.array(segments)[:, :, 1] == pytest.approx(cka[["low", "high"]].to_numpy())


def test_no_value_hides_another_where_all_reward_models_are_alike():
    """Figure 1's markers, in pixels of a figure in which training has changed nothing."""
    table = geometry().assign(value=0.5, low=0.49, high=0.51)
    figure = draw_figure1(table, "95%")
    figure.draw_without_rendering()
    for axis in figure.axes[2:]:
        lines = [line for line in axis.lines if line.get_marker() != "None" and len(line.get_xdata())]
        places = np.concatenate([axis.transData.transform(line.get_xydata()) for line in lines])
        size = lines[0].get_markersize() * figure.dpi / 72
        assert len(places) >= len(LANGUAGES) ** 2
        assert np.diff(np.sort(places[:, 0])).min() > size


def test_a_cka_that_is_estimated_above_one_is_hollow_at_one():
    table = geometry()
    table.loc[table.index[table["quantity"] == "cka"][0], ["value", "low", "high"]] = [2.4, np.nan, np.nan]
    axis = draw_figure1(table, "95%").axes[4]
    hollow = [line for line in axis.lines if line.get_markerfacecolor() == "white" and len(line.get_xdata())]
    assert [line.get_ydata().tolist() for line in hollow] == [[1.0]]
    assert axis.get_ylim()[1] < 1.1
    assert "hollow: estimated above 1" in axis.get_xlabel()


def test_files_are_the_same_each_time_with_fonts_inside(tmp_path):
    """Also for a user whose `matplotlibrc` asks for another look."""
    users = {"axes.facecolor": "red", "lines.linewidth": 9, "savefig.bbox": "tight", "pdf.compression": 0}
    for name in WITH_INTERVALS:
        for number, settings in ((1, {}), (2, users)):
            with matplotlib.rc_context(settings):
                save_figure(FIGURES[name](), tmp_path / f"{number}.png", tmp_path / f"{number}.pdf")
        for kind in ("png", "pdf"):
            assert (tmp_path / f"1.{kind}").read_bytes() == (tmp_path / f"2.{kind}").read_bytes()
    assert b"/FontFile2" in (tmp_path / "1.pdf").read_bytes()
