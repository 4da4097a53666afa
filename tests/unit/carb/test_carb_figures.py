"""Figures of the CARB paper: glyphs of every script, what is plotted, and files that are the same from run to
run."""

import importlib.util

import numpy as np
import pandas as pd
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from support import script

from polyreward.analysis.bootstrap import Interval
from polyreward.artifacts import fonts
from polyreward.artifacts.figures import COLUMN_WIDTH, TEXT_WIDTH, save_figure
from polyreward.carb.downstream.correlation import BENCHMARKS, POINT_COLUMNS
from polyreward.carb.figures import figure2, figure3, figure5
from polyreward.carb.figures.figure1 import (
    COLUMNS,
    draw_figure1,
    filled,
    first_lines,
    own_names,
    texts_by_culture,
    wrapped,
)
from polyreward.carb.leaderboard import Leaderboard
from polyreward.carb.scores import SCORE_COLUMNS
from polyreward.core.errors import PolyrewardError

figure4 = script("artifacts/carb_figure4")
comparison = script("analyse/carb_comparison")

correlation_table = script("analyse/carb_regressions").correlation_table

CULTURES, DOMAINS = ["ar", "en"], ["values", "safety"]
LANGUAGES = {"ar": {"resource_class": 5, "family": "Afro-Asiatic", "script": "Arab"},
             "en": {"resource_class": 5, "family": "Indo-European", "script": "Latn"}}  # fmt: skip
KINDS = {
    "a_en": "classifier",
    "b_en": "classifier",
    "judge": "generative",
    "judge-knockout": "generative",
    "length": "baseline",
}
TEXTS = {
    "ar": "في أي يوم يبدأ الأسبوع في مصر؟",
    "zh": "直角",
    "ja": "直角です",
    "ko": "신발을 벗다",
    "th": "น้ำ ผู้ใหญ่",
    "vi": "Ở Việt Nam",
    "ru": "ёж",
}
WITH_FONTS = pytest.mark.skipif(
    importlib.util.find_spec("justmytype_intl_cjk") is None, reason="fonts are not installed"
)


def items() -> list[dict]:
    return [
        {"id": f"{domain}-{n}_{culture}", "culture": culture, "domain": domain, "prompt": TEXTS.get(culture, "Where?"),
         "answers": [f"answer {k}" for k in range(4)], "chosen": 1,
         "references": [{"value": "v", "culture": c} for c in ("ja", culture, "de", "ru")]}
        for culture in CULTURES for domain in DOMAINS for n in range(3)
    ]  # fmt: skip


def score_tables() -> dict[str, pd.DataFrame]:
    generator = np.random.default_rng(3)
    return {
        name: pd.DataFrame(
            [(item["id"], item["id"].rpartition("_")[0], item["culture"], item["domain"], k, k == item["chosen"], generator.normal() + (k == 1), False, False)
             for item in items() for k in range(4)], columns=SCORE_COLUMNS)
        for name in KINDS
    }  # fmt: skip


def board() -> Leaderboard:
    groups = comparison.sections_of(comparison.language_groups(LANGUAGES, CULTURES))
    return Leaderboard(score_tables(), KINDS, CULTURES, DOMAINS, Interval(100, 0.95, 1), groups)


def points() -> pd.DataFrame:
    generator = np.random.default_rng(4)
    errors = [0.0] * 4
    of = ("ours", "best-of-n")
    rows = [(*of, policy, f"m{n}", f"b{n}", "classifier", 0.0, 10 + n + generator.normal(), 70, 4, 20.0 + n, 50.0 + n % 3,
             *errors)
            for policy in ("p", "q", "all") for n in range(6)]  # fmt: skip
    rows += [(*of, policy, name, None, "bound", 0.0, chrf, 70, 4, np.nan, np.nan, *errors)
             for policy in ("p", "q", "all") for name, chrf in (("oracle", 30.0), ("random", 9.0))]  # fmt: skip
    return pd.DataFrame(rows, columns=POINT_COLUMNS)


