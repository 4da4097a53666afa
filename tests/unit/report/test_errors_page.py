"""The page of errors: what it counts, that it stays small and safe, and what it says where scores are
missing."""

import re
import shutil
from pathlib import Path

import pytest
from made_up_results import page_of, write_made_up
from made_up_scores import CULTURES, HOSTILE, LANGUAGES, carb_models, errors_of, write_carb, write_pairs
from test_report_page import MOST_BYTES, Page
from tiny_models import ROOT

from polyreward.carb.inputs import Carb
from polyreward.config.model_files import ModelFiles
from polyreward.core.errors import PolyrewardError
from polyreward.core.naming import Paths
from polyreward.report import errors
from polyreward.report.errors import MOST_CHARACTERS, cut, read_disagreements, read_missed_items
from polyreward.report.results import read_results
from polyreward.report.template import policy_of


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A results folder with known pairs, items and scores, made once."""
    results = write_made_up(tmp_path_factory.mktemp("scored"))
    write_pairs(results)
    write_carb(results)
    return results


@pytest.fixture
def scored(made, tmp_path):
    """A copy of it to change."""
    return Path(shutil.copytree(made, tmp_path / "results/tiny"))


def scale_and_paths(results):
    return read_results(results, [], ROOT).registry.scale, Paths(str(results))


def carb_and_paths(results):
    scale, paths = scale_and_paths(results)
    return Carb(scale, ModelFiles(scale)), paths


def test_known_disagreements_are_counted_and_the_largest_comes_first(scored):
    gemma, llama = read_disagreements(*scale_and_paths(scored))
    assert [(one.base, one.n_pairs, len(one.pairs), one.n_clear) for one in (gemma, llama)] == [
        ("tiny-gemma", 10, 2, 2),
        ("tiny-llama", 10, 1, 0),
    ]
    assert [pair.id for pair in gemma.pairs] == ["pair-3", "pair-5"]
    assert [[column.language for column in pair.apart] for pair in gemma.pairs] == [["es", "ko"], ["ko"]]
    assert [column.noisy for column in gemma.pairs[0].columns] == [False, True, False, False, False]
    assert [pair.section for pair in gemma.pairs] == ["chat", "safety"]


def test_margins_are_in_units_of_each_models_own_spread(scored):
    gemma, _ = read_disagreements(*scale_and_paths(scored))
    korean = gemma.pairs[0].columns[3]
    english, own = korean.readings
    margins = [1.0, 1.01, 1.02, -4.0, 1.04, -1.0, 1.06, 1.07, 1.08, 1.09]
    mean = sum(margins) / 10
    spread = (sum((one - mean) ** 2 for one in margins) / 9) ** 0.5
    assert (english.model, own.model) == ("tiny-gemma_en", "tiny-gemma_ko")
    assert english.margin == pytest.approx(-4.0 / spread)
    assert (english.right, own.right) == (False, True)
    assert gemma.pairs[0].size == pytest.approx(max(column.size for column in gemma.pairs[0].apart))


def test_an_item_is_missed_where_no_reward_model_ranks_the_right_answer_alone_at_the_top(scored):
    missed = read_missed_items(*carb_and_paths(scored))
    assert missed.models == carb_models(scored)
    assert (missed.n, missed.n_items) == (10, 20)
    assert {culture: [item.id for item in items] for culture, items in missed.by_culture.items()} == {
        c: [f"a_{c}"] for c in CULTURES
    }
    arabic, korean = missed.by_culture["ar"][0], missed.by_culture["ko"][0]
    assert [len(answer.picks) for answer in arabic.answers] == [0, 0, len(missed.models)]
    assert [len(answer.picks) for answer in korean.answers] == [len(missed.models), len(missed.models), 0]
    assert korean.answers[0].picks[0].tied and korean.noisy and not arabic.noisy
    assert korean.margin == 0 and arabic.margin < 0
    assert missed.n_by_chance == pytest.approx(
        10
    )  # every a-item by all; of the b-items one model misses all, the others none


def test_the_page_shows_every_language_and_answer_with_who_is_wrong(scored):
    found = Page(errors_of(scored))
    assert found.open == [] and len(set(found.ids)) == len(found.ids)
    assert (
        "tiny-gemma : they disagree on 2 of 10 pairs, beyond noise on 2, in Spanish, Italian, Korean, Chinese"
        in found.text
    )
    assert "tiny-llama : they disagree on 1 of 10 pairs, beyond noise on 0" in found.text
    assert "10 of 20 items" in found.text and "Right for Japanese" in found.text
    assert all(f"{language} 3 {HOSTILE}" in found.text for language in LANGUAGES)
    text = errors_of(scored)
    assert '<dd lang="ko" dir="auto">' in text and '<p class="asked" lang="ar" dir="auto">' in text


def test_whatever_rows_hold_is_text_and_nothing_is_asked_for(scored):
    text = errors_of(scored)
    assert "<img" not in text and HOSTILE in Page(text).text
    assert re.findall(r"<script\b", text) == ["<script"]
    assert re.findall(r"(?:src|href)=\"(?:https?:)?//", text) == []
    style, script = (text.split(f"<{tag}>")[1].split(f"</{tag}>")[0] for tag in ("style", "script"))
    assert policy_of(style, script).replace("'", "&#39;") in text


def test_made_twice_it_is_the_same_without_path(scored, tmp_path_factory):
    text = errors_of(scored)
    assert errors_of(scored) == text
    other = tmp_path_factory.mktemp("other") / "results/tiny"
    shutil.copytree(scored, other)
    assert errors_of(other) == text
    assert str(scored.parents[1]) not in text and str(ROOT) not in text


def test_report_and_errors_lead_to_each_other(scored):
    assert "errors.html" in Page(page_of(scored)).links
    page = Page((scored / "errors.html").read_text(encoding="utf-8"))
    assert {link for link in page.links if not link.startswith("#")} == {"report.html"}
    assert {link[1:] for link in page.links if link.startswith("#")} <= set(page.ids)


def test_without_scores_it_says_what_to_run(results):
    found = Page(errors_of(results)).text
    command = "snakemake --cores all all --configfile workflow/scales/tiny.yaml"
    for what in ("The scores of the pairs are not here", "The scores of CARB's items are not here"):
        assert f"{what}; this makes them, then polyreward report shows them: {command}" in found


def test_what_is_there_is_shown_and_the_rest_is_asked_for(scored):
    assert "not here" not in Page(errors_of(scored)).text
    folder = scored / "work/5_scores"
    for path in (
        "mini-rewardbench/tiny-gemma_en/ko",
        "mini-rewardbench/tiny-llama_en/en",
        "carb/tiny-judge/es",
    ):
        (folder / f"{path}.parquet").unlink()
    scale, paths = scale_and_paths(scored)
    (gemma,) = read_disagreements(scale, paths)
    assert (gemma.languages, [pair.id for pair in gemma.pairs]) == (["es", "it", "zh"], ["pair-3"])
    carb, _ = carb_and_paths(scored)
    assert "tiny-judge" not in read_missed_items(carb, paths).models
    text = Page(errors_of(scored)).text
    assert "11 of 12 reward models are compared" in text
    assert "Some scores are not here" in text and "Some scores of items are not here" in text


@pytest.mark.parametrize(
    ("file", "problem"),
    [
        ("3_translated/mini-rewardbench/es.jsonl", "its 10 scores do not belong to these 9 pairs"),
        ("2_prepared/carb/ja.jsonl", "its 60 scores do not belong to these 57 answers"),
    ],
)
def test_scores_of_other_rows_are_an_error(scored, file, problem):
    path = scored / "work" / file
    path.write_text("".join(path.read_text(encoding="utf-8").splitlines(keepends=True)[1:]), encoding="utf-8")
    with pytest.raises(PolyrewardError, match=problem):
        errors_of(scored)


def test_a_page_that_would_be_too_large_shows_less_and_says_so(scored, monkeypatch):
    whole = errors_of(scored)
    assert "To stay below" not in whole and len(whole.encode()) < MOST_BYTES
    monkeypatch.setattr(errors, "MOST_SHOWN", (2, 1))
    assert errors_of(scored) == whole
    monkeypatch.setattr(errors, "MOST_BYTES", len(whole.encode()) - 1)
    found = Page(errors_of(scored))
    assert "shows at most 1 pairs of a base and 1 items of a culture, instead of 2" in found.text
    assert (
        "they disagree on 2 of 10 pairs, beyond noise on 2, in Spanish, Italian, Korean, Chinese. The largest"
        " 1 are below." in found.text
    )
    assert "tiny-gemma-pair-3" in found.ids and "tiny-gemma-pair-5" not in found.ids


def test_a_long_text_is_cut_and_says_by_how_much(results):
    assert (cut("a" * MOST_CHARACTERS).n_left_out, cut("a" * (MOST_CHARACTERS + 2)).n_left_out) == (0, 2)
    write_pairs(results, long=1000)
    text = Page(errors_of(results)).text
    assert "… 5,500 more characters" in text