@WITH_FONTS
def test_every_script_has_its_glyphs_and_its_own_font(recwarn, tmp_path):
    with fonts.fonts_for(TEXTS) as families:
        figure = Figure()
        for place, (language, text) in enumerate(TEXTS.items()):
            figure.text(0.1, place / 9, text, family=families[language])
        save_figure(figure, tmp_path / "f.png", tmp_path / "f.pdf")
    assert not [warning for warning in recwarn if "missing from font" in str(warning.message)]
    assert families["vi"] == [fonts.OWN]
    assert len({families[language][0] for language in ("ar", "zh", "ja", "ko", "th")}) == 5


@WITH_FONTS
def test_a_right_to_left_word_begins_on_the_right_and_is_joined():
    """Alef is a tall stroke, and beh a flat one; a joined pair is narrower than the two apart."""
    tall_first, apart = (ink("ar", text) for text in ("\u0627\u0628\u0628", "\u0628\u200c\u0628"))
    edge = tall_first.shape[1] // 10
    height_right, height_left = (
        part.any(axis=1).sum() for part in (tall_first[:, -edge:], tall_first[:, :edge])
    )
    assert height_right > 2 * height_left
    assert ink("ar", "\u0628\u0628").shape[1] < apart.shape[1]


def ink(language: str, text: str) -> np.ndarray:
    """Return where a text has ink (rows, columns), cut to it."""
    with fonts.fonts_for({language: text.replace("\u200c", "")}) as families:
        figure = Figure(dpi=200)
        figure.text(0.1, 0.5, text, family=families[language], fontsize=40)
        canvas = FigureCanvasAgg(figure)
        canvas.draw()
        dark = np.asarray(canvas.buffer_rgba())[:, :, 0] < 128
    rows, columns = np.flatnonzero(dark.any(axis=1)), np.flatnonzero(dark.any(axis=0))
    return dark[rows[0] : rows[-1] + 1, columns[0] : columns[-1] + 1]


@WITH_FONTS
def test_fonts_are_gone_afterwards():
    before = list(fonts.fontManager.ttflist)
    with fonts.fonts_for({"ja": "直"}) as families:
        assert families["ja"][0] in {entry.name for entry in fonts.fontManager.ttflist}
    assert fonts.fontManager.ttflist == before


def test_a_character_without_a_glyph_is_named():
    with (
        pytest.raises(PolyrewardError, match=r"no glyph in DejaVu Sans for .*U\+1780.*\(km\)"),
        fonts.fonts_for({"km": "ក"}),
    ):
        pass


def test_a_missing_package_is_named(monkeypatch):
    monkeypatch.setattr(fonts.importlib.util, "find_spec", lambda name: None)
    with (
        pytest.raises(PolyrewardError, match="pip install justmytype-intl-cjk"),
        fonts.fonts_for({"ja": "直", "ko": "신"}),
    ):
        pass


def test_lines_break_at_spaces_or_between_characters():
    assert wrapped("one two three four", 9) == "one two\nthree\nfour"
    assert wrapped("在中国进门时", 6) == "在中国\n进门时"  # each counts two
    assert wrapped("在中国，进门", 6) == "在中\n国，进\n门"  # no line begins with a comma
    assert all(not line.startswith(("\u0e34", "\u0e49")) for line in wrapped("น้ำผู้ใหญ่กี่คน", 3).split("\n"))
    assert wrapped("在中国 进门时应该脱鞋", 8) == "在中国\n进门时应\n该脱鞋"  # both in one text
    assert filled(["judge-", "smollm2-", "x"], 15) == "judge-smollm2-x"


def test_of_a_long_text_the_first_lines_are_shown():
    assert first_lines("one\ntwo", 2) == "one\ntwo"
    assert first_lines("one\ntwo,\nthree", 2) == "one\ntwo \u2026"


def test_the_example_is_the_item_that_divides():
    found = board()
    item = comparison.example_item(found, items(), "ar")
    shares = found.right.loc[[i["id"] for i in items() if i["culture"] == "ar"], found.reward_models()].mean(
        axis=1
    )
    assert abs(shares[item["id"]] - 0.5) == (shares - 0.5).abs().min()
    with pytest.raises(PolyrewardError, match="no item of `th`"):
        comparison.example_item(found, items(), "th")


def test_what_figure_1_shows():
    table = comparison.glance_table(board(), items(), score_tables(), "en")
    assert list(table.columns) == COLUMNS
    assert set(table.loc[table["panel"] == "count", "n_items"]) == {3}
    scores = table[table["panel"] == "score"]
    assert len(scores) == 16 and set(scores["scorer"]) == set(KINDS) - {"length"}
    assert set(scores.loc[scores["is_chosen"].astype(bool), "from_culture"]) == {"en"}


@WITH_FONTS
def test_figure_1_says_whose_each_answer_is():
    table, names = comparison.glance_table(board(), items(), score_tables(), "ar"), own_names(CULTURES)
    wrong = table["panel"].eq("score") & ~table["is_chosen"].eq(True)
    # Another answer of the item's own culture is as wrong as one of none.
    of = dict(zip(table.loc[wrong, "candidate"].unique(), ["ar", "de", None], strict=True))
    table.loc[wrong, "from_culture"] = table["candidate"].map(of)
    with fonts.fonts_for(texts_by_culture(table, names)) as families:
        texts = [text.get_text() for axis in draw_figure1(table, names, families).axes for text in axis.texts]
    found = [text for text in texts if text.startswith(("wrong", "right for"))]
    assert sorted(found) == ["right for ar", "right for de", "wrong", "wrong"]


@WITH_FONTS
def test_figure_1_is_the_same_from_run_to_run(tmp_path):
    table, names = comparison.glance_table(board(), items(), score_tables(), "ar"), own_names(CULTURES)
    for name in ("one", "two"):
        with fonts.fonts_for(texts_by_culture(table, names)) as families:
            save_figure(
                draw_figure1(table, names, families), tmp_path / f"{name}.png", tmp_path / f"{name}.pdf"
            )
    assert (tmp_path / "one.png").read_bytes() == (tmp_path / "two.png").read_bytes()
    assert (tmp_path / "one.pdf").read_bytes() == (tmp_path / "two.pdf").read_bytes()


def test_figures_2_and_3_plot_their_tables():
    found = board()
    table = comparison.group_table(found, comparison.language_groups(LANGUAGES, CULTURES))
    figure = figure2.draw_figure2(table, 25, "95%")
    panels = {axis.get_title(): axis for axis in figure.axes}
    drawn = panels["language family"].collections[0].get_offsets()[:, 1]
    rows = table[(table["panel"] == "family") & (table["kind"] == "classifier")]
    assert sorted(drawn) == pytest.approx(sorted(rows["score_pct"]))
    best = comparison.domain_table(found, figure3.BEST_KINDS, figure3.BEST)
    axis = figure3.draw_figure3(best, 25, "95%").axes[0]
    assert len(axis.containers) == best["scorer"].nunique() == 4
    assert "values\nn=6" in [label.get_text() for label in axis.get_xticklabels()]


def correlations(table: pd.DataFrame) -> pd.DataFrame:
    return correlation_table(table.query("kind != 'bound'"), Interval(100, 0.95, 1))


def drawn_marks(axis) -> set[tuple[float, float]]:
    return {
        (round(x, 2), round(y, 6)) for line in marks(axis) for x, y in line.get_xydata() if np.isfinite(y)
    }


def marks(axis) -> list:
    """Return the lines that are points of a benchmark, without those of the legend."""
    return [line for line in axis.lines if line.get_marker() in ("o", "s") and len(line.get_xdata())]


def test_figure_4_has_each_policy_on_its_axis_and_both_benchmarks_with_intervals():
    found = correlations(points())
    table = figure4.plotted(found, "chrf")
    axis = figure4.draw_correlations(table, "95%").axes[0]
    assert [label.get_text().split("\n") for label in axis.get_xticklabels()] == [
        [name, "n = 6", "(6 bases)"] for name in ("p", "q", "all policies")
    ]
    at = {"carb": -figure4.SPREAD, "rewardbench": figure4.SPREAD}
    known = {
        (round(place + at[benchmark], 2), round(np.corrcoef(rows[benchmark], rows["chrf"])[0, 1], 6))
        for place, policy in enumerate(("p", "q", "all"))
        for benchmark in at
        for rows in [points().query("policy == @policy and kind != 'bound'")]
    }
    assert drawn_marks(axis) == known
    assert {line.get_markerfacecolor() for line in marks(axis)} == {"white"}  # six bases decide nothing
    row = table.query("policy == 'p' and benchmark == 'carb'").iloc[0]
    assert np.arctanh([row["r_low"], row["r_high"]]) == pytest.approx(
        np.arctanh(row["r"]) + np.array([-1, 1]) * 1.959964 / np.sqrt(3)
    )  # Fisher's, of six bases


def test_figure_4_of_few_bases_has_no_interval_and_of_many_policies_both_columns():
    found = correlations(points().assign(base="one"))
    figure = figure4.draw_correlations(figure4.plotted(found, "chrf"), "95%")
    assert "no 95% interval" in figure.axes[0].get_ylabel() and figure.get_figwidth() == COLUMN_WIDTH
    more = pd.concat([found, found[found["policy"] == "p"].assign(policy="another-policy")])
    assert figure4.draw_correlations(figure4.plotted(more, "chrf"), "95%").get_figwidth() == TEXT_WIDTH


def test_figure_5_plots_its_points_line_and_bounds():
    pooled = correlations(points()).query("rating == 'chrf'")
    table, columns = figure5.plotted(points(), "chrf")
    assert set(table["policy"]) == {"all"} and columns[5:8] == [*BENCHMARKS, "chrf"]
    axes = figure5.draw_rows(table, pooled, "chrf", 0.95).axes
    assert len(axes) == 2
    models = table[table["kind"] == "classifier"]
    np.testing.assert_allclose(axes[0].collections[0].get_offsets(), models[["carb", "chrf"]])
    line = next(line for line in axes[0].lines if line.get_label() == "least squares")
    slope = np.polyfit(models["carb"], models["chrf"], 1)[0]
    assert np.polyfit(line.get_xdata(), line.get_ydata(), 1)[0] == pytest.approx(slope)
    assert {line.get_label(): line.get_ydata()[0] for line in axes[0].lines if "pick" in line.get_label()} == {
        "oracle pick": 30, "random pick": 9}  # fmt: skip
    assert axes[0].get_title().startswith("ours, best of 4\nr² = 0.")
    assert axes[0].get_title().endswith(", not decided, n = 6 (6 bases)")


def test_the_band_is_the_lines_own_interval():
    """At the mean of x its half-width is t times the residual deviation over the root of n."""
    x, y = np.array([1.0, 2, 3, 4, 5, 6]), np.array([1.0, 3, 2, 5, 4, 6])
    low, high = figure5.band(x, y, np.array([x.mean(), x.mean() + 1]), 0.95)
    residuals = y - np.polyval(np.polyfit(x, y, 1), x)
    expected = 2.7764451 * np.sqrt(residuals @ residuals / 4) / np.sqrt(6)
    assert (high[0] - low[0]) / 2 == pytest.approx(expected)


def test_a_regression_without_a_slope_draws_its_points_alone():
    flat = points().assign(carb=25.0)
    found = correlations(flat)
    table, _ = figure5.plotted(flat, "chrf")
    axes = figure5.draw_rows(table, found.query("rating == 'chrf'"), "chrf", 0.95).axes
    assert [line.get_label() for line in axes[0].lines] == ["oracle pick", "random pick"]
    assert "least squares" in [line.get_label() for line in axes[1].lines]
    found = figure4.plotted(found, "chrf")
    assert found.loc[found["benchmark"] == "carb", ["r", "r_low"]].isna().all().all()
    assert len(drawn_marks(figure4.draw_correlations(found, "95%").axes[0])) == 3  # of the other benchmark
